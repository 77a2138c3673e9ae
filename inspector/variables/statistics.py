"""Exact statistics and histograms of arrays of any size, block by block.

The reader feeds the blocks of a leaf; memory stays at one block. Sums are kept
as integers scaled by a power of two, so that neither the size of the array nor
that of its numbers costs accuracy. Nothing is read from files here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import ml_dtypes
import numpy as np

from inspector.variables import dtypes
from inspector.variables.moments import IntegerMoments, Moments

_CHUNK = 1 << 14
"""Elements looked at together; as float64 they stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of all elements of one array.

    The four moments are over the finite values, of complex numbers over their
    absolute values; None when there is no such value.

    Attributes:
        min: Least value; an int for integers and bool.
        max: Largest value.
        mean: Mean.
        std: Standard deviation of the population.
        sum: Sum over all values: an int for integers and bool, else float64, in
            which a NaN or an infinity shows.
        zeros: Elements that are zero.
        nan: Elements that are NaN, in either part of a complex number.
        inf: Infinite elements, NaN ones not among them.
        count: Elements.
    """

    min: int | float | None
    max: int | float | None
    mean: float | None
    std: float | None
    sum: int | float | complex
    zeros: int
    nan: int
    inf: int
    count: int


class StatisticsBuilder:
    """Takes the blocks of one array and ends with its `Statistics`.

    Used by one thread of the reader. Takes views or copies of any layout and
    keeps none of them.
    """

    def __init__(self, dtype: str) -> None:
        """Begins with no elements.

        Args:
            dtype: JAX's name of the array's dtype.

        Raises:
            ValueError: Random keys and unknown dtypes have no statistics.
        """
        if dtype not in dtypes.NAMES:
            message = f"arrays of {dtype} have no statistics"
            raise ValueError(message)
        kind = _kind(dtype)
        self._kind = kind
        self._count = 0
        self._zeros = 0
        self._main: Moments | IntegerMoments = (
            IntegerMoments() if kind in "iu" else Moments()
        )
        self._parts: tuple[Moments, ...] = ()
        if kind == "c":
            self._parts = (Moments(), Moments())
        self._nan = 0
        self._inf = 0

    def add(self, block: np.ndarray) -> None:
        """Takes a block of the array, of any shape; its dtype is the array's."""
        flat = np.ravel(block)
        self._count += flat.size
        with np.errstate(all="ignore"):
            for start in range(0, flat.size, _CHUNK):
                self._add(flat[start : start + _CHUNK])

    def _add(self, chunk: np.ndarray) -> None:
        if self._kind == "c":
            self._add_complex(chunk)
        elif isinstance(self._main, IntegerMoments):
            whole = _as_integers(chunk)
            self._zeros += whole.size - int(np.count_nonzero(whole))
            self._main.add(whole)
        else:
            numbers = as_float64(chunk)
            self._zeros += numbers.size - int(np.count_nonzero(numbers))
            self._main.add(numbers)

    def _add_complex(self, chunk: np.ndarray) -> None:
        values = chunk.astype(np.complex128)
        self._zeros += values.size - int(np.count_nonzero(values))
        for moments, part in zip(self._parts, (values.real, values.imag), strict=True):
            moments.add(np.ascontiguousarray(part))
        finite = np.isfinite(values)
        if not finite.all():
            nan = int(np.count_nonzero(np.isnan(values)))
            self._nan += nan
            self._inf += int(values.size - np.count_nonzero(finite)) - nan
            values = values[finite]
        # The absolute value of finite parts may lie above the largest float64.
        self._main.add(np.minimum(np.abs(values), np.finfo(np.float64).max))

    def result(self) -> Statistics:
        """Returns the statistics of everything that was added so far."""
        main = self._main
        total: int | float | complex
        if self._kind == "c":
            total = complex(self._parts[0].total(), self._parts[1].total())
            nan, inf = self._nan, self._inf
        elif isinstance(main, IntegerMoments):
            total, nan, inf = main.total(), 0, 0
        else:
            total, nan, inf = main.total(), main.nan, main.infinite
        return Statistics(
            main.low,
            main.high,
            main.mean(),
            main.std(),
            total,
            self._zeros,
            nan,
            inf,
            self._count,
        )


def _kind(dtype: str) -> str:
    """Returns i for integers and bool, c for complex, f for any float."""
    if dtype == "bool" or dtype.lstrip("u").startswith("int"):
        return "i"
    return "c" if dtype.startswith("complex") else "f"


