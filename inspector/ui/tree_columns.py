"""Which columns a tree has room for beside the names; plain arithmetic.

Asked by `tree_view` whenever a tree gets another width.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.ui.models.roles import Column

WIDTHS = {Column.SHAPE: 152, Column.PARAMETERS: 68, Column.SIZE: 76}
"""Columns beside the name and the width each would like, in pixels."""

_SHAPE_MIN = 124
NAME_COMFORT = 172
"""Width of the names that counts may not take from them, in pixels."""

# The shape, which nothing else in the row tells, stays until names are unreadable.
_NAME_LEAST = 96
_HIDE_ORDER = (Column.PARAMETERS, Column.SIZE)


def fitting_widths(room: int, widths: Mapping[Column, int]) -> dict[Column, int]:
    """Returns the columns beside the name that a tree has room for.

    Args:
        room: Width of the viewport, in pixels.
        widths: Column -> width that it would like.
    """
    shown = dict(widths)
    for column in _HIDE_ORDER:
        if sum(shown.values()) + NAME_COMFORT <= room:
            return shown
        del shown[column]
    left = room - NAME_COMFORT
    shape = min(shown[Column.SHAPE], max(left, _SHAPE_MIN))
    return {Column.SHAPE: shape} if shape + _NAME_LEAST <= room else {}
