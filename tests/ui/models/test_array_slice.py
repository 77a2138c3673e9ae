from __future__ import annotations

import numpy as np
import pytest

from inspector.ui.models.array_slice import (
    NO_AXIS,
    ArraySlice,
    picture_slice,
    table_slice,
)


def test_the_first_slices() -> None:
    assert table_slice(()) == ArraySlice((), NO_AXIS, NO_AXIS, ())
    assert table_slice((5,)).rows == 5
    assert picture_slice((5,)).columns == 5
    kernel = picture_slice((3, 3, 64, 128))
    assert (kernel.rows_axis, kernel.columns_axis) == (2, 3)
    patch = picture_slice((7, 7, 3, 1))
    assert (patch.rows_axis, patch.columns_axis) == (0, 1)


@pytest.mark.parametrize("axes", [(0, 2), (2, 0), (1, 2), (2, 1)])
def test_a_region_read_gives_the_rows_and_columns_asked_for(
    axes: tuple[int, int],
) -> None:
    array = np.arange(4 * 5 * 6).reshape(4, 5, 6)
    index = (1, 2, 3)
    shown = ArraySlice(array.shape, *axes, index)
    region = shown.region((1, 3), (0, 2))
    block = array[tuple(slice(a, b) for a, b in region)]
    table = shown.as_table(block, 2, 2)
    for row in (0, 1):
        for column in (0, 1):
            assert table[row, column] == array[shown.at(row + 1, column)]
    texts = tuple(tuple(str(cell) for cell in line) for line in table)
    assert shown.in_array_order(texts) == tuple(str(n) for n in block.reshape(-1))


def test_choosing_the_other_shown_axis_swaps() -> None:
    shown = table_slice((4, 5, 6))
    swapped = shown.with_axis(2, down=True)
    assert (swapped.rows_axis, swapped.columns_axis) == (2, 1)
    moved = shown.with_axis(0, down=False)
    assert (moved.rows_axis, moved.columns_axis, moved.other_axes) == (1, 0, (2,))
