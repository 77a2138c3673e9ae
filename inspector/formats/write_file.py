"""A new file, written from start to end with progress and cancel.

Owns the writing side of an export: whole writes, copies by the kernel, the force to
the disk, and the comparison with the planned size. The writers of all formats use it
in the reader process. Where a file gets its final name is `export_place`'s business.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from inspector.errors import WriteFileError
from inspector.formats.write_stream import PIECE_BYTES, Job, LeafStream

_NO_COPY = frozenset(
    {errno.EXDEV, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
)
"""What ``copy_file_range`` answers where it cannot work between two files."""


SMALL_BYTES = 64 << 10
"""Shorter writes are gathered: many leaves are small, and a call for each is slow."""

GATHERED_BYTES = 1 << 20
"""Gathered bytes that are written at once; shorter copies are not the kernel's."""


class FileSink:
    """A new file that is written from start to end.

    Attributes:
        path: The file; it must not exist yet.
        position: Bytes taken so far; the last ones may not be in the file yet.
    """

    def __init__(self, path: Path, job: Job) -> None:
        """Creates the file.

        Raises:
            OSError: It exists, or cannot be created.
        """
        self.path = path
        self.position = 0
        self._job = job
        self._gathered = bytearray()
        self._kernel_copy = hasattr(os, "copy_file_range")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        self._descriptor = os.open(path, flags, 0o666)

    def write(self, data: bytes | memoryview) -> None:
        """Writes all of ``data``.

        Raises:
            OSError: The disk is full, a limit is reached, the device fails.
            CancelledError: The person cancelled.
        """
        nbytes = len(data)
        if nbytes < SMALL_BYTES:
            self._gathered += data
            if len(self._gathered) >= GATHERED_BYTES:
                self._flush()
            self.position += nbytes
            self._job.advance(nbytes)
            return
        self._flush()
        for start in range(0, nbytes, PIECE_BYTES):
            piece = memoryview(data)[start : start + PIECE_BYTES]
            self._write(piece)
            self.position += len(piece)
            self._job.advance(len(piece))

    def _flush(self) -> None:
        if self._gathered:
            gathered, self._gathered = self._gathered, bytearray()
            self._write(memoryview(gathered))

    def _write(self, view: memoryview) -> None:
        while view:
            view = view[os.write(self._descriptor, view) :]

    def copy(self, stream: LeafStream, nbytes: int) -> None:
        """Writes the next ``nbytes`` of a leaf, by the kernel where that works.

        Raises:
            OSError: As `write`.
            CancelledError: As `write`.
            ReadLeafError: The leaf ends early.
        """
        place = stream.file_position
        if place is not None and self._kernel_copy and nbytes >= GATHERED_BYTES:
            self._flush()
            nbytes -= self._copy_in_kernel(stream, place, nbytes)
        for piece in stream.pieces(nbytes):
            self.write(piece)

    def _copy_in_kernel(
        self, stream: LeafStream, place: tuple[str, int], nbytes: int
    ) -> int:
        """Copies as much as the kernel will; returns the bytes copied."""
        source = stream.context.files.descriptor(place[0])
        copied = 0
        while copied < nbytes:
            limit = min(nbytes - copied, PIECE_BYTES)
            try:
                count = os.copy_file_range(
                    source, self._descriptor, limit, place[1] + copied
                )
            except OSError as error:
                if error.errno not in _NO_COPY:
                    raise
                count = 0
            if not count:
                self._kernel_copy = False
                break
            copied += count
            stream.skip(count)
            self.position += count
            self._job.advance(count)
        return copied

    def close(self) -> None:
        """Forces the file to the disk and closes it.

        Raises:
            OSError: The disk refuses.
        """
        if self._descriptor >= 0:
            try:
                self._flush()
                os.fsync(self._descriptor)
            finally:
                self.abandon()

    def abandon(self) -> None:
        """Closes the file as it is, after an error."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes the file; forces it to the disk only when all went well."""
        if kind is None:
            self.close()
        else:
            self.abandon()


def expect_size(sink: FileSink, expected: int) -> None:
    """Compares what was written with what was planned.

    Raises:
        WriteFileError: They differ, so the file would be damaged.
    """
    if sink.position != expected:
        raise WriteFileError(
            message=f"The export wrote {sink.position:,} bytes where its layout has "
            f"{expected:,}.",
            where=sink.path.name,
            hint="Nothing was replaced. Please report this with the log.",
        )
