"""The columns min, max, mean, std and nan of tables of outputs and of calls.

Each is made for records with a `leaf_statistics.Found`; what they show is exact, so
nothing carries the sign of an estimate unless the reader says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspector.engine.messages.reading import StatisticsReply
from inspector.ui.models.leaf_statistics import Found
from inspector.ui.models.record_table import Column
from inspector.ui.models.run_text import exact_number
from inspector.ui.viewers.ticks import statistic_text

_WIDTH = 72

_Number = Callable[[StatisticsReply], int | float | None]

_NUMBERS: tuple[tuple[str, int, _Number], ...] = (
    ("min", 2, lambda s: s.minimum),
    ("max", 2, lambda s: s.maximum),
    ("mean", 4, lambda s: s.mean),
    ("std", 5, lambda s: s.std),
    ("NaN", 1, lambda s: s.nan),
)
"""Title, rank when room is short, and the number."""


def statistics_columns(
    found_of: Callable[[Any], Found | None], *, titles: frozenset[str] | None = None
) -> tuple[Column, ...]:
    """Returns the columns.

    Args:
        found_of: Gives what is known of a record; None where nothing is to be.
        titles: Which of them; None for all.
    """
    chosen = [one for one in _NUMBERS if titles is None or one[0] in titles]
    return tuple(
        _column(title, rank, number, found_of) for title, rank, number in chosen
    )


def _column(
    title: str, rank: int, number: _Number, found_of: Callable[[Any], Found | None]
) -> Column:
    def text(record: Any) -> str:
        found = found_of(record)
        if found is None or found.is_busy:
            return ""
        if found.statistics is None:
            return "–"
        return statistic_text(
            number(found.statistics), sampled=found.statistics.sampled
        )

    def exact(record: Any) -> str:
        found = found_of(record)
        if found is None:
            return ""
        if found.statistics is None:
            return "" if found.is_busy else found.why
        return exact_number(number(found.statistics))

    def busy(record: Any) -> bool:
        found = found_of(record)
        return found is not None and found.is_busy

    def token(record: Any) -> str:
        found = found_of(record)
        is_bad = found is not None and found.statistics is not None and (
            title == "NaN" and found.statistics.nan > 0
        )  # fmt: skip
        return "error" if is_bad else ""

    width = _WIDTH if title != "NaN" else _WIDTH - 20
    return Column(
        title, text, exact, width=width, look="number", rank=rank, busy=busy,
        token=token,
    )  # fmt: skip
