"""Measures the window's thread: anything that holds it over 50 ms is logged.

Off unless ``FLAX_INSPECTOR_WATCHDOG=1``; the benchmarks turn it on. A thread looks
how long ago the event loop last turned and notes what the window's thread is doing
while it is late.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import traceback
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer

_LOG = logging.getLogger(__name__)

VARIABLE = "FLAX_INSPECTOR_WATCHDOG"
"""Environment variable that turns the watchdog on."""

LIMIT_S = 0.05
"""Longest time that the window's thread may be held."""

_TICK_MS = 5


@dataclass(frozen=True, slots=True)
class Stall:
    """A time in which the window did not answer.

    Attributes:
        duration_s: How long.
        stack: What its thread was doing, as seen while it was late.
    """

    duration_s: float
    stack: str


class Watchdog(QObject):
    """Watches the thread it is made on.

    Attributes:
        stalls: What was found, oldest first.
    """

    def __init__(self, parent: QObject, limit_s: float = LIMIT_S) -> None:
        """Starts to watch; `stop` ends it."""
        super().__init__(parent)
        self.stalls: list[Stall] = []
        self._limit_s = limit_s
        self._watched = threading.get_ident()
        self._last = time.perf_counter()
        self._stack = ""
        self._end = threading.Event()
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._on_tick)
        self._timer.start()
        self._thread = threading.Thread(
            target=self._watch, name="window watchdog", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Ends the watching thread and waits for it."""
        self._timer.stop()
        self._end.set()
        self._thread.join()

    def _on_tick(self) -> None:
        now = time.perf_counter()
        late = now - self._last - _TICK_MS / 1000
        if late > self._limit_s:
            stall = Stall(late, self._stack)
            self.stalls.append(stall)
            _LOG.warning(
                "the window was held for %.0f ms\n%s", late * 1000, stall.stack
            )
        self._stack = ""
        self._last = now

    def _watch(self) -> None:
        while not self._end.wait(_TICK_MS / 1000):
            late = time.perf_counter() - self._last
            # The newest one: on a busy machine the first comes from before the stall.
            if late > self._limit_s / 2:
                frame = sys._current_frames().get(  # noqa: SLF001 - documented API
                    self._watched
                )
                self._stack = "".join(traceback.format_stack(frame)) if frame else ""


def start_if_asked(parent: QObject) -> Watchdog | None:
    """Starts a watchdog when the environment asks for one."""
    return Watchdog(parent) if os.environ.get(VARIABLE) == "1" else None
