from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from inspector.engine.messages.reading import CompareTrees
from inspector.engine.messages.running import DifferenceRow, RunDifference
from inspector.engine.reader_compare import compare_trees
from inspector.formats.registry import open_checkpoint
from inspector.formats.values import ValueReader
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.plain import PlainTree
from inspector.variables.value import Filled, Literal
from tests.engine.readers import Asked, raw_leaf


class _Trees:
    """Makes trees of arrays in files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made = 0

    def tree(self, **arrays: np.ndarray | Leaf) -> PlainTree:
        leaves = []
        for name, array in arrays.items():
            self._made += 1
            leaf = (
                array
                if isinstance(array, Leaf)
                else raw_leaf(self._folder / str(self._made), array)
            )
            leaves.append(((name,), leaf))
        return PlainTree(tuple(leaves))


@pytest.fixture
def trees(tmp_path: Path) -> _Trees:
    return _Trees(tmp_path)


def _row(path: str, *numbers: float) -> DifferenceRow:
    """A row whose numbers are compared up to rounding."""
    largest, mean, relative = (_Near(number) for number in numbers)
    return DifferenceRow((path,), largest, mean, relative)


class _Near(float):
    """A number that equals what is as near as rounding."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and math.isclose(self, other, rel_tol=1e-12)

    __hash__ = float.__hash__


def _compare(a: PlainTree, b: PlainTree, limit: int = 400) -> RunDifference:
    values = ValueReader(open_checkpoint)
    return compare_trees(CompareTrees(a, b, limit), Asked().job, values)


def test_differences_come_largest_first(trees: _Trees) -> None:
    one = np.array([1.0, 2.0, -4.0], np.float32)
    a = trees.tree(same=one, little=one, much=one)
    b = trees.tree(
        same=one,
        little=one + np.array([0, 0.5, 0], np.float32),
        much=one * np.float32(2),
    )
    found = _compare(a, b)
    assert found.rows == (
        _row("much", 4.0, 7 / 3, 0.5),
        _row("little", 0.5, 0.5 / 3, 0.125),
        DifferenceRow(("same",), 0.0, 0.0, 0.0),
    )
    assert found.total == 3
    assert found.text == (
        "2 of 3 leaves differ, most much (by at most 4, 0.5 of the largest)."
    )
    assert _compare(a, b, 1).rows == found.rows[:1]


def test_equal_trees_say_so(trees: _Trees) -> None:
    one = np.array([math.nan, -0.0, 1.0], np.float16)
    step = Leaf(Kind.INT, value=Literal(3))
    a = trees.tree(x=one, step=step)
    assert _compare(a, a).text == "All 2 leaves equal bit for bit."
    other = trees.tree(x=np.array([math.nan, 0.0, 1.0], np.float16), step=step)
    found = _compare(a, other)
    assert [row.max_abs for row in found.rows] == [0.0, 0.0]
    assert found.text == (
        "All numbers are equal; zeros differ in sign or NaNs in their bits."
    )


def test_integers_are_exact_however_far_apart(trees: _Trees) -> None:
    a = trees.tree(
        i=np.array([-(2**63), 5]),
        u=np.array([2**64 - 1, 0], np.uint64),
        b=np.array([True, False]),
        near=np.array([2**53 + 1]),
    )
    b = trees.tree(
        i=np.array([2**63 - 1, 5]),
        u=np.array([0, 0], np.uint64),
        b=np.array([True, True]),
        near=np.array([2**53]),
    )
    rows = {row.path[0]: row for row in _compare(a, b).rows}
    assert rows["i"].max_abs == float(2**64 - 1)
    assert rows["u"].max_abs == float(2**64 - 1)
    assert rows["u"].max_rel == math.inf
    assert rows["b"].max_abs == 1.0
    assert rows["near"].max_abs == 1.0


def test_nan_and_infinities(trees: _Trees) -> None:
    inf, nan = math.inf, math.nan
    a = trees.tree(
        nan=np.array([nan, 1.0]), inf=np.array([inf, 1.0]), z=np.ones(1) * 1j
    )
    b = trees.tree(
        nan=np.array([2.0, 1.0]), inf=np.array([inf, 1.5]), z=np.ones(1) + 0j
    )
    rows = _compare(a, b).rows
    assert rows[0].path == ("nan",)
    assert rows[0].max_abs is not None
    assert math.isnan(rows[0].max_abs)
    assert rows[1] == _row("z", 2**0.5, 2**0.5, 2**0.5)
    assert rows[2] == _row("inf", 0.5, 0.25, 1 / 3)


def test_what_cannot_be_compared_says_why(trees: _Trees) -> None:
    one = np.ones((2, 3), np.float32)
    text = Leaf(Kind.STR, value=Literal("a"))
    a = trees.tree(shape=one, dtype=one, left=one, text=text)
    b = trees.tree(
        shape=np.ones((2, 4), np.float32),
        dtype=one.astype(np.float64),
        text=Leaf(Kind.STR, value=Literal("b")),
        right=one,
    )
    found = _compare(a, b)
    assert {row.path[0]: row.why for row in found.rows} == {
        "shape": "shape (2, 3) and (2, 4)",
        "dtype": "dtype float32 and float64",
        "left": "only in the first",
        "right": "only in the second",
        "text": "'a' and 'b'",
    }
    assert all(row.max_abs is None for row in found.rows)
    assert found.text == "5 of 5 leaves cannot be compared."


def test_blocks_of_any_size_meet(trees: _Trees) -> None:
    array = np.arange(5 << 20, dtype=np.int32)
    filled = Leaf(Kind.ARRAY, array.shape, "int32", Filled(0))
    a = trees.tree(x=array)
    found = _compare(a, PlainTree(((("x",), filled),)))
    assert found.rows[0].max_abs == float((5 << 20) - 1)
    assert found.rows[0].mean_abs == pytest.approx(((5 << 20) - 1) / 2)


def test_scalars_are_numbers(trees: _Trees) -> None:
    a = trees.tree(step=Leaf(Kind.INT, value=Literal(7)))
    b = trees.tree(step=Leaf(Kind.INT, value=Literal(10)))
    assert _compare(a, b).rows == (DifferenceRow(("step",), 3.0, 3.0, 0.3),)
