"""Notices when a window has been painted, for the children that show one.

Runs on the window's thread. Filters every event of the application only until the
first picture is there.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QWidget


class FirstPicture(QObject):
    """Calls once when all of a window has been painted and shown.

    Qt paints a window and all widgets in it in one go and then flushes the picture;
    the first event after that run of paint events finds the picture on the screen.
    """

    def __init__(self, app: QCoreApplication, on_shown: Callable[[], None]) -> None:
        """Begins to watch."""
        super().__init__(app)
        self._app, self._on_shown = app, on_shown
        self._painting = False
        app.installEventFilter(self)

    # Overrides of Qt.

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt
        """Looks at an event and lets it pass."""
        if event.type() == QEvent.Type.Paint:
            if isinstance(watched, QWidget) and watched.isWindow():
                self._painting = True
        elif self._painting:
            self._app.removeEventFilter(self)
            self._painting = False
            self._on_shown()
        return False
