"""How numbers and paths read on the screen: short in cells, exact in tool tips.

Every panel formats through here, so the same number looks the same everywhere.
Plain functions of plain values, no Qt. Parsing belongs to `variables.path`.
"""

from __future__ import annotations

import time

from inspector.variables.path import TreePath, join

_COUNT_UNITS = ("", "k", "M", "G", "T", "P")
_SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
# In this order: "uint" holds "int".
_SHORT = (("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c"))
_THOUSAND = 1000
_KIBI = 1024
_MINUTE_S = 60
_HOUR_S = 3600
_DAY_S = 86400


def count(number: int) -> str:
    """Returns a count in three digits and a unit of thousands: ``25.6 M``."""
    return _scaled(number, _THOUSAND, _COUNT_UNITS)


def exact_count(number: int) -> str:
    """Returns a count in full with thousands separated: ``25,557,032``."""
    return f"{number:,}"


def size(nbytes: int) -> str:
    """Returns bytes in binary units as JAX engineers read them: ``97.7 MiB``."""
    return _scaled(nbytes, _KIBI, _SIZE_UNITS)


def exact_size(nbytes: int) -> str:
    """Returns bytes in full: ``102,432,768 bytes``."""
    return f"{nbytes:,} byte" + ("" if nbytes == 1 else "s")


def seconds(duration_s: float) -> str:
    """Returns a duration: ``0.62 s``, ``12.3 s``, ``2 min 5 s``."""
    if duration_s < _MINUTE_S:
        digits = 2 if duration_s < 10 else 1  # noqa: PLR2004 - three digits in all
        return f"{duration_s:.{digits}f} s"
    minutes, rest = divmod(round(duration_s), _MINUTE_S)
    if minutes < _MINUTE_S:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, _MINUTE_S)
    return f"{hours} h {minutes} min"


def ago(moment: float, now: float | None = None) -> str:
    """Returns how long ago a moment was, roughly: ``2 min ago``.

    Args:
        moment: Seconds since the epoch.
        now: The present, for tests; None asks the clock.
    """
    elapsed = max(0.0, (time.time() if now is None else now) - moment)
    if elapsed < _MINUTE_S:
        return "just now"
    if elapsed < _HOUR_S:
        return f"{int(elapsed // _MINUTE_S)} min ago"
    if elapsed < _DAY_S:
        return f"{int(elapsed // _HOUR_S)} h ago"
    days = int(elapsed // _DAY_S)
    return "yesterday" if days == 1 else f"{days} days ago"


def shape(dimensions: tuple[int, ...]) -> str:
    """Returns a shape as JAX prints it inside an abstract value: ``[7,7,3,64]``."""
    return "[" + ",".join(map(str, dimensions)) + "]"


def array(dtype: str, dimensions: tuple[int, ...]) -> str:
    """Returns an abstract value as JAX prints it: ``float32[7,7,3,64]``.

    The text is also what ``--input`` accepts, so a copied cell can be used there.
    """
    return f"{dtype}{shape(dimensions)}"


def short_array(dtype: str, dimensions: tuple[int, ...]) -> str:
    """Returns an abstract value as a jaxpr prints it: ``f32[7,7,3,64]``.

    For cells too narrow for `array`. The abbreviations are those of JAX's own
    ``dtypes.short_dtype_name``.
    """
    for word, letter in _SHORT:
        dtype = dtype.replace(word, letter)
    return array(dtype, dimensions)


def path(keys: TreePath, root: str = "/") -> str:
    """Returns a key path for a person; the empty path reads ``root``."""
    return join(keys) or root


def plural(number: int, one: str, many: str = "") -> str:
    """Returns a counted noun: ``1 leaf``, ``3 leaves``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _scaled(number: int, step: int, units: tuple[str, ...]) -> str:
    value = float(abs(number))
    unit = 0
    # 999.95 would round up to "1000.0"; the next unit says it in three digits.
    while value >= step - 0.05 and unit < len(units) - 1 and abs(number) >= step:
        value /= step
        unit += 1
    sign = "−" if number < 0 else ""
    text = f"{value:.0f}" if unit == 0 else _three_digits(value)
    return f"{sign}{text} {units[unit]}".rstrip()


def _three_digits(value: float) -> str:
    if value >= 99.95:  # noqa: PLR2004 - from here three digits leave no decimals
        return f"{value:.0f}"
    digits = 1 if value >= 9.995 else 2  # noqa: PLR2004 - three digits in all
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".")
