"""The view of a table of results, and how its cells are painted.

Every table of the run panel is one of these: whole rows, columns that give way when
there is no room, copying as tab-separated text, an invitation while it is empty. On
the window's thread.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from inspector.ui.delegates import Index, RowDelegate
from inspector.ui.marks import MARK_SIZE, paint_mark
from inspector.ui.models.record_table import RecordTable, ResultRole
from inspector.ui.theme import Theme
from inspector.ui.tokens import ROW_HEIGHT, SPACE

_HEADER_HEIGHT = 26
_STRETCH_LEAST = 116
"""Room that a column without a width of its own gets at least, in pixels."""

_ROWS_LEAST = 1
_BAR_HEIGHT = 2
_BUSY_SHARE = 0.3
_INDENT = 3 * SPACE
_MOST_INDENT = 8


class ResultDelegate(RowDelegate):
    """Cells of a `RecordTable`: mark, indent, text, bar or a line of work."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Overridden: paints the cell from its roles."""
        self.paint_surface(painter, option)
        rect: QRect = option.rect
        area = rect.adjusted(2 * SPACE, 0, -2 * SPACE, 0)
        indent = min(int(index.data(ResultRole.INDENT) or 0), _MOST_INDENT)
        area.setLeft(area.left() + indent * _INDENT)
        mark = index.data(ResultRole.MARK)
        if mark:
            middle = rect.top() + rect.height() / 2
            center = QPointF(area.left() + MARK_SIZE / 2, middle)
            paint_mark(painter, center, mark, self.theme, outline=False)
            area.setLeft(area.left() + MARK_SIZE + 2 * SPACE)
        if index.data(ResultRole.BUSY):
            self._paint_line(painter, area, _BUSY_SHARE, "accent")
            return
        look = index.data(ResultRole.LOOK)
        share = index.data(ResultRole.SHARE)
        token = index.data(ResultRole.TOKEN)
        if share is not None:
            self._paint_line(painter, area, share, token or "accent")
        first = index.column() == 0
        self.paint_text(
            painter,
            area,
            str(index.data(Qt.ItemDataRole.DisplayRole) or ""),
            font=self.body if look == "text" else self.mono,
            token=token or ("text" if first or look == "number" else "secondary"),
            right=look == "number",
            elide=Qt.TextElideMode.ElideRight
            if look == "number"
            else Qt.TextElideMode.ElideMiddle,
        )

    def _paint_line(
        self, painter: QPainter, area: QRect, share: float, token: str
    ) -> None:
        line = QRect(area.left(), area.bottom() - 2, area.width(), _BAR_HEIGHT)
        painter.fillRect(line, self.theme.color("hairline"))
        line.setWidth(max(1, round(area.width() * min(1.0, share))) if share else 0)
        painter.fillRect(line, self.theme.color(token))