def _as_integers(chunk: np.ndarray) -> np.ndarray:
    """Returns bool, int2 and int4 as int8; wider integers as they are."""
    if chunk.dtype.itemsize > 1:
        return chunk.astype(chunk.dtype.newbyteorder("="), copy=False)
    plain = chunk.dtype.kind in "iu" and chunk.dtype.isbuiltin == 1
    return chunk if plain else chunk.astype(np.int8)


def as_float64(chunk: np.ndarray) -> np.ndarray:
    """Returns real numbers of any known dtype as float64, a copy.

    ml_dtypes converts element by element; looking a byte up in a table of its
    256 meanings, and laying bfloat16 into the upper half of float32, take a
    tenth of the time.
    """
    flat = np.ascontiguousarray(chunk)
    if flat.dtype == ml_dtypes.bfloat16:
        upper = flat.view(np.uint16).astype(np.uint32) << 16
        return upper.view(np.float32).astype(np.float64)
    if flat.dtype.isbuiltin == 1 or flat.dtype.itemsize > 1:
        return flat.astype(np.float64)
    return _meanings(flat.dtype)[flat.view(np.uint8)]


@lru_cache(maxsize=32)
def _meanings(dtype: np.dtype) -> np.ndarray:
    """Returns what each of the 256 bytes means in a dtype of one byte."""
    table: np.ndarray = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)
    return table


_LEAST_SPREAD = 2.0**-40


def spread(low: float, high: float) -> tuple[float, float]:
    """Moves two edges apart where bins between them would have no width.

    Equal edges get half a unit to both sides, as numpy does it. Where half a unit is
    nothing beside the numbers, beyond 2**40, they get a share of the number, so that
    bins between them are distinct float64.

    Args:
        low: Least value.
        high: Largest value, not below ``low``.

    Returns:
        Edges with room for bins between them; the given ones when they have it.
    """
    least = max(abs(low), abs(high)) * _LEAST_SPREAD
    if high - low > least and high > low:
        return low, high
    half = max(0.5 if low == high else 0.0, least)
    largest = sys.float_info.max
    return max(low - half, -largest), min(high + half, largest)


def histogram(
    blocks: Iterable[np.ndarray], low: float, high: float, bins: int
) -> np.ndarray:
    """Counts the finite values in bins of equal width.

    Args:
        blocks: Blocks of one array, of any shape and any dtype of
            `dtypes.NAMES`; complex numbers count by their absolute value.
        low: Left edge of the first bin.
        high: Right edge of the last bin, which belongs to it; see `spread`.
        bins: Number of bins, at least 1.

    Returns:
        int64 array of shape ``(bins,)``; values outside are not counted.

    Raises:
        ValueError: ``bins`` is below 1, or an edge is not finite or misplaced.
    """
    if bins < 1 or not (math.isfinite(low) and math.isfinite(high) and low <= high):
        message = f"no bins: {bins} of them from {low} to {high}"
        raise ValueError(message)
    low, high = spread(low, high)
    # Halved, so that edges at both ends of float64 do not overflow.
    edges = (np.linspace(low / 2, high / 2, bins + 1)) * 2
    counts = np.zeros(bins, np.int64)
    with np.errstate(all="ignore"):
        for block in blocks:
            flat = np.ravel(block)
            for start in range(0, flat.size, _CHUNK):
                counts += _binned(flat[start : start + _CHUNK], edges)
    return counts


def _binned(chunk: np.ndarray, edges: np.ndarray) -> np.ndarray:
    if chunk.dtype.kind == "c":
        chunk = np.abs(chunk.astype(np.complex128))
    numbers = as_float64(chunk)
    # NaN compares false, infinities lie outside: only finite values pass.
    inside = (numbers >= edges[0]) & (numbers <= edges[-1])
    if not inside.all():
        numbers = numbers[inside]
    bins = edges.size - 1
    width = edges[-1] / 2 - edges[0] / 2
    place = (numbers / 2 - edges[0] / 2) / width * bins
    index = np.minimum(place.astype(np.int64), bins - 1)
    # Division rounds; the edges themselves decide, as in np.histogram.
    index -= numbers < edges[index]
    index += (numbers >= edges[index + 1]) & (index != bins - 1)
    return np.bincount(index, minlength=bins)
