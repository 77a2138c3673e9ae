"""Columns and roles of the trees and of the plan, one meaning each.

Read by models, delegates, panels and tests.
"""

from __future__ import annotations

from enum import IntEnum

from PySide6.QtCore import Qt

_USER = int(Qt.ItemDataRole.UserRole)


class Column(IntEnum):
    """Columns of the two trees."""

    NAME = 0
    SHAPE = 1
    PARAMETERS = 2
    SIZE = 3


HEADERS = {
    Column.NAME: "name",
    Column.SHAPE: "shape",
    Column.PARAMETERS: "params",
    Column.SIZE: "size",
}
"""Header of each column of a tree."""


class Role(IntEnum):
    """Roles beyond Qt's own that the trees answer."""

    PATH = _USER
    """Key path as a tuple, inside its own tree; None for a row still on its way."""
    TREE = _USER + 1
    """`document.TARGET` or the id of the source."""
    ROW = _USER + 2
    """The `viewing.Row`, or None for a row still on its way."""
    MARK = _USER + 3
    """Name of the origin whose mark the row carries; empty for none."""
    PLAN_MARK = _USER + 4
    """Verdict that a plan in the air gives the row; empty for none."""
    ERROR = _USER + 5
    """Why the row cannot be read or was not fetched; empty when all is well."""


class PlanColumn(IntEnum):
    """Columns of the plan."""

    VERDICT = 0
    SOURCE = 1
    SOURCE_ARRAY = 2
    TARGET = 3
    TARGET_ARRAY = 4
    CHOICE = 5
    WHY = 6


PLAN_HEADERS = {
    PlanColumn.VERDICT: "verdict",
    PlanColumn.SOURCE: "from",
    PlanColumn.SOURCE_ARRAY: "has",
    PlanColumn.TARGET: "onto",
    PlanColumn.TARGET_ARRAY: "wants",
    PlanColumn.CHOICE: "choice",
    PlanColumn.WHY: "why",
}
"""Header of each column of the plan."""


class PlanRole(IntEnum):
    """Roles beyond Qt's own that the plan answers."""

    LINE = _USER
    """The `viewing.PlanLine`, or None while it is on its way."""
    CHOICES = _USER + 1
    """What a person may choose for the row."""
