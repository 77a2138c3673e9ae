"""The viewers there are, in the order of their tabs."""

from __future__ import annotations

from inspector.engine.messages.viewing import Details
from inspector.ui.viewers.numbers import NumbersViewer
from inspector.ui.viewers.picture import PictureViewer
from inspector.ui.viewers.summary import SummaryViewer
from inspector.ui.viewers.text import TextViewer
from inspector.ui.viewers.viewer import Viewer

VIEWERS: tuple[type[Viewer], ...] = (
    SummaryViewer,
    PictureViewer,
    NumbersViewer,
    TextViewer,
)
"""Every viewer class; a new one is a line here."""


def fitting(details: Details) -> tuple[type[Viewer], ...]:
    """Returns the viewers that suit a node, in the order of their tabs."""
    return tuple(kind for kind in VIEWERS if kind.fitness(details) > 0)


def best(details: Details) -> type[Viewer] | None:
    """Returns the viewer that suits a node best, None when none does."""
    suitable = fitting(details)
    if not suitable:
        return None
    return max(suitable, key=lambda kind: kind.fitness(details))
