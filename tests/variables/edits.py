"""One edit of each kind that fits `START`, and random ones for properties."""

from __future__ import annotations

import struct
from collections.abc import Callable

from hypothesis import strategies as st

from inspector.variables.edit import (
    Asked,
    CastLeaves,
    Delete,
    Edit,
    FillLeaves,
    Pair,
    Rename,
    SetNumbers,
    TakeValues,
    Transfer,
)
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.tree import Branch, Container, get, walk
from inspector.variables.value import Kept, Literal
from tests.variables.trees import tree

START = tree(
    {
        "params": {
            "backbone": {"kernel": (2, 3), "bias": (3,)},
            "blocks": [{"w": (2,)}, {"w": (2,)}, {"w": (2,)}],
            "head": {"kernel": "bfloat16 3,4", "scale": "float32 "},
        },
        "step": 7,
    },
    "",
)
"""A target with lists, a scalar and several dtypes, as a module would give it."""

SOURCE = tree({"params": {"a": (2, 3), "b": "bfloat16 3"}, "count": 3})
"""A source with the id ``s1`` that transfers of `KINDS` take from."""

ONE_OF_EACH: tuple[Edit, ...] = (
    Transfer(
        "s1",
        (
            Pair(
                ("params", "a"),
                ("params", "backbone", "kernel"),
                "exact",
                (2, 3),
                "float32",
                "float32",
            ),
            Pair(
                ("params", "b"),
                ("params", "backbone", "bias"),
                "cast",
                (3,),
                "bfloat16",
                "float32",
            ),
            Pair(("count",), ("step",), "exact", (), "int", "int", Literal(3)),
        ),
        Asked("digits", ("params",), ("params", "backbone")),
    ),
    Rename(("params", "head"), "classifier"),
    Delete((("params", "blocks", 0), ("params", "blocks", 2), ("step",))),
    CastLeaves((("params", "backbone", "bias"), ("params", "blocks", 1, "w")), "int8"),
    FillLeaves((("params", "head", "kernel"),), 0.5),
    SetNumbers(("params", "backbone", "bias"), (1,), (1,), b"\0\0\0?", "float32"),
    TakeValues(
        (
            (
                ("params", "backbone", "bias"),
                Leaf(Kind.ARRAY, (3,), "float32", Kept("ab" * 32, (3,), "float32")),
            ),
            (
                ("cache", "key"),
                Leaf(
                    Kind.KEY,
                    (),
                    "key<fry>",
                    Kept("cd" * 32, (2,), "uint32"),
                    variable="RngKey",
                ),
            ),
            (("step",), Leaf(Kind.INT, value=Literal(8))),
        ),
        "Take 3 updates of run 2",
    ),
)


def random_edit(target: Branch) -> st.SearchStrategy[Edit]:
    """Returns edits that fit a target."""
    arrays = [(path, leaf) for path, leaf in walk(target) if leaf.kind is Kind.ARRAY]
    nodes = [path[:depth] for path, _ in walk(target) for depth in range(1, len(path))]
    named = [path for path in nodes if _in_dict(target, path)]
    kinds: list[st.SearchStrategy[Edit]] = []
    if arrays:
        path = st.sampled_from([path for path, _ in arrays])
        some = st.lists(path, min_size=1, max_size=3, unique=True).map(tuple)
        fitting = [path for path, leaf in arrays if leaf.shape == (2, 3)]
        if fitting:
            kinds.append(st.sampled_from(fitting).map(_taken_from(target)))
        dtypes = st.sampled_from(["float32", "bfloat16", "int8"])
        kinds.append(st.builds(CastLeaves, some, dtypes))
        kinds.append(st.builds(FillLeaves, some, st.sampled_from([0, 1, -1.0])))
        kinds.append(st.sampled_from([_typed(*one) for one in arrays]))
    if len(arrays) > 2:
        kinds.append(st.sampled_from(nodes + [path for path, _ in arrays]).map(_gone))
    if named:
        names = st.sampled_from(["x", "y", "z"]).flatmap(
            lambda name: st.integers().map(lambda number: f"{name}{number}")
        )
        kinds.append(st.builds(Rename, st.sampled_from(named), names))
    return st.one_of(kinds) if kinds else st.just(Delete(()))


def _in_dict(target: Branch, path: TreePath) -> bool:
    parent = get(target, path[:-1])
    return isinstance(parent, Branch) and parent.container is Container.DICT


def _gone(path: TreePath) -> Edit:
    return Delete((path,))


def _taken_from(target: Branch) -> Callable[[TreePath], Edit]:
    def make(path: TreePath) -> Edit:
        leaf = get(target, path)
        assert isinstance(leaf, Leaf)
        rule = "exact" if leaf.dtype == "float32" else "cast"
        pair = Pair(("params", "a"), path, rule, (2, 3), "float32", leaf.dtype)
        return Transfer("s1", (pair,), Asked("digits", (), path))

    return make


def _typed(path: TreePath, leaf: Leaf) -> Edit:
    size = {"float32": 4, "bfloat16": 2, "int8": 1}[leaf.dtype]
    start = tuple(extent - 1 for extent in leaf.shape)
    number = struct.pack("<f", 1.0)[-size:]
    return SetNumbers(path, start, (1,) * len(leaf.shape), number, leaf.dtype)
