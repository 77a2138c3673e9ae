"""Which viewers suit a node; the viewers themselves stand in `catalogue`."""

from __future__ import annotations

from inspector.engine.messages.viewing import Details
from inspector.ui.viewers.viewer import Viewer


def viewers() -> tuple[type[Viewer], ...]:
    """Returns every viewer class in the order of the tabs."""
    from inspector.ui.viewers.catalogue import (  # noqa: PLC0415 - imports numpy
        VIEWERS,
    )

    return VIEWERS


def fitting(details: Details) -> tuple[type[Viewer], ...]:
    """Returns the viewers that suit a node, in the order of their tabs."""
    return tuple(kind for kind in viewers() if kind.fitness(details) > 0)


def best(details: Details) -> type[Viewer] | None:
    """Returns the viewer that suits a node best, None when none does."""
    suitable = fitting(details)
    if not suitable:
        return None
    return max(suitable, key=lambda kind: kind.fitness(details))
