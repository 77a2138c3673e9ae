"""The log as a table: when, how grave, what.

Owned by the log panel, window's thread. Old entries fall off the beginning.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from inspector.ui.theme import Theme

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()

MOST_ENTRIES = 5000
"""Entries that are kept."""

LEVELS = ("debug", "info", "warning", "error")
"""Levels from least to most grave, as `Notice.level` names them."""

LEVEL_ROLE = Qt.ItemDataRole.UserRole
"""Role of the rank of an entry's level in `LEVELS`, for the filter."""

_HEADERS = ("time", "level", "message")
_TIME, _LEVEL, _MESSAGE = range(3)
_TOKENS = {"warning": "warning", "error": "error", "debug": "secondary"}


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry.

    Attributes:
        level: One of `LEVELS`.
        text: What happened; line breaks are kept in the tool tip and on copy.
        detail: Traceback or the like; may be empty.
        moment: Seconds since the epoch.
    """

    level: str
    text: str
    detail: str = ""
    moment: float = field(default_factory=time.time)

    def line(self) -> str:
        """Returns the entry as it is copied."""
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.moment))
        detail = f"\n{self.detail}" if self.detail else ""
        return f"{stamp} {self.level.upper()} {self.text}{detail}"


class LogModel(QAbstractTableModel):
    """The newest entries, oldest first."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        """Starts empty."""
        super().__init__(parent)
        self._theme = theme
        self._entries: list[LogEntry] = []
        theme.changed.connect(self._on_theme)

    def add(self, entry: LogEntry) -> None:
        """Appends an entry; an overfull log loses its oldest tenth."""
        if len(self._entries) >= MOST_ENTRIES:
            dropped = MOST_ENTRIES // 10
            self.beginRemoveRows(QModelIndex(), 0, dropped - 1)
            del self._entries[:dropped]
            self.endRemoveRows()
        row = len(self._entries)
        self.beginInsertRows(QModelIndex(), row, row)
        self._entries.append(entry)
        self.endInsertRows()

    def clear(self) -> None:
        """Forgets every entry."""
        self.beginResetModel()
        self._entries.clear()
        self.endResetModel()

    def entry(self, row: int) -> LogEntry:
        """Returns the entry of a row."""
        return self._entries[row]

    def _on_theme(self) -> None:
        if self._entries:
            last = self.index(self.rowCount() - 1, _MESSAGE)
            self.dataChanged.emit(self.index(0, 0), last)

    # Qt overrides

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        """Overridden: entries kept."""
        return 0 if parent.isValid() else len(self._entries)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:
        """Overridden: time, level, message."""
        return 0 if parent.isValid() else len(_HEADERS)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """Overridden: names of the columns."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _HEADERS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Overridden: one line an entry; the level in its colour."""
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        column = index.column()
        if role == Qt.ItemDataRole.FontRole:
            return self._theme.mono_font("small") if column == _TIME else None
        answers: dict[int, Any] = {
            Qt.ItemDataRole.DisplayRole: self._text(entry, column),
            Qt.ItemDataRole.ToolTipRole: entry.line(),
            Qt.ItemDataRole.ForegroundRole: self._theme.color(
                self._token(entry, column)
            ),
            LEVEL_ROLE: LEVELS.index(entry.level),
        }
        return answers.get(role)

    @staticmethod
    def _text(entry: LogEntry, column: int) -> str:
        if column == _TIME:
            return time.strftime("%H:%M:%S", time.localtime(entry.moment))
        return entry.level if column == _LEVEL else entry.text.replace("\n", "  ")

    @staticmethod
    def _token(entry: LogEntry, column: int) -> str:
        if column == _LEVEL:
            return _TOKENS.get(entry.level, "secondary")
        return "secondary" if column == _TIME else "text"
