"""Bug 73: a class attribute without a type annotation is no field."""

from __future__ import annotations

from inspector.engine.messages.module import ListModules
from inspector.models import service
from tests.models.loading import Write, fails, load

SOURCE = """\
from flax import linen as nn

class U(nn.Module):
    features = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.features)(x)

class D(nn.Module):
    features: int
    kernel_init = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, x):
        shape = (x.shape[-1], self.features)
        return x @ self.param("kernel", self.kernel_init, shape)

class Unused(nn.Module):
    act = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)
"""


def test_warning_when_loaded(write: Write) -> None:
    file = write("net.py", SOURCE)
    assert load(f"{file}:U", "f32[1,2]").notes == (
        "features has no type annotation in U, so it cannot be set.",
    )
    (note,) = load(f"{file}:Unused", "f32[1,2]").notes
    assert note.startswith("act has no type annotation in Unused")
    assert "becomes a method" in note


def test_the_form_does_not_offer_it(write: Write) -> None:
    file = write("net.py", SOURCE)
    offers = service.list_modules(ListModules(str(file))).offers
    fields = {offer.name: [one.name for one in offer.fields] for offer in offers}
    assert fields == {"U": [], "D": ["features"], "Unused": []}
    error = fails(f"{file}:U", "f32[1,2]", kwargs={"features": 8})
    assert "no type annotation" in error.hint


def test_function_that_became_a_method(write: Write) -> None:
    file = write("net.py", SOURCE)
    error = fails(f"{file}:D", "f32[1,2]", kwargs={"features": 3})
    assert "kernel_init has no type annotation in D" in error.message
    assert "gives it the module first" in error.message
    assert error.where == f"{file}:17"
    assert "`kernel_init: Callable = …`" in error.hint
