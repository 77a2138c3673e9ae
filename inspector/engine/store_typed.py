"""From what a person types to numbers a leaf can hold.

Pure functions for the store's edits: exact for integers, words for booleans, and an
error that names the cell and what would do.
"""

from __future__ import annotations

import math

import numpy as np

from inspector.errors import EditError
from inspector.variables import casting, dtypes
from inspector.variables.apply import encode
from inspector.variables.path import TreePath, join

Number = bool | int | float | complex

_WORDS = {"true": True, "false": False}
_DIGITS = {"1": True, "0": False}

_KINDS = {
    "bool": "true or false, or 1 or 0",
    "integer": "a whole number such as -3",
    "complex": "a number such as 1+2j",
    "float": "a number such as 0.5, 1e-3, nan or inf",
}


class TypedNumberError(EditError):
    """A typed text is no number that the leaf can hold."""

    def __init__(self, text: str, why: str, where: str, kind: str) -> None:
        """Names the text, the cell, and what would do."""
        super().__init__(
            f"{text!r} cannot go here: {why}",
            where=where,
            hint=f"Type {_KINDS[kind]}.",
        )


class TypedCountError(EditError):
    """A pasted block has another number of cells than the place for it."""

    def __init__(self, path: TreePath, expected: int, found: int) -> None:
        """Names the leaf and both counts."""
        super().__init__(
            f"The block has {expected} cells, {found} numbers were given",
            where=join(path),
            hint="Copy a rectangle of numbers and paste it where it fits.",
        )


def parse_number(text: str, dtype: str, where: str) -> Number:
    """Reads one number for a leaf.

    Args:
        text: As typed; blanks around it and ``_`` or a thin space as separators of
            thousands are allowed.
        dtype: Dtype of the leaf.
        where: Cell or path for the error.

    Raises:
        TypedNumberError: The text is no number, or the dtype cannot hold it.
    """
    kind = _kind(dtype)
    plain = text.strip().replace("\u202f", "").replace("\u2212", "-").lower()
    try:
        number = _convert(plain, kind)
    except (ValueError, KeyError):
        raise TypedNumberError(text, "it is not a number", where, kind) from None
    why = casting.why_unfit(number, dtype)
    if why:
        raise TypedNumberError(text, why, where, kind)
    return number


def _kind(dtype: str) -> str:
    if dtype == "bool":
        return "bool"
    if casting.is_integer(dtype):
        return "integer"
    return "complex" if casting.is_complex(dtype) else "float"


def _convert(text: str, kind: str) -> Number:
    words = _WORDS | _DIGITS if kind == "bool" else _WORDS
    if text in words or kind == "bool":
        return words[text]
    if kind == "integer":
        return _integer(text)
    if kind == "complex":
        return complex(
            text.replace(" ", "").replace("i", "j") if "inf" not in text else text
        )
    return float(text)


def _integer(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        number = float(text)
    # 1e3 and 2.0 are whole numbers; 2.5, nan and inf are not.
    if not math.isfinite(number) or number != int(number):
        raise ValueError(text)
    return int(number)


def encode_block(
    texts: tuple[str, ...],
    dtype: str,
    path: TreePath,
    start: tuple[int, ...],
    shape: tuple[int, ...],
) -> bytes:
    """Reads a block of typed numbers into the bytes of an edit.

    Args:
        texts: One text per cell in C order.
        dtype: Dtype of the leaf.
        path: The leaf, for errors.
        start: First index of the block on every axis.
        shape: Extent of the block on every axis.

    Returns:
        The elements in C order, little-endian, in ``dtype``.

    Raises:
        TypedCountError: There are more or fewer texts than cells.
        TypedNumberError: One of them does not fit; names its cell.
    """
    count = math.prod(shape)
    if len(texts) != count:
        raise TypedCountError(path, count, len(texts))
    numbers: list[Number] = []
    for position, text in enumerate(texts):
        inside = np.unravel_index(position, shape) if shape else ()
        cell = [
            int(first + offset) for first, offset in zip(start, inside, strict=True)
        ]
        numbers.append(parse_number(text, dtype, f"{join(path)}{cell}"))
    array = np.array(numbers, dtype=_exact(dtype)).reshape(shape)
    return encode(array, dtype)


def _exact(dtype: str) -> np.dtype:
    """A numpy dtype that holds what was typed until it is encoded."""
    kind = _kind(dtype)
    if kind == "float":
        return np.dtype(np.float64)
    return np.dtype(object) if kind == "integer" else dtypes.to_numpy(dtype)
