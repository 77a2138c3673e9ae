"""Blocks of numbers as text on the clipboard: tab-separated, one line a row.

What spreadsheets, numpy's ``savetxt`` and editors write and read. No Qt.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from inspector.errors import EditError
from inspector.ui.format import plural
from inspector.ui.models import number_text


class PasteBlockError(EditError):
    """What is on the clipboard is no block of numbers that fits here."""

    @classmethod
    def empty(cls) -> PasteBlockError:
        """There is nothing to paste."""
        return cls(
            "There are no numbers on the clipboard.",
            hint="Copy a block of numbers, one row a line, columns split by tabs.",
        )

    @classmethod
    def ragged(cls, row: int, length: int, width: int) -> PasteBlockError:
        """A row is shorter or longer than the first; ``row`` counts from 1."""
        return cls(
            f"Row {row} of the clipboard has {plural(length, 'number')}, the first has"
            f" {width}.",
            hint="Copy a rectangular block.",
        )

    @classmethod
    def too_large(cls, size: tuple[int, int], room: tuple[int, int]) -> PasteBlockError:
        """The block reaches beyond the last row or column."""
        return cls(
            f"The clipboard holds {size[0]} × {size[1]} numbers, but from this cell on"
            f" there are {room[0]} × {room[1]}.",
            hint="Choose a cell further up or to the left.",
        )


def write_block(block: NDArray[Any], dtype: str) -> str:
    """Returns a 2-D block as text, numbers as `number_text.text_of` writes them."""
    return "\n".join(
        "\t".join(number_text.text_of(value, dtype) for value in row) for row in block
    )


def read_block(
    text: str, dtype: str, *, first: tuple[int, int], extent: tuple[int, int]
) -> tuple[tuple[str, ...], ...]:
    """Reads a block that is to be pasted.

    Columns are split at tabs; a text without any is split at commas, semicolons or
    blanks, as numpy and CSV files write them.

    Args:
        text: What is on the clipboard.
        dtype: Dtype of the array it goes into.
        first: Row and column of the cell it is pasted at.
        extent: Rows and columns of the whole table.

    Returns:
        Rows of checked texts, all of one length.

    Raises:
        PasteBlockError: It is empty, ragged or too large for its place.
        TypeNumberError: A cell holds no number; the message names the cell.
    """
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if line.strip()]
    rows = [_split(line, tabbed="\t" in text) for line in lines]
    if not rows:
        raise PasteBlockError.empty()
    width = len(rows[0])
    for number, row in enumerate(rows):
        if len(row) != width:
            raise PasteBlockError.ragged(number + 1, len(row), width)
    _check_fit((len(rows), width), first, extent)
    return tuple(
        tuple(
            number_text.checked(cell, dtype, cell=f"Row {i + 1}, column {j + 1}")
            for j, cell in enumerate(row)
        )
        for i, row in enumerate(rows)
    )


def _split(line: str, *, tabbed: bool) -> list[str]:
    if tabbed:
        return [cell.strip() for cell in line.split("\t")]
    bare = line.strip().strip("[]")
    for separator in (";", ","):
        bare = bare.replace(separator, " ")
    return bare.split()


def _check_fit(
    size: tuple[int, int], first: tuple[int, int], extent: tuple[int, int]
) -> None:
    room = (extent[0] - first[0], extent[1] - first[1])
    if size[0] > room[0] or size[1] > room[1]:
        raise PasteBlockError.too_large(size, room)
