"""One number as text and back, in the dtype it has.

Owns how the table, the picture's readout and the clipboard write a number, and what
counts as a number when one is typed or pasted. Called on the window's thread, once
a cell; no Qt.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import Any

import ml_dtypes
import numpy as np

from inspector.errors import EditError
from inspector.variables import dtypes

_MOST_DIGITS = 17
"""Digits after which every float64 is exact, so every narrower float too."""

_PLAIN_END = 1e7
"""Whole numbers below it are written in full: ``448`` and not ``4.5e2``."""

_TRUE, _FALSE = frozenset({"true", "1"}), frozenset({"false", "0"})


class TypeNumberError(EditError):
    """What was typed or pasted is no number of the array's dtype."""

    def __init__(self, text: str, problem: str, cell: str = "") -> None:
        """Says what was typed, what is wrong with it, and in which cell."""
        place = f"{cell}: " if cell else ""
        super().__init__(f"{place}‘{text}’ {problem}.")


def text_of(value: Any, dtype: str) -> str:
    """Writes one element: integers exactly, floats as short as reads back equal.

    Args:
        value: A numpy scalar of ``dtype``.
        dtype: JAX's name of the dtype.
    """
    kind = kind_of(dtype)
    if kind == "bool":
        return "true" if value else "false"
    if kind == "int":
        return str(int(value))
    if kind == "complex":
        return str(value).strip("()")
    if dtype in {"float16", "float32", "float64"}:
        return _tidy(str(value))
    return _short_float(float(value), dtype)


@lru_cache(maxsize=1 << 16)
def _short_float(value: float, dtype: str) -> str:
    """Writes a float of ml_dtypes; their own ``str`` has six digits, come what may."""
    if not isfinite(value):
        return str(value)
    if abs(value) < _PLAIN_END and value.is_integer():
        return str(int(value))
    numpy_type = dtypes.to_numpy(dtype).type
    for digits in range(1, _MOST_DIGITS):
        text = f"{value:.{digits}g}"
        if float(numpy_type(float(text))) == value:
            return _tidy(text)
    return repr(value)


def _tidy(text: str) -> str:
    """``0.0`` and ``1e+22`` as ``0`` and ``1e22``: less to read, the same number."""
    text = text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
    return text.removesuffix(".0")


def kind_of(dtype: str) -> str:
    """Returns ``"bool"``, ``"int"``, ``"float"`` or ``"complex"``."""
    if dtype == "bool":
        return "bool"
    if dtype.startswith("complex"):
        return "complex"
    return (
        "int"
        if dtype.startswith(("int", "uint")) or dtypes.is_key(dtype)
        else ("float")
    )


def is_exact_in_float32(dtype: str) -> bool:
    """Returns whether a picture's float32 holds every number of ``dtype`` exactly."""
    return dtype not in {
        "float64", "int32", "uint32", "int64", "uint64", "complex64", "complex128",
    }  # fmt: skip


def checked(text: str, dtype: str, *, cell: str = "") -> str:
    """Returns what the store takes as a number, or says why it is none.

    Args:
        text: As typed or pasted.
        dtype: Dtype of the array it goes into.
        cell: What to call its place, e.g. ``"Row 3, column 2"``.

    Raises:
        TypeNumberError: It is no number, or none of this dtype.
    """
    cleaned = text.strip().replace("−", "-")
    problem = _rule_of(dtype)(cleaned)
    if problem:
        raise TypeNumberError(text.strip(), problem, cell)
    if kind_of(dtype) == "complex" and cleaned.endswith("i"):
        cleaned = cleaned[:-1] + "j"
    return cleaned


@lru_cache(maxsize=64)
def _rule_of(dtype: str) -> Callable[[str], str]:
    """Returns what says, of a text, why it is no number; empty when it is one.

    Looked up once a dtype, since a pasted block has tens of thousands of cells.
    """
    kind = kind_of(dtype)
    if kind == "int":
        return _integer_rule(dtype)
    if kind == "float":
        return _float_rule(dtype)
    return _bool_problem if kind == "bool" else _complex_problem


def _bool_problem(text: str) -> str:
    known = text.lower() in _TRUE | _FALSE
    return "" if known else "is neither true nor false"


def _complex_problem(text: str) -> str:
    try:
        complex(text[:-1] + "j" if text.endswith("i") else text)
    except ValueError:
        return "is no number"
    return ""


def _integer_rule(dtype: str) -> Callable[[str], str]:
    limits = ml_dtypes.iinfo(  # type: ignore[no-untyped-call]  # no stubs
        dtypes.to_numpy(dtype)
    )
    low, high = int(limits.min), int(limits.max)

    def problem(text: str) -> str:
        try:
            number = int(text)
        except ValueError:
            return f"is no whole number, and the array is {dtype}"
        fits = low <= number <= high
        return "" if fits else f"does not fit {dtype} ({low} to {high})"

    return problem


def _float_rule(dtype: str) -> Callable[[str], str]:
    numpy_dtype = dtypes.to_numpy(dtype)
    limits = ml_dtypes.finfo(  # type: ignore[no-untyped-call]  # no stubs
        numpy_dtype
    )
    largest = float(limits.max)

    def problem(text: str) -> str:
        try:
            number = float(text)
        except ValueError:
            return "is no number"
        typed_as_such = text.lower().lstrip("+-").startswith(("inf", "nan"))
        if abs(number) <= largest or typed_as_such:
            return ""
        # A little above the largest number still rounds down to it.
        with np.errstate(over="ignore"):
            rounded = float(numpy_dtype.type(number))
        if isfinite(rounded) and abs(rounded) == largest and number < 2 * largest:
            return ""
        return f"does not fit {dtype} (at most {largest:g})"

    return problem
