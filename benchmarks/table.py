"""Writes the figures as one table that fits a terminal.

Called once, at the end of a run. What a figure is belongs to `figures`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.figures import Figure, spread, written

_HEAD = ("figure", "measured", "target", "", "reference")
_NOTE_WIDTH = 110


def table(results: Mapping[str, Sequence[Figure]]) -> str:
    """Returns the table.

    Args:
        results: Name of a benchmark -> what it found.
    """
    rows = {name: [_row(one) for one in found] for name, found in results.items()}
    every = [_HEAD, *(row for found in rows.values() for row in found)]
    widths = [max(len(row[column]) for row in every) for column in range(len(_HEAD))]
    lines = [_line(_HEAD, widths), "─" * (sum(widths) + 2 * len(widths))]
    for name, found in results.items():
        lines.append(name)
        for figure, row in zip(found, rows[name], strict=True):
            lines.append(_line(row, widths))
            lines.extend(_note(figure.note))
    return "\n".join(lines) + "\n"


def _row(figure: Figure) -> tuple[str, ...]:
    target = ""
    if figure.target is not None:
        sign = "≥" if figure.at_least else "≤"
        target = f"{sign} {written(figure.target, figure.unit)}"
    met = {None: "", True: "met", False: "MISSED"}[figure.met]
    reference = ""
    if figure.reference is not None:
        value = spread(figure.reference.values, figure.reference.unit)
        reference = f"{value}  {figure.reference.name}"
    measured = spread(figure.values, figure.unit)
    return (f"  {figure.name}", measured, target, met, reference)


def _line(row: Iterable[str], widths: Sequence[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return "  ".join(cells).rstrip()


def _note(note: str) -> list[str]:
    return textwrap.wrap(
        note, _NOTE_WIDTH, initial_indent="      · ", subsequent_indent="        "
    )
