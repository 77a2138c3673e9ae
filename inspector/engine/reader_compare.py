"""Compares two trees leaf by leaf, streamed.

A handler of the reader, on one of its worker threads. Both leaves of a pair are read
once, block by block; differences are taken in float64, those of integers exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from inspector.engine.connection_job import Job
from inspector.engine.messages.reading import CompareTrees
from inspector.engine.messages.running import DifferenceRow, RunDifference
from inspector.engine.reader_numbers import LeafReader
from inspector.errors import ReadLeafError
from inspector.formats.checkpoint import stop_if
from inspector.variables.fitting import describe_leaf
from inspector.variables.leaf import EMPTY_KINDS, Kind, Leaf
from inspector.variables.path import TreePath, join
from inspector.variables.value import Literal

_ARRAYS = {Kind.ARRAY, Kind.KEY}
_NUMBERS = {Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.COMPLEX}


def compare_trees(body: CompareTrees, job: Job, values: LeafReader) -> RunDifference:
    """Compares two trees; progress counts the bytes of both.

    Rows come with the largest difference first; before them what has no numbers
    to compare, then what is NaN on one side only.

    Raises:
        CancelledError: The request was cancelled.
    """
    first, second = _leaves(body.a.leaves), _leaves(body.b.leaves)
    paths = list(dict.fromkeys([*first, *second]))
    total = sum(leaf.nbytes for side in (first, second) for leaf in side.values())
    rows: list[DifferenceRow] = []
    equal = done = 0
    for path in paths:
        stop_if(job.is_cancelled)
        one, two = first.get(path), second.get(path)
        row, same = _row(path, one, two, job, values)
        rows.append(row)
        equal += same
        done += sum(leaf.nbytes for leaf in (one, two) if leaf is not None)
        job.progress(done, total, "Comparing")
    rows.sort(key=_order)
    text = _verdict(rows, equal)
    return RunDifference(tuple(rows[: max(0, body.limit)]), len(rows), text)


def _leaves(leaves: tuple[tuple[TreePath, Leaf], ...]) -> dict[TreePath, Leaf]:
    return {path: leaf for path, leaf in leaves if leaf.kind not in EMPTY_KINDS}


def _order(row: DifferenceRow) -> tuple[int, float]:
    if row.max_abs is None:
        return 0, 0.0
    return (1, 0.0) if math.isnan(row.max_abs) else (2, -row.max_abs)


def _row(
    path: TreePath, one: Leaf | None, two: Leaf | None, job: Job, values: LeafReader
) -> tuple[DifferenceRow, bool]:
    """Returns the row of a leaf, and whether both sides are equal bit for bit."""
    if one is None or two is None:
        where = "second" if one is None else "first"
        return DifferenceRow(path, None, None, None, f"only in the {where}"), False
    if why := _why_not(one, two):
        return DifferenceRow(path, None, None, None, why), False
    if one.kind not in _ARRAYS:
        return _scalar_row(path, one, two)
    sums = _Difference()
    try:
        for left, right in _together(one, two, job, values):
            sums.add(left, right)
    except ReadLeafError as error:
        return DifferenceRow(path, None, None, None, error.message), False
    return sums.row(path), sums.equal


def _why_not(one: Leaf, two: Leaf) -> str:
    if one.error or two.error:
        return one.error or two.error
    if one.kind is not two.kind:
        return f"{describe_leaf(one)} and {describe_leaf(two)}"
    if one.shape != two.shape:
        return f"shape {one.shape} and {two.shape}"
    if one.dtype != two.dtype:
        return f"dtype {one.dtype} and {two.dtype}"
    return ""


def _scalar_row(path: TreePath, one: Leaf, two: Leaf) -> tuple[DifferenceRow, bool]:
    left, right = _scalar(one), _scalar(two)
    if repr(left) == repr(right):
        return DifferenceRow(path, 0.0, 0.0, 0.0), True
    if one.kind in _NUMBERS:
        sums = _Difference()
        sums.add(np.atleast_1d(np.asarray(left)), np.atleast_1d(np.asarray(right)))
        return sums.row(path), False
    why = f"{str(left)[:40]!r} and {str(right)[:40]!r}"
    return DifferenceRow(path, None, None, None, why), False


def _scalar(leaf: Leaf) -> object:
    return leaf.value.value if isinstance(leaf.value, Literal) else None


def _together(
    one: Leaf, two: Leaf, job: Job, values: LeafReader
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yields the same elements of two leaves, whatever blocks each comes in."""
    left = right = np.empty(0)
    other = iter(values.blocks(two, job.is_cancelled))
    for block in values.blocks(one, job.is_cancelled):
        stop_if(job.is_cancelled)
        left = block.reshape(-1)
        while left.size:
            if not right.size:
                right = _next(other)
            count = min(left.size, right.size)
            yield left[:count], right[:count]
            left, right = left[count:], right[count:]


