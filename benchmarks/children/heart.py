"""A heartbeat of the window's thread: how long the event loop did not turn.

For the children that drive a window. Each late beat is told apart by the processor
time that the thread itself used meanwhile: without any, it waited for the machine or
for Python's lock, and not for our code.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer

_BEAT_S = 0.002
_WATCHED_S = 0.02
_LOOK_MS = 5


@dataclass(slots=True)
class Late:
    """The latest beat of a phase.

    Attributes:
        wall_s: How late it was.
        cpu_s: Processor time that the window's thread used meanwhile.
        stack: What the thread was doing, as seen while it was late.
        beats: Beats in the phase.
        seconds: Length of the phase.
    """

    wall_s: float = 0.0
    cpu_s: float = 0.0
    stack: list[str] = field(default_factory=list)
    beats: int = 0
    seconds: float = 0.0


class NotSettledError(RuntimeError):
    """The window did not come to what was waited for."""


class Heart(QObject):
    """Beats on the thread it is made on."""

    def __init__(self, parent: QObject) -> None:
        """Begins to beat; `stop` ends it."""
        super().__init__(parent)
        self._worst = Late()
        self._last = time.perf_counter()
        self._cpu = time.thread_time()
        self._seen: list[str] = []
        self._thread_id = threading.get_ident()
        self._end = threading.Event()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(int(_BEAT_S * 1000))
        self._timer.timeout.connect(self._on_beat)
        self._timer.start()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    @contextmanager
    def phase(self) -> Iterator[Late]:
        """Gives what the latest beat was, filled in when the body is over."""
        self._beat_again()
        self._worst = worst = Late()
        start = time.perf_counter()
        yield worst
        self._beat_again()
        worst.seconds = time.perf_counter() - start
        self._worst = Late()

    def wait(self, condition: Callable[[], bool], what: str, limit_s: float) -> None:
        """Lets the window work until a condition holds.

        Raises:
            NotSettledError: It does not within ``limit_s`` seconds.
        """
        loop = QEventLoop()
        start = time.perf_counter()

        def look() -> None:
            if condition() or time.perf_counter() - start > limit_s:
                loop.quit()

        timer = QTimer(loop)
        timer.setInterval(_LOOK_MS)
        timer.timeout.connect(look)
        timer.start()
        loop.exec()
        timer.stop()
        if not condition():
            raise NotSettledError(what)

    def rest(self, seconds: float) -> None:
        """Lets the window work for a while."""
        end = time.perf_counter() + seconds
        self.wait(lambda: time.perf_counter() >= end, "the time", seconds + 60)

    def stop(self) -> None:
        """Ends the watching thread."""
        self._timer.stop()
        self._end.set()
        self._watcher.join()

    def _beat_again(self) -> None:
        """Waits for a beat, so that what was just done is in the figures."""
        beats = self._worst.beats
        worst = self._worst
        self.wait(lambda: worst.beats > beats, "a beat", 60)

    def _on_beat(self) -> None:
        now, cpu = time.perf_counter(), time.thread_time()
        late = now - self._last - _BEAT_S
        worst = self._worst
        worst.beats += 1
        if late > worst.wall_s:
            worst.wall_s, worst.cpu_s = late, cpu - self._cpu
            worst.stack = self._seen
        self._seen = []
        self._last, self._cpu = now, cpu

    def _watch(self) -> None:
        while not self._end.wait(_WATCHED_S / 4):
            if time.perf_counter() - self._last > _WATCHED_S and not self._seen:
                frames = sys._current_frames()  # noqa: SLF001 - documented API
                frame = frames.get(self._thread_id)
                if frame is not None:
                    found = traceback.extract_stack(frame)
                    self._seen = [f"{f.filename}:{f.lineno} {f.name}" for f in found]
