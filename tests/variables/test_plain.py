from __future__ import annotations

import json
import math
import time

import pytest

from inspector.errors import RecipeError
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.plain import (
    PlainTree,
    from_plain,
    leaf_from_json,
    leaf_to_json,
    plain_from_json,
    plain_to_json,
    to_plain,
    value_from_json,
    value_to_json,
)
from inspector.variables.tree import EMPTY, Branch, Container, Node, build, empty_leaf
from inspector.variables.value import (
    UNSET,
    Cast,
    Filled,
    Initial,
    Kept,
    Literal,
    Patched,
    Raw,
    Stored,
    Value,
)
from tests.variables.trees import tree

TREES: list[Node] = [
    EMPTY,
    Branch({}, Container.TUPLE),
    Leaf(Kind.INT, value=Literal(3)),
    tree({"b": (2,), "a": {"z": [(1,), {"q": "int8 "}], "y": None}, "10": (3,)}),
    Branch({0: Leaf(Kind.NONE), 1: tree({"x": (1,)})}, Container.TUPLE),
    Branch({0: Leaf(Kind.NONE), "0": Leaf(Kind.STR, value=Literal("0"))}),
]


def _order(node: Node) -> object:
    if isinstance(node, Leaf):
        return node
    return [(key, _order(child)) for key, child in node.children.items()]


@pytest.mark.parametrize("node", TREES)
def test_round_trip_keeps_everything(node: Node) -> None:
    plain = to_plain(node)
    again = from_plain(plain)
    assert again == node
    assert _order(again) == _order(node)
    read = plain_from_json(json.loads(json.dumps(plain_to_json(plain))))
    assert read == plain
    assert _order(from_plain(read)) == _order(node)


def test_empty_branch_below_the_root_is_an_empty_leaf() -> None:
    plain = to_plain(Branch({"a": Branch({}, Container.LIST)}))
    assert plain.leaves == ((("a",), empty_leaf(Container.LIST)),)


def test_a_hundred_thousand_leaves_are_fast() -> None:
    leaf = Leaf(Kind.ARRAY, (3,), "float32")
    paths = [("p", f"b{i // 100}", f"l{i // 10 % 10}", i % 10) for i in range(100_000)]
    node = build((path, leaf) for path in paths)
    start = time.process_time()
    again = from_plain(to_plain(node))
    # Measured 0.2 s; the bound only catches something quadratic.
    assert time.process_time() - start < 5
    assert again == node


VALUES: list[Value] = [
    UNSET,
    Stored("s1", ("params", 0, "0", "a/b")),
    Raw("values.bin", 8, (2, 3), "bfloat16"),
    Initial(()),
    Kept("0f" * 32, (2, 3), "bfloat16"),
    Filled(-math.inf),
    Filled(True),
    Filled(2),
    Filled(2.0),
    Filled(complex(1, math.inf)),
    Literal(None),
    Literal("nan"),
    Literal("\ud800 ü"),
    Literal(b"\x00\xff"),
    Literal(1 << 70),
    Literal(-(1 << 70)),
    Literal(False),
    Cast(Patched(Filled(1), (0,), (2,), b"ab"), "int8", "float32"),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_survive_json(value: Value) -> None:
    text = json.dumps(value_to_json(value), allow_nan=False)
    again = value_from_json(json.loads(text))
    assert again == value
    assert repr(again) == repr(value)


def test_nan_survives_json() -> None:
    again = value_from_json(json.loads(json.dumps(value_to_json(Filled(math.nan)))))
    assert isinstance(again, Filled)
    assert repr(again.number) == "nan"


def test_deep_stacks_are_flat_in_json() -> None:
    value: Value = Initial(())
    for index in range(5_000):
        value = Patched(value, (index,), (1,), b"x")
    data = json.loads(json.dumps(value_to_json(value)))
    assert len(data["steps"]) == 5_000
    assert data["steps"][0]["start"] == [0]
    again = value_from_json(data)
    assert isinstance(again, Patched)
    assert again.start == (4_999,)


def test_leaf_with_all_fields_survives_json() -> None:
    leaf = Leaf(
        Kind.KEY,
        (4,),
        "key<fry>",
        Stored("s2", ("k",)),
        "P('data')",
        "bad",
        "box",
        9,
        "RngKey",
    )
    assert leaf_from_json(json.loads(json.dumps(leaf_to_json(leaf)))) == leaf


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ({"kind": "array", "shape": [-1], "dtype": "x"}, "leaf.shape"),
        ({"kind": "arrays"}, "leaf.kind"),
        ({"kind": "None", "extra": 1}, "leaf"),
        ({"kind": "int", "value": {"form": "literal"}}, "leaf.value"),
        ({"kind": "int", "value": {"form": "other"}}, "leaf.value.form"),
        (
            {"kind": "int", "value": {"form": "kept", "digest": "../../etc"}},
            "leaf.value.digest",
        ),
        (
            {"kind": "int", "value": {"form": "initial", "path": [True]}},
            "leaf.value.path",
        ),
        (
            {"kind": "int", "value": {"form": "literal", "value": {"bytes": "?"}}},
            "leaf.value.value.bytes",
        ),
        (3, "leaf"),
    ],
)
def test_bad_leaves_are_refused_with_their_place(data: object, where: str) -> None:
    with pytest.raises(RecipeError) as caught:
        leaf_from_json(data)
    assert caught.value.where == where
    assert caught.value.hint


def test_leaves_through_a_leaf_are_no_tree() -> None:
    leaf = Leaf(Kind.NONE)
    data = plain_to_json(PlainTree(((("a",), leaf), (("a", "b"), leaf))))
    with pytest.raises(RecipeError, match="the leaves of one tree"):
        plain_from_json(data)
