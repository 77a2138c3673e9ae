"""Titles of docks and panels: a caption, what is shown, and a way to close it.

The main window uses them as title bars; dragging one moves its dock.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QLabel,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from inspector.ui.icons import icon
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE
from inspector.ui.viewers.elided_label import ElidedLabel

HEIGHT = 7 * SPACE
"""Height of a title, in pixels."""


class DockTitle(QWidget):
    """One line above a panel.

    Mouse events go through to the dock, which is dragged by them.
    """

    def __init__(self, theme: Theme, caption: str, parent: QWidget) -> None:
        """Shows a caption; a close button comes with `closes`."""
        super().__init__(parent)
        self._theme = theme
        self._caption = QLabel(caption.upper(), self)
        self._caption.setProperty("look", "caption")
        self._subtitle = ElidedLabel(self)
        self._subtitle.setProperty("look", "secondary")
        self._close: QToolButton | None = None
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(2 * SPACE, 0, 2 * SPACE, 0)
        self._row.setSpacing(2 * SPACE)
        self._row.addWidget(self._caption)
        self._row.addWidget(self._subtitle, 1)
        self.setFixedHeight(HEIGHT)

    def set_subtitle(self, text: str) -> None:
        """Says what the panel shows."""
        self._subtitle.show_text(text)

    def add_end(self, widget: QWidget) -> None:
        """Puts a widget at the right end."""
        self._row.addWidget(widget)

    def closes(self, dock: QDockWidget) -> None:
        """Adds a button that closes the dock."""
        button = QToolButton(self)
        button.setObjectName(f"{dock.objectName()}Close")
        button.setAccessibleName(f"Close {dock.windowTitle()}")
        button.setToolTip(f"Close {dock.windowTitle()}; the View menu opens it again")
        button.setProperty("look", "icon")
        button.setIconSize(QSize(12, 12))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setFixedSize(5 * SPACE, 5 * SPACE)
        button.clicked.connect(dock.close)
        self._close = button
        self._row.addWidget(button)
        self._load_icon()
        self._theme.changed.connect(self._load_icon)

    def _load_icon(self) -> None:
        if self._close is not None:
            self._close.setIcon(icon("close", self._theme, "secondary"))

    # Overrides of Qt.

    def sizeHint(self) -> QSize:
        """Asks for the same height above every panel; docks go by this alone."""
        return QSize(super().sizeHint().width(), HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Lets a dock be as narrow as its panel; the text is cut."""
        return QSize(20 * SPACE, HEIGHT)


class PanelFrame(QFrame):
    """The surface of a panel around a widget that has none of its own."""

    def __init__(self, widget: QWidget, parent: QWidget) -> None:
        """Takes the widget in."""
        super().__init__(parent)
        self.setProperty("look", "panel")
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 2 * SPACE, 1, 2 * SPACE)
        column.addWidget(widget)