def _next(blocks: Iterator[np.ndarray]) -> np.ndarray:
    for block in blocks:
        if block.size:
            return block.reshape(-1)
    raise ReadLeafError(message="The second ends before the first.")


@dataclass(slots=True)
class _Difference:
    """What is known of the difference of two leaves so far.

    Attributes:
        equal: Whether every bit was equal.
        count: Elements seen.
        total: Sum of the absolute differences.
        largest: Largest of them; NaN when one side alone had a NaN.
        reach: Largest finite absolute value of the second side.
    """

    equal: bool = True
    count: int = 0
    total: float = 0.0
    largest: float = 0.0
    reach: float = 0.0
    _one_sided: bool = field(default=False)

    def add(self, left: np.ndarray, right: np.ndarray) -> None:
        """Adds the same elements of both sides."""
        self.count += left.size
        self.reach = max(self.reach, _reach(right))
        if _bits_equal(left, right):
            return
        self.equal = False
        # A plain subtraction of infinities and NaN warns; both are looked at below.
        with np.errstate(all="ignore"):
            apart = _apart(left, right)
        if np.isnan(apart).any():
            self._one_sided = True
            return
        self.total += float(apart.sum(dtype=np.float64))
        self.largest = max(self.largest, float(apart.max(initial=0)))

    def row(self, path: TreePath) -> DifferenceRow:
        """Returns the row of the leaf."""
        if self._one_sided:
            return DifferenceRow(path, math.nan, math.nan, math.nan)
        mean = self.total / self.count if self.count else 0.0
        if not self.largest:
            relative = 0.0
        else:
            relative = self.largest / self.reach if self.reach else math.inf
        return DifferenceRow(path, self.largest, mean, relative)


def _bits_equal(left: np.ndarray, right: np.ndarray) -> bool:
    if left.dtype != right.dtype:
        return False
    one, two = np.ascontiguousarray(left), np.ascontiguousarray(right)
    return bool(np.array_equal(one.view(np.uint8), two.view(np.uint8)))


def _is_integer(array: np.ndarray) -> bool:
    return array.dtype.kind in "biu"


def _wide(array: np.ndarray) -> np.ndarray:
    """Returns elements in float64 or complex128, in which nothing overflows."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128, copy=False)
    return array.astype(np.float64, copy=False)


def _apart(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Returns absolute differences; NaN where one side alone is NaN."""
    if _is_integer(left) and _is_integer(right):
        if left.dtype == right.dtype == np.uint64:
            one, two = left, right
        else:
            one, two = left.astype(np.int64), right.astype(np.int64)
        # Modulo 2**64 the larger less the smaller is exact, however far apart.
        low, high = np.minimum(one, two), np.maximum(one, two)
        exact: np.ndarray = high.astype(np.uint64) - low.astype(np.uint64)
        return exact
    one, two = _wide(left), _wide(right)
    apart: np.ndarray = np.abs(one - two).astype(np.float64)
    alike = (one == two) | (np.isnan(one) & np.isnan(two))
    apart[alike] = 0.0
    return apart


def _reach(array: np.ndarray) -> float:
    if not array.size:
        return 0.0
    if _is_integer(array):
        return float(max(abs(int(array.min())), abs(int(array.max()))))
    size = np.abs(_wide(array))
    return float(size.max(initial=0.0, where=np.isfinite(size)))


def _verdict(rows: list[DifferenceRow], equal: int) -> str:
    """Returns the result in a sentence."""
    count = f"{len(rows):,} {'leaf' if len(rows) == 1 else 'leaves'}"
    if not rows:
        return "There is nothing to compare."
    if equal == len(rows):
        return f"All {count} equal bit for bit." if equal > 1 else "Equal bit for bit."
    numbers = [row for row in rows if row.max_abs is not None]
    other = len(rows) - len(numbers)
    parts = []
    differ = [row for row in numbers if row.max_abs]
    if differ:
        worst = differ[0]
        how = (
            "has NaN on one side only"
            if math.isnan(worst.max_abs or 0.0)
            else f"by at most {worst.max_abs:.3g}, {worst.max_rel:.3g} of the largest"
        )
        parts.append(
            f"{len(differ):,} of {count} differ, most {join(worst.path)} ({how})"
        )
    elif numbers:
        parts.append(
            "All numbers are equal; zeros differ in sign or NaNs in their bits"
        )
    if other:
        parts.append(f"{other:,} of {count} cannot be compared")
    return "; ".join(parts) + "."
