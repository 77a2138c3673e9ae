"""Sums, means and deviations of chunks of numbers, put together without loss.

Used by `statistics` alone. Each chunk is summed by numpy (pairwise, in float64);
what the chunks gave is kept in Python integers scaled by 2**1074, in which every
float64 is a whole number. So chunks add up exactly, nothing overflows, and the
variance has no difference of large numbers in it: within a chunk the deviations
are taken from its own mean, between chunks the arithmetic is exact.
"""

from __future__ import annotations

import math

import numpy as np

_SCALE = 1074
_SQUARES = 2 * _SCALE
_SAFE_EXPONENT = 400
_LARGE = 2.0**900
_SHRINK = 128


def _fixed(number: float, scale: int) -> int:
    """Returns ``number * 2**scale``; bits below one are cut off."""
    numerator, denominator = number.as_integer_ratio()
    shift = scale - denominator.bit_length() + 1
    return numerator << shift if shift >= 0 else numerator >> -shift


def _float(number: int, divisor: int) -> float:
    """Returns the nearest float64 of a quotient, infinite when beyond them all."""
    try:
        return number / divisor
    except OverflowError:
        return math.inf if number > 0 else -math.inf


class _Spread:
    """Count, sum and sum of squared deviations over chunks of float64."""

    __slots__ = ("_between", "_within", "count", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0
        self._within = 0
        self._between = 0

    def add(
        self, numbers: np.ndarray, largest: float, exact: int | None = None
    ) -> None:
        """Takes a chunk of finite numbers, float64 ``(n,)`` with n at least 1.

        Args:
            numbers: The chunk; when ``exact`` is given it may be shifted by any
                constant, since only its deviations count.
            largest: No absolute value in the chunk is above it.
            exact: Sum of the chunk times 2**1074, when it is known exactly.
        """
        count = numbers.size
        extra = _SHRINK if largest > _LARGE else 0
        if extra:
            numbers = np.ldexp(numbers, -extra)
        mean = float(numbers.sum()) / count
        deviations = numbers - mean
        rest = float(deviations.sum())
        squares, exponent = _squares(deviations)
        within = squares - math.ldexp(rest, -exponent) ** 2 / count
        chunk = (count * _fixed(mean, _SCALE) + _fixed(rest, _SCALE)) << extra
        if exact is not None:
            chunk = exact
        self.count += count
        self.total += chunk
        self._within += _fixed(max(within, 0.0), _SQUARES + 2 * (exponent + extra))
        self._between += chunk * chunk // count

    def mean(self) -> float:
        return _float(self.total, self.count << _SCALE)

    def std(self) -> float:
        squares = self._within + self._between - self.total**2 // self.count
        # 128 more bits keep the root of a small variance accurate.
        root = math.isqrt((max(squares, 0) << 128) // self.count)
        return _float(root, 1 << (_SCALE + 64))


def _squares(deviations: np.ndarray) -> tuple[float, int]:
    """Returns the sum of squares, scaled by 2**(-2 * exponent), and the exponent.

    No `np.dot`: BLAS would start its threads for every chunk and add less
    accurately than numpy's pairwise sum.
    """
    total = float(np.square(deviations).sum())
    if 2.0**-_SAFE_EXPONENT < total < 2.0**_SAFE_EXPONENT:
        return total, 0
    largest = float(np.abs(deviations).max())
    if largest == 0:
        return 0.0, 0
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(deviations, -exponent)
    return float(np.square(scaled).sum()), exponent


class Moments:
    """Moments of floating-point chunks, in which anything may be not finite.

    Attributes:
        low: Least finite value, None when there is none.
        high: Largest finite value.
        nan: Number of NaN.
        infinite: Number of infinities.
    """

    __slots__ = ("_minus", "_plus", "_spread", "high", "low", "nan")

    def __init__(self) -> None:
        """Begins with no elements."""
        self._spread = _Spread()
        self.low: float | None = None
        self.high: float | None = None
        self.nan = 0
        self._plus = 0
        self._minus = 0

    @property
    def infinite(self) -> int:
        """Number of infinities of either sign."""
        return self._plus + self._minus

    def add(self, numbers: np.ndarray) -> None:
        """Takes a chunk, float64 ``(n,)``; keeps none of it."""
        if not numbers.size:
            return
        low, high = float(numbers.min()), float(numbers.max())
        if not (math.isfinite(low) and math.isfinite(high)):
            numbers = self._only_finite(numbers)
            if not numbers.size:
                return
            low, high = float(numbers.min()), float(numbers.max())
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)
        self._spread.add(numbers, max(high, -low))

    def _only_finite(self, numbers: np.ndarray) -> np.ndarray:
        finite = np.isfinite(numbers)
        others = numbers[~finite]
        plus, minus = int((others > 0).sum()), int((others < 0).sum())
        self._plus += plus
        self._minus += minus
        self.nan += others.size - plus - minus
        kept: np.ndarray = numbers[finite]
        return kept

    def total(self) -> float:
        """Returns the sum of all values as float64, not finite ones included."""
        if self.nan or (self._plus and self._minus):
            return math.nan
        if self.infinite:
            return math.inf if self._plus else -math.inf
        return _float(self._spread.total, 1 << _SCALE)

    def mean(self) -> float | None:
        """Returns the mean of the finite values."""
        return self._spread.mean() if self._spread.count else None

    def std(self) -> float | None:
        """Returns the population's standard deviation of the finite values."""
        return self._spread.std() if self._spread.count else None


class IntegerMoments:
    """Moments of chunks of integers, exact up to the final division.

    Attributes:
        low: Least value, None when there is none.
        high: Largest value.
    """

    __slots__ = ("_spread", "_sum", "high", "low")

    def __init__(self) -> None:
        """Begins with no elements."""
        self._spread = _Spread()
        self._sum = 0
        self.low: int | None = None
        self.high: int | None = None

    def add(self, numbers: np.ndarray) -> None:
        """Takes a chunk of a numpy integer dtype, ``(n,)``, n below 2**31."""
        if not numbers.size:
            return
        low, high = int(numbers.min()), int(numbers.max())
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)
        total = _integer_sum(numbers)
        self._sum += total
        self._spread.add(_deviations(numbers, low), 2.0**64, total << _SCALE)

    def total(self) -> int:
        """Returns the exact sum."""
        return self._sum

    def mean(self) -> float | None:
        """Returns the mean."""
        return self._spread.mean() if self._spread.count else None

    def std(self) -> float | None:
        """Returns the standard deviation of the population."""
        return self._spread.std() if self._spread.count else None


def _integer_sum(numbers: np.ndarray) -> int:
    """Returns the exact sum; halves of 64-bit numbers are summed apart."""
    if numbers.dtype.itemsize < 8:  # noqa: PLR2004 - sums of these fit 64 bits
        return int(numbers.sum(dtype=np.int64))
    upper = int((numbers >> 32).sum(dtype=np.int64))
    lower = int((numbers & 0xFFFFFFFF).sum(dtype=np.int64))
    return (upper << 32) + lower


def _deviations(numbers: np.ndarray, low: int) -> np.ndarray:
    """Returns the numbers as float64, 64-bit ones less their least value.

    float64 would round 2**62 + 1; the difference to the least value is exact as
    far as it is small.
    """
    if numbers.dtype.itemsize < 8:  # noqa: PLR2004 - float64 holds these exactly
        return numbers.astype(np.float64)
    base = np.array(low & (2**64 - 1), np.uint64)
    return (numbers.astype(np.uint64) - base).astype(np.float64)
