"""What a change of dtype does to the numbers: nothing, or which loss.

Used by plans and edits in the store process; it reads no numbers. What counts as
exact is measured on every bit pattern of the narrow dtypes and known by rule for
the wide ones.
"""

from __future__ import annotations

import math
import sys
import warnings
from functools import lru_cache

import ml_dtypes
import numpy as np

from inspector.variables import dtypes

_NARROW_BYTES = 2
_WIDE_BYTES = 8


def is_known(name: str) -> bool:
    """Returns whether ``name`` is the dtype of a plain array known here."""
    return name in _KNOWN


_KNOWN = frozenset(dtypes.NAMES)


def is_integer(name: str) -> bool:
    """Returns whether a dtype holds integers, int4 and its like included."""
    return name.lstrip("u").startswith("int")


def is_complex(name: str) -> bool:
    """Returns whether a dtype holds complex numbers."""
    return name.startswith("complex")


def integer_range(name: str) -> tuple[int, int]:
    """Returns the least and the largest value of an integer dtype."""
    info = ml_dtypes.iinfo(dtypes.to_numpy(name))  # type: ignore[no-untyped-call]  # untyped upstream
    return int(info.min), int(info.max)


def largest_float(name: str) -> float:
    """Returns the largest finite value of a float dtype, or of complex parts."""
    return float(_finfo(name).max)


def _finfo(name: str) -> ml_dtypes.finfo:
    return ml_dtypes.finfo(dtypes.to_numpy(name))  # type: ignore[no-untyped-call]  # untyped upstream


