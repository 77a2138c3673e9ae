"""A column of banners, one for each reason: the messages of a panel.

Panels and the window show and take away messages by their reason, so that the same
thing is never said twice. On the window's thread.
"""

from __future__ import annotations

import shiboken6
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.errors import ErrorInfo
from inspector.ui.banner import Banner
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE


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
        banner = self.show_message(reason, "", "error")
        banner.show_error(error)
        return banner

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
