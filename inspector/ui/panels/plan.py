"""The panel of a plan: what a transfer would do, row by row, before it is done.

Shows `PlanInfo` and its rows with a choice where there is one; Apply sends the
choices, Escape puts the plan away. On the window's thread.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.viewing import PlanInfo
from inspector.errors import ErrorInfo
from inspector.ui.banner_stack import BannerStack
from inspector.ui.marks import MARK_SIZE, mark_icon
from inspector.ui.models.plan_model import PlanModel
from inspector.ui.models.roles import PlanColumn
from inspector.ui.plan_delegates import PlanDelegate
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import MARKS, ROW_HEIGHT, SPACE, VERDICTS
from inspector.ui.viewers.elided_label import ElidedLabel

_WIDTHS = {
    PlanColumn.VERDICT: 104,
    PlanColumn.SOURCE_ARRAY: 136,
    PlanColumn.TARGET_ARRAY: 136,
    PlanColumn.CHOICE: 76,
}
"""Columns of a fixed width, in pixels; the paths and the reason share the rest."""


class PlanTable(QTableView):
    """The rows; Return or a click on a choice opens it, Escape cancels the plan.

    Signals:
        cancelled: Escape was pressed outside an editor.
    """

    cancelled = Signal()

    def __init__(self, model: PlanModel, theme: Theme, parent: QWidget) -> None:
        """Shows a plan model."""
        super().__init__(parent)
        self.setObjectName("planTable")
        self.setAccessibleName("Rows of the plan")
        self.setModel(model)
        self.setItemDelegate(PlanDelegate(theme, self))
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        trigger = QAbstractItemView.EditTrigger
        self.setEditTriggers(
            trigger.EditKeyPressed | trigger.SelectedClicked | trigger.DoubleClicked
        )
        self.setTabKeyNavigation(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(ROW_HEIGHT)
        rows.setDefaultSectionSize(ROW_HEIGHT)
        self.setMinimumHeight(3 * ROW_HEIGHT)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        for column in PlanColumn:
            if column in _WIDTHS:
                header.resizeSection(column, _WIDTHS[column])
            else:
                header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    # Overrides of Qt.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Opens the row's choice on Return or Space; Escape cancels."""
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
            return
        opening = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}
        cell = self.currentIndex().siblingAtColumn(PlanColumn.CHOICE)
        editable = self.model().flags(cell) & Qt.ItemFlag.ItemIsEditable
        if event.key() in opening and cell.isValid() and editable:
            self.setCurrentIndex(cell)
            self.edit(cell)
            return
        super().keyPressEvent(event)


