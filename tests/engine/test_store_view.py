from __future__ import annotations

import pytest

from inspector.engine.codec import encode
from inspector.engine.messages import viewing
from inspector.engine.store_view import (
    FilteredTree,
    NodeAbsentError,
    children_page,
    listing_page,
    make_details,
    value_text,
)
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.tree import Branch, Node, build, walk
from inspector.variables.value import (
    Cast,
    Filled,
    Initial,
    Kept,
    Literal,
    Patched,
    Stored,
    Value,
)

NAMES = {"s1": "digits"}


def array(value: Value, shape: tuple[int, ...] = (2, 3)) -> Leaf:
    return Leaf(Kind.ARRAY, shape, "float32", value)


def make_target() -> Node:
    stored = Stored("s1", ("params", "enc", "kernel"))
    return build(
        [
            (("params", "backbone", "kernel"), array(stored)),
            (
                ("params", "backbone", "scale"),
                array(Cast(stored, "float16", "float32")),
            ),
            (
                ("params", "head", "bias"),
                array(Initial(("params", "head", "bias")), (4,)),
            ),
            (("params", "head", "kernel"), array(Filled(0))),
            (("step",), Leaf(Kind.INT, value=Literal(7))),
        ]
    )


def page(
    tree: Node, path: tuple[str, ...] = (), query: str = "", start: int = 0
) -> viewing.ChildPage:
    request = viewing.AskChildren("target", path, query, start, 2)
    filtered = FilteredTree(tree, query)
    return children_page(filtered, request, NAMES, with_origin=True)


def test_a_branch_shows_sums_and_its_worst_origin() -> None:
    row = page(make_target()).rows[0]
    assert (row.key, row.kind, row.children) == ("params", "dict", 2)
    assert (row.leaves, row.parameters, row.nbytes) == (4, 22, 88)
    assert row.origin == "initial"
    assert dict(row.origins) == {"exact": 1, "converted": 1, "edited": 1, "initial": 1}


def test_a_leaf_names_its_source() -> None:
    rows = page(make_target(), ("params", "backbone")).rows
    assert [row.origin for row in rows] == ["exact", "converted"]
    assert rows[0].source == "digits:params/enc/kernel"
    assert rows[0].shape == (2, 3)


def test_pages_start_where_asked_and_know_the_total() -> None:
    flat = build(((f"w{i}",), array(Filled(0))) for i in range(5))
    answer = page(flat, start=4)
    assert [row.key for row in answer.rows] == ["w4"]
    assert answer.total == 5


def test_children_counts_follow_the_filter() -> None:
    answer = page(make_target(), query="bias")
    assert [row.key for row in answer.rows] == ["params"]
    assert answer.rows[0].children == 1


def test_locate_gives_row_numbers_up_to_the_first_hidden_key() -> None:
    tree = make_target()
    path = ("params", "head", "kernel")
    assert FilteredTree(tree).locate(path) == (0, 1, 1)
    assert FilteredTree(tree, "bias").locate(path) == (0, 0)


def test_scalars_show_their_value() -> None:
    details = make_details("target", make_target(), ("step",), NAMES, is_target=True)
    assert details.literal == "7"
    assert not details.has_numbers


def test_details_say_every_step_of_a_value() -> None:
    stored = Stored("s1", ("w",))
    value = Patched(Cast(stored, "float16", "float32"), (0, 1), (1, 1), b"\0\0\0\0")
    assert value_text(value, NAMES).split("\n") == [
        "from digits : w",
        "cast float16 → float32",
        "1 number typed at [0, 1]",
    ]


def test_a_variable_of_nnx_shows_its_type() -> None:
    leaf = Leaf(
        Kind.ARRAY, (2, 3), "float32", Kept("ab" * 32, (2, 3), "float32"),
        note="tag='x'", variable="BatchStat",
    )  # fmt: skip
    tree = Branch({"mean": leaf})
    details = make_details("target", tree, ("mean",), NAMES, is_target=True)
    assert details.note == "BatchStat · tag='x'"
    assert (details.row.variable, details.row.origin) == ("BatchStat", "run")
    assert (details.text, details.ready) == ("taken from a run", True)
    assert page(tree).rows[0].variable == "BatchStat"


def test_an_initial_value_is_not_ready() -> None:
    tree = make_target()
    path = ("params", "head", "bias")
    assert not make_details("target", tree, path, NAMES, is_target=True).ready


def test_an_absent_path_says_where() -> None:
    with pytest.raises(NodeAbsentError) as caught:
        page(make_target(), ("params", "gone"))
    assert caught.value.where == "params/gone"


def test_long_text_is_cut_in_rows_and_listings() -> None:
    tree = Branch({"text": Leaf(Kind.STR, value=Literal("x" * 5000))})
    assert page(tree).rows[0].value == "x" * 79 + "…"
    leaves = list(walk(tree))
    request = viewing.AskListing("s1")
    listed = listing_page(leaves, request, NAMES, is_target=False).leaves[0]
    assert listed.literal == "x" * 1024


def test_the_largest_page_stays_below_the_bound_of_the_pipe() -> None:
    value = Stored("s1", tuple("k" * 200 for _ in range(20)))
    leaf = Leaf(
        Kind.ARRAY, (2,) * 8, "float32", value, sharding="s" * 5000, error="e" * 5000
    )
    tree = Branch({f"{i:03d}" + "n" * 60: leaf for i in range(600)})
    request = viewing.AskChildren("target", (), count=10_000)
    answer = children_page(FilteredTree(tree), request, NAMES, with_origin=True)
    assert len(answer.rows) == 500
    assert len(encode(answer)) < 400 << 10
    request = viewing.AskChildren("target", (), count=200)
    answer = children_page(FilteredTree(tree), request, NAMES, with_origin=True)
    assert len(encode(answer)) < 256 << 10
