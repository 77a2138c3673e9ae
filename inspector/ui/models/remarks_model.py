"""What a run says of itself: who drew from which rng stream.

Columns for `running.RngUse`; the rows are complete when they come.
"""

from __future__ import annotations

from inspector.engine.messages.running import RngUse
from inspector.ui.models.calls_model import whole_name
from inspector.ui.models.record_table import Column


def is_fallback(use: RngUse) -> bool:
    """Returns whether a module got the key of another stream than it asked for."""
    return use.stream != use.used


def _note(use: RngUse) -> str:
    if not is_fallback(use):
        return ""
    return f"no key for “{use.stream}”: it drew from “{use.used}”"


RNG_COLUMNS = (
    Column(
        "module",
        lambda use: whole_name(use.path),
        look="mono",
        mark=lambda use: "open" if is_fallback(use) else "",
    ),
    Column("stream", lambda use: use.stream, width=88, look="mono"),
    Column(
        "key of",
        lambda use: use.used,
        width=88,
        look="mono",
        rank=1,
        token=lambda use: "warning" if is_fallback(use) else "",
    ),
    Column("draws", lambda use: f"{use.draws:,}", width=64, look="number", rank=2),
    Column("note", _note, width=240, rank=3),
)
"""Columns of the table of draws."""
