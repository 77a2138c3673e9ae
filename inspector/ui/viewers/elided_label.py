"""A line of text that gives way in the middle and can be copied in full."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QWidget

_LEAST_WIDTH = 48


class ElidedLabel(QLabel):
    """A label that never widens its panel; the whole text is in the tool tip.

    Attributes:
        copy_text: What Ctrl+C and the context menu copy; empty for the text itself.
        copy_name: What the context menu calls it.
    """

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideMiddle,
        copy_name: str = "",
    ) -> None:
        """Starts empty; a label with a ``copy_name`` takes the focus."""
        super().__init__(parent)
        self._mode = mode
        self.copy_text = ""
        self.copy_name = copy_name
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        if copy_name:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_text(self, text: str, *, copy_text: str = "", tool_tip: str = "") -> None:
        """Shows a text.

        Args:
            text: One line.
            copy_text: What copying gives; empty for the text itself.
            tool_tip: Tool tip; empty for the text itself.
        """
        self.setText(text)
        self.copy_text = copy_text
        self.setToolTip(tool_tip or text)

    def copy(self) -> None:
        """Puts the whole text on the clipboard."""
        QGuiApplication.clipboard().setText(self.copy_text or self.text())

    # Qt overrides

    def minimumSizeHint(self) -> QSize:
        """Overridden: narrower than the text."""
        return QSize(_LEAST_WIDTH, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Overridden: elides to the width there is."""
        del event
        painter = QPainter(self)
        area = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text(), self._mode, area.width())
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(area, int(self.alignment()), text)
        if self.hasFocus():
            painter.setPen(self.palette().color(self.palette().ColorRole.Accent))
            painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Overridden: Ctrl+C copies."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Overridden: offers to copy."""
        if not self.copy_name:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(f"Copy {self.copy_name}", self.copy)
        menu.popup(event.globalPos())
