from __future__ import annotations

import pytest

from inspector.engine.store_query import apply_query, compile_query, find
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.tree import Branch, Node, build

PATHS: list[TreePath] = [
    ("params", "Conv_0", "kernel"),
    ("params", "Conv_0", "bias"),
    ("params", "block", "Conv_10", "kernel"),
    ("params", "block", "Conv_2", "kernel"),
    ("params", "head", "bias"),
    ("batch_stats", "bn", "mean"),
]


def make_tree() -> Node:
    return build((path, Leaf(Kind.ARRAY, (2,), "float32")) for path in PATHS)


@pytest.mark.parametrize(
    ("query", "path", "matches"),
    [
        ("conv", "params/Conv_0/kernel", True),
        ("v_0/k", "params/Conv_0/kernel", True),
        ("*/kernel", "params/Conv_0/kernel", True),
        ("*/kernel", "params/kernel", True),
        ("/*/kernel", "params/Conv_0/kernel", False),
        ("/params/**/kernel", "params/block/Conv_2/kernel", True),
        ("/params/**/kernel", "params/kernel", True),
        ("**/Conv_*", "params/Conv_0", True),
        ("**/Conv_*", "params/Conv_0/kernel", False),
        ("Conv_*/bias", "params/Conv_0/bias", True),
        ("Conv_*/bias", "params/Conv_0/x/bias", False),
        ("params/**", "params/a/b", True),
        ("a.b*", "axb", False),
    ],
)
def test_what_a_query_matches(query: str, path: str, matches: bool) -> None:
    matcher = compile_query(query)
    assert matcher is not None
    assert matcher(path) is matches


def test_an_empty_query_shows_everything() -> None:
    assert compile_query("  ") is None
    assert apply_query(make_tree(), "") is None


def test_a_filter_keeps_the_way_to_each_match_in_numeric_order() -> None:
    visible = apply_query(make_tree(), "block/*/kernel")
    assert visible is not None
    assert visible.keys == ("params",)
    block = visible.below["params"].below["block"]
    assert block.keys == ("Conv_2", "Conv_10")
    assert block.below["Conv_2"].matches == {"kernel"}
    assert visible.hits == 2


@pytest.mark.parametrize("query", ["BatchStat", "batchst", "*Stat"])
def test_the_type_of_an_nnx_variable_matches_as_a_collection_does(query: str) -> None:
    tree = build(
        [
            (("bn", "mean"), Leaf(Kind.ARRAY, variable="BatchStat")),
            (("bn", "scale"), Leaf(Kind.ARRAY, variable="Param")),
        ]
    )
    assert find(tree, query, 9) == ([("bn", "mean")], 1)


def test_a_matching_branch_is_shown_whole() -> None:
    visible = apply_query(make_tree(), "Conv_0")
    assert visible is not None
    assert visible.below["params"].keys == ("Conv_0",)
    assert "Conv_0" not in visible.below["params"].below


def test_find_stops_at_the_limit_and_counts_all() -> None:
    found, total = find(make_tree(), "kernel", 2)
    assert found == [PATHS[0], PATHS[3]]
    assert total == 3


def test_integer_keys_match_by_their_digits() -> None:
    tree = Branch({"layers": Branch({0: Leaf(Kind.ARRAY), 10: Leaf(Kind.ARRAY)})})
    assert find(tree, "layers/10", 5) == ([("layers", 10)], 1)
