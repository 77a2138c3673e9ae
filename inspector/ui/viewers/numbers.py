"""The numbers of an array in a table of any size, editable in the target.

Lays out the axis choosers, the page line, the table and what went wrong. Window's
thread; blocks are fetched by the model.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.viewing import Details
from inspector.errors import EditError, ErrorInfo
from inspector.ui.banner import ErrorBanner
from inspector.ui.models.array_model import PAGE, ArrayModel, ArrayPlace
from inspector.ui.models.array_slice import ArraySlice
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.viewers.array_table import ArrayTable
from inspector.ui.viewers.elided_label import ElidedLabel
from inspector.ui.viewers.slice_chooser import SliceChooser
from inspector.ui.viewers.viewer import Viewer
from inspector.variables.path import join


class GoToError(EditError):
    """What was typed as an index is none, or lies outside of the array."""

    def __init__(self, text: str, shape: tuple[int, ...]) -> None:
        """Says what an index of this array looks like."""
        last = ", ".join(str(extent - 1) for extent in shape)
        super().__init__(
            f"‘{text}’ is no index of this array.",
            hint=f"Type one number for each axis, at most {last}.",
        )


class NumbersViewer(Viewer):
    """A table of numbers."""

    title = "Numbers"

    def __init__(
        self, client: StoreClient, theme: Theme, parent: QWidget | None = None
    ) -> None:
        """Makes the widgets, empty."""
        super().__init__(client, theme, parent)
        self._details: Details | None = None
        self.model = ArrayModel(client, self)
        self.table = ArrayTable(client, self.model, theme, self)
        self.chooser = SliceChooser(theme, "numbersSlice", self)
        self.banner = ErrorBanner(theme, self, closable=True)
        self.go_to = QLineEdit(self)
        self.foot = ElidedLabel(self, mode=Qt.TextElideMode.ElideRight)
        self._pages = QLabel(self)
        self._page_buttons = self._make_page_buttons()
        self._connect()
        self._lay_out()

    def _make_page_buttons(self) -> tuple[QPushButton, ...]:
        buttons = []
        for text, name, step in (
            ("↑", "previous rows", (-1, 0)),
            ("↓", "next rows", (1, 0)),
            ("←", "previous columns", (0, -1)),
            ("→", "next columns", (0, 1)),
        ):
            button = QPushButton(text, self)
            button.setProperty("look", "flat")
            button.setObjectName(f"page.{name.replace(' ', '-')}")
            button.setAccessibleName(f"The {name}")
            button.setToolTip(f"The {name}")
            button.clicked.connect(partial(self._turn, *step))
            buttons.append(button)
        return tuple(buttons)

    def _connect(self) -> None:
        self.model.failed.connect(self._on_failed)
        self.model.edited.connect(self.banner.clear)
        self.table.failed.connect(self._on_failed)
        self.table.said.connect(self._say)
        self.table.turn_page.connect(self._turn)
        self.chooser.chosen.connect(self._on_chosen)
        self.go_to.returnPressed.connect(self._on_go_to)

    def _lay_out(self) -> None:
        self.go_to.setObjectName("goToIndex")
        self.go_to.setAccessibleName("Go to an index")
        self.go_to.setFixedWidth(184)
        self.go_to.setFont(self.theme.mono_font("small"))
        self.foot.setObjectName("numbersFoot")
        self.foot.setAccessibleDescription("About the table")
        self.foot.setProperty("look", "small")
        self._pages.setProperty("look", "small")
        line = QHBoxLayout()
        line.setSpacing(4)
        line.addWidget(self.go_to)
        line.addStretch(1)
        line.addWidget(self._pages)
        for button in self._page_buttons:
            line.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.chooser)
        column.addLayout(line)
        column.addWidget(self.table, 1)
        column.addWidget(self.banner)
        column.addWidget(self.foot)

    @staticmethod
    def fitness(details: Details) -> int:
        """Arrays, after their picture."""
        return 90 if details.has_numbers else 0

    def show_details(self, details: Details) -> None:
        """Overridden: the same array keeps its place and reads its numbers again."""
        place = ArrayPlace(
            details.tree,
            details.path,
            details.row.shape,
            details.row.dtype,
            details.editable and details.ready,
        )
        self._details = details
        self.table.setEnabled(details.ready)
        if not details.ready:
            self.clear()
            self._say("The initial value has not been made yet.")
            return
        if place == self.model.place:
            self.model.reread()
            return
        self.banner.clear()
        self.table.fit_columns(place.dtype)
        self.model.set_array(place)
        self.chooser.set_slice(self.model.slice)
        self._show_place()
        self._say(
            "Type to change a number; paste a block with Ctrl+V."
            if place.editable
            else ""
        )

    def clear(self) -> None:
        """Overridden: forgets the array."""
        self._details = None
        self.model.set_array(ArrayPlace("", (), (0,), "float32"))
        self.chooser.set_slice(self.model.slice)
        self.banner.clear()
        self._show_place()

    def _show_place(self) -> None:
        array_slice, first = self.model.slice, self.model.first
        paged = (array_slice.rows > PAGE, array_slice.columns > PAGE)
        parts = []
        for name, axis in (("rows", 0), ("columns", 1)):
            if paged[axis]:
                extent = (array_slice.rows, array_slice.columns)[axis]
                last = min(first[axis] + PAGE, extent) - 1
                parts.append(f"{name} {first[axis]:,} – {last:,} of {extent:,}")
        self._pages.setText("   ".join(parts))
        for number, button in enumerate(self._page_buttons):
            button.setVisible(paged[number // 2])
        rank = len(array_slice.shape)
        self.go_to.setVisible(rank > 0)
        self.go_to.setPlaceholderText(f"Go to index {', '.join('ijklmn'[:rank])}")

    def _turn(self, rows: int, columns: int) -> None:
        array_slice, first = self.model.slice, self.model.first
        target = (first[0] + rows * PAGE, first[1] + columns * PAGE)
        inside = (
            0 <= target[0] < array_slice.rows and 0 <= target[1] < array_slice.columns
        )
        if not inside:
            return
        self.model.set_slice(array_slice, target)
        self._show_place()
        # The cursor comes in on the side that it left the old page from.
        self.table.go_to(
            self.model.rowCount() - 1 if rows < 0 else 0,
            self.model.columnCount() - 1 if columns < 0 else 0,
        )

    def _on_chosen(self, array_slice: ArraySlice) -> None:
        self.model.set_slice(array_slice)
        self._show_place()

    def _on_go_to(self) -> None:
        shape = self.model.slice.shape
        text = self.go_to.text().strip()
        try:
            index = tuple(int(part) for part in text.strip("[]()").split(","))
            self.show_index(index)
        except (ValueError, IndexError):
            self._on_failed(GoToError(text, shape).info())

    def show_index(self, index: tuple[int, ...]) -> None:
        """Goes to an element, on another slice or page when need be.

        Raises:
            IndexError: The array has no such element.
        """
        shape = self.model.slice.shape
        if len(index) != len(shape):
            raise IndexError(index)
        index = tuple(
            i + extent if i < 0 else i for i, extent in zip(index, shape, strict=True)
        )
        if not all(0 <= i < extent for i, extent in zip(index, shape, strict=True)):
            raise IndexError(index)
        array_slice = self.model.slice
        for axis in array_slice.other_axes:
            array_slice = array_slice.with_index(axis, index[axis])
        row = index[array_slice.rows_axis] if array_slice.rows_axis >= 0 else 0
        column = index[array_slice.columns_axis] if array_slice.columns_axis >= 0 else 0
        self.banner.clear()
        self.model.set_slice(array_slice, (row // PAGE * PAGE, column // PAGE * PAGE))
        self.chooser.set_slice(array_slice)
        self._show_place()
        self.table.go_to(row % PAGE, column % PAGE)
        self.table.setFocus()

    def _say(self, text: str) -> None:
        self.foot.show_text(text or " ")

    def _on_failed(self, error: ErrorInfo) -> None:
        if self._details is not None and not error.where:
            error = ErrorInfo(
                error.kind,
                error.message,
                join(self._details.path),
                error.hint,
                error.traceback,
            )
        self.banner.show_error(error)
