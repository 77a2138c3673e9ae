"""The numbers of an array as a Qt table: a 2-D window onto it, fetched by block.

Owned by the numbers viewer, window's thread only. `data` reads what has arrived and
notes what has not; blocks come through the client and are kept up to a bound.
Typing and pasting become `TypeNumbers`, which the store turns into an edit: nothing
here changes a number.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
)

from inspector.engine.messages.document import Changes, TypeNumbers
from inspector.engine.messages.reading import Numbers
from inspector.engine.messages.viewing import ReadNumbers
from inspector.errors import ErrorInfo, InspectorError
from inspector.ui.models import number_text
from inspector.ui.models.array_slice import ArraySlice, table_slice
from inspector.ui.store_client import StoreClient
from inspector.variables import dtypes
from inspector.variables.path import TreePath

BLOCK = 64
"""Rows and columns of a block; 64 KiB of the widest dtype, half of what is allowed."""

KEPT_BLOCKS = 256
"""Blocks that are kept; at most 16 MiB."""

PAGE = 50_000
"""Most rows, and columns, that Qt is told of: its headers hold a record for each."""

_MOST_WAITING = 24
"""Blocks that wait to be fetched; what scrolled out of view falls off the end."""

_Index = QModelIndex | QPersistentModelIndex
_Block = NDArray[Any] | ErrorInfo
_NOWHERE = QModelIndex()


@dataclass(frozen=True, slots=True)
class ArrayPlace:
    """Which array is shown.

    Attributes:
        tree: `document.TARGET` or the id of a source.
        path: Its path there.
        shape: Its shape.
        dtype: Its dtype.
        editable: Whether numbers may be typed.
    """

    tree: str
    path: TreePath
    shape: tuple[int, ...]
    dtype: str
    editable: bool = False


class ArrayModel(QAbstractTableModel):
    """A page of a 2-D slice of one array.

    Attributes:
        place: The array.
        slice: Which 2-D slice of it is shown.
        first: Row and column of the slice that the page begins with.

    Signals:
        failed: `ErrorInfo`: numbers could not be read, or an edit was refused.
        edited: An edit was made.
    """

    failed = Signal(object)
    edited = Signal()

    def __init__(self, client: StoreClient, parent: QObject | None = None) -> None:
        """Starts without an array."""
        super().__init__(parent)
        self._client = client
        self.place = ArrayPlace("", (), (), "float32")
        self.slice: ArraySlice = table_slice(())
        self.first = (0, 0)
        self._is_set = False
        self._blocks: OrderedDict[tuple[int, int], _Block] = OrderedDict()
        self._stale: set[tuple[int, int]] = set()
        self._wanted: OrderedDict[tuple[int, int], None] = OrderedDict()
        self._asked: dict[tuple[int, int], int] = {}
        self._send_timer = QTimer(self)
        self._send_timer.setSingleShot(True)
        self._send_timer.timeout.connect(self._send)

    def set_array(self, place: ArrayPlace) -> None:
        """Shows another array from its beginning."""
        self.beginResetModel()
        self.place = place
        self.slice = table_slice(place.shape)
        self.first = (0, 0)
        self._is_set = True
        self._forget()
        self.endResetModel()

    def set_slice(
        self, array_slice: ArraySlice, first: tuple[int, int] = (0, 0)
    ) -> None:
        """Shows another slice of the same array, or another page of it."""
        self.beginResetModel()
        same = array_slice == self.slice
        self.slice = array_slice
        self.first = first
        if not same:
            self._forget()
        self.endResetModel()

    def reread(self) -> None:
        """Fetches again what is in view; the old numbers stay until then."""
        self._cancel_asked()
        self._stale.update(self._blocks)
        self._tell_changed()

    def cached(self, row: int, column: int) -> Any | None:
        """Returns the element at a cell of the page; None until it has arrived."""
        block = self._block_at(row + self.first[0], column + self.first[1])
        if block is None or isinstance(block, ErrorInfo):
            return None
        return block[(row + self.first[0]) % BLOCK, (column + self.first[1]) % BLOCK]

    def type_block(
        self, row: int, column: int, table: tuple[tuple[str, ...], ...]
    ) -> None:
        """Asks the store to set a block of checked texts at a cell of the page."""
        start_row, start_column = row + self.first[0], column + self.first[1]
        spans = self.slice.region(
            (start_row, start_row + len(table)),
            (start_column, start_column + len(table[0])),
        )
        edit = TypeNumbers(
            self.place.path,
            tuple(start for start, _ in spans),
            tuple(stop - start for start, stop in spans),
            self.slice.in_array_order(table),
        )
        self._client.ask(
            edit, owner=self, on_reply=self._on_edited, on_failure=self.failed.emit
        )

    def _on_edited(self, changes: Changes) -> None:
        del changes  # every panel gets it from the client
        self.edited.emit()

    def _forget(self) -> None:
        self._cancel_asked()
        self._blocks.clear()
        self._stale.clear()

    def _cancel_asked(self) -> None:
        for ticket in self._asked.values():
            self._client.cancel(ticket)
        self._asked.clear()
        self._wanted.clear()

    def _block_at(self, row: int, column: int) -> _Block | None:
        key = (row // BLOCK, column // BLOCK)
        block = self._blocks.get(key)
        if block is None or key in self._stale:
            self._want(key)
        else:
            self._blocks.move_to_end(key)
        return block

    def _want(self, key: tuple[int, int]) -> None:
        if key in self._asked:
            return
        self._wanted[key] = None
        self._wanted.move_to_end(key)
        while len(self._wanted) > _MOST_WAITING:
            self._wanted.popitem(last=False)
        if not self._send_timer.isActive():
            self._send_timer.start()

    def _send(self) -> None:
        # The newest first: it is what the person looks at after a long scroll.
        while self._wanted:
            key, _ = self._wanted.popitem()
            rows = self._span(key[0], self.slice.rows)
            columns = self._span(key[1], self.slice.columns)
            request = ReadNumbers(
                self.place.tree, self.place.path, self.slice.region(rows, columns)
            )
            self._asked[key] = self._ask_block(key, request)

    @staticmethod
    def _span(block: int, extent: int) -> tuple[int, int]:
        return block * BLOCK, min((block + 1) * BLOCK, extent)

    def _ask_block(self, key: tuple[int, int], request: ReadNumbers) -> int:
        asked_for = (self.place, self.slice)

        def on_reply(numbers: Numbers) -> None:
            if asked_for == (self.place, self.slice):
                self._keep(key, self._decode(key, numbers))

        def on_failure(error: ErrorInfo) -> None:
            if asked_for == (self.place, self.slice):
                self._keep(key, error)
                self.failed.emit(error)

        return self._client.ask(
            request, owner=self, on_reply=on_reply, on_failure=on_failure
        )

    def _decode(self, key: tuple[int, int], numbers: Numbers) -> NDArray[Any]:
        flat = np.frombuffer(numbers.data, dtypes.to_numpy(numbers.dtype))
        rows = self._span(key[0], self.slice.rows)
        columns = self._span(key[1], self.slice.columns)
        return self.slice.as_table(flat, rows[1] - rows[0], columns[1] - columns[0])

    def _keep(self, key: tuple[int, int], block: _Block) -> None:
        self._asked.pop(key, None)
        self._stale.discard(key)
        self._blocks[key] = block
        while len(self._blocks) > KEPT_BLOCKS:
            dropped, _ = self._blocks.popitem(last=False)
            self._stale.discard(dropped)
        self._tell_changed()

    def _tell_changed(self) -> None:
        if self.rowCount() and self.columnCount():
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    # Qt overrides

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        """Overridden: rows of the page."""
        if parent.isValid() or not self._is_set:
            return 0
        return min(PAGE, self.slice.rows - self.first[0])

    def columnCount(self, parent: _Index = _NOWHERE) -> int:
        """Overridden: columns of the page."""
        if parent.isValid() or not self._is_set:
            return 0
        return min(PAGE, self.slice.columns - self.first[1])

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Overridden: the text of a number, "…" until it has arrived."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole}:
            return self._text(index.row(), index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tool_tip(index.row(), index.column())
        return None

    def _text(self, row: int, column: int) -> str:
        block = self._block_at(row + self.first[0], column + self.first[1])
        if isinstance(block, ErrorInfo):
            return "▲"
        value = self.cached(row, column)
        return "…" if value is None else number_text.text_of(value, self.place.dtype)

    def _tool_tip(self, row: int, column: int) -> str:
        absolute = (row + self.first[0], column + self.first[1])
        block = self._blocks.get((absolute[0] // BLOCK, absolute[1] // BLOCK))
        if isinstance(block, ErrorInfo):
            return block.text()
        index = ", ".join(str(position) for position in self.slice.at(*absolute))
        return f"[{index}] = {self._text(row, column)}"

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """Overridden: the index along the axis that is shown."""
        if role == Qt.ItemDataRole.DisplayRole:
            first = self.first[0 if orientation == Qt.Orientation.Vertical else 1]
            return str(section + first)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Overridden: cells of the target can be typed into."""
        flags = super().flags(index)
        if index.isValid() and self.place.editable:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def setData(
        self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        """Overridden: sends the number; the cell changes when the store has it."""
        if role != Qt.ItemDataRole.EditRole or not self.place.editable:
            return False
        typed = str(value)
        if typed.strip() == self._text(index.row(), index.column()):
            return False
        try:
            text = number_text.checked(typed, self.place.dtype)
        except InspectorError as error:
            self.failed.emit(error.info())
            return False
        self.type_block(index.row(), index.column(), ((text,),))
        return True
