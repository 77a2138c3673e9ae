"""A column of banners, one for each reason: the messages of a panel.

Panels and the window show and take away messages by their reason, so that the same
thing is never said twice. On the window's thread.
"""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from inspector.errors import ErrorInfo
from inspector.ui.banner import Banner
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE

_MOST_PART = 0.5
"""Part of its panel that messages may take before they scroll."""

_LEAST_HEIGHT = 24 * SPACE

_FOLLOW_MS = 200
"""How long after a new message the view follows it; later it is the person's."""


class BannerStack(QScrollArea):
    """A column of banners, one for each reason, newest last.

    It is as high as its messages, up to a part of the panel; more of them scroll, so
    that none is cut and the panel keeps its own place.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Starts without a message and takes no room."""
        super().__init__(parent)
        self._theme = theme
        self._banners: dict[str, Banner] = {}
        self._content = QWidget()
        self._column = QVBoxLayout(self._content)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE)
        self.setWidget(self._content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._content.installEventFilter(self)
        self._follow = QTimer(self)
        self._follow.setSingleShot(True)
        self._follow.setInterval(_FOLLOW_MS)
        self.verticalScrollBar().rangeChanged.connect(self._on_range)
        self.hide()

    def show_message(self, reason: str, text: str, kind: str = "banner") -> Banner:
        """Shows a message in place of an earlier one for the same reason."""
        self.remove(reason)
        banner = Banner(
            self._theme, text, kind, parent=self._content, name=f"banner.{reason}"
        )
        banner.destroyed.connect(self._on_gone)
        self._banners[reason] = banner
        self._column.addWidget(banner)
        # A layout shows what is added to it later; it is asked about before that.
        banner.show()
        self._follow.start()
        self.show()
        self._fit()
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

    def _fit(self) -> None:
        """Takes the height that the messages want in the width there is."""
        panel = self.parentWidget()
        most = int(panel.height() * _MOST_PART) if panel is not None else 0
        wanted = self._column.totalHeightForWidth(self.viewport().width())
        # A layout without anything in it wants -1.
        self.setFixedHeight(max(0, min(wanted, max(most, _LEAST_HEIGHT))))

    def _on_range(self, _least: int, most: int) -> None:
        """Brings the newest message into view while its layout finds its height."""
        if self._follow.isActive():
            self.verticalScrollBar().setValue(most)

    def _on_gone(self) -> None:
        self._banners = {
            reason: banner
            for reason, banner in self._banners.items()
            if not _is_gone(banner)
        }
        if not self._banners and not _is_gone(self):
            self.hide()

    # Overrides of Qt.

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follows the messages as they come, go and unfold."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fits the height to another width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()


def _is_gone(widget: QWidget) -> bool:
    return not shiboken6.isValid(widget)