class PlanPanel(QFrame):
    """A plan with its choices.

    Signals:
        apply_wanted: (plan number, choices).
        closed: The plan was put away.
    """

    apply_wanted = Signal(int, object)
    closed = Signal()

    def __init__(self, client: StoreClient, theme: Theme, parent: QWidget) -> None:
        """Shows nothing until `show_plan`."""
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("planPanel")
        self.setAccessibleName("Plan of the transfer")
        self.model = PlanModel(client, self)
        self.table = PlanTable(self.model, theme, self)
        self.banners = BannerStack(theme, self)
        self._make_head()
        self._lay_out()
        self.table.cancelled.connect(self.cancel)
        self.table.customContextMenuRequested.connect(self._on_menu)
        self.model.choices_changed.connect(self._on_choices)
        self.model.failed.connect(self.show_error)

    @property
    def is_dirty(self) -> bool:
        """Whether rows in view are still on their way."""
        return self.model.is_loading

    def show_plan(self, info: PlanInfo) -> None:
        """Opens a plan and puts the focus where Return applies it."""
        self.banners.remove("error")
        self._asked.show_text(info.asked)
        self._note.setText(info.note)
        self._note.setVisible(bool(info.note))
        counts = dict(info.summary)
        for verdict, chip in self._chips.items():
            chip.setChecked(False)
            chip.setVisible(bool(counts.get(verdict)))
            mark = MARKS[verdict]
            chip.setText(f"{counts.get(verdict, 0):,} {mark.word}")
        self.model.show_plan(info)
        self.table.selectRow(0)
        self.table.setFocus()

    def cancel(self) -> None:
        """Puts the plan away without doing anything."""
        self.model.show_plan(None)
        self.closed.emit()

    def show_error(self, error: ErrorInfo) -> None:
        """Says why the plan could not be shown or applied."""
        self.banners.show_error("error", error)
        self._on_choices()

    def _make_head(self) -> None:
        self._asked = ElidedLabel(self)
        self._asked.setObjectName("planAsked")
        self._asked.setAccessibleDescription("What would be transferred")
        self._asked.setProperty("look", "title")
        self._note = QLabel(self)
        self._note.setProperty("look", "secondary")
        self._note.setTextFormat(Qt.TextFormat.PlainText)
        self._note.setWordWrap(True)
        self._chips: dict[str, QPushButton] = {}
        for verdict in VERDICTS:
            chip = QPushButton(self)
            chip.setObjectName(f"planFilter.{verdict}")
            chip.setAccessibleName(f"Show only rows that are {MARKS[verdict].word}")
            chip.setToolTip(MARKS[verdict].meaning)
            chip.setProperty("look", "chip")
            chip.setCheckable(True)
            chip.setIconSize(QSize(MARK_SIZE + 3, MARK_SIZE + 3))
            chip.toggled.connect(self._on_filter)
            self._chips[verdict] = chip
        self._load_icons()
        self._theme.changed.connect(self._load_icons)
        self._cancel = QPushButton("Cancel", self)
        self._cancel.setObjectName("planCancel")
        self._cancel.setAccessibleName("Cancel the plan")
        self._cancel.clicked.connect(self.cancel)
        self.apply_button = QPushButton("Apply", self)
        self.apply_button.setObjectName("planApply")
        self.apply_button.setAccessibleName("Apply the plan")
        self.apply_button.setProperty("look", "primary")
        self.apply_button.clicked.connect(self._on_apply)

    def _load_icons(self) -> None:
        for verdict, chip in self._chips.items():
            chip.setIcon(mark_icon(verdict, self._theme))

    def _lay_out(self) -> None:
        title = QHBoxLayout()
        title.setSpacing(2 * SPACE)
        title.addWidget(self._asked, 1)
        for chip in self._chips.values():
            title.addWidget(chip)
        title.addSpacing(2 * SPACE)
        title.addWidget(self._cancel)
        title.addWidget(self.apply_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * SPACE, 2 * SPACE, 3 * SPACE, 2 * SPACE)
        column.setSpacing(SPACE)
        column.addLayout(title)
        column.addWidget(self._note)
        column.addWidget(self.banners)
        column.addWidget(self.table, 1)

    def _on_filter(self, _checked: bool) -> None:
        chosen = tuple(v for v, chip in self._chips.items() if chip.isChecked())
        self.model.set_verdicts(chosen)

    def _on_choices(self) -> None:
        filled, fillable = self.model.applied
        text = f"Apply {filled:,} of {fillable:,}"
        self.apply_button.setText(text)
        self.apply_button.setAccessibleName(f"{text} rows")
        self.apply_button.setEnabled(filled > 0)

    def _on_apply(self) -> None:
        info = self.model.info
        if info is not None:
            self.apply_button.setEnabled(False)
            self.apply_wanted.emit(info.plan, self.model.choices)

    def _on_menu(self) -> None:
        """Offers one choice for all selected rows."""
        rows = [index.row() for index in self.table.selectionModel().selectedRows()]
        lines = [line for row in rows if (line := self.model.line(row)) is not None]
        choices = sorted({choice for line in lines for choice in line.choices})
        if not choices:
            return
        menu = QMenu(self)
        menu.setObjectName("planMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for choice in choices:
            action = menu.addAction(f"Choose “{choice}” for the selected rows")
            action.triggered.connect(
                lambda _checked=False, made=choice: self.model.choose(rows, made)
            )
        menu.popup(self.cursor().pos())

    # Overrides of Qt.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape puts the plan away from anywhere in the panel."""
        if event.key() == Qt.Key.Key_Escape:
            self.cancel()
        else:
            super().keyPressEvent(event)
