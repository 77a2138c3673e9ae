"""The seven statistics of the strip: their texts, and where they stand in its grid.

Read by `statistics_strip`; asks nobody.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QGridLayout, QLabel

from inspector.engine.messages.reading import StatisticsReply
from inspector.ui import format as fmt
from inspector.ui.viewers.ticks import statistic_text

_MOMENTS = 4
"""Columns of numbers with digits, before those of counts."""

NARROW = 360
"""Below this width seven numbers in a line would lose digits, in pixels."""

CELLS = 12
"""Columns of the narrow grid: three to a moment, four to a count and its caption."""

ROWS = 3
"""Rows of the grid, narrow or wide."""

_Text = Callable[[StatisticsReply], str]

COLUMNS: tuple[tuple[str, _Text, _Text], ...] = (
    (
        "min",
        lambda s: statistic_text(s.minimum, sampled=s.sampled),
        lambda s: f"smallest finite value: {s.minimum!r}",
    ),
    (
        "max",
        lambda s: statistic_text(s.maximum, sampled=s.sampled),
        lambda s: f"largest finite value: {s.maximum!r}",
    ),
    (
        "mean",
        lambda s: statistic_text(s.mean, sampled=s.sampled),
        lambda s: f"mean of the finite values: {s.mean!r}\nsum of all: {s.total!r}",
    ),
    (
        "std",
        lambda s: statistic_text(s.std, sampled=s.sampled),
        lambda s: f"standard deviation of the finite values: {s.std!r}",
    ),
    ("zeros", lambda s: _count(s, s.zeros), lambda s: _share("zero", s, s.zeros)),
    ("NaN", lambda s: _count(s, s.nan), lambda s: _share("NaN", s, s.nan)),
    ("Inf", lambda s: _count(s, s.inf), lambda s: _share("infinite", s, s.inf)),
)
"""Caption, text and tool tip of each column."""


def _count(statistics: StatisticsReply, number: int) -> str:
    return ("~" if statistics.sampled else "") + fmt.count(number)


def _share(what: str, statistics: StatisticsReply, number: int) -> str:
    percent = 100 * number / statistics.count if statistics.count else 0.0
    about = "about " if statistics.sampled else ""
    return (
        f"{about}{number:,} of {statistics.count:,} elements are {what}"
        f" ({percent:.3g} %)"
    )


def place_wide(grid: QGridLayout, number: int, title: QLabel, cell: QLabel) -> None:
    """Places one statistic in a line of seven."""
    grid.addWidget(title, 0, number)
    grid.addWidget(cell, 1, number)
    # The moments need more room than the counts.
    grid.setColumnStretch(number, 6 if number < _MOMENTS else 3)


def place_narrow(grid: QGridLayout, number: int, title: QLabel, cell: QLabel) -> None:
    """Places one statistic: a moment above, a count beside its caption below."""
    if number < _MOMENTS:
        grid.addWidget(title, 0, 3 * number, 1, 3)
        grid.addWidget(cell, 1, 3 * number, 1, 3)
        for column in range(3 * number, 3 * number + 3):
            grid.setColumnStretch(column, 1)
    else:
        column = 4 * (number - _MOMENTS)
        grid.addWidget(title, 2, column, 1, 2)
        grid.addWidget(cell, 2, column + 2, 1, 2)
