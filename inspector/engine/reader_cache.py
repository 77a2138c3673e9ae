"""Checkpoints that the reader keeps open, so that the next slice is there at once.

Shared by the reader's worker threads. A request leases what it reads; what is leased
is never closed under it, the rest is closed when there are too many.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from inspector.formats.checkpoint import Checkpoint

KEPT_OPEN = 8
"""Checkpoints kept open that nobody reads just now; each holds some descriptors."""

Opener = Callable[[str], Checkpoint]
"""Opens the checkpoint of a locator; raises InspectorError."""


@dataclass(slots=True, eq=False)
class _Entry:
    """One locator's checkpoint.

    Attributes:
        opening: Held while it is being opened, so that it is opened once.
        checkpoint: None until it is open.
        leases: Requests that use it.
        forgotten: Whether it is to be closed when the last lease ends.
    """

    opening: threading.Lock = field(default_factory=threading.Lock)
    checkpoint: Checkpoint | None = None
    leases: int = 0
    forgotten: bool = False


class CheckpointCache:
    """Open checkpoints by locator, the least recently used closed first."""

    def __init__(self, opener: Opener, kept: int = KEPT_OPEN) -> None:
        """Starts with nothing open.

        Args:
            opener: Opens a locator.
            kept: Number of unused ones to keep.
        """
        self._opener = opener
        self._kept = kept
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def lease(self) -> Iterator[Opener]:
        """Gives a function that opens locators; they stay open until the block ends."""
        leased: dict[str, _Entry] = {}

        def open_leased(locator: str) -> Checkpoint:
            if locator not in leased:
                leased[locator] = self._take(locator)
            return self._open(locator, leased[locator])

        try:
            yield open_leased
        finally:
            for entry in leased.values():
                self._give_back(entry)

    def forget(self, locator: str) -> None:
        """Drops a checkpoint, so that the next request opens its files anew."""
        with self._lock:
            entry = self._entries.pop(locator, None)
            if entry is None:
                return
            entry.forgotten = True
            unused = entry.leases == 0
        if unused:
            _close(entry)

    def rename(self, locator: str, exact: str) -> None:
        """Files what was opened as ``locator`` under the locator that it gave itself.

        A folder of steps opens its newest one, and another one tomorrow; its leaves
        name the step. What was open under the exact locator before is older: it is
        dropped.
        """
        if locator == exact:
            return
        self.forget(exact)
        with self._lock:
            entry = self._entries.pop(locator, None)
            if entry is not None:
                self._entries[exact] = entry

    def close(self) -> None:
        """Drops everything; what is leased is closed at the end of its lease."""
        with self._lock:
            locators = list(self._entries)
        for locator in locators:
            self.forget(locator)

    def _take(self, locator: str) -> _Entry:
        with self._lock:
            entry = self._entries.setdefault(locator, _Entry())
            self._entries.move_to_end(locator)
            entry.leases += 1
            return entry

    def _open(self, locator: str, entry: _Entry) -> Checkpoint:
        with entry.opening:
            if entry.checkpoint is None:
                try:
                    entry.checkpoint = self._opener(locator)
                except BaseException:
                    # A failure is not kept: the file may be mended meanwhile.
                    self._drop(locator, entry)
                    raise
            return entry.checkpoint

    def _drop(self, locator: str, entry: _Entry) -> None:
        with self._lock:
            entry.forgotten = True
            if self._entries.get(locator) is entry:
                del self._entries[locator]

    def _give_back(self, entry: _Entry) -> None:
        closing: list[_Entry] = []
        with self._lock:
            entry.leases -= 1
            if entry.forgotten and entry.leases == 0:
                closing.append(entry)
            unused = [
                locator for locator, other in self._entries.items() if other.leases == 0
            ]
            for locator in unused[: max(0, len(unused) - self._kept)]:
                closing.append(self._entries.pop(locator))
        for one in closing:
            _close(one)


def _close(entry: _Entry) -> None:
    if entry.checkpoint is not None:
        entry.checkpoint.close()
        entry.checkpoint = None