class ResultTable(QTableView):
    """A table of results.

    Attributes:
        extend_menu: Adds to the context menu what the page offers for the rows.

    Signals:
        record_chosen: The record of the row that became the current one.
        record_activated: The record of a row that was double clicked, or Return.
    """

    record_chosen = Signal(object)
    record_activated = Signal(object)

    def __init__(
        self,
        table: RecordTable,
        theme: Theme,
        parent: QWidget,
        *,
        name: str,
        accessible: str,
    ) -> None:
        """Shows a table under an object name and an accessible name."""
        super().__init__(parent)
        self.table = table
        self._theme = theme
        self._invitation = ""
        self.extend_menu: Callable[[QMenu], object] = _offer_nothing
        self._row_before = -1
        self._is_stale = False
        self.setObjectName(name)
        self.setAccessibleName(accessible)
        self.setModel(table)
        table.modelReset.connect(self._on_table_changed)
        table.dataChanged.connect(self._on_table_changed)
        self.setItemDelegate(ResultDelegate(theme, self))
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.selectionModel().currentRowChanged.connect(self._on_current)
        self.clicked.connect(self._on_clicked)
        self.activated.connect(self._on_activated)
        self._set_up_headers()
        self.setMinimumHeight(_HEADER_HEIGHT + _ROWS_LEAST * ROW_HEIGHT)
        theme.changed.connect(self.viewport().update)

    def _set_up_headers(self) -> None:
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(ROW_HEIGHT)
        rows.setDefaultSectionSize(ROW_HEIGHT)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setFixedHeight(_HEADER_HEIGHT)
        header.setMinimumSectionSize(ROW_HEIGHT)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for number, column in enumerate(self.table.columns):
            if column.width:
                header.resizeSection(number, column.width)
            else:
                header.setSectionResizeMode(number, QHeaderView.ResizeMode.Stretch)

    @property
    def is_unpainted(self) -> bool:
        """Whether rows in sight changed since they were painted.

        Painting asks for what a row lacks, so only then is known what is on its way.
        """
        return (
            self._is_stale
            and self.isVisible()
            and not self.viewport().visibleRegion().isEmpty()
        )

    def set_invitation(self, text: str) -> None:
        """Says in words what would be here, while the table is empty."""
        self._invitation = text
        self.setAccessibleDescription(text)
        self.viewport().update()

    def chosen_rows(self) -> list[int]:
        """Returns the selected rows from the top down."""
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    def chosen_records(self) -> list[object]:
        """Returns the records of the selected rows, those on their way left out."""
        records = (self.table.record(row) for row in self.chosen_rows())
        return [record for record in records if record is not None]

    def copy(self) -> None:
        """Puts the selected rows on the clipboard, tab-separated, exact values."""
        self._copy_rows(self.chosen_rows())

    def copy_all(self) -> None:
        """Puts the whole table on the clipboard."""
        self._copy_rows(list(range(self.table.rowCount())))

    def _copy_rows(self, rows: list[int]) -> None:
        if not rows:
            return
        lines = [tuple(column.title for column in self.table.columns)]
        lines += [self.table.copy_row(row) for row in rows]
        text = "\n".join("\t".join(map(_one_line, line)) for line in lines)
        QGuiApplication.clipboard().setText(text)

    def _on_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setObjectName(f"{self.objectName()}Menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.extend_menu(menu)
        rows = menu.addAction("Copy rows", self.copy)
        rows.setEnabled(bool(self.chosen_rows()))
        whole = menu.addAction("Copy whole table", self.copy_all)
        whole.setEnabled(self.table.rowCount() > 0)
        menu.popup(self.viewport().mapToGlobal(position))

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        record = self.table.record(current.row()) if current.isValid() else None
        if record is not None:
            self.record_chosen.emit(record)

    def _on_table_changed(self) -> None:
        self._is_stale = True

    def _on_clicked(self, index: QModelIndex) -> None:
        """Chooses again a row that was the current one before the click."""
        if index.row() == self._row_before:
            self._on_current(index, index)

    def _on_activated(self, index: QModelIndex) -> None:
        record = self.table.record(index.row())
        if record is not None:
            self.record_activated.emit(record)

    # Overrides of Qt.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copies whole rows on Ctrl+C."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remembers the current row, which Qt changes on the press."""
        self._row_before = self.currentIndex().row()
        super().mousePressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shows the columns that there is room for."""
        super().resizeEvent(event)
        columns = self.table.columns
        shown = set(range(len(columns)))
        by_rank = sorted(shown, key=lambda number: -columns[number].rank)
        for number in by_rank:
            wanted = sum(columns[n].width or _STRETCH_LEAST for n in shown)
            if wanted <= self.viewport().width() or not columns[number].rank:
                break
            shown.discard(number)
        for number in range(len(columns)):
            self.setColumnHidden(number, number not in shown)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the invitation where there are no rows."""
        super().paintEvent(event)
        self._is_stale = False
        if self.table.rowCount() or not self._invitation:
            return
        painter = QPainter(self.viewport())
        painter.setFont(self._theme.font())
        painter.setPen(self._theme.color("secondary"))
        area = self.viewport().rect().adjusted(2 * SPACE, 0, -2 * SPACE, 0)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        bounds = QFontMetrics(painter.font()).boundingRect(
            area, int(flags), self._invitation
        )
        painter.drawText(area.united(bounds), int(flags), self._invitation)
        painter.end()


def _offer_nothing(menu: QMenu) -> None:
    del menu


def _one_line(text: str) -> str:
    return text.replace("\t", " ").replace("\n", " ")
