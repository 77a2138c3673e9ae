"""Reads zarr arrays chunk by chunk, and says which cannot be right before it does.

Chunks without compression are read by position; zstd, gzip and zlib are decoded as
streams, so memory stays near one block whatever a chunk's size is. Other codecs go
to tensorstore, and only after the sizes have been checked, because it aborts the
process on metadata that promise too much.
"""

from __future__ import annotations

import itertools
import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import google_crc32c
import numpy as np

from inspector.formats.arrays import ArrayReader, StridedArray, allocate
from inspector.formats.byte_sources import (
    Blob,
    ByteSource,
    DecodedStream,
    FileRange,
    FileRuns,
    MemoryBytes,
    blob_size,
    decoder_of,
)
from inspector.formats.checkpoint import Check, Extent, Region, stop_if
from inspector.formats.chunk_store import ChunkStore
from inspector.formats.faults import LeafFault
from inspector.formats.safe_files import FilePool
from inspector.formats.tensorstore_array import TensorstoreArray
from inspector.formats.zarr_metadata import OWN_CODECS, ChunkCoding, ZarrMetadata

CHUNKS_LIMIT = 4_000_000
"""Chunks of the largest array that is believed."""

_CHUNKS_CHECKED = 4096
_OPEN_CHUNKS = 64
_ABSENT = (1 << 64) - 1
_INDEX_ENTRY = 16
_CRC_BYTES = 4
_SLACK = 4096

# The most that a codec can shrink data: a zstd block of 128 KiB takes 4 bytes,
# deflate's bound is 1032:1 (RFC 1951), LZ4 and blosc stay below the former.
_RATIOS = {"raw": 1, "gzip": 1040, "zlib": 1040}
_ANY_RATIO = 40_000

OpenChunk = Callable[[tuple[int, ...]], ArrayReader | None]
"""Opens the chunk at an index of the grid; None for one that is not stored."""


class ChunkedArray(ArrayReader):
    """An array in a grid of chunks."""

    def __init__(
        self,
        shape: tuple[int, ...],
        coding: ChunkCoding,
        open_chunk: OpenChunk,
        fill: bool | int | float | complex | None,
    ) -> None:
        """Takes what the chunks need.

        Args:
            shape: Shape of the array.
            coding: How its chunks are stored.
            open_chunk: Opens one of them.
            fill: What an absent chunk stands for; None when it is an error.
        """
        self.shape = shape
        self.dtype = coding.dtype
        self._coding = coding
        self._open = open_chunk
        self._fill = fill
        self._chunks: OrderedDict[tuple[int, ...], ArrayReader | None] = OrderedDict()

    @property
    def _single(self) -> bool:
        return self._coding.shape == self.shape

    def read(self, region: Region, cancelled: Check) -> np.ndarray:
        """Reads a region from the chunks that it crosses."""
        if self._single and all(stop > start for start, stop in region):
            chunk = self._chunk((0,) * len(self.shape))
            if chunk is not None:
                return chunk.read(region, cancelled)
        out = allocate(region, self.dtype)
        for index, inside, where in _crossed(region, self._coding.shape):
            stop_if(cancelled)
            chunk = self._chunk(index)
            if chunk is None:
                out[where] = self._fill
            else:
                out[where] = chunk.read(inside, cancelled)
        return out

    def blocks(self, cancelled: Check) -> Iterator[np.ndarray]:
        """Yields blocks; those of a single chunk come straight from it."""
        chunk = self._chunk((0,) * len(self.shape)) if self._single else None
        if chunk is not None and 0 not in self.shape:
            yield from chunk.blocks(cancelled)
        else:
            yield from super().blocks(cancelled)

    def extent(self) -> Extent | None:
        """Returns the place of an array that is one plain chunk."""
        if not self._single or 0 in self.shape:
            return None
        try:
            chunk = self._chunk((0,) * len(self.shape))
        except LeafFault:
            return None
        return None if chunk is None else chunk.extent()

    def _chunk(self, index: tuple[int, ...]) -> ArrayReader | None:
        """Opens a chunk; open ones keep their place, so rows go through once."""
        if index not in self._chunks:
            chunk = self._open(index)
            if chunk is None and self._fill is None:
                raise LeafFault(problem=f"chunk {index} is not stored")
            self._chunks[index] = chunk
            if len(self._chunks) > _OPEN_CHUNKS:
                self._chunks.popitem(last=False)
        self._chunks.move_to_end(index)
        return self._chunks[index]


