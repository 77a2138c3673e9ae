"""Opening files that somebody else made, without trusting what they are.

A FIFO or a device in place of a file would hang the process for ever, so every file
is looked at before it is opened and again once it is open. The file that was listed
stays open as long as the checkpoint does, so that one that is replaced meanwhile is
still read as it was. Used by every reader; knows no format.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

from inspector.errors import ReadFileError
from inspector.formats.faults import (
    LeafFault,
    ReadFileAccessError,
    ReadFileDamagedError,
    ReadFileForeignError,
    ReadFileLfsPointerError,
    ReadFileTruncatedError,
)

METADATA_LIMIT = 512 << 20
"""Bytes of the largest metadata file that is read into memory."""

LFS_PREFIX = b"version https://git-lfs.github.com/spec/"

_OPEN_FILES = 128


def open_regular(path: Path) -> int:
    """Opens a regular file for reading.

    Returns:
        A descriptor that the caller closes.

    Raises:
        ReadFileError: Nothing is there, it is no regular file, or it may not be read.
    """
    try:
        _require_regular(path, path.stat().st_mode)
        # O_NONBLOCK: were it swapped for a FIFO just now, open must still return.
        flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise ReadFileAccessError(path, error=error) from error
    try:
        _require_regular(path, os.fstat(descriptor).st_mode)
    except ReadFileForeignError:
        os.close(descriptor)
        raise
    return descriptor


def _require_regular(path: Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    kind = kinds.get(stat.S_IFMT(mode), "something else")
    raise ReadFileForeignError(
        path,
        what=f"This is {kind}, not a regular file; it was not opened.",
        hint="Give a file or a checkpoint folder.",
    )


def is_file(path: Path) -> bool:
    """Returns whether a regular file is there; never raises, never opens it."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Returns whether a folder is there; never raises."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def read_small(path: Path, limit: int = METADATA_LIMIT) -> bytes:
    """Reads a whole metadata file.

    Raises:
        ReadFileError: It is no regular file, may not be read, is larger than
            ``limit`` bytes, or is a git-lfs pointer.
    """
    descriptor = open_regular(path)
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        if size > limit:
            raise ReadFileDamagedError(
                path, problem=f"{size:,} bytes of metadata are more than {limit:,}"
            )
        try:
            # Exactly what is there: a read reserves as much as it is asked for.
            data = file.read(size)
        except OSError as error:
            raise ReadFileAccessError(path, error=error) from error
    if data.startswith(LFS_PREFIX):
        raise ReadFileLfsPointerError(path)
    return data


def read_json(path: Path, limit: int = METADATA_LIMIT) -> Any:
    """Reads a JSON file.

    Raises:
        ReadFileError: As `read_small`, or it is no JSON.
    """
    return parse_json(read_small(path, limit), path)


def parse_json(data: bytes, path: Path) -> Any:
    """Parses JSON bytes that came from ``path``.

    Raises:
        ReadFileError: It is no JSON, or nested too deeply.
    """
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ReadFileDamagedError(path, problem=f"no valid JSON: {error}") from error


class SafeFile:
    """One open regular file that is read by position; may be shared by threads.

    Attributes:
        path: Absolute path it was opened at.
        size: Bytes when it was opened.
    """

    def __init__(self, path: Path) -> None:
        """Opens the file.

        Raises:
            ReadFileError: As `open_regular`.
        """
        self.path = path
        self._lock = Lock()
        self._descriptor = open_regular(path)
        self.size = os.fstat(self._descriptor).st_size

    @property
    def descriptor(self) -> int:
        """The open descriptor, for maps; -1 once closed."""
        return self._descriptor

    def read_into(self, offset: int, buffer: memoryview) -> None:
        """Fills a writable buffer of bytes from the file.

        Raises:
            LeafFault: The file ends early, is closed, or cannot be read.
        """
        done = 0
        while done < len(buffer):
            try:
                count = self._pread(offset + done, buffer[done:])
            except OSError as error:
                raise LeafFault(
                    problem=f"{self.path}: {error.strerror or error}"
                ) from error
            if count <= 0:
                raise LeafFault(
                    problem=f"{self.path} ends at byte {offset + done:,}; "
                    f"{offset + len(buffer):,} are needed"
                )
            done += count

    def _pread(self, offset: int, buffer: memoryview) -> int:
        """Reads some bytes by position; Windows can only seek and read."""
        if hasattr(os, "preadv"):
            return os.preadv(self._descriptor, [buffer], offset)
        with self._lock:
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            data = os.read(self._descriptor, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, offset: int, length: int) -> bytes:
        """Reads exactly ``length`` bytes.

        Raises:
            ReadFileTruncatedError: The file ends before.
            LeafFault: It cannot be read.
        """
        if offset + length > self.size:
            raise ReadFileTruncatedError(
                self.path, ends_at=self.size, promised=offset + length
            )
        data = bytearray(length)
        self.read_into(offset, memoryview(data))
        return bytes(data)

    def close(self) -> None:
        """Closes the descriptor; reading afterwards fails."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class FilePool:
    """Open files by path, the least recently used closed beyond a limit."""

    def __init__(self) -> None:
        """Starts with no file open."""
        self._files: OrderedDict[Path, SafeFile] = OrderedDict()
        self._lock = Lock()

    @contextlib.contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Closes every file when the block raises; for whoever opens a checkpoint."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def open(self, path: Path) -> SafeFile:
        """Opens a file while it is listed, so that the same one is read later.

        Raises:
            ReadFileError: As `open_regular`.
        """
        with self._lock:
            return self._get(path)

    def read_into(self, path: Path, offset: int, buffer: memoryview) -> None:
        """Fills a buffer from a file, opening it when needed.

        Raises:
            LeafFault: The file is absent, of another kind, or too short.
        """
        # Reading under the lock keeps another thread from closing the file.
        with self._lock:
            try:
                file = self._get(path)
            except ReadFileError as error:
                raise LeafFault(problem=f"{path}: {error.message}") from error
            file.read_into(offset, buffer)

    def _get(self, path: Path) -> SafeFile:
        file = self._files.get(path)
        if file is None:
            file = SafeFile(path)
            self._files[path] = file
            if len(self._files) > _OPEN_FILES:
                self._files.popitem(last=False)[1].close()
        self._files.move_to_end(path)
        return file

    def close(self) -> None:
        """Closes every file."""
        with self._lock:
            for file in self._files.values():
                file.close()
            self._files.clear()
