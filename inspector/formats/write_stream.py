"""Bytes on their way from a leaf into a file: in pieces, counted, cancellable.

Owns how an export reads the bytes of one leaf (`LeafStream`) and reports how far it
is (`Job`). All writers use it, in the reader process and on the thread of the
request. It knows no format and writes no file: that is `write_file`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import google_crc32c
import numpy as np

from inspector.errors import ReadLeafError
from inspector.formats.checkpoint import Check, Extent, stop_if
from inspector.formats.write_sources import SourceFiles
from inspector.variables import dtypes
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath, quote

PIECE_BYTES = 8 << 20
"""Most bytes between two looks at the cancel flag."""

REPORT_SECONDS = 0.1
"""Progress is reported at most this often, unless `PIECE_BYTES` have passed."""

_SIGNIFICANT_BITS = {"int2": 0x03, "int4": 0x0F, "float4_e2m1fn": 0x0F}
"""Bits of a byte that carry the element, for dtypes smaller than a byte."""

Progress = Callable[[int, int, str], None]
"""``progress(done_bytes, total_bytes, text)``."""


class LeafValues(Protocol):
    """Gives the numbers of leaves, whatever form their value has."""

    def blocks(self, leaf: Leaf, cancelled: Check) -> Iterator[np.ndarray]:
        """Yields the leaf in C order as flat arrays of its dtype.

        A random-key leaf gives its uint32 words.
        """

    def extent(self, leaf: Leaf) -> Extent | None:
        """Returns where the leaf lies as plain bytes, None when it does not."""


class Job:
    """Counts the bytes of one export, tells the person, and hears a cancel.

    Attributes:
        done: Bytes that are written or checked so far.
        total: Bytes that will have been when the export ends.
        cancelled: The request's own cancel flag.
    """

    def __init__(self, total: int, progress: Progress, cancelled: Check) -> None:
        """Starts at zero; reports nothing yet."""
        self.done = 0
        self.total = total
        self.cancelled = cancelled
        self._progress = progress
        self._text = ""
        self._reported_bytes = 0
        self._reported_at = 0.0

    def advance(self, nbytes: int, text: str | None = None) -> None:
        """Counts bytes, and reports when `PIECE_BYTES` or `REPORT_SECONDS` passed.

        Raises:
            CancelledError: The person cancelled.
        """
        self.done += nbytes
        self._text = self._text if text is None else text
        stop_if(self.cancelled)
        now = time.monotonic()
        if (
            self.done - self._reported_bytes >= PIECE_BYTES
            or now - self._reported_at >= REPORT_SECONDS
        ):
            self.report(now)

    def report(self, now: float | None = None) -> None:
        """Reports at once, e.g. at the start of a new stage."""
        self._reported_bytes = self.done
        self._reported_at = time.monotonic() if now is None else now
        self._progress(min(self.done, self.total), self.total, self._text)


@dataclass(slots=True)
class WriteContext:
    """What a writer needs besides the tree.

    Attributes:
        values: Gives the numbers of leaves.
        files: Source files that are open.
        job: Progress and cancel.
        digests: Path -> CRC32C of the bytes written; filled when not None.
    """

    values: LeafValues
    files: SourceFiles
    job: Job
    digests: dict[TreePath, int] | None = None

    def stream(self, path: TreePath, leaf: Leaf) -> LeafStream:
        """Returns the bytes of a leaf from the start."""
        return LeafStream(path, leaf, self)


@dataclass(slots=True)
class LeafStream:
    """The bytes of one leaf, little-endian and in C order, taken once from the start.

    Attributes:
        path: The leaf's path, for messages and digests.
        leaf: The array or random-key leaf.
        context: Where the numbers come from.
        left: Bytes not yet taken.
    """

    path: TreePath
    leaf: Leaf
    context: WriteContext
    left: int = 0
    _extent: Extent | None = None
    _blocks: Iterator[np.ndarray] | None = None
    _rest: memoryview = field(default_factory=lambda: memoryview(b""))

    def __post_init__(self) -> None:
        """Finds out where the bytes lie."""
        self.left = self.leaf.nbytes
        extent = self.context.values.extent(self.leaf)
        if extent is not None and extent.nbytes == self.left:
            self._extent = extent
        else:
            self._blocks = self.context.values.blocks(
                self.leaf, self.context.job.cancelled
            )
        if self.context.digests is not None:
            self.context.digests[self.path] = 0

    @property
    def file_position(self) -> tuple[str, int] | None:
        """(file, offset) of the next byte where a kernel copy will do, else None.

        A digest needs the bytes in this process, so there is none with one.
        """
        if self._extent is None or self.context.digests is not None:
            return None
        return self._extent.file, self._extent.offset + self.leaf.nbytes - self.left

    def skip(self, nbytes: int) -> None:
        """Counts bytes that were copied from `file_position` by the kernel."""
        self.left -= nbytes

    def pieces(self, nbytes: int) -> Iterator[memoryview]:
        """Yields exactly the next ``nbytes`` bytes, `PIECE_BYTES` at a time.

        Raises:
            ReadLeafError: The leaf ends early.
        """
        while nbytes:
            piece = self._next(min(nbytes, PIECE_BYTES))
            nbytes -= len(piece)
            self.left -= len(piece)
            self._digest(piece)
            yield piece

    def end(self) -> None:
        """Makes sure that the blocks gave no more bytes than the shape says.

        Raises:
            ReadLeafError: They did.
        """
        extra = len(self._rest)
        if self._blocks is not None and not extra:
            extra = sum(block.size for block in self._blocks)
        if extra or self.left:
            self._raise_mismatch()

    def _digest(self, piece: memoryview) -> None:
        digests = self.context.digests
        if digests is not None:
            data = canonical_bytes(piece, self.leaf.dtype)
            digests[self.path] = google_crc32c.extend(digests[self.path], data)

    def _next(self, limit: int) -> memoryview:
        if self._extent is not None:
            return self._read(self._extent, limit)
        while not self._rest and self._blocks is not None:
            block = next(self._blocks, None)
            if block is None:
                self._raise_mismatch()
            else:
                self._rest = little_endian_bytes(block)
        piece, self._rest = self._rest[:limit], self._rest[limit:]
        return piece

    def _read(self, extent: Extent, limit: int) -> memoryview:
        offset = extent.offset + self.leaf.nbytes - self.left
        data = self.context.files.read(extent.file, offset, limit)
        if not data:
            self._raise_mismatch()
        return memoryview(data)

    def _raise_mismatch(self) -> None:
        found = self.leaf.nbytes - self.left + len(self._rest)
        raise ReadLeafError(
            message=f"The leaf gave {'more' if self._rest else 'only'} {found:,} "
            f"bytes where its shape {self.leaf.shape} of {self.leaf.dtype} has "
            f"{self.leaf.nbytes:,}.",
            where=quote(self.path),
            hint="Open the source again; it may have changed.",
        )


def little_endian_bytes(block: np.ndarray) -> memoryview:
    """Returns the bytes of an array, C order, little-endian; a copy only if needed."""
    if block.dtype.byteorder == ">" or (
        sys.byteorder == "big" and block.dtype.byteorder == "="
    ):
        block = block.astype(block.dtype.newbyteorder("<"))
    flat = np.ascontiguousarray(block).reshape(-1)
    return flat.view(np.uint8).data


def canonical_bytes(data: memoryview, dtype: str) -> bytes:
    """Returns the bytes that a digest is made of.

    Dtypes smaller than a byte leave the upper bits of their byte undefined, and
    libraries differ in what they put there; they are cleared.
    """
    mask = _SIGNIFICANT_BITS.get(dtype)
    if mask is None:
        return bytes(data)
    return bytes(np.frombuffer(data, np.uint8) & np.uint8(mask))


def object_array(
    value: bool | int | float | complex | bytes,
) -> tuple[str, tuple[int, ...], bytes]:
    """Returns a Python number or ``bytes`` as an array: dtype, shape, little-endian.

    A number has the dtype that numpy gives it, and no axes; bytes are uint8.
    """
    if isinstance(value, bytes):
        return "uint8", (len(value),), value
    array = np.asarray(value)
    return dtypes.name_of(array.dtype), (), bytes(little_endian_bytes(array))
