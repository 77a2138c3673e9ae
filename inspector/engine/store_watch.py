"""Watches the files of the target's module, and says once when one changes.

A stat of each once a second, beside the loop: every file system has that. Nothing is
read and nothing is run; reloading is the person's decision. On the store's loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from inspector.engine.messages.document import ModuleFileChanged
from inspector.engine.store_engines import Notify

PERIOD_S = 1.0
"""Time between two looks."""

Marks = dict[str, tuple[int, int]]
"""File -> size and modification time; (-1, 0) of one that is gone."""


class ModuleWatch:
    """Looks at the files that loading the target's module imported."""

    def __init__(self, notify: Notify, period_s: float = PERIOD_S) -> None:
        """Watches nothing yet.

        Args:
            notify: Sends an event to the window.
            period_s: Time between two looks.
        """
        self._notify = notify
        self._period_s = period_s
        self._marks: Marks = {}
        self._task: asyncio.Task[None] | None = None

    async def watch(self, files: Iterable[str]) -> None:
        """Watches these files in place of the former, as they are now."""
        marks = await asyncio.to_thread(_marks, tuple(dict.fromkeys(files)))
        self._marks = marks
        if marks and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._look_on())

    async def _look_on(self) -> None:
        while True:
            await asyncio.sleep(self._period_s)
            await self.look()

    async def look(self) -> None:
        """Looks once; each change is told once."""
        before = self._marks
        now = await asyncio.to_thread(_marks, tuple(before))
        if self._marks is not before:
            return
        self._marks = now
        for file, mark in now.items():
            if mark != before[file]:
                self._notify(ModuleFileChanged(file, is_gone=mark[0] < 0))

    def close(self) -> None:
        """Ends the watching."""
        if self._task is not None:
            self._task.cancel()


def _marks(files: tuple[str, ...]) -> Marks:
    marks: Marks = {}
    for file in files:
        try:
            status = Path(file).stat()
            marks[file] = status.st_size, status.st_mtime_ns
        except OSError:
            marks[file] = -1, 0
    return marks
