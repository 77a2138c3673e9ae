"""What a file offers, and the forms of constructors."""

from __future__ import annotations

from inspector.engine.messages.module import FormField, ListModules, ModuleOffer
from inspector.models import service
from tests.models.loading import NETS


def offers() -> dict[str, ModuleOffer]:
    found = service.list_modules(ListModules(str(NETS)))
    assert found.spec == str(NETS)
    return {offer.name: offer for offer in found.offers}


def fields_of(name: str) -> dict[str, FormField]:
    return {field.name: field for field in offers()[name].fields}


def test_classes_factories_and_instances_in_their_order() -> None:
    kinds = {name: offer.kind for name, offer in offers().items()}
    assert list(kinds)[:3] == ["Mlp", "Normed", "Block"]
    assert [n for n, kind in kinds.items() if kind == "factory"] == [
        "small_mlp",
        "Narrow",
    ]
    assert [n for n, kind in kinds.items() if kind == "instance"] == ["ready", "bound"]
    assert "Config" not in kinds
    assert "plain_tree" not in kinds


def test_call_and_docstring() -> None:
    assert offers()["Normed"].call == "(x, train: bool)"
    assert (
        offers()["Normed"].doc
        == "Convolution, BatchNorm and Dropout with a required flag."
    )
    assert offers()["Block"].doc == ""
    assert offers()["small_mlp"].doc == "Makes a narrow Mlp."


def test_form_of_an_mlp() -> None:
    fields = fields_of("Mlp")
    assert fields["features"] == FormField(
        "features", "tuple[int, ...]", "(8, 4)", False, "tuple"
    )
    assert (fields["act"].widget, fields["act"].default) == (
        "callable",
        "flax.linen.relu",
    )
    assert (fields["dtype"].widget, fields["dtype"].default) == ("dtype", "float32")
    assert fields["kernel_init"].widget == "callable"
    assert fields["kernel_init"].default == "variance_scaling(…)"
    assert list(fields) == ["features", "act", "dtype", "kernel_init"]


def test_form_of_every_widget() -> None:
    fields = fields_of("Configured")
    assert {name: field.widget for name, field in fields.items()} == {
        "config": "literal",
        "inner": "literal",
        "block": "callable",
        "mode": "choice",
        "pool": "choice",
        "rate": "float",
        "flag": "bool",
        "title": "text",
        "anything": "literal",
    }
    assert fields["config"].required
    assert not fields["rate"].required
    assert fields["mode"].choices == ('"FAST"', '"SLOW"')
    assert fields["pool"].choices == ('"mean"', '"max"')


def test_form_of_a_partial_and_of_a_function() -> None:
    assert fields_of("Narrow")["features"].default == "(2,)"
    assert fields_of("small_mlp")["width"].widget == "int"
    assert fields_of("ready") == {}
