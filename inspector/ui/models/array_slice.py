"""A 2-D window onto an array of any rank: which axes run down and to the right.

Shared by the picture and the table. Plain arithmetic on indices; no Qt, no data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

NO_AXIS = -1
"""In place of an axis that a vector or a single number does not have."""

Span = tuple[int, int]
"""(first, stop) along one axis."""


@dataclass(frozen=True, slots=True)
class ArraySlice:
    """Which 2-D slice of an array is shown.

    Attributes:
        shape: Shape of the whole array.
        rows_axis: Axis that runs down, `NO_AXIS` for a single row.
        columns_axis: Axis that runs to the right, `NO_AXIS` for a single column.
        index: Index on every axis; those of the two shown axes do not matter.
    """

    shape: tuple[int, ...]
    rows_axis: int
    columns_axis: int
    index: tuple[int, ...]

    @property
    def rows(self) -> int:
        """Rows of the slice."""
        return 1 if self.rows_axis == NO_AXIS else self.shape[self.rows_axis]

    @property
    def columns(self) -> int:
        """Columns of the slice."""
        return 1 if self.columns_axis == NO_AXIS else self.shape[self.columns_axis]

    @property
    def other_axes(self) -> tuple[int, ...]:
        """Axes that are not shown, which have an index each."""
        shown = {self.rows_axis, self.columns_axis}
        return tuple(axis for axis in range(len(self.shape)) if axis not in shown)

    def at(self, row: int, column: int) -> tuple[int, ...]:
        """Returns the index in the array of one cell of the slice."""
        return tuple(start for start, _ in self.region((row, row + 1), (column, 0)))

    def region(self, rows: Span, columns: Span) -> tuple[Span, ...]:
        """Returns (start, stop) on every axis for a block of the slice."""
        spans = [(i, i + 1) for i in self.index]
        if self.rows_axis != NO_AXIS:
            spans[self.rows_axis] = rows
        if self.columns_axis != NO_AXIS:
            spans[self.columns_axis] = columns
        return tuple(spans)

    def as_table(self, block: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
        """Returns what was read of a `region` as ``(rows, columns)``; a view."""
        if self._is_transposed:
            return block.reshape(columns, rows).T
        return block.reshape(rows, columns)

    def in_array_order(self, table: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
        """Returns a block of texts, given by rows, in the array's C order."""
        if self._is_transposed:
            table = tuple(zip(*table, strict=True))
        return tuple(text for row in table for text in row)

    def with_axis(self, axis: int, *, down: bool) -> ArraySlice:
        """Returns the slice with another axis shown; swaps when it is the other."""
        mine, other = (
            (self.rows_axis, self.columns_axis)
            if down
            else (self.columns_axis, self.rows_axis)
        )
        if axis == other:
            other = mine
        pair = (axis, other) if down else (other, axis)
        return replace(self, rows_axis=pair[0], columns_axis=pair[1])

    def with_index(self, axis: int, position: int) -> ArraySlice:
        """Returns the slice at another position of an axis that is not shown."""
        index = (*self.index[:axis], position, *self.index[axis + 1 :])
        return replace(self, index=index)

    @property
    def _is_transposed(self) -> bool:
        return NO_AXIS not in {self.rows_axis, self.columns_axis} and (
            self.rows_axis > self.columns_axis
        )


def table_slice(shape: tuple[int, ...]) -> ArraySlice:
    """Returns the slice a table begins with: a vector runs down, as in a file."""
    rank = len(shape)
    zeros = (0,) * rank
    if rank == 0:
        return ArraySlice(shape, NO_AXIS, NO_AXIS, zeros)
    if rank == 1:
        return ArraySlice(shape, 0, NO_AXIS, zeros)
    return ArraySlice(shape, rank - 2, rank - 1, zeros)


def picture_slice(shape: tuple[int, ...]) -> ArraySlice:
    """Returns the slice a picture begins with: a vector runs to the right.

    Of a kernel the two largest axes are shown, the first of them downwards: the
    features of ``[3,3,64,128]``, the patch of ``[7,7,3,1]``.
    """
    rank = len(shape)
    zeros = (0,) * rank
    if rank <= 1:
        return ArraySlice(shape, NO_AXIS, rank - 1, zeros)
    largest = sorted(range(rank), key=lambda axis: (-shape[axis], -axis))[:2]
    return ArraySlice(shape, min(largest), max(largest), zeros)
