from __future__ import annotations

import numpy as np
import pytest

from inspector.errors import EditError
from inspector.ui.models.table_text import read_block, write_block


def _read(text: str, dtype: str = "float32") -> tuple[tuple[str, ...], ...]:
    return read_block(text, dtype, first=(0, 0), extent=(10, 10))


def test_a_block_reads_back_as_it_was_written() -> None:
    block = np.array([[0.1, -2], [np.nan, 3e-8]], np.float32)
    text = write_block(block, "float32")
    assert text == "0.1\t-2\nnan\t3e-8"
    back = np.array(_read(text), np.float32)
    np.testing.assert_array_equal(back, block)


@pytest.mark.parametrize(
    "text", ["1\t2\r\n3\t4\r\n", "1 2\n3 4", "1, 2\n3, 4", "1;2\n3;4"]
)
def test_separators_of_others_are_understood(text: str) -> None:
    assert _read(text) == (("1", "2"), ("3", "4"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "There are no numbers on the clipboard."),
        ("1\t2\n3", "Row 2 of the clipboard has 1 number, the first has 2."),
        ("1\tx", "Row 1, column 2: ‘x’ is no number."),
    ],
)
def test_what_is_no_block_is_refused(text: str, message: str) -> None:
    with pytest.raises(EditError) as caught:
        _read(text)
    assert caught.value.message == message


def test_a_block_must_fit_from_its_cell_on() -> None:
    with pytest.raises(EditError, match="2 × 1 numbers, but from this cell on there"):
        read_block("1\n2", "int32", first=(9, 9), extent=(10, 10))
