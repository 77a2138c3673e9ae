"""The two tables in which a call is written, and how their cells are edited.

As high as their rows, so that the panel scrolls and not they. Return, F2 or a double
click edits a cell; Space turns over what is true or false. On the window's thread.
"""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractTableModel,
    QModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from inspector.ui.delegates import Index
from inspector.ui.icons import icon
from inspector.ui.models.arguments_model import ArgumentColumn, ArgumentsModel
from inspector.ui.models.call_draft import GENERATORS
from inspector.ui.models.seeds_model import SeedColumn, SeedsModel
from inspector.ui.panels.run_table import ResultDelegate
from inspector.ui.theme import Theme
from inspector.ui.tokens import ROW_HEIGHT, SPACE

_HEADER_HEIGHT = 26
_ICON = 4 * SPACE


class EditDelegate(ResultDelegate):
    """Paints as the tables of results do; its editors have the theme's fonts."""

    def field(self, parent: QWidget, name: str, spoken: str) -> QLineEdit:
        """Makes the field that a cell is typed in."""
        field = QLineEdit(parent)
        field.setObjectName(name)
        field.setAccessibleName(spoken)
        field.setFont(self.mono)
        return field

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Overridden: shows the present text."""
        text = str(index.data(Qt.ItemDataRole.EditRole) or "")
        if isinstance(editor, QComboBox):
            editor.setCurrentText(text)
        elif isinstance(editor, QLineEdit):
            editor.setText(text)

    def setModelData(
        self, editor: QWidget, model: QAbstractItemModel, index: Index
    ) -> None:
        """Overridden: hands the text over."""
        if isinstance(editor, QComboBox):
            model.setData(index, editor.currentText())
        elif isinstance(editor, QLineEdit):
            model.setData(index, editor.text())


class ArgumentDelegate(EditDelegate):
    """Cells of the arguments: a value is typed or chosen, a fill is either."""

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: Index
    ) -> QWidget:
        """Overridden: lists what there is to choose from."""
        del option
        model = index.model()
        assert isinstance(model, ArgumentsModel)  # whose delegate this is
        row = model.rows[index.row()]
        if index.column() == ArgumentColumn.FILL:
            return self._box(parent, f"What fills {row.name}", GENERATORS)
        if row.choices:
            return self._box(parent, f"Value of {row.name}", row.choices)
        return self.field(
            parent, "argumentField", f"Value of {row.name or 'the input'}"
        )

    def _box(self, parent: QWidget, spoken: str, texts: tuple[str, ...]) -> QComboBox:
        box = QComboBox(parent)
        box.setObjectName("argumentBox")
        box.setAccessibleName(spoken)
        box.setEditable(True)
        box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        box.setFont(self.mono)
        box.addItems(texts)
        return box


class SeedDelegate(EditDelegate):
    """Cells of the seeds: a number that is typed, a lock that is drawn."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Overridden: draws the lock."""
        super().paint(painter, option, index)
        model = index.model()
        if index.column() != SeedColumn.LOCK or not isinstance(model, SeedsModel):
            return
        is_locked = model.streams[index.row()].is_locked
        name, token = ("lock", "accent") if is_locked else ("unlock", "secondary")
        place = QRect(QPoint(0, 0), QSize(_ICON, _ICON))
        place.moveCenter(option.rect.center())
        icon(name, self.theme, token).paint(painter, place)

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: Index
    ) -> QWidget:
        """Overridden."""
        del option
        stream = index.sibling(index.row(), SeedColumn.STREAM).data()
        field = self.field(parent, "seedField", f"Seed of {stream}")
        field.setAlignment(Qt.AlignmentFlag.AlignRight)
        return field


class EditTable(QTableView):
    """A table as high as its rows, whose cells are edited in place."""

    def __init__(
        self,
        model: QAbstractTableModel,
        delegate: EditDelegate,
        parent: QWidget,
        *,
        name: str,
        accessible: str,
        widths: tuple[int, ...],
    ) -> None:
        """Shows a model; columns of width 0 share the rest."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(accessible)
        self.setModel(model)
        delegate.setParent(self)
        self.setItemDelegate(delegate)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        trigger = QAbstractItemView.EditTrigger
        self.setEditTriggers(
            trigger.EditKeyPressed
            | trigger.SelectedClicked
            | trigger.DoubleClicked
            | trigger.AnyKeyPressed
        )
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        rows = self.verticalHeader()
        rows.hide()
        rows.setMinimumSectionSize(ROW_HEIGHT)
        rows.setDefaultSectionSize(ROW_HEIGHT)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setFixedHeight(_HEADER_HEIGHT)
        header.setMinimumSectionSize(ROW_HEIGHT)
        for column, width in enumerate(widths):
            mode = QHeaderView.ResizeMode
            header.setSectionResizeMode(column, mode.Fixed if width else mode.Stretch)
            if width:
                header.resizeSection(column, width)
        for signal in (model.modelReset, model.rowsInserted, model.rowsRemoved):
            signal.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        rows = self.model().rowCount()
        self.setFixedHeight(_HEADER_HEIGHT + max(1, rows) * ROW_HEIGHT + 2)

    def turn_over(self, index: QModelIndex) -> bool:
        """Turns a cell over; returns whether it is one that can be."""
        del index
        return False

    # Overrides of Qt.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Overridden: Space turns over, Return edits."""
        index = self.currentIndex()
        key = event.key()
        if key == Qt.Key.Key_Space and index.isValid() and self.turn_over(index):
            return
        opening = {Qt.Key.Key_Return, Qt.Key.Key_Enter}
        editing = self.state() == QAbstractItemView.State.EditingState
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        if key in opening and plain and index.isValid() and not editing:
            if self.model().flags(index) & Qt.ItemFlag.ItemIsEditable:
                self.edit(index)
            else:
                self.turn_over(index)
            return
        super().keyPressEvent(event)


class ArgumentTable(EditTable):
    """The arguments of a call."""

    def __init__(self, model: ArgumentsModel, theme: Theme, parent: QWidget) -> None:
        """Shows the arguments."""
        super().__init__(
            model,
            ArgumentDelegate(theme, parent),
            parent,
            name="inputTable",
            accessible="Inputs of the call",
            widths=(104, 0, 128),
        )
        self._arguments = model

    def turn_over(self, index: QModelIndex) -> bool:
        """Overridden: what is true becomes false."""
        row = self._arguments.rows[index.row()]
        if index.column() != ArgumentColumn.VALUE or not row.is_bool:
            return False
        self._arguments.toggle(index)
        return True


class SeedTable(EditTable):
    """The rng streams of a call."""

    def __init__(self, model: SeedsModel, theme: Theme, parent: QWidget) -> None:
        """Shows the streams."""
        super().__init__(
            model,
            SeedDelegate(theme, parent),
            parent,
            name="seedTable",
            accessible="Seeds of the rng streams",
            widths=(88, 88, 44, 0),
        )
        self._seeds = model
        self.clicked.connect(self.turn_over)

    def turn_over(self, index: QModelIndex) -> bool:
        """Overridden: locks a stream or takes the lock off."""
        if index.column() != SeedColumn.LOCK:
            return False
        self._seeds.toggle_lock(index.row())
        return True
