from __future__ import annotations

from inspector.variables.leaf import Kind, Leaf, Origin
from inspector.variables.tree import build, totals_of, walk
from inspector.variables.value import Stored


def test_an_empty_node_is_a_leaf_but_lacks_no_value() -> None:
    stored = Leaf(Kind.ARRAY, (2,), "float32", Stored("s1", ("a",)))
    tree = build([(("a",), stored), (("b", "c"), Leaf(Kind.EMPTY_DICT))])
    totals = totals_of(tree)
    assert totals.leaves == 2
    assert totals.origins == {Origin.EXACT: 1}


def test_leaves_come_in_the_order_they_are_shown() -> None:
    leaf = Leaf(Kind.ARRAY, (2,), "float32")
    names = ["layer_10", "layer_2", "embed"]
    tree = build([((name, "w"), leaf) for name in names])
    assert [path for path, _ in walk(tree, ("params",))] == [
        ("params", "embed", "w"),
        ("params", "layer_2", "w"),
        ("params", "layer_10", "w"),
    ]
