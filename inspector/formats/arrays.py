"""Reading regions of one stored array; the same interface for every layout.

`ArrayReader` is what an opened checkpoint keeps for each leaf with numbers.
`StridedArray` is one run of decoded bytes in C or Fortran order. Chunked arrays are
in `zarr`.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from inspector.formats.byte_sources import ByteSource
from inspector.formats.checkpoint import (
    BLOCK_BYTES,
    Check,
    Extent,
    Region,
    region_of,
    row_regions,
)
from inspector.formats.faults import LeafFault

_SPAN_BYTES = 1 << 20
_WASTE = 4


class ArrayReader(ABC):
    """A way to read one array.

    Attributes:
        shape: Stored shape; for random keys the axis of the words included.
        dtype: Stored dtype, perhaps big-endian; what is read is native.
    """

    shape: tuple[int, ...]
    dtype: np.dtype

    @abstractmethod
    def read(self, region: Region, cancelled: Check) -> np.ndarray:
        """Reads one region into a new array of native byte order.

        Raises:
            LeafFault: The bytes are absent, damaged or do not fit the shape.
            CancelledError: ``cancelled()`` returned True.
        """

    def blocks(self, cancelled: Check) -> Iterator[np.ndarray]:
        """Yields the whole array in C order as flat arrays of about `BLOCK_BYTES`.

        Raises:
            LeafFault: As `read`.
            CancelledError: As `read`.
        """
        for region in row_regions(self.shape, self.dtype.itemsize, BLOCK_BYTES):
            yield self.read(region, cancelled).reshape(-1)

    def extent(self) -> Extent | None:
        """Returns where the array lies as plain little-endian C-order bytes."""
        return None

    def viewed_as(self, dtype: np.dtype) -> ArrayReader:
        """Returns a reader of the same bytes as elements of another dtype.

        Formats without a name for a dtype store its elements under another one of
        the same size.

        Raises:
            LeafFault: The layout does not allow it.
        """
        if dtype == self.dtype:
            return self
        raise LeafFault(problem=f"{self.dtype} cannot be read as {dtype}")


def allocate(region: Region, dtype: np.dtype) -> np.ndarray:
    """Returns an uninitialised array for a region, of native byte order.

    Raises:
        LeafFault: It does not fit into memory.
    """
    shape = tuple(stop - start for start, stop in region)
    try:
        return np.empty(shape, native(dtype))
    except (MemoryError, ValueError) as error:
        raise LeafFault(
            problem=f"{math.prod(shape) * dtype.itemsize:,} bytes do not fit into "
            "memory at once"
        ) from error


def native(dtype: np.dtype) -> np.dtype:
    """Returns a dtype in native byte order.

    numpy cannot ask for the byte order of the dtypes of ml_dtypes, which exist in
    native order only (``float8_e5m2`` raises, because its code looks like ``<f1``).
    """
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def is_little_endian(dtype: np.dtype) -> bool:
    """Returns whether the elements are little-endian, or single bytes."""
    return dtype.itemsize == 1 or dtype.isnative == (sys.byteorder == "little")


class StridedArray(ArrayReader):
    """An array whose decoded bytes are one run in C or Fortran order.

    A region costs about its own bytes: wide gaps between its rows are skipped,
    narrow ones are read along.
    """

    def __init__(
        self,
        source: ByteSource,
        shape: tuple[int, ...],
        dtype: np.dtype,
        *,
        fortran: bool = False,
    ) -> None:
        """Takes the decoded bytes, whose length must be that of the array."""
        self.source = source
        self.shape = shape
        self.dtype = dtype
        self.fortran = fortran and len(shape) > 1

    def read(self, region: Region, cancelled: Check) -> np.ndarray:
        """Reads a region; O(region) for uncompressed bytes."""
        out = allocate(region, self.dtype)
        if out.size == 0:
            return out
        if self.fortran:
            self._fill(out.T, region[::-1], self.shape[::-1], cancelled)
        else:
            self._fill(out, region, self.shape, cancelled)
        return out

    def extent(self) -> Extent | None:
        """Returns the run of an uncompressed little-endian C-order array."""
        if self.fortran or not is_little_endian(self.dtype):
            return None
        return self.source.extent()

    def viewed_as(self, dtype: np.dtype) -> ArrayReader:
        """Returns a reader of the same bytes as another dtype of the same size."""
        if dtype == self.dtype:
            return self
        return StridedArray(self.source, self.shape, dtype, fortran=self.fortran)

    def _fill(
        self,
        out: np.ndarray,
        region: Region,
        shape: tuple[int, ...],
        cancelled: Check,
    ) -> None:
        """Fills ``out`` from a C-order array of ``shape``, halving wide regions."""
        strides = _strides(shape, self.dtype.itemsize)
        first = sum(
            start * step for (start, _), step in zip(region, strides, strict=True)
        )
        last = sum(
            (stop - 1) * step for (_, stop), step in zip(region, strides, strict=True)
        )
        span = last - first + self.dtype.itemsize
        if span <= max(_SPAN_BYTES, _WASTE * out.nbytes) and span <= 2 * BLOCK_BYTES:
            self._fill_span(out, first, span, strides, cancelled)
            return
        axis = next(axis for axis, size in enumerate(out.shape) if size > 1)
        if span == out.nbytes and out.flags.c_contiguous and self.dtype.isnative:
            self._read_bytes(out, first, cancelled)
            return
        start, stop = region[axis]
        middle = (start + stop) // 2
        for low, high in ((start, middle), (middle, stop)):
            part = (*region[:axis], (low, high), *region[axis + 1 :])
            where = (slice(None),) * axis + (slice(low - start, high - start),)
            self._fill(out[where], part, shape, cancelled)

    def _read_bytes(self, out: np.ndarray, offset: int, cancelled: Check) -> None:
        view = out.reshape(-1).view(np.uint8).data
        for start in range(0, len(view), BLOCK_BYTES):
            self.source.read_into(
                offset + start, view[start : start + BLOCK_BYTES], cancelled
            )

    def _fill_span(
        self,
        out: np.ndarray,
        offset: int,
        span: int,
        strides: tuple[int, ...],
        cancelled: Check,
    ) -> None:
        """Reads from the first to the last element and picks the region out."""
        data = np.empty(span, np.uint8)
        self.source.read_into(offset, data.data, cancelled)
        # numpy checks that these strides stay within the bytes.
        out[...] = np.ndarray(out.shape, self.dtype, data, strides=strides)


def _strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Returns the C-order strides of a shape in bytes."""
    strides = []
    step = itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def whole(reader: ArrayReader, cancelled: Check) -> np.ndarray:
    """Reads a whole array that is known to be small."""
    return reader.read(region_of(reader.shape), cancelled)
