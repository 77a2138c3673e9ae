"""What an engine writes on stderr: passed on line by line, its end remembered.

Used by the client, whose log thread drains the pipe so that an engine never waits
for somebody to read its warnings.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

from inspector.engine.pipe import Read

KEPT_LINES = 200
"""Lines that are kept for the report of an engine's death."""

LINE_LIMIT = 4000
"""Characters of a line that are kept; the rest of it is dropped."""

_log = logging.getLogger(__name__)


class LogTail:
    """The last lines of a stream of bytes."""

    def __init__(self, on_line: Callable[[str], None] | None = None) -> None:
        """Takes whom to give each line to."""
        self._on_line = on_line
        self._kept: deque[str] = deque(maxlen=KEPT_LINES)
        self._lock = threading.Lock()

    def drain(self, read: Read) -> None:
        """Reads until the end of the pipe."""
        rest = b""
        while chunk := read(1 << 16):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._add_line(line)
            # A stream without line ends must not grow in here.
            rest = rest[: 4 * LINE_LIMIT]
        if rest:
            self._add_line(rest)

    def add(self, data: bytes) -> None:
        """Takes bytes from elsewhere, e.g. what came before an engine's greeting."""
        for line in data.splitlines():
            self._add_line(line)

    def lines(self) -> list[str]:
        """Returns the kept lines, oldest first."""
        with self._lock:
            return list(self._kept)

    def _add_line(self, data: bytes) -> None:
        line = data.decode("utf-8", "replace").rstrip()[:LINE_LIMIT]
        with self._lock:
            self._kept.append(line)
        if self._on_line is not None:
            try:
                self._on_line(line)
            except Exception:
                _log.exception("a callback for log lines failed")
