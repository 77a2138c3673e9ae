"""The history as a list: the base, then every edit, undone ones included.

Owned by the history panel; a mirror of `HistoryState`, which the store owns.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    Qt,
)
from PySide6.QtGui import QFont

from inspector.engine.messages.document import HistoryState
from inspector.ui.theme import Theme
from inspector.ui.tokens import ROW_HEIGHT

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()

POSITION_ROLE = Qt.ItemDataRole.UserRole
"""Role of the number of edits in force at a row's state."""


INVITATION = "Edits of the target appear here"
"""What the list says before there is anything to edit."""


class HistoryModel(QAbstractListModel):
    """Row 0 is the oldest state that is known; the last row the newest edit.

    Attributes:
        state: The history that is shown.
        has_base: Whether there is a target whose history it is.
    """

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        """Starts with an empty history: the base alone."""
        super().__init__(parent)
        self._theme = theme
        self.state = HistoryState()
        self.has_base = False
        theme.changed.connect(self._on_theme)

    def set_state(self, state: HistoryState) -> None:
        """Shows another history; one with the same texts keeps the selection."""
        if state == self.state:
            return
        if (state.texts, state.first) == (self.state.texts, self.state.first):
            self.state = state
            self._tell_changed()
            return
        self.beginResetModel()
        self.state = state
        self.endResetModel()

    def set_base(self, *, has_base: bool) -> None:
        """Says whether there is a target; without one the list invites."""
        if has_base != self.has_base:
            self.has_base = has_base
            self._tell_changed()

    def position_of(self, row: int) -> int:
        """Returns the number of edits in force at the state of a row."""
        return self.state.first + row

    def current_row(self) -> int:
        """Returns the row of the present state; -1 when it is older than all rows."""
        return max(-1, self.state.position - self.state.first)

    def _text(self, row: int) -> str:
        if row > 0:
            return self.state.texts[row - 1]
        if self.state.first:
            return f"{self.state.first:,} earlier edits"
        return "As loaded" if self.has_base else INVITATION

    def _on_theme(self) -> None:
        self._tell_changed()

    def _tell_changed(self) -> None:
        self.dataChanged.emit(self.index(0), self.index(self.rowCount() - 1))

    # Qt overrides

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        """Overridden: the first state and one row an edit."""
        return 0 if parent.isValid() else len(self.state.texts) + 1

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Overridden: the verb phrase; undone edits greyed, the present one bold."""
        if not index.isValid():
            return None
        row = index.row()
        current = self.current_row()
        if role in {Qt.ItemDataRole.ForegroundRole, Qt.ItemDataRole.FontRole}:
            return self._look(role, row, current)
        answers: dict[int, Any] = {
            Qt.ItemDataRole.DisplayRole: self._text(row),
            Qt.ItemDataRole.ToolTipRole: self._tooltip(row, current),
            Qt.ItemDataRole.AccessibleTextRole: self._spoken(row, current),
            Qt.ItemDataRole.SizeHintRole: QSize(0, ROW_HEIGHT),
            POSITION_ROLE: self.position_of(row),
        }
        return answers.get(role)

    def _tooltip(self, row: int, current: int) -> str:
        text = self._text(row)
        return text if row == current else f"{text}\nClick to go there"

    def _look(self, role: int, row: int, current: int) -> Any:
        if role == Qt.ItemDataRole.ForegroundRole:
            is_state = self.has_base and row <= current
            return self._theme.color("text" if is_state else "secondary")
        font = QFont(self._theme.font(bold=self.has_base and row == current))
        font.setItalic(row > current)
        return font

    def _spoken(self, row: int, current: int) -> str:
        if not self.has_base:
            return self._text(row)
        suffix = ", undone" if row > current else ", present" if row == current else ""
        return self._text(row) + suffix
