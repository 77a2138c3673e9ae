from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.errors import EditError
from inspector.variables.patching import MAX_PATCHES, patch
from inspector.variables.value import Initial, Patched, Value

SHAPE = (5, 6)


def _evaluate(value: Value) -> np.ndarray:
    """What a reader makes of a stack of patches on int16 zeros."""
    stack: list[Patched] = []
    while isinstance(value, Patched):
        stack.append(value)
        value = value.of
    array = np.zeros(SHAPE, np.int16)
    for one in reversed(stack):
        place = tuple(
            slice(a, a + n) for a, n in zip(one.start, one.shape, strict=True)
        )
        array[place] = np.frombuffer(one.data, np.int16).reshape(one.shape)
    return array


def _depth(value: Value) -> int:
    depth = 0
    while isinstance(value, Patched):
        depth, value = depth + 1, value.of
    return depth


Block = tuple[tuple[int, int], tuple[int, int]]


@st.composite
def _block(draw: st.DrawFn) -> Block:
    start = tuple(draw(st.integers(0, size - 1)) for size in SHAPE)
    shape = tuple(
        draw(st.integers(0, size - at)) for size, at in zip(SHAPE, start, strict=True)
    )
    return (start[0], start[1]), (shape[0], shape[1])


@given(st.lists(_block(), max_size=25))
@settings(max_examples=150, deadline=None)
def test_a_short_stack_means_the_same(blocks: list[Block]) -> None:
    value: Value = Initial(())
    expected = np.zeros(SHAPE, np.int16)
    for number, (start, shape) in enumerate(blocks, 1):
        block = np.full(shape, number, np.int16) + np.arange(shape[1], dtype=np.int16)
        place = tuple(slice(a, a + n) for a, n in zip(start, shape, strict=True))
        expected[place] = block
        value = patch(value, start, shape, block.tobytes(), 2)
    assert np.array_equal(_evaluate(value), expected)


def test_a_row_filled_cell_by_cell_is_one_block() -> None:
    value: Value = Initial(())
    for column in (0, 1, 2, 5, 4, 3):
        value = patch(value, (2, column), (1, 1), bytes([column, 0]), 2)
    assert isinstance(value, Patched)
    assert (value.start, value.shape) == ((2, 0), (1, 6))
    assert value.data == bytes([0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0])
    assert value.of == Initial(())


def test_a_number_typed_again_takes_no_more_room() -> None:
    value: Value = Initial(())
    for number in range(10):
        value = patch(value, (), (), bytes([number, 0]), 2)
    assert value == Patched(Initial(()), (), (), bytes([9, 0]))


def test_separate_numbers_are_bounded() -> None:
    value: Value = Initial(())
    for index in range(MAX_PATCHES):
        value = patch(value, (2 * index,), (1,), b"xx", 2)
    assert _depth(value) == MAX_PATCHES
    with pytest.raises(EditError, match="128 separate blocks") as caught:
        patch(value, (2 * MAX_PATCHES,), (1,), b"xx", 2)
    assert "Paste a larger block" in caught.value.hint
    whole = patch(value, (0,), (1000,), b"yy" * 1000, 2)
    assert _depth(whole) == 1
