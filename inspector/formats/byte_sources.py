"""The decoded bytes of one array, wherever they lie: plain runs, or a stream.

`FileRuns` are uncompressed bytes, read by position. `DecodedStream` decompresses
front to back and keeps its place, so that reading on costs only what is new. Used
by the array readers; knows neither shapes nor dtypes.
"""

from __future__ import annotations

import io
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

import zstandard

from inspector.formats.checkpoint import Check, Extent, stop_if
from inspector.formats.faults import LeafFault
from inspector.formats.safe_files import FilePool

_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class FileRange:
    """Bytes of a file.

    Attributes:
        path: Absolute path.
        offset: First byte.
        nbytes: Length in bytes.
    """

    path: Path
    offset: int
    nbytes: int


Blob = bytes | FileRange
"""Stored bytes: in memory, or where they lie."""


def blob_size(blob: Blob) -> int:
    """Returns the stored bytes of a blob."""
    return len(blob) if isinstance(blob, bytes) else blob.nbytes


class ByteSource(ABC):
    """A run of decoded bytes that can be read by position.

    Attributes:
        nbytes: Length in bytes.
    """

    nbytes: int

    @abstractmethod
    def read_into(self, offset: int, buffer: memoryview, cancelled: Check) -> None:
        """Fills a writable buffer of bytes.

        Raises:
            LeafFault: The bytes are absent or damaged.
            CancelledError: ``cancelled()`` returned True.
        """

    def extent(self) -> Extent | None:
        """Returns where the bytes lie as they are in one run, if they do."""
        return None


class FileRuns(ByteSource):
    """Uncompressed bytes, in one run or several that follow each other."""

    def __init__(self, pool: FilePool, runs: Sequence[FileRange]) -> None:
        """Takes the runs in order; nothing is read."""
        self._pool = pool
        self._runs = tuple(runs)
        self.nbytes = sum(run.nbytes for run in runs)

    def read_into(self, offset: int, buffer: memoryview, cancelled: Check) -> None:
        """Fills a buffer from the runs that it crosses."""
        stop_if(cancelled)
        for run in self._runs:
            if not buffer:
                return
            if offset >= run.nbytes:
                offset -= run.nbytes
                continue
            length = min(len(buffer), run.nbytes - offset)
            self._pool.read_into(run.path, run.offset + offset, buffer[:length])
            buffer = buffer[length:]
            offset = 0
        if buffer:
            raise LeafFault(problem=f"{len(buffer):,} bytes are missing at its end")

    def extent(self) -> Extent | None:
        """Returns the run when there is exactly one."""
        if len(self._runs) != 1:
            return None
        run = self._runs[0]
        return Extent(str(run.path), run.offset, run.nbytes)


class MemoryBytes(ByteSource):
    """Bytes that lay inside an index and are in memory already."""

    def __init__(self, data: bytes) -> None:
        """Keeps the bytes."""
        self._data = memoryview(data)
        self.nbytes = len(data)

    def read_into(self, offset: int, buffer: memoryview, cancelled: Check) -> None:
        """Copies from the bytes."""
        stop_if(cancelled)
        piece = self._data[offset : offset + len(buffer)]
        if len(piece) != len(buffer):
            raise LeafFault(problem=f"its stored bytes end at {self.nbytes:,}")
        buffer[:] = piece


class SkippedBytes(ByteSource):
    """Another source without its first bytes, which are a header."""

    def __init__(self, source: ByteSource, skipped: int) -> None:
        """Leaves out the first ``skipped`` bytes."""
        self._source = source
        self._skipped = skipped
        self.nbytes = source.nbytes - skipped

    def read_into(self, offset: int, buffer: memoryview, cancelled: Check) -> None:
        """Reads from the source behind the header."""
        self._source.read_into(self._skipped + offset, buffer, cancelled)

    def extent(self) -> Extent | None:
        """Returns the source's run behind the header."""
        extent = self._source.extent()
        if extent is None:
            return None
        return Extent(extent.file, extent.offset + self._skipped, self.nbytes)


class Reader(Protocol):
    """What a decompressor gives: bytes in order, ``b""`` at the end."""

    def read(self, size: int = -1, /) -> bytes:
        """Returns up to ``size`` bytes."""


