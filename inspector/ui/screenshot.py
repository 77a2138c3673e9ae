"""Takes the picture of a window once everything that was asked for is shown.

Used by ``--screenshot``; works without a display. On the window's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, QObject, QTimer

from inspector.ui.main_window import MainWindow
from inspector.ui.startup import Startup

TIMEOUT_S = 60
"""After this the reason is told instead."""

_LOOK_MS = 50
# Two looks in a row must find nothing open: a reply may ask the next thing.
_CALM_LOOKS = 3


class Screenshot(QObject):
    """Waits, prepares the panel that is wanted, waits again, saves."""

    def __init__(
        self,
        window: MainWindow,
        startup: Startup,
        out: Path,
        *,
        prepare: Callable[[], None],
        on_done: Callable[[str], None],
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Begins to wait.

        Args:
            window: What to show.
            startup: What it opens.
            out: File to write.
            prepare: Brings the wanted panel to the front.
            on_done: Is given why there is no picture; empty when there is one.
            timeout_s: How long to wait.
        """
        super().__init__(window)
        self._window, self._startup, self._out = window, startup, out
        self._prepare, self._on_done = prepare, on_done
        self._timeout_ms = timeout_s * 1000
        self._prepared = False
        self._calm = 0
        self._clock = QElapsedTimer()
        self._clock.start()
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def _look(self) -> None:
        settled = self._startup.is_done and self._window.is_settled
        self._calm = self._calm + 1 if settled else 0
        if self._calm >= _CALM_LOOKS:
            self._calm = 0
            if self._prepared:
                self._save()
            else:
                self._prepared = True
                self._prepare()
        elif self._clock.elapsed() > self._timeout_ms:
            self._end(self._reason())

    def _save(self) -> None:
        reason = "; ".join(error.text() for error in self._startup.errors)
        picture = self._window.grab()
        self._out.parent.mkdir(parents=True, exist_ok=True)
        if not picture.save(str(self._out)):
            reason = f"{self._out}: the picture could not be written"
        self._end(reason)

    def _reason(self) -> str:
        waiting = [activity.text for activity in self._window.client.activities]
        told = ", ".join(waiting) or f"{self._window.client.open_requests} requests"
        seconds = int(self._timeout_ms / 1000)
        return f"after {seconds} s the window still waits for: {told}"

    def _end(self, reason: str) -> None:
        self._timer.stop()
        self._on_done(reason)
