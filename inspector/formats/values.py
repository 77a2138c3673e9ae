"""Evaluates the values of leaves: what the store decided, block by block.

A `Value` is an expression over stored arrays (`variables.value`). The reader service
and the writers ask here for a region or for the whole as a run of blocks; memory
follows what is asked for. Runs in the reader process; makes no values of a module
(`Initial`), which are the model engine's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from inspector.errors import ReadLeafError
from inspector.formats.arrays import StridedArray, allocate, native
from inspector.formats.byte_sources import FileRange, FileRuns
from inspector.formats.checkpoint import (
    BLOCK_BYTES,
    Check,
    Checkpoint,
    Extent,
    Region,
    row_regions,
    stop_if,
)
from inspector.formats.faults import LeafFault
from inspector.formats.safe_files import FilePool
from inspector.variables import dtypes
from inspector.variables.leaf import SCALAR_KINDS, Kind, Leaf
from inspector.variables.path import quote
from inspector.variables.value import (
    Cast,
    Filled,
    Initial,
    Literal,
    Patched,
    Raw,
    Stored,
    Value,
)

OpenSource = Callable[[str], Checkpoint]
"""Gives the opened checkpoint of a `Stored` value's source; keeps it open itself."""


class ValueReader:
    """Reads the numbers of leaves; may be used by several threads."""

    def __init__(self, open_source: OpenSource) -> None:
        """Takes what opens sources.

        Args:
            open_source: Called for every read of a stored value, so it caches.
        """
        self._open_source = open_source
        self._pool = FilePool()

    def read(self, leaf: Leaf, region: Region, cancelled: Check) -> np.ndarray:
        """Reads a region of a leaf.

        Args:
            leaf: An array, random key, or Python number; the latter reads as a 0-d
                array of the dtype that numpy gives it.
            region: (start, stop) per axis; without the axis of a key's words.
            cancelled: Asked between blocks.

        Returns:
            Array of the region's shape (keys: plus the axis of uint32 words), native
            byte order; may be read-only.

        Raises:
            ReadLeafError: The leaf has no numbers, no value yet, or they cannot be
                read.
            CancelledError: ``cancelled()`` returned True.
        """
        if isinstance(leaf.value, Literal):
            return _literal(leaf)
        _require_numbers(leaf)
        return self._read(leaf.value, leaf, region, cancelled)

    def blocks(self, leaf: Leaf, cancelled: Check) -> Iterator[np.ndarray]:
        """Yields a whole leaf in C order as flat arrays of about `BLOCK_BYTES`.

        Raises:
            ReadLeafError: As `read`.
            CancelledError: As `read`.
        """
        if isinstance(leaf.value, Literal):
            yield _literal(leaf).reshape(-1)
            return
        _require_numbers(leaf)
        yield from self._blocks(leaf.value, leaf, cancelled)

    def extent(self, leaf: Leaf) -> Extent | None:
        """Returns where a leaf lies as plain bytes, None when it does not."""
        value = leaf.value
        if isinstance(value, Stored):
            return self._open_source(value.source).extent(value.path)
        if isinstance(value, Raw):
            nbytes = math.prod(value.shape) * dtypes.to_numpy(value.dtype).itemsize
            return Extent(value.file, value.offset, nbytes)
        return None

    def close(self) -> None:
        """Closes the files of raw values; sources belong to their owner."""
        self._pool.close()

    def _read(
        self, value: Value, leaf: Leaf, region: Region, cancelled: Check
    ) -> np.ndarray:
        """Evaluates a value over a region; ``leaf`` has the value's own dtype."""
        stop_if(cancelled)
        if isinstance(value, Stored):
            source = self._open_source(value.source)
            return source.read(value.path, region, cancelled)
        if isinstance(value, Raw):
            return self._read_raw(value, leaf, region, cancelled)
        if isinstance(value, Filled):
            return _filled(value, leaf, region)
        if isinstance(value, Cast):
            inner = self._read(value.of, _before(leaf, value), region, cancelled)
            return cast(inner, value.dtype)
        if isinstance(value, Patched):
            below = self._read(value.of, leaf, region, cancelled)
            return _patched(below, value, leaf, region)
        raise _no_value(value)

    def _read_raw(
        self, value: Raw, leaf: Leaf, region: Region, cancelled: Check
    ) -> np.ndarray:
        dtype = dtypes.to_numpy(value.dtype)
        nbytes = math.prod(value.shape) * dtype.itemsize
        run = FileRange(Path(value.file), value.offset, nbytes)
        array = StridedArray(FileRuns(self._pool, [run]), value.shape, dtype)
        if leaf.kind is Kind.KEY and len(region) < len(value.shape):
            region = (*region, (0, value.shape[-1]))
        try:
            return array.read(region, cancelled)
        except LeafFault as error:
            raise ReadLeafError(
                message=f"Its saved numbers cannot be read: {error.problem}.",
                where=value.file,
                hint="Undo the step that made them, or make them again.",
            ) from error

    def _blocks(
        self, value: Value, leaf: Leaf, cancelled: Check
    ) -> Iterator[np.ndarray]:
        """Yields blocks; stored values and their casts keep the source's own."""
        if isinstance(value, Stored):
            yield from self._open_source(value.source).blocks(value.path, cancelled)
        elif isinstance(value, Cast):
            for block in self._blocks(value.of, _before(leaf, value), cancelled):
                yield cast(block, value.dtype)
        elif isinstance(value, Patched):
            yield from self._patched_blocks(value, leaf, cancelled)
        else:
            for region in row_regions(
                leaf.shape, dtypes.itemsize(leaf.dtype), BLOCK_BYTES
            ):
                yield self._read(value, leaf, region, cancelled).reshape(-1)

    def _patched_blocks(
        self, value: Patched, leaf: Leaf, cancelled: Check
    ) -> Iterator[np.ndarray]:
        """Lays the patch over blocks as they come, so a stream is read once."""
        patch = _patch_array(value, leaf)
        where = tuple(
            slice(start, start + extent)
            for start, extent in zip(value.start, value.shape, strict=True)
        )
        positions = _flat_rows(leaf.shape, where)
        rows = patch.reshape(len(positions), -1)
        begin = 0
        for block in self._blocks(value.of, leaf, cancelled):
            end = begin + block.size
            width = rows.shape[1]
            first = int(np.searchsorted(positions, begin - width, "right"))
            last = int(np.searchsorted(positions, end, "left"))
            if first < last:
                block = block.copy()  # noqa: PLW2901 - a source's block may be shared
                for row in range(first, last):
                    low = max(int(positions[row]), begin)
                    high = min(int(positions[row]) + width, end)
                    offset = int(positions[row])
                    block[low - begin : high - begin] = rows[
                        row, low - offset : high - offset
                    ]
            yield block
            begin = end


