"""The source files of an export, held open and watched while it runs.

Owns their descriptors. `write_stream` reads through them and `write_file` copies from
them, in the reader process. It knows no format.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from types import TracebackType
from typing import Self

from inspector.errors import ReadLeafError

OPEN_FILES = 16
"""Source files that are kept open at once."""


class SourceFiles:
    """Source files opened for an export; notices when one changes under it.

    A renamed or deleted source stays readable through its open descriptor. One that
    is written to meanwhile would give a mixture, so `close` compares size and time.
    """

    def __init__(self) -> None:
        """Opens nothing yet."""
        self._open: OrderedDict[str, int] = OrderedDict()
        self._seen: dict[str, tuple[int, int]] = {}

    def descriptor(self, file: str) -> int:
        """Returns a descriptor for reading; it stays ours.

        Raises:
            ReadLeafError: The file cannot be opened, or has changed since it was.
        """
        if file in self._open:
            self._open.move_to_end(file)
            return self._open[file]
        while len(self._open) >= OPEN_FILES:
            self._release(self._open.popitem(last=False))
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            descriptor = os.open(file, flags)
        except OSError as error:
            raise ReadLeafError(
                message=f"The source file cannot be opened: {error.strerror}.",
                where=file,
                hint="Put the source back where it was, or close it and export again.",
            ) from error
        self._open[file] = descriptor
        self._compare(file, descriptor)
        return descriptor

    def read(self, file: str, offset: int, limit: int) -> bytes:
        """Returns up to ``limit`` bytes from ``offset``; none at the file's end.

        Raises:
            ReadLeafError: As `descriptor`.
            OSError: The device fails.
        """
        descriptor = self.descriptor(file)
        if hasattr(os, "pread"):
            return os.pread(descriptor, limit, offset)
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, limit)

    def _compare(self, file: str, descriptor: int) -> None:
        status = os.fstat(descriptor)
        mark = (status.st_size, status.st_mtime_ns)
        if self._seen.setdefault(file, mark) != mark:
            raise ReadLeafError(
                message="The source was written to while it was being exported.",
                where=file,
                hint="Wait until the other program is done, then export again.",
            )

    def _release(self, item: tuple[str, int]) -> None:
        try:
            self._compare(*item)
        finally:
            os.close(item[1])

    def close(self) -> None:
        """Closes all files, and compares each with what it was when first opened.

        Raises:
            ReadLeafError: One has changed.
        """
        try:
            for item in self._open.items():
                self._compare(*item)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Closes all files without a look at them, after an error."""
        while self._open:
            os.close(self._open.popitem()[1])

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes the files; compares them only when nothing else went wrong."""
        if kind is None:
            self.close()
        else:
            self.abandon()
