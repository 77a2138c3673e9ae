"""A progress bar of two pixels, for work whose result appears right above it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from inspector.ui.theme import Theme

_HEIGHT = 2
_UNKNOWN_SHARE = 0.08


class HairlineProgress(QWidget):
    """Shows how far a request is; nothing at all when there is none."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Starts idle."""
        super().__init__(parent)
        self._theme = theme
        self._share: float | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(_HEIGHT)
        self.setAccessibleName("Progress")
        theme.changed.connect(self.update)

    @property
    def share(self) -> float | None:
        """Share done from 0 to 1, None when idle."""
        return self._share

    def start(self) -> None:
        """Shows that work has begun and that its length is not known yet."""
        self._share = 0.0
        self.update()

    def set_progress(self, done: int, total: int) -> None:
        """Shows ``done`` of ``total`` units; a total of 0 is not known yet."""
        self._share = min(1.0, done / total) if total else 0.0
        self.update()

    def stop(self) -> None:
        """Shows nothing."""
        self._share = None
        self.update()

    # Qt overrides

    def sizeHint(self) -> QSize:
        """Overridden: as wide as it gets."""
        return QSize(120, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Overridden: a line in the accent on a hairline."""
        del event
        if self._share is None:
            return
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("hairline"))
        width = self.width() * max(self._share, _UNKNOWN_SHARE)
        painter.fillRect(
            QRectF(0, 0, width, self.height()), self._theme.color("accent")
        )
        painter.end()
