from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.errors import ReadFileError
from inspector.formats.inspector_tree import describe, dumps, entry_names, restore
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.tree import Branch, Container, Node, build, walk
from inspector.variables.value import Literal

NATIVE = frozenset({"float32", "uint32", "int8"})


def array(dtype: str, *shape: int) -> Leaf:
    nbytes = math.prod(shape) * dtypes.itemsize(dtype)
    return Leaf(Kind.ARRAY, shape, dtype, stored_bytes=nbytes)


TREE = build(
    [
        (("params", "w"), array("float32", 2, 3)),
        (("params", "b"), array("bfloat16", 4)),
        (("params", "a/b"), array("float32", 1)),
        (("layers", 0, "k"), array("int4", 3)),
        (("layers", 1, "k"), Leaf(Kind.EMPTY_TUPLE, value=Literal(None))),
        (("pair", 0), Leaf(Kind.NONE, value=Literal(None))),
        (("pair", 1), array("float32")),
        (("ints", 1), array("int8", 1)),
        (("ints", "1"), array("int8", 2)),
        (("rng",), replace(array("key<fry>", 5), kind=Kind.KEY, stored_bytes=40)),
        (("s",), Leaf(Kind.STR, value=Literal("ä\ud800"))),
        (("i",), Leaf(Kind.INT, value=Literal(2**90))),
        (("f",), Leaf(Kind.FLOAT, value=Literal(math.inf))),
        (("n",), Leaf(Kind.FLOAT, value=Literal(1.0))),
        (("c",), Leaf(Kind.COMPLEX, value=Literal(1 - 2j))),
        (("y",), Leaf(Kind.BYTES, value=Literal(b"\0\xff"))),
        (("t",), Leaf(Kind.BOOL, value=Literal(True))),
        (("inspector.tree",), array("float32", 1)),
    ],
    {("layers",): Container.LIST, ("pair",): Container.TUPLE},
)


def stored(leaf: Leaf) -> Leaf:
    """What a format without the dtype says of a leaf."""
    if leaf.kind is Kind.KEY:
        words = dtypes.words_of(leaf.dtype)
        return replace(
            leaf, kind=Kind.ARRAY, dtype="uint32", shape=(*leaf.shape, words)
        )
    if leaf.dtype in NATIVE:
        return leaf
    return replace(leaf, kind=Kind.OPAQUE, dtype="")


def round_trip(tree: Node) -> tuple[Node, dict[TreePath, str]]:
    names = entry_names(tree)
    description = json.loads(dumps(describe(tree, names, NATIVE)))
    leaves = dict(walk(tree))
    entries = {name: stored(leaves[path]) for path, name in names.items()}
    found, back = restore(entries, description or None)
    assert back == names
    return found, back


def test_everything_comes_back() -> None:
    found, names = round_trip(TREE)
    assert found == TREE
    assert names["params", "w"] == "params/w"
    assert names["ints", "1"] != names["ints", 1]
    assert names[("inspector.tree",)] not in {"inspector.tree", "__metadata__"}
    assert len(set(names.values())) == len(names)


def test_plain_trees_need_no_description() -> None:
    tree = build([(("a", "b"), array("float32", 2)), (("c",), array("int8", 1))])
    assert describe(tree, entry_names(tree), NATIVE) == {}
    assert round_trip(tree)[0] == tree


@pytest.mark.parametrize(
    "tree",
    [
        array("float32", 2),
        Leaf(Kind.EMPTY_DICT, value=Literal(None)),
        Branch({0: array("float32", 1)}, Container.LIST),
    ],
)
def test_roots_of_every_kind(tree: Node) -> None:
    assert round_trip(tree)[0] == tree


@pytest.mark.parametrize(
    "description",
    [
        {"version": 2},
        {"version": 1, "nodes": [{"keys": ["a"], "kind": "array"}]},
        {"version": 1, "nodes": [{"keys": ["a"], "kind": "int", "value": True}]},
        {"version": 1, "nodes": [{"keys": ["a"], "kind": "bytes", "value": "x"}]},
        {"version": 1, "nodes": [{"keys": ["w"], "kind": "None"}]},
        {"version": 1, "nodes": [{"keys": ["w", "x"], "kind": "None"}]},
        {"version": 1, "nodes": 3},
        {"version": 1, "entries": {"w": {"keys": "w"}}},
        {"version": 1, "entries": {"w": {"keys": [True]}}},
        {"version": 1, "entries": {"w": {"dtype": "float64"}}},
        {"version": 1, "entries": {"w": {"dtype": "object"}}},
        {"version": 1, "entries": {"w": {"dtype": "key<rbg>"}}},
        {
            "version": 1,
            "entries": {"w": {"keys": ["a", 1]}},
            "containers": [[["a"], "list"]],
        },
        {"version": 1, "containers": [[["a"], "set"]]},
        {"version": 1, "containers": [3]},
    ],
)
def test_hostile_descriptions(description: dict[str, Any]) -> None:
    with pytest.raises(ReadFileError) as caught:
        restore({"w": array("float32", 2)}, description)
    assert caught.value.where == "inspector.tree"
    assert caught.value.hint


keys = st.text(max_size=3) | st.integers(-3, 3)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["keys", "kind", "value", "dtype", "w"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(json_values, json_values, json_values)
def test_any_json_restores_or_is_an_error_of_ours(a: Any, b: Any, c: Any) -> None:
    description = {"version": 1, "containers": a, "entries": b, "nodes": c}
    try:
        tree, names = restore({"w": array("float32", 2)}, description)
    except ReadFileError:
        return
    assert set(names.values()) == {"w"}
    assert len(dict(walk(tree))) >= 1


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.lists(keys, min_size=1, max_size=3).map(tuple), st.integers(0, 2)
    )
)
def test_any_keys_come_back(shapes: dict[TreePath, int]) -> None:
    free = {
        path: size
        for path, size in shapes.items()
        if not any(path[:length] in shapes for length in range(len(path)))
    }
    if not free:
        return
    tree = build((path, array("float32", size)) for path, size in free.items())
    assert round_trip(tree)[0] == tree
