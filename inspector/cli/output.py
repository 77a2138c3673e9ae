"""What the verbs print: JSON that never holds bare NaN, tables, progress."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Mapping, Sequence

from inspector.engine.messages.envelope import Progress

_PROGRESS_S = 0.2


def json_number(value: float | tuple[float, float] | None) -> object:
    """Returns a number as the JSON of the command line spells it.

    Numbers that are not finite become ``"nan"``, ``"inf"``, ``"-inf"``; complex
    ones, given as (re, im), become a list of two.
    """
    if isinstance(value, tuple):
        return [json_number(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return "nan"
        return "inf" if value > 0 else "-inf"
    return value


def print_json(document: Mapping[str, object]) -> None:
    """Prints one JSON document on stdout."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    # A key of a file need not be valid text; it is escaped rather than refused.
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")


def print_line(text: str = "") -> None:
    """Prints one line for a person on stdout."""
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")


def print_table(rows: Sequence[Sequence[str]], right: frozenset[int]) -> None:
    """Prints rows in aligned columns.

    Args:
        rows: Cells; every row has as many as the first.
        right: Numbers of the columns that are aligned to the right.
    """
    if not rows:
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print_line("  ".join(cells).rstrip())


def note(text: str) -> None:
    """Writes one line for a person on stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


class ProgressLine:
    """Progress on stderr: a line that rewrites itself on a terminal, else nothing.

    A log file gains nothing from hundreds of lines; errors and results are printed
    anyway.
    """

    def __init__(self) -> None:
        """Looks whether stderr is a terminal."""
        self._active = sys.stderr.isatty()
        self._last = 0.0
        self._shown = False

    def __call__(self, progress: Progress) -> None:
        """Shows a progress message, at most five times a second."""
        now = time.monotonic()
        if not self._active or now - self._last < _PROGRESS_S:
            return
        self._last = now
        share = f"{100 * progress.done // progress.total}% " if progress.total else ""
        sys.stderr.write(f"\r\x1b[K{share}{progress.text}")
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        """Removes the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def bytes_text(nbytes: int) -> str:
    """Returns a number of bytes as a person reads it, e.g. ``97.7 MiB``."""
    value = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:  # noqa: PLR2004 - the step between the units
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def shape_text(shape: tuple[int, ...]) -> str:
    """Returns a shape as JAX prints it, e.g. ``[3,3,64]``."""
    return "[" + ",".join(str(extent) for extent in shape) + "]"
