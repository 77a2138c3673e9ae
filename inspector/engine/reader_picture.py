"""Answers with a picture: a 2-D slice of a leaf, thinned to what a screen shows.

A handler of the reader. Every so-many-th row and column is shown, none is averaged:
a picture shows numbers that are there. Plain bytes on the disk are touched only where
they are shown; other layouts are read in bands of bounded size.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from inspector.engine.connection_job import Job
from inspector.engine.messages.reading import LeafPicture, Picture
from inspector.engine.reader_numbers import (
    LeafReader,
    little_endian,
    name_of,
    require_array,
)
from inspector.errors import UsageError
from inspector.formats.checkpoint import Extent, Region, stop_if
from inspector.variables import dtypes
from inspector.variables.statistics import as_float64

BAND_BYTES = 64 << 20
"""Decoded bytes that are read at once to be thinned."""

SIDE_LIMIT = 4096
"""Most rows or columns of a picture."""


def leaf_picture(body: LeafPicture, job: Job, values: LeafReader) -> Picture:
    """Reads a thinned 2-D slice.

    Raises:
        UsageError: The axes or the index do not fit the leaf's shape.
        ReadLeafError: The leaf cannot be read, or has no numbers.
        CancelledError: The request was cancelled.
    """
    require_array(body.leaf)
    _require_axes(body)
    shape = body.leaf.shape
    rows = shape[body.rows_axis] if body.rows_axis >= 0 else 1
    columns = shape[body.columns_axis] if body.columns_axis >= 0 else 1
    row_step = _step(rows, body.max_rows)
    column_step = _step(columns, body.max_columns)
    if rows == 0 or columns == 0:
        return Picture(rows, columns, b"", row_step, column_step, None, None)
    extent = values.extent(body.leaf)
    if extent is not None and _is_whole(extent):
        numbers = _from_file(body, extent, row_step, column_step)
    else:
        numbers = _from_bands(body, job, values, (row_step, column_step))
    return _picture(_as_float32(numbers), row_step, column_step)


def _step(extent: int, most: int) -> int:
    most = min(max(1, most), SIDE_LIMIT)
    return max(1, -(-extent // most))


def _require_axes(body: LeafPicture) -> None:
    shape = body.leaf.shape
    axes = (body.rows_axis, body.columns_axis)
    fits = (
        len(body.index) == len(shape)
        and all(-1 <= axis < len(shape) for axis in axes)
        and (axes[0] != axes[1] or axes[0] < 0)
        and all(
            axis in axes or 0 <= index < extent
            for axis, (index, extent) in enumerate(zip(body.index, shape, strict=True))
        )
    )
    if not fits:
        raise UsageError(
            message=f"No slice of the shape {shape} has rows along axis {axes[0]},"
            f" columns along axis {axes[1]} and the index {body.index}.",
            where=name_of(body.leaf),
        )


def _is_whole(extent: Extent) -> bool:
    """Returns whether a file still has all the bytes; a map beyond its end kills."""
    try:
        return Path(extent.file).stat().st_size >= extent.offset + extent.nbytes
    except OSError:
        return False


def _from_file(
    body: LeafPicture, extent: Extent, row_step: int, column_step: int
) -> np.ndarray:
    """Picks the elements out of a map, which touches only the pages they lie on."""
    dtype = dtypes.to_numpy(body.leaf.dtype)
    descriptor = os.open(extent.file, os.O_RDONLY)
    with os.fdopen(descriptor, "rb") as file:
        array = np.memmap(file, dtype, "r", extent.offset, body.leaf.shape)
    steps = {body.rows_axis: row_step, body.columns_axis: column_step}
    chosen = tuple(
        slice(None, None, steps[axis]) if axis in steps else index
        for axis, index in enumerate(body.index)
    )
    numbers = np.array(_rows_by_columns(body, np.asarray(array)[chosen]))
    return numbers.byteswap() if sys.byteorder == "big" else numbers


def _from_bands(
    body: LeafPicture, job: Job, values: LeafReader, steps: tuple[int, int]
) -> np.ndarray:
    """Reads bands of whole rows, or single rows in pieces, and thins each."""
    row_step, column_step = steps
    leaf = body.leaf
    columns = leaf.shape[body.columns_axis] if body.columns_axis >= 0 else 1
    rows = leaf.shape[body.rows_axis] if body.rows_axis >= 0 else 1
    itemsize = dtypes.itemsize(leaf.dtype)
    lines: list[np.ndarray] = []
    for row_start, row_stop in _bands(rows, row_step, columns * itemsize):
        pieces: list[np.ndarray] = []
        height = row_stop - row_start
        for start, stop in _bands(columns, column_step, height * itemsize):
            stop_if(job.is_cancelled)
            region = _region(body, (row_start, row_stop), (start, stop))
            block = values.read(leaf, region, job.is_cancelled)
            table = _rows_by_columns(body, _drop_fixed(body, block))
            # Copied, so that the band itself can be freed.
            pieces.append(table[::row_step, ::column_step].copy())
            job.progress(row_start, rows, "Reading")
        lines.append(np.concatenate(pieces, axis=1))
    return np.concatenate(lines, axis=0)


def _bands(extent: int, step: int, line_bytes: int) -> Iterator[tuple[int, int]]:
    """Yields (start, stop) of bands that hold every ``step``-th line.

    Each begins at a line that is shown. Where not even the lines from one shown to
    the next fit into `BAND_BYTES`, each shown line is a band of its own.
    """
    fitting = BAND_BYTES // max(1, line_bytes)
    shown = fitting // step
    if shown == 0:
        for start in range(0, extent, step):
            yield start, start + 1
        return
    for start in range(0, extent, shown * step):
        yield start, min(extent, start + shown * step)


def _region(
    body: LeafPicture, rows: tuple[int, int], columns: tuple[int, int]
) -> Region:
    shown = {body.rows_axis: rows, body.columns_axis: columns}
    return tuple(
        shown.get(axis, (index, index + 1)) for axis, index in enumerate(body.index)
    )


def _drop_fixed(body: LeafPicture, block: np.ndarray) -> np.ndarray:
    """Takes the axes away that are not shown; each has one element."""
    shown = (body.rows_axis, body.columns_axis)
    fixed = tuple(axis for axis in range(block.ndim) if axis not in shown)
    return block.squeeze(fixed)


def _rows_by_columns(body: LeafPicture, table: np.ndarray) -> np.ndarray:
    """Brings what is left of a leaf into the order (row, column)."""
    if body.rows_axis < 0:
        return table.reshape(1, -1)
    if body.columns_axis < 0:
        return table.reshape(-1, 1)
    return table.T if body.rows_axis > body.columns_axis else table


def _as_float32(numbers: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        if numbers.dtype.kind == "c":
            numbers = np.abs(numbers)
        wide = as_float64(numbers.ravel()).reshape(numbers.shape)
        return np.ascontiguousarray(wide, np.float32)


def _picture(numbers: np.ndarray, row_step: int, column_step: int) -> Picture:
    finite = numbers[np.isfinite(numbers)]
    rows, columns = numbers.shape
    return Picture(
        rows,
        columns,
        little_endian(numbers),
        row_step,
        column_step,
        float(finite.min()) if finite.size else None,
        float(finite.max()) if finite.size else None,
    )
