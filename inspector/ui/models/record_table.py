"""Tables whose rows are records: results of runs, differences, calls.

A table is a list of `Column`, each a title and plain functions of a record; what a
row carries beyond text (path, mark, bar, indent, work going on) is in `ResultRole`.
Owned by the panels of the results; models that fetch their rows override `record`.
On the window's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from inspector.ui.tokens import MARKS

Index = QModelIndex | QPersistentModelIndex

_ROOT = QModelIndex()
_USER = int(Qt.ItemDataRole.UserRole)


class ResultRole(IntEnum):
    """Roles beyond Qt's own that the tables of results answer."""

    PATH = _USER
    """Key path that the row is about, a tuple; None for none."""
    MARK = _USER + 1
    """Name of the mark before the text of the cell; empty for none."""
    SHARE = _USER + 2
    """Length of the cell's bar from 0 to 1; None without a bar."""
    BUSY = _USER + 3
    """Whether the number of the cell is being computed."""
    INDENT = _USER + 4
    """Levels by which the text is moved to the right."""
    LOOK = _USER + 5
    """How the cell is painted: ``"text"``, ``"mono"`` or ``"number"``."""
    TOKEN = _USER + 6
    """Token of the text's colour."""


def _nothing(_record: Any) -> str:
    return ""


def _none(_record: Any) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        title: Its header.
        text: What a cell shows.
        exact: The exact value, for the tool tip and for copying; None for the text.
        width: Pixels; 0 shares what the others leave.
        look: ``"text"``, ``"mono"``, or ``"number"`` (right-aligned, monospaced).
        rank: Narrow tables hide columns of high rank first; 0 is never hidden.
        mark: Mark before the text.
        share: Length of a bar below the text, None for none.
        busy: Whether the value is being computed.
        indent: Levels by which the text is moved to the right.
        token: Token of the text's colour; empty for the look's own.
    """

    title: str
    text: Callable[[Any], str]
    exact: Callable[[Any], str] | None = None
    width: int = 0
    look: str = "text"
    rank: int = 0
    mark: Callable[[Any], str] = _nothing
    share: Callable[[Any], float | None] | None = None
    busy: Callable[[Any], bool] | None = None
    indent: Callable[[Any], int] | None = None
    token: Callable[[Any], str] = _nothing


class RecordTable(QAbstractTableModel):
    """Records under a header.

    Attributes:
        columns: The columns.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        parent: QObject | None = None,
        *,
        path_of: Callable[[Any], object] = lambda _record: None,
    ) -> None:
        """Starts without rows; ``path_of`` gives the path that a record is about."""
        super().__init__(parent)
        self.columns = tuple(columns)
        self._path_of = path_of
        self._records: list[Any] = []

    def set_records(self, records: Sequence[Any]) -> None:
        """Shows other records."""
        self.beginResetModel()
        self._records = list(records)
        self.endResetModel()

    def record(self, row: int) -> Any:
        """Returns the record of a row; None for one on its way or out of range."""
        return self._records[row] if 0 <= row < len(self._records) else None

    def copy_row(self, row: int) -> tuple[str, ...]:
        """Returns the exact values of a row."""
        record = self.record(row)
        if record is None:
            return ("",) * len(self.columns)
        return tuple(_exact(column, record) for column in self.columns)

    def tell_row(self, row: int) -> None:
        """Tells the views that a row shows something else."""
        if 0 <= row < self.rowCount():
            end = self.index(row, len(self.columns) - 1)
            self.dataChanged.emit(self.index(row, 0), end)

    def tell_all(self) -> None:
        """Tells the views that every row may show something else."""
        if self.rowCount():
            end = self.index(self.rowCount() - 1, len(self.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), end)

    # Overrides of Qt.

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Counts the records."""
        return 0 if parent.isValid() else len(self._records)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Counts the columns."""
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Says what a cell shows."""
        if not index.isValid() or index.row() >= self.rowCount():
            return None
        column = self.columns[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        record = self.record(index.row())
        if record is None:
            first = role == Qt.ItemDataRole.DisplayRole and index.column() == 0
            return "…" if first else None
        if role == ResultRole.PATH:
            return self._path_of(record)
        answer = _CELLS.get(role)
        return answer(column, record) if answer is not None else None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """Names the columns, aligned as what is below them."""
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(self.columns[section])
        return None


def _alignment(column: Column) -> Qt.AlignmentFlag:
    flag = Qt.AlignmentFlag
    side = flag.AlignRight if column.look == "number" else flag.AlignLeft
    return side | flag.AlignVCenter


def _exact(column: Column, record: Any) -> str:
    return (column.exact or column.text)(record)


def _spoken(column: Column, record: Any) -> str:
    """Returns the text with the word of its mark, for who does not see the shape."""
    word = MARKS.get(column.mark(record), MARKS[""]).word
    text = column.text(record)
    return f"{word}, {text}" if word else text


_CELLS: dict[int, Callable[[Column, Any], Any]] = {
    Qt.ItemDataRole.DisplayRole: lambda column, record: column.text(record),
    Qt.ItemDataRole.ToolTipRole: _exact,
    Qt.ItemDataRole.AccessibleTextRole: _spoken,
    ResultRole.MARK: lambda column, record: column.mark(record),
    ResultRole.SHARE: lambda column, record: (column.share or _none)(record),
    ResultRole.BUSY: lambda column, record: (column.busy or _none)(record),
    ResultRole.INDENT: lambda column, record: (column.indent or _none)(record),
    ResultRole.LOOK: lambda column, _record: column.look,
    ResultRole.TOKEN: lambda column, record: column.token(record),
}
"""What a cell answers for each role."""
