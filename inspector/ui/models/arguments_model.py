"""The table of a call's arguments: parameter, what it is, what fills it.

Rows are `call_draft.Argument`; editing a cell makes another row of it. On the
window's thread; asks nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import IntEnum
from functools import partial
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, Signal

from inspector.ui.models.call_draft import Argument, problem_of, with_text
from inspector.ui.models.record_table import Index, ResultRole


class ArgumentColumn(IntEnum):
    """Columns of the table."""

    NAME = 0
    VALUE = 1
    FILL = 2


_TITLES = ("Input", "Shape or value", "Filled with")
_DISPLAY = Qt.ItemDataRole.DisplayRole


class ArgumentsModel(QAbstractTableModel):
    """The arguments of one call.

    Signals:
        edited: The person changed an argument.
    """

    edited = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Starts without arguments."""
        super().__init__(parent)
        self._rows: list[Argument] = []

    @property
    def rows(self) -> tuple[Argument, ...]:
        """The arguments."""
        return tuple(self._rows)

    def show_rows(self, rows: Sequence[Argument]) -> None:
        """Shows the arguments of another call."""
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def add_row(self) -> None:
        """Adds one more input by position, like the last one."""
        like = next((row for row in reversed(self._rows) if not row.is_static), None)
        row = Argument(
            "", like.text if like else "float32[1]", like.fill if like else ""
        )
        self.beginInsertRows(QModelIndex(), len(self._rows), len(self._rows))
        self._rows.append(row)
        self.endInsertRows()
        self.edited.emit()

    def first_problem(self) -> tuple[int, str]:
        """Returns (row, sentence) of the first argument that cannot be meant."""
        for number, row in enumerate(self._rows):
            if problem := problem_of(row):
                return number, problem
        return -1, ""

    def toggle(self, index: Index) -> None:
        """Turns a truth value over."""
        row = self._rows[index.row()]
        now = row.text or row.default.lower()
        self.setData(index, "false" if now == "true" else "true")

    # Overrides of Qt.

    def rowCount(self, parent: Index | None = None) -> int:
        """Overridden."""
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index | None = None) -> int:
        """Overridden."""
        return 0 if parent is not None and parent.isValid() else len(ArgumentColumn)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _DISPLAY
    ) -> Any:
        """Overridden: titles to the left."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _TITLES[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Overridden: what something fills has a cell for it."""
        flags = super().flags(index)
        if not index.isValid():
            return flags
        column = ArgumentColumn(index.column())
        row = self._rows[index.row()]
        editable = column is ArgumentColumn.VALUE or (
            column is ArgumentColumn.FILL and not row.is_static
        )
        return flags | Qt.ItemFlag.ItemIsEditable if editable else flags

    def data(self, index: Index, role: int = _DISPLAY) -> Any:
        """Overridden."""
        if not index.isValid():
            return None
        answer = _ANSWERS.get(role)
        row = self._rows[index.row()]
        return answer(row, ArgumentColumn(index.column())) if answer else None

    def setData(self, index: Index, value: Any, role: int = 2) -> bool:
        """Overridden: takes what was typed, also when it cannot be meant."""
        if role != Qt.ItemDataRole.EditRole or not index.isValid():
            return False
        old = self._rows[index.row()]
        text = str(value).strip()
        if index.column() == ArgumentColumn.VALUE:
            new = with_text(old, text)
        else:
            new = replace(old, fill="" if text == "ones" else text)
        if new == old:
            return False
        self._rows[index.row()] = new
        last = self.index(index.row(), len(ArgumentColumn) - 1)
        self.dataChanged.emit(self.index(index.row(), 0), last)
        self.edited.emit()
        return True


def _text(row: Argument, column: ArgumentColumn, *, editing: bool) -> str:
    if column is ArgumentColumn.NAME:
        star = " *" if row.is_required and not row.text else ""
        return f"{row.name}{star}" if row.name else "(one more)"
    if column is ArgumentColumn.VALUE:
        return row.text if editing else row.shown
    if row.takes_fill:
        return row.fill or ("" if row.text.startswith("key") else "ones")
    return ""


def _token(row: Argument, column: ArgumentColumn) -> str:
    if column is ArgumentColumn.VALUE and problem_of(row):
        return "error"
    if column is ArgumentColumn.VALUE and not row.text:
        return "secondary"
    return "text"


def _explained(row: Argument) -> str:
    kind = "Static argument" if row.is_static else "Input"
    how = ", by keyword" if row.by_keyword else ""
    default = f"; its default is {row.default}" if row.default else ""
    return f"{kind} {row.name}{how}{default}".replace("  ", " ")


def _tip(row: Argument, _column: ArgumentColumn) -> str:
    return problem_of(row) or _explained(row)


def _spoken(row: Argument, column: ArgumentColumn) -> str:
    problem = problem_of(row)
    text = _text(row, column, editing=False) or "none"
    return f"{text}: {problem}" if problem else text


_ANSWERS: dict[int, Callable[[Argument, ArgumentColumn], object]] = {
    Qt.ItemDataRole.DisplayRole: partial(_text, editing=False),
    Qt.ItemDataRole.EditRole: partial(_text, editing=True),
    Qt.ItemDataRole.ToolTipRole: _tip,
    Qt.ItemDataRole.AccessibleTextRole: _spoken,
    ResultRole.LOOK: lambda _row, column: "mono" if column else "text",
    ResultRole.TOKEN: _token,
}
"""What a cell answers for each role."""
