"""Tables of plain cells: the dtypes of a branch, and its children.

Owned by the summary viewer; rows are complete when they come, so nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Attributes:
        text: What it shows.
        exact: Tool tip, the exact number; empty for the text itself.
    """

    text: str
    exact: str = ""


class CellTable(QAbstractTableModel):
    """Rows of cells under a header; the columns after the first are numbers."""

    def __init__(
        self,
        headers: Sequence[str],
        parent: QObject | None = None,
        *,
        left_aligned: int = 1,
    ) -> None:
        """Starts without rows; the first ``left_aligned`` columns hold words."""
        super().__init__(parent)
        self._headers = tuple(headers)
        self._left_aligned = left_aligned
        self._rows: tuple[tuple[Cell, ...], ...] = ()

    def set_rows(self, rows: Sequence[tuple[Cell, ...]]) -> None:
        """Shows other rows."""
        self.beginResetModel()
        self._rows = tuple(rows)
        self.endResetModel()

    def header(self, column: int) -> str:
        """Returns the name of a column."""
        return self._headers[column]

    # Qt overrides

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        """Overridden: number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:
        """Overridden: number of columns."""
        return 0 if parent.isValid() else len(self._headers)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Overridden: text, exact text, alignment."""
        if not index.isValid():
            return None
        cell = self._rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.text
        if role == Qt.ItemDataRole.ToolTipRole:
            return cell.exact or cell.text
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        return None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """Overridden: names of the columns, aligned as what is below them."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headers[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(section)
        return None

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        side = (
            Qt.AlignmentFlag.AlignLeft
            if column < self._left_aligned
            else Qt.AlignmentFlag.AlignRight
        )
        return side | Qt.AlignmentFlag.AlignVCenter
