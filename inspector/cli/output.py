"""What the verbs print: JSON that never holds bare NaN, tables, progress."""

from __future__ import annotations

import codecs
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from inspector.engine.messages.envelope import Progress
from inspector.errors import InspectorError

_PROGRESS_S = 0.2


class WriteOutputError(InspectorError):
    """What a verb prints cannot be written."""

    def __init__(self, *, reason: str) -> None:
        """Says why."""
        super().__init__(
            f"The output cannot be written: {reason}",
            where="standard output",
            hint="Send it to a file on a disk with room, or to a terminal.",
        )


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
    # Where stdout is no UTF-8 the text is plain ASCII, which is JSON as well.
    ascii_only = _encoding() != "utf-8"
    _write(json.dumps(document, ensure_ascii=ascii_only, allow_nan=False))


def print_line(text: str = "") -> None:
    """Prints one line for a person on stdout, see `printable`.

    Raises:
        WriteOutputError: Stdout is closed, or its disk is full.
        BrokenPipeError: Who read it went away.
    """
    _write(printable(text))


def printable(text: str) -> str:
    r"""Returns text that is one line on a terminal and commands it nothing.

    Keys come from foreign files: a line break in one would forge a row, an escape
    sequence would be obeyed by the terminal. Both are shown as Python writes them,
    e.g. ``\n`` and ``\x1b``.
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode()
        for one in text
    )


def _write(text: str) -> None:
    """Writes a line; what stdout's encoding lacks is escaped rather than refused."""
    encoding = _encoding()
    with _explained():
        line = text.encode(encoding, "backslashreplace").decode(encoding)
        sys.stdout.write(line + "\n")


def flush_output() -> None:
    """Writes out what is still held back, so that a failure is not lost at the exit.

    Raises:
        WriteOutputError: As `print_line`.
        BrokenPipeError: As `print_line`.
    """
    if sys.stdout is not None:
        with _explained():
            sys.stdout.flush()


def _encoding() -> str:
    """Returns the name of stdout's encoding as Python's codecs spell it."""
    return codecs.lookup(getattr(sys.stdout, "encoding", None) or "utf-8").name


@contextmanager
def _explained() -> Iterator[None]:
    if sys.stdout is None:
        raise WriteOutputError(reason="it is closed")
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WriteOutputError(reason=error.strerror or str(error)) from error


def print_table(rows: Sequence[Sequence[str]], right: frozenset[int]) -> None:
    """Prints rows in aligned columns.

    Args:
        rows: Cells; every row has as many as the first.
        right: Numbers of the columns that are aligned to the right.
    """
    if not rows:
        return
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print_line("  ".join(cells).rstrip())


def note(text: str) -> None:
    """Writes text for a person on stderr; without one there is nobody to tell."""
    if sys.stderr is not None:
        lines = [printable(line) for line in text.split("\n")]
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()


class ProgressLine:
    """Progress on stderr: a line that rewrites itself on a terminal, else nothing.

    A log file gains nothing from hundreds of lines; errors and results are printed
    anyway.
    """

    def __init__(self) -> None:
        """Looks whether stderr is a terminal."""
        self._active = sys.stderr is not None and sys.stderr.isatty()
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
