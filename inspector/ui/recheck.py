"""Looks whether sources changed on disk, each time the person comes back.

Whoever changes a checkpoint does it in another window, so the moment to look is when
this one becomes active again. Made by the main window, on its thread; what to do
about a change belongs to the panel of the sources.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QElapsedTimer, QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

REST_MS = 3000
"""Least time between two looks: a dialog that closes activates the window too."""


class RecheckOnReturn(QObject):
    """Calls for a look at the files when a window is activated, not too often."""

    def __init__(
        self, window: QWidget, look: Callable[[], object], rest_ms: int = REST_MS
    ) -> None:
        """Watches a window.

        Args:
            window: The window.
            look: Compares the sources with their files.
            rest_ms: Least time between two looks, in milliseconds.
        """
        super().__init__(window)
        self._window, self._look, self._rest_ms = window, look, rest_ms
        self._was_left = False
        self._since = QElapsedTimer()
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._do)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notices the window's coming and going; takes no event away."""
        if watched is self._window:
            if event.type() == QEvent.Type.WindowDeactivate:
                self._was_left = True
            elif event.type() == QEvent.Type.WindowActivate and self._was_left:
                self._was_left = False
                self._come_back()
        return False

    def _come_back(self) -> None:
        passed = self._since.elapsed() if self._since.isValid() else self._rest_ms
        if passed >= self._rest_ms:
            self._do()
        elif not self._later.isActive():
            self._later.start(self._rest_ms - passed)

    def _do(self) -> None:
        self._since.start()
        self._look()
