"""Round numbers along an axis, and short texts for statistics.

Used by the histogram, the colour bar and the statistics strip. Plain arithmetic.
"""

from __future__ import annotations

import math

MINUS = "−"
"""The sign a person reads; copied and exact texts keep the ASCII one."""

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_MOST_PLAIN_DIGITS = 7
_FEW_DIGITS, _MOST_DIGITS = 3, 17
_SMALL = 1e-3


def ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """Returns at most ``most`` round numbers in ``[low, high]``, evenly spaced.

    Args:
        low: First end.
        high: Other end; not above ``low`` gives the one number.
        most: At least 2.
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return (low,)
    magnitude = 10.0 ** math.floor(math.log10(span / most))
    step = next(
        (
            factor * magnitude
            for factor in _STEPS
            if _count(low, high, factor * magnitude) <= most
        ),
        20.0 * magnitude,
    )
    first = math.ceil(low / step - 1e-9)
    return tuple((first + i) * step for i in range(_count(low, high, step)))


def _count(low: float, high: float, step: float) -> int:
    return math.floor(high / step + 1e-9) - math.ceil(low / step - 1e-9) + 1


def tick_text(value: float) -> str:
    """Writes a round number: ``0.25``, ``−1e−5``, ``200``."""
    return _shortened(f"{value:.{_FEW_DIGITS}g}")


def _shortened(text: str) -> str:
    text = text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
    return text.replace("-", MINUS)


def tick_texts(values: tuple[float, ...]) -> tuple[str, ...]:
    """Writes the numbers of one axis with as many digits as tell them apart."""
    for digits in range(_FEW_DIGITS, _MOST_DIGITS + 1):
        texts = tuple(_shortened(f"{value:.{digits}g}") for value in values)
        if len(set(texts)) == len(values):
            break
    return texts


def statistic_text(value: float | None, *, sampled: bool = False) -> str:
    """Writes a statistic in up to three digits; integers in full while they are short.

    Args:
        value: None when there is no such number, e.g. the mean of nothing.
        sampled: Whether to say that it is an estimate.
    """
    if value is None:
        return "–"
    if isinstance(value, int) and len(str(abs(value))) <= _MOST_PLAIN_DIGITS:
        text = str(value)
    else:
        # Below a thousandth the zeros would take the room of the digits.
        small = 0 < abs(value) < _SMALL
        text = f"{value:.1e}" if small else f"{value:.3g}"
        text = text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
    return ("~" if sampled else "") + text.replace("-", MINUS)
