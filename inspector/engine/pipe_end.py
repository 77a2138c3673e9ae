"""The owner's end of a pipe, whose blocking read or write another thread can end.

A process may leave children behind that hold its pipes open, so the end of a process
is not always the end of its pipes. The client reads and writes through this class
and can always get its threads back. Any thread may call it.
"""

from __future__ import annotations

import os
import select
import sys
import threading


class PipeEnd:
    """A descriptor with a way out of a wait.

    On Windows, where anonymous pipes cannot be waited for, `interrupt` has no effect
    before the next byte or the end of the pipe.
    """

    def __init__(self, descriptor: int) -> None:
        """Takes over the descriptor; `close` closes it."""
        self._descriptor = descriptor
        self._ended, self._end = os.pipe()
        self._lock = threading.Lock()
        self._interrupted = False
        self._closed = False
        if sys.platform != "win32":
            os.set_blocking(descriptor, False)

    def read(self, size: int) -> bytes:
        """Waits for bytes and returns at most ``size``; ``b""`` at the end."""
        while self._wait(writing=False):
            try:
                return os.read(self._descriptor, size)
            except BlockingIOError:
                continue
            except OSError:
                break
        return b""

    def write(self, data: memoryview) -> int:
        """Waits for room, writes some bytes and returns how many.

        Raises:
            OSError: Nobody reads any more, or the wait was interrupted.
        """
        while self._wait(writing=True):
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:
                continue
        raise BrokenPipeError

    def _wait(self, *, writing: bool) -> bool:
        if sys.platform == "win32":
            return not self._interrupted
        poll = select.poll()
        poll.register(self._descriptor, select.POLLOUT if writing else select.POLLIN)
        poll.register(self._ended, select.POLLIN)
        poll.poll()
        return not self._interrupted

    def interrupt(self) -> None:
        """Ends every wait, present and future."""
        with self._lock:
            if not (self._interrupted or self._closed):
                self._interrupted = True
                os.write(self._end, b"\0")

    def close(self) -> None:
        """Closes the descriptor; no thread may be in `read` or `write` any more."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        for descriptor in (self._descriptor, self._ended, self._end):
            os.close(descriptor)