@lru_cache(maxsize=1024)
def is_possible(from_dtype: str, to_dtype: str) -> bool:
    """Returns whether numpy can cast one dtype to the other.

    ml_dtypes has no conversion between some pairs of 8-bit floats.

    Raises:
        KeyError: One of the names is no dtype of plain arrays.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        try:
            np.ones(1, dtypes.to_numpy(from_dtype)).astype(dtypes.to_numpy(to_dtype))
        except TypeError:
            return False
    return True


@lru_cache(maxsize=1024)
def cast_is_exact(from_dtype: str, to_dtype: str) -> bool:
    """Returns whether every value of one dtype survives a cast to the other.

    E.g. true for bfloat16 to float32 and int8 to float16, false for int32 to
    float32. NaN counts as kept when it stays NaN; its payload is not looked at.

    Raises:
        KeyError: One of the names is no dtype of plain arrays.
    """
    if from_dtype == to_dtype:
        dtypes.to_numpy(from_dtype)
        return True
    if not is_possible(from_dtype, to_dtype):
        return False
    source, target = dtypes.to_numpy(from_dtype), dtypes.to_numpy(to_dtype)
    if source.itemsize <= _NARROW_BYTES:
        return _survives(_every_value(from_dtype, source), target)
    if to_dtype not in dtypes.NAMES or target.kind not in "biufc":
        return False
    # numpy calls int64 → float64 safe, although it rounds above 2**53.
    if is_integer(from_dtype) and source.itemsize == _WIDE_BYTES:
        return is_integer(to_dtype) and np.can_cast(source, target, "safe")
    return bool(np.can_cast(source, target, "safe"))


def _every_value(name: str, dtype: np.dtype) -> np.ndarray:
    """Returns all values of a dtype of at most 16 bits."""
    if name == "bool":
        return np.array([False, True])
    if is_integer(name):
        low, high = integer_range(name)
        return np.arange(low, high + 1, dtype=np.int32).astype(dtype)
    bits = np.uint16 if dtype.itemsize == _NARROW_BYTES else np.uint8
    count = 1 << (8 * dtype.itemsize)
    patterns = np.arange(count, dtype=np.int64).astype(bits)
    if "float4" in name or "float6" in name:
        # Sub-byte floats use the low bits of their byte; others repeat them.
        patterns = patterns[
            : 1 << int(name.split("_", maxsplit=1)[0].removeprefix("float"))
        ]
    return patterns.view(dtype)


def _survives(values: np.ndarray, target: np.dtype) -> bool:
    with np.errstate(all="ignore"):
        there = values.astype(target)
        # float64 holds every 16-bit value, and what any dtype made of it.
        before = values.astype(np.float64)
        after = there.astype(np.complex128).real
    same = np.array_equal(before, after, equal_nan=True)
    numbers = ~np.isnan(before)
    signs = np.signbit(before[numbers]) == np.signbit(after[numbers])
    return bool(same and signs.all())


@lru_cache(maxsize=1024)
def cast_effect(from_dtype: str, to_dtype: str) -> str:
    """Returns what a cast may do to the numbers, in words; empty when exact.

    Raises:
        KeyError: One of the names is no dtype of plain arrays.
    """
    if cast_is_exact(from_dtype, to_dtype):
        return ""
    if not is_possible(from_dtype, to_dtype):
        return "is not possible"
    if is_complex(from_dtype) and not is_complex(to_dtype):
        return "drops the imaginary part"
    return _loss(from_dtype, to_dtype)


def _loss(from_dtype: str, to_dtype: str) -> str:
    if to_dtype == "bool":
        return "keeps only zero or not zero"
    if "e8m0" in to_dtype:
        return "keeps only positive powers of two"
    if not is_integer(to_dtype):
        return _rounding(from_dtype, to_dtype)
    low, high = integer_range(to_dtype)
    if is_integer(from_dtype):
        return f"changes values outside {low} … {high}"
    return f"drops fractions, and what is outside {low} … {high}"


def _rounding(from_dtype: str, to_dtype: str) -> str:
    info = _finfo(to_dtype)
    largest = float(info.max)
    if is_integer(from_dtype):
        text = f"rounds integers above {2 ** (int(info.nmant) + 1)}"
        reach = float(integer_range(from_dtype)[1])
    else:
        text = "rounds"
        reach = largest_float(from_dtype)
    # Of equal exponents only the last binade differs; that is rounding too.
    if reach > 2 * largest:
        return f"{text}, and overflows above {largest:.6g}"
    return text


def why_unfit(number: bool | int | float | complex, dtype: str) -> str:
    """Returns why a dtype cannot hold a number; empty when it can.

    Rounding of a fraction is no reason, an overflow or a lost part is.

    Args:
        number: A Python bool, int, float or complex.
        dtype: Name of a plain array's dtype.
    """
    if isinstance(number, complex):
        if is_complex(dtype):
            return _why_outside(max(abs(number.real), abs(number.imag)), dtype)
        return "it is complex"
    if dtype == "bool":
        return "" if number in {0, 1} else "only true and false are possible"
    if not is_integer(dtype):
        return _why_outside(number, dtype)
    if not math.isfinite(number) or number != int(number):
        return "only whole numbers are possible"
    low, high = integer_range(dtype)
    return "" if low <= number <= high else f"possible are {low} … {high}"


def holds(number: bool | int | float | complex, dtype: str) -> bool:
    """Returns whether a dtype holds a number that fits it without rounding."""
    if dtype == "bool" or is_integer(dtype):
        return not why_unfit(number, dtype)
    with np.errstate(all="ignore"):
        there = complex(np.array(number).astype(dtypes.to_numpy(dtype)))
    return there == number or number != number  # noqa: PLR0124 - NaN stays NaN


def _why_outside(number: int | float, dtype: str) -> str:
    """Returns why a float dtype turns a number into something else than rounding."""
    if isinstance(number, int):
        if abs(number) > sys.float_info.max:
            return f"the largest is {largest_float(dtype):.6g}"
        number = float(number)
    with np.errstate(all="ignore"):
        there = complex(np.array(number).astype(dtypes.to_numpy(dtype))).real
    if math.isnan(number):
        return "" if math.isnan(there) else "it has no NaN"
    if math.isfinite(number) and math.isfinite(there):
        largest = largest_float(dtype)
        return "" if abs(number) <= largest * 1.1 else f"the largest is {largest:.6g}"
    return "" if there == number else f"the largest is {largest_float(dtype):.6g}"
