from __future__ import annotations

import pytest

from inspector.errors import TransferError
from inspector.variables.homes import find_homes
from inspector.variables.leaf import Leaf
from inspector.variables.path import parse
from inspector.variables.places import locate
from inspector.variables.tree_index import TreeIndex
from tests.variables.trees import Spec, tree

LAYER: Spec = {"kernel": (3, 3)}


def _homes(spec: dict[str | int, Spec]) -> list[tuple[str, dict[str, str]]]:
    return [
        (
            "/".join(map(str, home.path)),
            {name: "/".join(map(str, place)) for name, place in home.collections},
        )
        for home in find_homes(tree(spec))
    ]


def test_plain_variables() -> None:
    spec: dict[str | int, Spec] = {"batch_stats": {"a": LAYER}, "params": {"a": LAYER}}
    assert _homes(spec) == [("", {"params": "params", "batch_stats": "batch_stats"})]
    assert next(iter(_homes(spec)[0][1])) == "params"


def test_collections_without_params() -> None:
    assert _homes({"batch_stats": {"a": LAYER}}) == [
        ("", {"batch_stats": "batch_stats"})
    ]
    assert _homes({"batch_stats": {"a": LAYER}, "encoder": {"a": LAYER}}) == []


def test_wrappers_and_repeated_levels() -> None:
    spec: dict[str | int, Spec] = {
        "items": {"state": {"params": {"params": {"params": {"a": LAYER}}}}}
    }
    assert _homes(spec) == [
        ("items/state", {"params": "items/state/params/params/params"})
    ]


def test_optimizer_states_hold_no_variables() -> None:
    assert _homes({"opt_state": {"0": {"params": {"a": LAYER}}}}) == []


def test_several_models_in_one_file() -> None:
    spec: dict[str | int, Spec] = {
        "policy": {"params": {"a": LAYER}},
        "value": {"params": {"b": LAYER, "c": LAYER}},
    }  # fmt: skip
    index = TreeIndex(tree(spec))
    assert [home.path for home in index.homes] == [("policy",), ("value",)]
    assert index.home_for(()) is None
    assert locate(index, parse("value/params/b"), "source").names == ("b",)
    assert locate(index, parse("b"), "source").path == ("value", "params", "b")


def test_a_module_path_that_means_two_places() -> None:
    spec: dict[str | int, Spec] = {
        "policy": {"params": {"a": LAYER}}, "value": {"params": {"a": LAYER}}
    }  # fmt: skip
    with pytest.raises(TransferError, match="lies in several places") as caught:
        locate(TreeIndex(tree(spec)), ("a",), "source")
    assert caught.value.hint == "Give policy/params/a or value/params/a."


def test_boxes_are_no_level() -> None:
    boxed: Spec = {"value": (3,), "names": None}
    index = TreeIndex(tree({"params": {"a": {"kernel": boxed}, "value": (1,)}}))
    entries = index.entries(index.homes[0])
    assert [entry.names for entry in entries] == [("a", "kernel"), ("value",)]
    assert all(isinstance(entry.leaf, Leaf) for entry in entries)
