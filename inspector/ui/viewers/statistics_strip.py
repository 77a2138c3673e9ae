"""Seven statistics of a leaf in a line: computed in the background, never jumping.

Part of the details panel; window's thread. It asks for the statistics itself and
hands them on, so that the histogram needs no second pass over the data.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.document import AskDocument, DocumentInfo
from inspector.engine.messages.envelope import Progress
from inspector.engine.messages.reading import StatisticsReply
from inspector.engine.messages.viewing import Details, ReadStatistics
from inspector.errors import ErrorInfo
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.viewers.elided_label import ElidedLabel
from inspector.ui.viewers.hairline import HairlineProgress
from inspector.ui.viewers.statistics_columns import (
    CELLS,
    COLUMNS,
    NARROW,
    ROWS,
    place_narrow,
    place_wide,
)
from inspector.variables.path import join

BINS = 64
"""Bins of the histogram that is computed along."""

LONG_NBYTES = 64 << 20
"""From this size on the status bar shows the work too."""


class StatisticsStrip(QWidget):
    """Statistics of the leaf that the details show.

    Signals:
        arrived: `StatisticsReply` of the leaf; None when it is cleared.
        make_asked: The person wants an initial value to be made now.
    """

    arrived = Signal(object)
    make_asked = Signal()

    def __init__(
        self, client: StoreClient, theme: Theme, parent: QWidget | None = None
    ) -> None:
        """Starts empty."""
        super().__init__(parent)
        self._client = client
        self._ticket = 0
        self._details: Details | None = None
        self._titles: list[QLabel] = []
        self._cells: list[ElidedLabel] = []
        self.progress = HairlineProgress(theme, self)
        self._pages = QStackedLayout()
        self._pages.addWidget(self._make_values(theme))
        self._message = QLabel(self)
        self._button = QPushButton(self)
        self._pages.addWidget(self._make_message())
        self._cancel = self._make_cancel()
        self._lay_out()
        self.setObjectName("statistics")
        self.setAccessibleName("Statistics")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(self._pages)
        column.addWidget(self.progress)

    def _make_values(self, theme: Theme) -> QWidget:
        page = QWidget(self)
        self._grid = QGridLayout(page)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(4)
        self._grid.setVerticalSpacing(2)
        for caption, _, _ in COLUMNS:
            title = QLabel(caption, page)
            title.setProperty("look", "small")
            cell = ElidedLabel(page, mode=Qt.TextElideMode.ElideRight)
            cell.show_text(" ")
            cell.setProperty("look", "mono")
            cell.setFont(theme.mono_font("small"))
            cell.setObjectName(f"statistic.{caption}")
            cell.setAccessibleDescription(caption)
            self._titles.append(title)
            self._cells.append(cell)
        self._is_narrow: bool | None = None
        self._arrange(narrow=False)
        return page

    def _arrange(self, *, narrow: bool) -> None:
        """Lays the numbers out in one line, or the counts below the moments.

        Numbers ask for no width, so they stay where they are whatever arrives.
        """
        if narrow == self._is_narrow:
            return
        self._is_narrow = narrow
        for column in range(CELLS):
            self._grid.setColumnStretch(column, 0)
        place = place_narrow if narrow else place_wide
        for number, (title, cell) in enumerate(
            zip(self._titles, self._cells, strict=True)
        ):
            place(self._grid, number, title, cell)
        # The other page is a little higher; the spare room goes below the numbers.
        self._grid.setRowStretch(ROWS, 1)

    def _make_message(self) -> QWidget:
        page = QWidget(self)
        line = QHBoxLayout(page)
        line.setContentsMargins(0, 0, 0, 0)
        self._message.setWordWrap(True)
        # Its text is two lines at most; what a label guesses before it knows its
        # width would make the whole strip higher.
        self._message.setSizePolicy(
            QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored
        )
        self._message.setObjectName("statisticsMessage")
        self._message.setAccessibleDescription("Why there are no statistics")
        self._button.setObjectName("statisticsButton")
        self._button.clicked.connect(self._on_button)
        line.addWidget(self._message, 1)
        line.addWidget(self._button)
        return page

    def _make_cancel(self) -> QPushButton:
        button = QPushButton("Cancel", self)
        button.setProperty("look", "flat")
        button.setObjectName("statisticsCancel")
        button.setAccessibleName("Cancel the statistics")
        button.clicked.connect(self._on_cancel)
        button.hide()
        return button

    def show_details(self, details: Details) -> None:
        """Shows the statistics of a leaf, computing them in the background."""
        same = self._details is not None and (
            (details.tree, details.path) == (self._details.tree, self._details.path)
        )
        self._details = details
        if not same:
            self._clear_cells()
        if not details.ready:
            self._show_invitation(details)
        else:
            self._ask(details)

    def clear(self) -> None:
        """Forgets the leaf and stops computing."""
        self._client.drop(self, "statistics")
        self._details = None
        self._clear_cells()
        self._set_busy(busy=False)

    def _clear_cells(self) -> None:
        for cell in self._cells:
            cell.show_text(" ")
        self.arrived.emit(None)

    def _show_invitation(self, details: Details) -> None:
        self._client.drop(self, "statistics")
        self._set_busy(busy=False)
        if details.row.origin == "unset":
            self._say("No value and no initialiser: there are no numbers.", "")
            return
        self._say("Initial value — made when needed.", "Make it now")
        self._client.ask(
            AskDocument(), owner=self, on_reply=self._on_document, slot="statistics"
        )

    def _on_document(self, info: DocumentInfo) -> None:
        """Names the seed that ``init`` would draw the value from."""
        seeds = dict(info.target.seeds)
        if seeds:
            seed = seeds.get("params", next(iter(seeds.values())))
            text = f"Initial value of seed {seed} — made when needed."
            self._say(text, "Make it now")

    def _say(self, text: str, button: str, look: str = "secondary") -> None:
        self._message.setText(text)
        self._message.setToolTip(text)
        self._message.setProperty("look", look)
        self._message.style().polish(self._message)
        self._button.setText(button)
        self._button.setAccessibleName(button or "Nothing to do")
        self._button.setVisible(bool(button))
        self._pages.setCurrentIndex(1)

    def _ask(self, details: Details) -> None:
        self._pages.setCurrentIndex(0)
        long = details.row.nbytes >= LONG_NBYTES
        self._ticket = self._client.ask(
            ReadStatistics(details.tree, details.path, BINS),
            owner=self,
            on_reply=self._on_statistics,
            on_failure=self._on_failure,
            on_progress=self._on_progress,
            on_cancelled=self._on_cancelled,
            slot="statistics",
            activity=f"Statistics of {join(details.path)}" if long else "",
        )
        self._set_busy(busy=True)

    def _set_busy(self, *, busy: bool) -> None:
        if busy:
            self.progress.start()
        else:
            self.progress.stop()
            self._cancel.hide()

    def _on_progress(self, progress: Progress) -> None:
        self.progress.set_progress(progress.done, progress.total)
        self._cancel.show()
        self._cancel.raise_()

    def _on_statistics(self, statistics: StatisticsReply) -> None:
        self._set_busy(busy=False)
        for cell, (_, text, tool_tip) in zip(self._cells, COLUMNS, strict=True):
            cell.show_text(text(statistics), tool_tip=tool_tip(statistics))
        self.arrived.emit(statistics)

    def _on_failure(self, error: ErrorInfo) -> None:
        self._set_busy(busy=False)
        self._say(error.text(), "Try again", "error")

    def _on_cancelled(self) -> None:
        self._set_busy(busy=False)
        self._say("Stopped before the end.", "Compute")

    def _on_cancel(self) -> None:
        self._client.cancel(self._ticket)

    def _on_button(self) -> None:
        if self._details is None:
            return
        if self._details.ready:
            self._ask(self._details)
        else:
            self.make_asked.emit()

    # Qt overrides

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Overridden: the cancel button lies over the last columns.

        They are empty while it is there, and no column moves when it comes or goes.
        """
        super().resizeEvent(event)
        self._arrange(narrow=self.width() < NARROW)
        size = self._cancel.sizeHint()
        self._cancel.resize(size)
        self._cancel.move(self.width() - size.width(), 0)
