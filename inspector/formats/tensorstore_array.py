"""Arrays in codecs that only tensorstore decodes (blosc, bz2, filters, …).

tensorstore is imported on the first read. It aborts the process on hostile metadata,
so `zarr.survey` has compared them with the stored sizes before, and chunks above
`CHUNK_LIMIT` are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from inspector.formats.arrays import ArrayReader
from inspector.formats.checkpoint import (
    BLOCK_BYTES,
    Check,
    Region,
    row_regions,
    stop_if,
)
from inspector.formats.faults import LeafFault
from inspector.formats.zarr_metadata import ZarrMetadata

CHUNK_LIMIT = 2 << 30
"""Decoded bytes of the largest chunk that tensorstore is asked for."""

_CACHE_BYTES = 256 << 20


class TensorstoreArray(ArrayReader):
    """An array that tensorstore reads."""

    def __init__(self, metadata: ZarrMetadata, kvstore: dict[str, Any]) -> None:
        """Takes the array's metadata and where its chunks are."""
        self.shape = metadata.shape
        self.dtype = metadata.coding.dtype
        self._metadata = metadata
        self._kvstore = kvstore
        self._array: Any = None

    def read(self, region: Region, cancelled: Check) -> np.ndarray:
        """Reads a region; decodes every chunk that it crosses as a whole."""
        stop_if(cancelled)
        if self._metadata.coding.nbytes > CHUNK_LIMIT:
            raise LeafFault(
                problem=f"a chunk of {self._metadata.coding.nbytes:,} bytes in the "
                f"codec {self._metadata.coding.codec!r} is too large to decode"
            )
        where = tuple(slice(start, stop) for start, stop in region)
        try:
            result = self._open()[where].read().result()
        except (ValueError, OSError, TypeError) as error:
            raise LeafFault(problem=f"tensorstore: {error}") from error
        return np.asarray(result)

    def blocks(self, cancelled: Check) -> Iterator[np.ndarray]:
        """Yields blocks of at least one row of chunks, so none is decoded twice."""
        coding = self._metadata.coding
        row = coding.shape[0] * self.dtype.itemsize if coding.shape else 0
        for extent in self.shape[1:]:
            row *= extent
        limit = min(max(BLOCK_BYTES, row), CHUNK_LIMIT)
        for region in row_regions(self.shape, self.dtype.itemsize, limit):
            yield self.read(region, cancelled).reshape(-1)

    def _open(self) -> Any:
        if self._array is None:
            # tensorstore takes 0.3 s to import and is needed for odd codecs alone.
            import tensorstore  # noqa: PLC0415 - see above

            driver = "zarr" if self._metadata.version == 2 else "zarr3"  # noqa: PLR2004 - the format's version
            context = tensorstore.Context(
                {"cache_pool": {"total_bytes_limit": _CACHE_BYTES}}
            )
            specification = {
                "driver": driver,
                "kvstore": self._kvstore,
                "recheck_cached_data": False,
                "recheck_cached_metadata": False,
            }
            self._array = tensorstore.open(
                specification, open=True, read=True, context=context
            ).result()
        return self._array
