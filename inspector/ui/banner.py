"""A message inside a panel: a sentence, and buttons for the next step.

Panels show errors, warnings and offers with it, in the place where they happened.
"""

from __future__ import annotations

from collections.abc import Callable

import shiboken6
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from inspector.errors import ErrorInfo
from inspector.ui.icons import icon
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE

_ICONS = {"banner": "info", "warning": "warning", "error": "error"}
_TOKENS = {"banner": "accent", "warning": "warning", "error": "error"}


class Banner(QFrame):
    """One message; it goes when it is closed or its reason is gone."""

    def __init__(
        self,
        theme: Theme,
        text: str,
        kind: str = "banner",
        *,
        parent: QWidget,
        name: str = "banner",
    ) -> None:
        """Shows a message.

        Args:
            theme: Colours.
            text: Sentences for a person; plain text.
            kind: ``"banner"``, ``"warning"`` or ``"error"``.
            parent: The panel.
            name: Object name.
        """
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(text)
        self.setProperty("look", kind)
        self._theme, self._kind = theme, kind
        self._icon = QLabel(self)
        self._icon.setFixedWidth(16)
        self._icon.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._text = QLabel(text, self)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._close = QToolButton(self)
        self._close.setObjectName(f"{name}Close")
        self._close.setAccessibleName("Close this message")
        self._close.setProperty("look", "icon")
        self._close.setIconSize(QSize(12, 12))
        self._close.clicked.connect(self.dismiss)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(2 * SPACE)
        self._buttons.addStretch(1)
        self._lay_out()
        self._load_icons()
        theme.changed.connect(self._load_icons)

    @property
    def text(self) -> str:
        """The message."""
        return self._text.text()

    def add_button(
        self,
        text: str,
        action: Callable[[], object],
        *,
        name: str,
        primary: bool = False,
    ) -> QPushButton:
        """Adds a button for a next step."""
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setAccessibleName(text)
        if primary:
            button.setProperty("look", "primary")
        button.clicked.connect(lambda _checked=False: action())
        self._buttons.insertWidget(self._buttons.count() - 1, button)
        self._buttons_row.setVisible(True)
        return button

    def set_closable(self, *, closable: bool) -> None:
        """Decides whether the person can put the message away."""
        self._close.setVisible(closable)

    def dismiss(self) -> None:
        """Takes the message away."""
        self.hide()
        self.deleteLater()

    def _lay_out(self) -> None:
        column = QVBoxLayout()
        column.setSpacing(SPACE)
        column.addWidget(self._text)
        self._buttons_row = QWidget(self)
        self._buttons.setContentsMargins(0, 0, 0, 0)
        self._buttons_row.setLayout(self._buttons)
        self._buttons_row.setVisible(False)
        column.addWidget(self._buttons_row)
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * SPACE, 2 * SPACE, SPACE, 2 * SPACE)
        row.setSpacing(2 * SPACE)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)

    def _load_icons(self) -> None:
        drawing = icon(_ICONS[self._kind], self._theme, _TOKENS[self._kind])
        self._icon.setPixmap(drawing.pixmap(16, 16))
        self._close.setIcon(icon("close", self._theme, "secondary"))


class BannerStack(QWidget):
    """A column of banners, one for each reason, newest last."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Starts without a message and takes no room."""
        super().__init__(parent)
        self._theme = theme
        self._banners: dict[str, Banner] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE)
        self.hide()

    def show_message(self, reason: str, text: str, kind: str = "banner") -> Banner:
        """Shows a message in place of an earlier one for the same reason."""
        self.remove(reason)
        banner = Banner(self._theme, text, kind, parent=self, name=f"banner.{reason}")
        banner.destroyed.connect(self._on_gone)
        self._banners[reason] = banner
        self._column.addWidget(banner)
        self.show()
        return banner

    def show_error(self, reason: str, error: ErrorInfo) -> Banner:
        """Shows an error: what, where, what to do."""
        return self.show_message(reason, error.text(), "error")

    def remove(self, reason: str) -> None:
        """Takes away the message of a reason, if there is one."""
        banner = self._banners.pop(reason, None)
        if banner is not None and not _is_gone(banner):
            banner.dismiss()
        if not self._banners:
            self.hide()

    def get(self, reason: str) -> Banner | None:
        """Returns the banner of a reason."""
        banner = self._banners.get(reason)
        return banner if banner is not None and not banner.isHidden() else None

    def reasons(self) -> list[str]:
        """Returns the reasons of what is shown."""
        return [
            reason for reason, banner in self._banners.items() if not banner.isHidden()
        ]

    def _on_gone(self) -> None:
        self._banners = {
            reason: banner
            for reason, banner in self._banners.items()
            if not _is_gone(banner)
        }
        if not self._banners and not _is_gone(self):
            self.hide()


def _is_gone(widget: QWidget) -> bool:
    return not shiboken6.isValid(widget)
