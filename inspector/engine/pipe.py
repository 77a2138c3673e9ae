"""Frames on pipes: length and bytes, sent by a thread of their own.

Owns what lies below the messages, for both ends: the private descriptors of an
engine (`take_pipes`), the reading of frames, and the writer with its backpressure.
Any thread may send. It knows nothing of what is in a frame, and imports the standard
library only, because an engine calls it before everything else.
"""

from __future__ import annotations

import io
import os
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from inspector.errors import EngineError

GREETING = b"\0flax-inspector engine\0"
"""First bytes that an engine sends. What comes before them is not ours: the banner
of a login shell behind ``ssh``, or the print of a ``sitecustomize``."""

FRAME_LIMIT = 1 << 30
"""Most bytes of one frame; a larger length means that the pipe is out of step."""

UNREAD_LIMIT = 4 << 20
"""Bytes that may wait in a writer before a sender has to wait too."""

_BANNER_LIMIT = 1 << 20
_CHUNK = 1 << 18
_LENGTH = struct.Struct("<I")

Read = Callable[[int], bytes]
"""Returns between 1 and so many bytes, ``b""`` at the end of the pipe; may block."""

Write = Callable[[memoryview], int]
"""Writes some of the bytes and returns how many; raises OSError when nobody reads."""


@dataclass(frozen=True, slots=True)
class Pipes:
    """The private, non-inheritable descriptors of an engine.

    Attributes:
        incoming: What the owner sends; at its end the owner is gone.
        outgoing: What the owner reads.
    """

    incoming: int
    outgoing: int

    def read(self, size: int) -> bytes:
        """A `Read` from the owner; a reset of the connection is its end."""
        try:
            return os.read(self.incoming, size)
        except ConnectionError:
            return b""

    def write(self, data: memoryview) -> int:
        """A `Write` to the owner."""
        return os.write(self.outgoing, data)


def take_pipes() -> Pipes:
    """Takes the protocol away from standard input and output, once per process.

    Afterwards descriptor 0 is the null device and 1 goes where 2 goes, on the level
    of the system: ``print``, ``input()``, ``printf`` of a C library and the children
    of user code find nothing of the protocol. Call it before any import of others'
    code. From then on what Python prints is written out line by line, so that it
    stands in the log when it happens, and is there when the process is killed.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What a start-up hook printed goes out ahead of the greeting, which allows it.
        sys.stdout.flush()
        sys.stdout.reconfigure(line_buffering=True)
    incoming, outgoing = os.dup(0), os.dup(1)  # os.dup gives non-inheritable ones
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - exists on Windows only

        msvcrt.setmode(incoming, os.O_BINARY)
        msvcrt.setmode(outgoing, os.O_BINARY)
    return Pipes(incoming, outgoing)


def skip_to_greeting(read: Read, on_banner: Callable[[bytes], None]) -> bytes | None:
    """Reads up to the `GREETING` of an engine.

    Args:
        read: Where to read.
        on_banner: Is given what came before the greeting, when there is anything.

    Returns:
        What was read beyond the greeting; None when the pipe ended before it, or
        brought too much of something else.
    """
    buffer = bytearray()
    while (start := buffer.find(GREETING)) < 0:
        chunk = read(_CHUNK) if len(buffer) < _BANNER_LIMIT else b""
        if not chunk:
            if buffer:
                on_banner(bytes(buffer))
            return None
        buffer += chunk
    if start:
        on_banner(bytes(buffer[:start]))
    return bytes(buffer[start + len(GREETING) :])


def frames(read: Read, begun: bytes = b"") -> Iterator[bytes]:
    """Yields the content of each frame until the pipe ends.

    Args:
        read: Where to read.
        begun: Bytes that were read before.

    Raises:
        EngineError: The pipe ended within a frame, or a length is beyond
            `FRAME_LIMIT`.
    """
    buffer = bytearray(begun)
    while True:
        if not _fill(buffer, _LENGTH.size, read):
            break
        (length,) = _LENGTH.unpack_from(buffer)
        if length > FRAME_LIMIT:
            raise EngineError(
                message=f"A message of {length} bytes was announced, more than"
                f" {FRAME_LIMIT}; the pipe is out of step."
            )
        end = _LENGTH.size + length
        if not _fill(buffer, end, read):
            break
        frame = bytes(memoryview(buffer)[_LENGTH.size : end])
        del buffer[:end]
        yield frame
    if buffer:
        raise EngineError(message="The pipe ended in the middle of a message.")


def _fill(buffer: bytearray, size: int, read: Read) -> bool:
    while len(buffer) < size:
        chunk = read(max(_CHUNK, size - len(buffer)))
        if not chunk:
            return False
        buffer += chunk
    return True


class Writer:
    """Sends frames in order, from a thread of its own.

    Nobody who sends holds a lock while the system writes. When the other end is gone
    it drops what it is given: who reads the other direction learns of the end there.
    """

    def __init__(self, write: Write, name: str, greeting: bytes = b"") -> None:
        """Starts the thread.

        Args:
            write: Where to write.
            name: Name of the thread.
            greeting: Bytes to send before any frame.
        """
        self._write = write
        self._queue: deque[bytes] = deque([greeting] if greeting else [])
        self._unread = len(greeting)
        self._open = True
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def send(self, data: bytes) -> bool:
        """Queues a frame; waits while `UNREAD_LIMIT` bytes are unread.

        Returns:
            False when the writer is closed or the other end is gone.

        Raises:
            EngineError: The frame is larger than `FRAME_LIMIT`.
        """
        return self._queue_frame(data, wait=True)

    def post(self, data: bytes) -> bool:
        """Queues a small frame at once, for threads that must never wait."""
        return self._queue_frame(data, wait=False)

    def _queue_frame(self, data: bytes, *, wait: bool) -> bool:
        if len(data) > FRAME_LIMIT:
            raise EngineError(
                message=f"A message of {len(data)} bytes is too large to send;"
                f" the most is {FRAME_LIMIT}."
            )
        with self._changed:
            if wait:
                self._changed.wait_for(
                    lambda: self._unread < UNREAD_LIMIT or not self._open
                )
            if not self._open:
                return False
            if len(data) < _CHUNK:
                self._queue.append(_LENGTH.pack(len(data)) + data)
            else:
                self._queue += (_LENGTH.pack(len(data)), data)
            self._unread += _LENGTH.size + len(data)
            self._changed.notify_all()
            return True

    def close(self) -> None:
        """Takes no more frames; the thread ends when the queued ones are written."""
        with self._changed:
            self._open = False
            self._changed.notify_all()

    def join(self, timeout_s: float | None = None) -> bool:
        """Waits for the end of the thread after `close`; False when it still writes."""
        if self._thread is not threading.current_thread():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (data := self._next()) is not None:
            try:
                self._write_all(data)
            except OSError:
                # EPIPE and its like: the other end is gone, which is no error here.
                break
        with self._changed:
            self._open = False
            self._queue.clear()
            self._changed.notify_all()

    def _next(self) -> bytes | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or not self._open)
            return self._queue.popleft() if self._queue else None

    def _write_all(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = self._write(rest[:_CHUNK])
            rest = rest[written:]
            with self._changed:
                self._unread -= written
                self._changed.notify_all()