def _crossed(
    region: Region, chunk: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], Region, tuple[slice, ...]]]:
    """Yields (chunk index, region inside it, place in the result)."""
    spans = [
        range(start // size, -(-stop // size) if stop > start else start // size)
        for (start, stop), size in zip(region, chunk, strict=True)
    ]
    for index in itertools.product(*spans):
        inside, where = [], []
        for number, (start, stop), size in zip(index, region, chunk, strict=True):
            low, high = max(start, number * size), min(stop, (number + 1) * size)
            inside.append((low - number * size, high - number * size))
            where.append(slice(low - start, high - start))
        yield index, tuple(inside), tuple(where)


def open_array(
    metadata: ZarrMetadata,
    store: ChunkStore,
    name: str,
    pool: FilePool,
    *,
    all_stored: bool,
) -> ArrayReader:
    """Makes the reader of an array; nothing is read.

    Args:
        metadata: The array's own.
        store: Where its chunks are.
        name: Its name in the store.
        pool: Where files are opened.
        all_stored: Whether every chunk must be stored, so that an absent one is an
            error and not the fill value.
    """
    if not _own(metadata.coding):
        return TensorstoreArray(metadata, store.kvstore(name))
    prefix = f"{name}/" if name else ""

    coding, fill = metadata.coding, metadata.fill

    def open_chunk(index: tuple[int, ...]) -> ArrayReader | None:
        blob = store.get(prefix + metadata.chunk_key(index))
        return None if blob is None else _decode(blob, coding, pool, fill)

    stands_in = None if all_stored else fill
    return ChunkedArray(metadata.shape, coding, open_chunk, stands_in)


def _own(coding: ChunkCoding) -> bool:
    inner = coding.inner is None or _own(coding.inner)
    return coding.codec in OWN_CODECS and inner


def _decode(
    blob: Blob,
    coding: ChunkCoding,
    pool: FilePool,
    fill: bool | int | float | complex | None,
) -> ArrayReader:
    """Makes the reader of one stored chunk."""
    if coding.inner is not None:
        return _open_shard(blob, coding, coding.inner, pool, fill)
    if coding.checksum:
        blob = _part(blob, 0, blob_size(blob) - _CRC_BYTES)
    return StridedArray(
        _source(blob, coding, pool), coding.shape, coding.dtype, fortran=coding.fortran
    )


def _source(blob: Blob, coding: ChunkCoding, pool: FilePool) -> ByteSource:
    if coding.codec != "raw":
        return DecodedStream(decoder_of(coding.codec, blob, pool), coding.nbytes)
    if blob_size(blob) != coding.nbytes:
        raise LeafFault(
            problem=f"a chunk has {blob_size(blob):,} bytes, not {coding.nbytes:,}"
        )
    return MemoryBytes(blob) if isinstance(blob, bytes) else FileRuns(pool, [blob])


def _part(blob: Blob, offset: int, length: int) -> Blob:
    """Returns a part of a blob.

    Raises:
        LeafFault: It does not lie within.
    """
    if length < 0 or offset + length > blob_size(blob):
        raise LeafFault(problem="a chunk is shorter than its own index says")
    if isinstance(blob, bytes):
        return blob[offset : offset + length]
    return FileRange(blob.path, blob.offset + offset, length)


def _open_shard(
    blob: Blob,
    coding: ChunkCoding,
    inner: ChunkCoding,
    pool: FilePool,
    fill: bool | int | float | complex | None,
) -> ArrayReader:
    """Reads the index of a shard (zarr 3, ``sharding_indexed``)."""
    grid = tuple(
        -(-extent // part)
        for extent, part in zip(coding.shape, inner.shape, strict=True)
    )
    if math.prod(grid) > CHUNKS_LIMIT:
        raise LeafFault(problem=f"a shard claims {math.prod(grid):,} chunks")
    length = math.prod(grid) * _INDEX_ENTRY + _CRC_BYTES
    start = blob_size(blob) - length if coding.index_at_end else 0
    index_blob = _part(blob, max(start, 0), length)
    data = bytearray(length)
    if isinstance(index_blob, bytes):
        data[:] = index_blob
    else:
        pool.read_into(index_blob.path, index_blob.offset, memoryview(data))
    stored = int.from_bytes(data[-_CRC_BYTES:], "little")
    if google_crc32c.value(bytes(data[:-_CRC_BYTES])) != stored:
        raise LeafFault(problem="the checksum of a shard's index does not fit")
    places = np.frombuffer(data[:-_CRC_BYTES], "<u8").reshape(*grid, 2)

    def open_chunk(index: tuple[int, ...]) -> ArrayReader | None:
        offset, nbytes = (int(number) for number in places[index])
        if offset == _ABSENT and nbytes == _ABSENT:
            return None
        return _decode(_part(blob, offset, nbytes), inner, pool, fill)

    # Inside a shard an absent chunk is an empty one: the index says so on purpose.
    return ChunkedArray(coding.shape, inner, open_chunk, 0 if fill is None else fill)


@dataclass(frozen=True, slots=True)
class Survey:
    """What the sizes of an array's chunks tell.

    Attributes:
        stored_bytes: Bytes of the chunks that were looked at.
        error: Why the array cannot be read; empty when it can.
        note: Worth a line: chunks that stand for the fill value.
    """

    stored_bytes: int = 0
    error: str = ""
    note: str = ""


def survey(
    metadata: ZarrMetadata, store: ChunkStore, name: str, *, all_stored: bool
) -> Survey:
    """Checks an array's chunks by name and size, without decoding any.

    Only the first few thousand chunks of an array are looked at.
    """
    grid = metadata.grid
    count = math.prod(grid)
    if count > CHUNKS_LIMIT:
        return Survey(error=f"Its metadata claim {count:,} chunks, which is refused.")
    prefix = f"{name}/" if name else ""
    ratio = _RATIOS.get(metadata.coding.codec, _ANY_RATIO)
    if metadata.coding.inner is not None:
        ratio = _ANY_RATIO
    stored = absent = 0
    looked_at = min(count, _CHUNKS_CHECKED)
    for index in itertools.islice(itertools.product(*map(range, grid)), looked_at):
        key = metadata.chunk_key(index)
        blob = store.get(prefix + key)
        if blob is None:
            absent += 1
            if all_stored or metadata.fill is None:
                return Survey(stored, f"Its chunk {key} is not stored.")
            continue
        size = blob_size(blob)
        error = store.fault(blob)
        if not error and metadata.coding.nbytes > size * ratio + _SLACK:
            error = (
                f"Its chunk {key} has {size:,} bytes, which cannot hold the "
                f"{metadata.coding.nbytes:,} that its metadata claim."
            )
        if error:
            return Survey(stored, error)
        stored += size
    note = f"{absent} of {looked_at} chunks are not stored and read as {metadata.fill}"
    return Survey(stored, note=note if absent else "")