def cast(array: np.ndarray, dtype: str) -> np.ndarray:
    """Converts elements as numpy's ``astype`` does, without its warnings.

    Overflow to infinity and undefined integers are the plan's to tell before, not
    numpy's to print.
    """
    with np.errstate(all="ignore"):
        return array.astype(dtypes.to_numpy(dtype), copy=False)


def _before(leaf: Leaf, value: Cast) -> Leaf:
    """Returns the leaf as it was before a cast."""
    return replace(leaf, dtype=value.from_dtype)


def _require_numbers(leaf: Leaf) -> None:
    if leaf.error:
        raise ReadLeafError(message=leaf.error, hint="The other leaves can be used.")
    if leaf.kind not in {Kind.ARRAY, Kind.KEY}:
        raise ReadLeafError(message=f"A leaf of kind {leaf.kind.value} has no numbers.")


def _no_value(value: Value) -> ReadLeafError:
    if isinstance(value, Initial):
        return ReadLeafError(
            "Its initial value has not been made yet.",
            where=quote(value.path),
            hint="Let the module make its initial values, or fill the leaf.",
        )
    return ReadLeafError(
        "The leaf has no value.", hint="Transfer one, or fill it with a number."
    )


def _literal(leaf: Leaf) -> np.ndarray:
    """Returns a Python number as a 0-d array."""
    value = leaf.value.value if isinstance(leaf.value, Literal) else None
    numbers = SCALAR_KINDS - {Kind.STR, Kind.BYTES}
    if leaf.kind not in numbers or value is None:
        raise ReadLeafError(message=f"A leaf of kind {leaf.kind.value} has no numbers.")
    array = np.asarray(value)
    if array.dtype.hasobject:
        raise ReadLeafError(message=f"The integer {str(value)[:40]} is beyond 64 bits.")
    return array


def _filled(value: Filled, leaf: Leaf, region: Region) -> np.ndarray:
    dtype = dtypes.to_numpy(leaf.dtype)
    if leaf.kind is Kind.KEY:
        region = (*region, (0, dtypes.words_of(leaf.dtype)))
    out = allocate(region, dtype)
    with np.errstate(all="ignore"):
        out.fill(np.asarray(value.number).astype(dtype)[()])
    return out


def _patch_array(value: Patched, leaf: Leaf) -> np.ndarray:
    """Returns the patch's elements.

    Raises:
        ReadLeafError: Its bytes do not fit its shape, or it leaves the leaf.
    """
    dtype = dtypes.to_numpy(leaf.dtype)
    if dtype.isbuiltin == 1:
        dtype = dtype.newbyteorder("<")
    fits = (
        len(value.start) == len(value.shape) == len(leaf.shape)
        and len(value.data) == math.prod(value.shape) * dtype.itemsize
        and all(
            0 <= start <= size - extent
            for start, extent, size in zip(
                value.start, value.shape, leaf.shape, strict=True
            )
        )
    )
    if not fits:
        raise ReadLeafError(
            message=f"The edit of {value.shape} at {value.start} does not fit the leaf "
            f"{leaf.dtype}{list(leaf.shape)}.",
            hint="Undo it.",
        )
    elements = np.frombuffer(value.data, dtype).reshape(value.shape)
    return elements.astype(native(dtype), copy=False)


def _patched(
    below: np.ndarray, value: Patched, leaf: Leaf, region: Region
) -> np.ndarray:
    """Lays the part of a patch that a region crosses over the region's numbers."""
    patch = _patch_array(value, leaf)
    inside, outside = [], []
    for (low, high), start, extent in zip(
        region, value.start, value.shape, strict=True
    ):
        first, last = max(low, start), min(high, start + extent)
        if first >= last:
            return below
        inside.append(slice(first - start, last - start))
        outside.append(slice(first - low, last - low))
    out = below.copy()
    out[tuple(outside)] = patch[tuple(inside)]
    return out


def _flat_rows(shape: tuple[int, ...], where: tuple[slice, ...]) -> np.ndarray:
    """Returns the flat C-order index at which each row of a block begins, ascending.

    A row is the block's last axis; a 0-d leaf is one row.
    """
    position = np.zeros((), np.int64)
    step = 1
    starts = []
    for extent, span in zip(reversed(shape), reversed(where), strict=True):
        starts.append((step, span))
        step *= extent
    for axis, (size, span) in enumerate(reversed(starts)):
        last = axis == len(starts) - 1
        indices = np.arange(span.start, span.start + 1 if last else span.stop)
        position = position[..., None] + indices * size
    return position.reshape(-1)