class DecodedStream(ByteSource):
    """Compressed bytes, decoded front to back.

    Reading behind the place it has reached starts again from the front.
    """

    def __init__(self, start: Callable[[], Reader], nbytes: int) -> None:
        """Takes what opens the decoder.

        Args:
            start: Makes a decoder at the first byte.
            nbytes: Decoded bytes that the metadata promise.
        """
        self.nbytes = nbytes
        self._start = start
        self._reader: Reader | None = None
        self._position = 0
        self._lock = Lock()

    def read_into(self, offset: int, buffer: memoryview, cancelled: Check) -> None:
        """Decodes up to ``offset`` and fills the buffer."""
        with self._lock:
            try:
                self._read_into(offset, buffer, cancelled)
            except (zlib.error, zstandard.ZstdError, EOFError, ValueError) as error:
                self._reader = None
                raise LeafFault(problem=f"damaged compressed data: {error}") from error
            except BaseException:
                self._reader = None
                raise

    def _read_into(self, offset: int, buffer: memoryview, cancelled: Check) -> None:
        if self._reader is None or offset < self._position:
            self._reader = self._start()
            self._position = 0
        while self._position < offset:
            self._take(self._reader, min(_PIECE, offset - self._position), cancelled)
        done = 0
        while done < len(buffer):
            piece = self._take(self._reader, min(_PIECE, len(buffer) - done), cancelled)
            buffer[done : done + len(piece)] = piece
            done += len(piece)

    def _take(self, reader: Reader, size: int, cancelled: Check) -> bytes:
        stop_if(cancelled)
        piece = reader.read(size)
        if not piece:
            raise LeafFault(
                problem="its compressed data end after "
                f"{self._position:,} of {self.nbytes:,} bytes"
            )
        self._position += len(piece)
        return piece


class BlobReader(io.RawIOBase):
    """A blob as a file object, for decompressors; reads by position."""

    def __init__(self, blob: Blob, pool: FilePool) -> None:
        """Starts at the blob's first byte."""
        super().__init__()
        self._blob = blob
        self._pool = pool
        self._position = 0

    def readable(self) -> bool:
        """Returns True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # narrower: zstandard and io pass a memoryview
        """Fills a buffer as far as the blob goes; 0 at its end."""
        view = memoryview(buffer).cast("B")
        length = min(len(view), blob_size(self._blob) - self._position)
        start = self._position
        if isinstance(self._blob, bytes):
            view[:length] = self._blob[start : start + length]
        else:
            self._pool.read_into(
                self._blob.path, self._blob.offset + start, view[:length]
            )
        self._position += length
        return length


class _ZlibReader:
    """Decodes zlib, gzip or bare deflate data in bounded pieces."""

    def __init__(self, source: io.BufferedReader, window_bits: int) -> None:
        self._source = source
        self._decoder = zlib.decompressobj(window_bits)

    def read(self, size: int = -1, /) -> bytes:
        """Returns up to ``size`` bytes; memory stays near one piece."""
        while not self._decoder.eof:
            data = self._decoder.unconsumed_tail or self._source.read(_PIECE)
            piece = self._decoder.decompress(data, max(size, 1))
            if piece or not data:
                return piece
        return b""


def decoder_of(codec: str, blob: Blob, pool: FilePool) -> Callable[[], Reader]:
    """Returns what opens a decoder over a blob.

    Args:
        codec: ``"zstd"``, ``"gzip"``, ``"zlib"`` or ``"deflate"``.
        blob: The compressed bytes.
        pool: Where files are opened.

    Raises:
        KeyError: The codec is another one.
    """
    if codec == "zstd":
        # 128 MiB: the window that level 22 of zstd uses; more is not believed.
        decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        return lambda: decompressor.stream_reader(
            _buffered(blob, pool), read_size=_PIECE, read_across_frames=True
        )
    bits = {"gzip": 31, "zlib": 15, "deflate": -15}[codec]
    return lambda: _ZlibReader(_buffered(blob, pool), bits)


def _buffered(blob: Blob, pool: FilePool) -> io.BufferedReader:
    return io.BufferedReader(BlobReader(blob, pool), _PIECE)
