"""How cells of trees and tables are painted: surfaces, marks, fonts, alignment.

Delegates read roles and theme tokens only; they compute nothing and ask nobody.
"""

from __future__ import annotations

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from inspector.engine.messages.viewing import Row
from inspector.ui import format as fmt
from inspector.ui.marks import MARK_SIZE, paint_mark
from inspector.ui.models.roles import Column, Role
from inspector.ui.theme import Theme
from inspector.ui.tokens import ROW_HEIGHT, SPACE

Index = QModelIndex | QPersistentModelIndex

_MONO = frozenset({Column.SHAPE, Column.PARAMETERS, Column.SIZE})
_RIGHT = frozenset({Column.PARAMETERS, Column.SIZE})


class RowDelegate(QStyledItemDelegate):
    """Rows of one height on the theme's surfaces."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        """Keeps fonts ready; they change with the theme."""
        super().__init__(parent)
        self.theme = theme
        self._load_fonts()
        theme.changed.connect(self._load_fonts)

    def _load_fonts(self) -> None:
        self.body = self.theme.font()
        self.bold = self.theme.font(bold=True)
        self.mono = self.theme.mono_font("small")

    def paint_surface(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        """Paints the surface of a cell: selected, hovered or plain."""
        name = surface_of(option)
        if name:
            rect: QRect = option.rect
            painter.fillRect(rect, self.theme.color(name))
        elif option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(self.theme.color("accent"))
            painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())

    def paint_text(
        self,
        painter: QPainter,
        rect: QRect,
        text: str,
        *,
        font: QFont,
        token: str,
        right: bool = False,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        """Paints one line of text, elided where it does not fit."""
        painter.setFont(font)
        painter.setPen(self.theme.color(token))
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        shown = QFontMetrics(font).elidedText(text, elide, rect.width())
        painter.drawText(rect, int(side | Qt.AlignmentFlag.AlignVCenter), shown)

    def fitting_array(
        self, dtype: str, shape: tuple[int, ...] | None, width: int
    ) -> str:
        """Abbreviates a dtype as JAX does where the whole one has no room.

        Args:
            dtype: As JAX prints it.
            shape: None for no array, which is an empty text.
            width: Room in pixels, in the monospaced font.
        """
        if shape is None:
            return ""
        text = fmt.array(dtype, shape)
        if QFontMetrics(self.mono).horizontalAdvance(text) <= width:
            return text
        return fmt.short_array(dtype, shape)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Gives every row the same height."""
        return QSize(super().sizeHint(option, index).width(), ROW_HEIGHT)


class TreeDelegate(RowDelegate):
    """Cells of the two trees.

    Attributes:
        drop_path: Path of the row that a drag hovers over; None for no row.
    """

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Paints mark and name, or a value of the row; the view paints selections."""
        column = Column(index.column())
        if column is Column.NAME:
            _reach_over_shape(option, index)
        elif column is Column.SHAPE and not index.data(Qt.ItemDataRole.DisplayRole):
            return
        if not option.state & QStyle.StateFlag.State_Selected:
            self.paint_surface(painter, option)
        rect: QRect = option.rect
        if column is Column.NAME:
            self._paint_name(painter, rect, index)
            return
        area = rect.adjusted(2 * SPACE, 0, -2 * SPACE, 0)
        text = index.data(Qt.ItemDataRole.DisplayRole)
        if column is Column.SHAPE:
            row = index.data(Role.ROW)
            if row is not None and row.dtype:
                text = self.fitting_array(row.dtype, row.shape, area.width())
        if text:
            self.paint_text(
                painter,
                area,
                text,
                font=self.mono if column in _MONO else self.body,
                token="secondary",
                right=column in _RIGHT,
                elide=Qt.TextElideMode.ElideMiddle,
            )

    def _paint_name(self, painter: QPainter, rect: QRect, index: Index) -> None:
        text_rect = rect.adjusted(SPACE, 0, -SPACE, 0)
        planned = index.data(Role.PLAN_MARK)
        mark = planned or index.data(Role.MARK)
        error = index.data(Role.ERROR)
        if mark:
            center = QPointF(rect.left() + SPACE + MARK_SIZE / 2, _middle(rect))
            paint_mark(painter, center, mark, self.theme, outline=bool(planned))
            text_rect.setLeft(rect.left() + 2 * SPACE + MARK_SIZE + 1)
        row = index.data(Role.ROW)
        token = "text" if row is not None else "secondary"
        if error:
            token = "error"
        self.paint_text(
            painter,
            text_rect,
            str(index.data(Qt.ItemDataRole.DisplayRole) or ""),
            font=self.bold if _is_top(index, row) else self.body,
            token=token,
        )

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: Index
    ) -> QWidget:
        """Makes the field in which a name is typed."""
        del option, index
        field = QLineEdit(parent)
        field.setObjectName("renameField")
        field.setAccessibleName("New name")
        field.setFont(self.body)
        return field


def _reach_over_shape(option: QStyleOptionViewItem, index: Index) -> None:
    """Gives the name of a branch the room of its shape, which it does not have."""
    view = option.widget
    shape = index.sibling(index.row(), Column.SHAPE)
    if isinstance(view, QTreeView) and not shape.data(Qt.ItemDataRole.DisplayRole):
        option.rect.setRight(
            option.rect.right() + view.header().sectionSize(Column.SHAPE)
        )


def surface_of(option: QStyleOptionViewItem) -> str:
    """Returns the token of a cell's surface, empty for the view's own."""
    state: QStyle.StateFlag = option.state
    if state & QStyle.StateFlag.State_Selected:
        active = state & QStyle.StateFlag.State_HasFocus or (
            state & QStyle.StateFlag.State_Active and _has_focus(option.widget)
        )
        return "selection" if active else "selection_quiet"
    if state & QStyle.StateFlag.State_MouseOver:
        return "hover"
    return ""


def _has_focus(widget: QWidget | None) -> bool:
    return widget is not None and widget.hasFocus()


def _is_top(index: Index, row: Row | None) -> bool:
    return row is not None and not index.parent().isValid()


def _middle(rect: QRect) -> float:
    return rect.top() + rect.height() / 2
