"""How leaves differ: updates against what was there, one run against another.

Columns for `running.DifferenceRow`; the rows are complete when they come.
"""

from __future__ import annotations

from collections.abc import Callable

from inspector.engine.messages.running import DifferenceRow
from inspector.ui.models.record_table import Column
from inspector.ui.models.run_text import difference, exact_number
from inspector.variables.path import join

_NUMBER = 92


def _token(row: DifferenceRow) -> str:
    return "secondary" if row.max_abs == 0 else ""


def _why(row: DifferenceRow) -> str:
    if row.why:
        return row.why
    if row.max_abs == 0:
        return "equal"
    return "NaN in one of the two" if row.max_abs != row.max_abs else ""


def difference_columns(
    title: str, *, is_taken: Callable[[DifferenceRow], bool] | None = None
) -> tuple[Column, ...]:
    """Returns the columns of a table of differences.

    Args:
        title: Header of the path.
        is_taken: Whether the row has become an edit; None where that means nothing.
    """

    def mark(row: DifferenceRow) -> str:
        return "run" if is_taken is not None and is_taken(row) else ""

    def note(row: DifferenceRow) -> str:
        return "taken" if mark(row) else _why(row)

    return (
        Column(title, lambda row: join(row.path), look="mono", mark=mark),
        Column(
            "largest |Δ|",
            lambda row: difference(row.max_abs),
            lambda row: exact_number(row.max_abs),
            width=_NUMBER,
            look="number",
            token=_token,
        ),
        Column(
            "mean |Δ|",
            lambda row: difference(row.mean_abs),
            lambda row: exact_number(row.mean_abs),
            width=_NUMBER,
            look="number",
            rank=2,
            token=_token,
        ),
        Column(
            "relative",
            lambda row: difference(row.max_rel),
            lambda row: exact_number(row.max_rel),
            width=_NUMBER,
            look="number",
            rank=3,
            token=_token,
        ),
        Column("note", note, width=132, rank=1),
    )
