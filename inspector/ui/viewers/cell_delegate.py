"""Cells of plain tables: text in line with the header above it, whole rows selected."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE

_INSET = SPACE + 1
"""What the header's sections are padded with more than Qt pads a cell."""


class CellDelegate(QStyledItemDelegate):
    """Paints the surface over the whole cell and the text inside of it."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        """Keeps the theme for the colour of the selection."""
        super().__init__(parent)
        self._theme = theme

    # Qt overrides

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Overridden: surface first, then the text, inset."""
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, self._theme.color("selection"))
        inner = QStyleOptionViewItem(option)
        inner.rect = option.rect.adjusted(_INSET, 0, -_INSET, 0)
        inner.state &= ~(QStyle.StateFlag.State_HasFocus)
        super().paint(painter, inner, index)
