"""How cells of the plan are painted, and the choice that is edited in place.

Painting reads the model's lines and the theme; choosing writes through the model.
"""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    Qt,
    QTimer,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QComboBox, QStyleOptionViewItem, QWidget

from inspector.engine.messages.viewing import PlanLine
from inspector.ui.delegates import RowDelegate
from inspector.ui.marks import MARK_SIZE, paint_mark
from inspector.ui.models.roles import PlanColumn, PlanRole
from inspector.ui.tokens import SPACE

Index = QModelIndex | QPersistentModelIndex

_MONO = frozenset(
    {
        PlanColumn.SOURCE,
        PlanColumn.SOURCE_ARRAY,
        PlanColumn.TARGET,
        PlanColumn.TARGET_ARRAY,
    }
)
_ARRAYS = frozenset({PlanColumn.SOURCE_ARRAY, PlanColumn.TARGET_ARRAY})
_PATHS = frozenset({PlanColumn.SOURCE, PlanColumn.TARGET})


class PlanDelegate(RowDelegate):
    """Cells of the plan."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Paints a mark with its word, a path, an array, a choice or a reason."""
        self.paint_surface(painter, option)
        column = PlanColumn(index.column())
        rect: QRect = option.rect
        text_rect = rect.adjusted(2 * SPACE, 0, -SPACE, 0)
        line = index.data(PlanRole.LINE)
        if column is PlanColumn.VERDICT and line is not None:
            center = QPointF(
                rect.left() + 2 * SPACE + MARK_SIZE / 2, rect.top() + rect.height() / 2
            )
            paint_mark(painter, center, line.verdict, self.theme, outline=False)
            text_rect.setLeft(rect.left() + 4 * SPACE + MARK_SIZE)
        text = str(index.data(Qt.ItemDataRole.DisplayRole) or "")
        choosable = column is PlanColumn.CHOICE and line and len(line.choices) > 1
        if line is not None and column in _ARRAYS:
            text = self.fitting_array(*_array_of(line, column), text_rect.width())
        if choosable:
            text = f"{text} ▾"
        elide = Qt.TextElideMode.ElideRight
        if column in _PATHS:
            elide = Qt.TextElideMode.ElideMiddle
        strong = column in {PlanColumn.VERDICT, PlanColumn.TARGET} or choosable
        self.paint_text(
            painter,
            text_rect,
            text,
            font=self.mono if column in _MONO else self.body,
            token="text" if strong else "secondary",
            elide=elide,
        )

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: Index
    ) -> QWidget:
        """Opens the list of choices at once; keys choose in it."""
        del option
        box = QComboBox(parent)
        box.setObjectName("planChoice")
        box.setAccessibleName("Choice for this row")
        box.addItems(index.data(PlanRole.CHOICES) or ())
        box.activated.connect(lambda _row: self._commit(box))
        QTimer.singleShot(0, box, box.showPopup)
        return box

    def _commit(self, box: QComboBox) -> None:
        self.commitData.emit(box)
        self.closeEditor.emit(box)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Shows the present choice."""
        if isinstance(editor, QComboBox):
            editor.setCurrentText(str(index.data(Qt.ItemDataRole.EditRole) or ""))

    def setModelData(
        self, editor: QWidget, model: QAbstractItemModel, index: Index
    ) -> None:
        """Hands the choice to the model."""
        if isinstance(editor, QComboBox):
            model.setData(index, editor.currentText())


def _array_of(line: PlanLine, column: PlanColumn) -> tuple[str, tuple[int, ...] | None]:
    if column is PlanColumn.SOURCE_ARRAY:
        return line.source_dtype, line.source_shape
    return line.target_dtype, line.target_shape
