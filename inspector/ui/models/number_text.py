"""One number as text and back, in the dtype it has.

Owns how the table, the picture's readout and the clipboard write a number, and what
counts as a number when one is typed or pasted. Called on the window's thread, once
a cell; no Qt.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from inspector.errors import EditError
from inspector.variables import dtypes

_MOST_DIGITS = 17
"""Digits after which every float64 is exact, so every narrower float too."""

_TRUE, _FALSE = frozenset({"true", "1"}), frozenset({"false", "0"})


class TypeNumberError(EditError):
    """What was typed or pasted is no number of the array's dtype."""


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
    if not np.isfinite(value):
        return str(value)
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
    return "int" if dtype.startswith(("int", "uint")) or dtypes.is_key(dtype) else (
        "float"
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
    problem = _problem(cleaned, dtype)
    if problem:
        place = f"{cell}: " if cell else ""
        raise TypeNumberError(f"{place}‘{text.strip()}’ {problem}.")
    return cleaned


def _problem(text: str, dtype: str) -> str:
    kind = kind_of(dtype)
    if kind == "bool":
        known = text.lower() in _TRUE | _FALSE
        return "" if known else "is neither true nor false"
    try:
        value = complex(text.replace("i", "j")) if kind == "complex" else float(text)
    except ValueError:
        return "is no number"
    if kind == "int":
        return _integer_problem(text, value, dtype)
    if kind == "float" and np.isfinite(value):
        return _float_problem(value, dtype)
    return ""


def _integer_problem(text: str, value: complex, dtype: str) -> str:
    try:
        number = int(text)
    except ValueError:
        return f"is no whole number, and the array is {dtype}"
    del value
    limits = ml_dtypes.iinfo(dtypes.to_numpy(dtype))
    if not int(limits.min) <= number <= int(limits.max):
        return f"does not fit {dtype} ({int(limits.min)} to {int(limits.max)})"
    return ""


def _float_problem(value: complex, dtype: str) -> str:
    with np.errstate(over="ignore"):
        stored = float(dtypes.to_numpy(dtype).type(float(value.real)))
    if np.isfinite(stored):
        return ""
    largest = float(ml_dtypes.finfo(dtypes.to_numpy(dtype)).max)
    return f"does not fit {dtype} (at most {largest:g})"
