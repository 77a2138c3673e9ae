"""The table view of an array's numbers: copying, pasting, moving from page to page.

The model is `models.array_model`; this view adds the keyboard and the clipboard.
Blocks that are copied are fetched and written piece by piece, so that the window's
thread is never busy for long.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    Qt,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from inspector.engine.messages.reading import Numbers
from inspector.engine.messages.viewing import ReadNumbers
from inspector.errors import EditError, InspectorError
from inspector.ui import format as fmt
from inspector.ui.models.array_model import PAGE, ArrayModel
from inspector.ui.models.array_slice import ArraySlice, Span
from inspector.ui.models.table_text import read_block, write_block
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import ROW_HEIGHT
from inspector.variables import dtypes

MOST_COPIED = 262_144
"""Numbers that one copy takes to the clipboard at most."""

MOST_PASTED = 65_536
"""Numbers that one paste takes from it at most; checking them takes 40 ms."""

_PIECE = 4096
"""Numbers that are fetched and written at a time: 64 KiB at most, under 10 ms."""


class CopyBlockError(EditError):
    """The selection is too large for the clipboard."""

    def __init__(self, size: int) -> None:
        """Says how much was selected and how much is possible."""
        super().__init__(
            f"{size:,} numbers are selected; {MOST_COPIED:,} can be copied at once.",
            hint="Select fewer, or export the array to a file.",
        )


class PasteTooLargeError(EditError):
    """The clipboard holds more text than a block that can be pasted."""

    def __init__(self, size: int) -> None:
        """Says how much there is and how much is possible."""
        super().__init__(
            f"The clipboard holds about {size:,} numbers; {MOST_PASTED:,} can be"
            " pasted at once.",
            hint="Paste it in parts.",
        )


class BlockCopier(QObject):
    """Fetches a block piece by piece and puts it on the clipboard as text.

    Signals:
        finished: Numbers copied.
        failed: `ErrorInfo`: a piece could not be read.
    """

    finished = Signal(int)
    failed = Signal(object)

    def __init__(self, client: StoreClient, model: ArrayModel, parent: QObject) -> None:
        """Copies nothing yet."""
        super().__init__(parent)
        self._client = client
        self._model = model
        self._pieces: list[tuple[Span, Span]] = []
        self._lines: list[str] = []
        self._slice: ArraySlice = model.slice
        self._size = 0

    def start(self, rows: Span, columns: Span) -> None:
        """Begins to copy a block of the model's slice; an older copy ends.

        Raises:
            CopyBlockError: It is too large.
        """
        width = columns[1] - columns[0]
        self._size = (rows[1] - rows[0]) * width
        if self._size > MOST_COPIED or width > _PIECE:
            raise CopyBlockError(self._size)
        self._slice = self._model.slice
        self._lines = []
        step = max(1, _PIECE // width)
        self._pieces = [
            ((first, min(first + step, rows[1])), columns)
            for first in range(rows[0], rows[1], step)
        ]
        self._next()

    def _next(self) -> None:
        if not self._pieces:
            QGuiApplication.clipboard().setText("\n".join(self._lines))
            self.finished.emit(self._size)
            return
        rows, columns = self._pieces.pop(0)
        place = self._model.place

        def on_reply(numbers: Numbers) -> None:
            flat = np.frombuffer(numbers.data, dtypes.to_numpy(numbers.dtype))
            table = self._slice.as_table(
                flat, rows[1] - rows[0], columns[1] - columns[0]
            )
            self._lines.append(write_block(table, numbers.dtype))
            self._next()

        self._client.ask(
            ReadNumbers(place.tree, place.path, self._slice.region(rows, columns)),
            owner=self,
            on_reply=on_reply,
            on_failure=self.failed.emit,
            slot="copy",
        )


class ArrayTable(QTableView):
    """Numbers in rows and columns with their indices.

    Signals:
        failed: `ErrorInfo` to show where the table is.
        said: A sentence for a person, e.g. what was copied.
        turn_page: (rows, columns) to move by, -1, 0 or 1 pages each.
    """

    failed = Signal(object)
    said = Signal(str)
    turn_page = Signal(int, int)

    def __init__(
        self,
        client: StoreClient,
        model: ArrayModel,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        """Makes the view of a model."""
        super().__init__(parent)
        self._model = model
        self.setModel(model)
        self.setObjectName("arrayTable")
        self.setAccessibleName("Numbers")
        self.setFont(theme.mono_font())
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        for header in (self.verticalHeader(), self.horizontalHeader()):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setHighlightSections(True)
            header.setFont(theme.mono_font("small"))
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self._copier = BlockCopier(client, model, self)
        self._copier.finished.connect(self._on_copied)
        self._copier.failed.connect(self.failed)

    def fit_columns(self, dtype: str) -> None:
        """Gives the columns room for the longest usual number of a dtype."""
        characters = _CHARACTERS.get(dtype, _FEW_CHARACTERS)
        width = self.fontMetrics().horizontalAdvance("0") * characters + 16
        self.horizontalHeader().setDefaultSectionSize(width)

    def go_to(self, row: int, column: int) -> None:
        """Makes a cell of the page the current one and scrolls to it."""
        index = self._model.index(row, column)
        self.setCurrentIndex(index)
        self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def selected_block(self) -> tuple[Span, Span] | None:
        """Returns (rows, columns) of the slice that the selection spans."""
        ranges = self.selectionModel().selection().toList()
        if not ranges:
            return None
        first = self._model.first
        return (
            (
                min(r.top() for r in ranges) + first[0],
                max(r.bottom() for r in ranges) + first[0] + 1,
            ),
            (
                min(r.left() for r in ranges) + first[1],
                max(r.right() for r in ranges) + first[1] + 1,
            ),
        )

    def copy(self) -> None:
        """Puts the selected block on the clipboard as tab-separated text."""
        block = self.selected_block()
        if block is None:
            return
        try:
            self._copier.start(*block)
        except InspectorError as error:
            self.failed.emit(error.info())

    def paste(self) -> None:
        """Sets the block on the clipboard from the current cell on."""
        current = self.currentIndex()
        text = QGuiApplication.clipboard().text()
        if not current.isValid() or not self._model.place.editable:
            self.failed.emit(_NotEditableError().info())
            return
        first = (
            current.row() + self._model.first[0],
            current.column() + self._model.first[1],
        )
        try:
            _check_size(text)
            table = read_block(
                text,
                self._model.place.dtype,
                first=first,
                extent=(self._model.slice.rows, self._model.slice.columns),
            )
        except InspectorError as error:
            self.failed.emit(error.info())
            return
        self._model.type_block(current.row(), current.column(), table)
        self._select_block(current, len(table), len(table[0]))

    def _select_block(self, first: QModelIndex, rows: int, columns: int) -> None:
        last = self._model.index(
            min(first.row() + rows, self._model.rowCount()) - 1,
            min(first.column() + columns, self._model.columnCount()) - 1,
        )
        self.selectionModel().select(
            QItemSelection(first, last),
            QItemSelectionModel.SelectionFlag.ClearAndSelect,
        )

    def _on_copied(self, size: int) -> None:
        self.said.emit(f"Copied {fmt.plural(size, 'number')}")

    def _page_to_turn(self, key: int) -> tuple[int, int]:
        """Which page a key leads to when the cursor stands at the page's edge."""
        current, model = self.currentIndex(), self._model
        if key in {Qt.Key.Key_Down, Qt.Key.Key_PageDown}:
            at_edge = current.row() == PAGE - 1
            return (1, 0) if at_edge else (0, 0)
        if key in {Qt.Key.Key_Up, Qt.Key.Key_PageUp}:
            return (-1, 0) if current.row() == 0 and model.first[0] else (0, 0)
        if key == Qt.Key.Key_Right:
            return (0, 1) if current.column() == PAGE - 1 else (0, 0)
        if key == Qt.Key.Key_Left:
            return (0, -1) if current.column() == 0 and model.first[1] else (0, 0)
        return (0, 0)

    # Qt overrides

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Overridden: copy, paste, and the next page at the edge of this one."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        elif (turn := self._page_to_turn(event.key())) != (0, 0):
            self.turn_page.emit(*turn)
        else:
            super().keyPressEvent(event)


_CHARACTERS = {
    "bool": 6, "int8": 5, "uint8": 5, "int16": 7, "uint16": 7, "int32": 12,
    "uint32": 11, "int64": 21, "uint64": 21, "float32": 15, "float64": 24,
    "complex64": 28, "complex128": 46,
}  # fmt: skip
"""Room in a column for the longest number of a dtype, in digits."""

_FEW_CHARACTERS = 12
"""The same for dtypes of at most 16 bits."""


class _NotEditableError(EditError):
    """Numbers were pasted into an array that cannot be changed."""

    def __init__(self) -> None:
        """Says where they could go instead."""
        super().__init__(
            "Numbers of a source are never changed.",
            hint="Open the leaf in the target, or make an editable copy of the source.",
        )


def _check_size(text: str) -> None:
    size = text.count("\t") + text.count("\n") + 1
    if size > MOST_PASTED:
        raise PasteTooLargeError(size)
