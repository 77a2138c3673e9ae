"""Brings leaves to where the model can map them.

A handler of the reader, on one of its worker threads. What lies in a file as plain
bytes is named there; everything else is streamed block by block into one file, which
gets its name when it is whole. Memory follows the blocks, never the leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from inspector.engine.connection_job import Job
from inspector.engine.messages.reading import LaidOut, LayOut
from inspector.engine.reader_numbers import LeafReader, little_endian, name_of
from inspector.errors import ReadLeafError, WriteFileError
from inspector.formats.checkpoint import stop_if
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree
from inspector.variables.value import Literal, Raw, Unset

ALIGNMENT = 64
"""Bytes at whose multiples arrays begin, so that devices can take them as they lie."""


def lay_out(body: LayOut, job: Job, values: LeafReader) -> LaidOut:
    """Lays a tree out; progress counts the bytes that have to be written.

    Raises:
        ReadLeafError: A leaf cannot be read.
        WriteFileError: The file cannot be written; nothing of it is left.
        CancelledError: The request was cancelled; nothing is left either.
    """
    placed: dict[TreePath, Raw] = {}
    moved: list[tuple[TreePath, Leaf]] = []
    for path, leaf in body.tree.leaves:
        if not _has_numbers(leaf):
            continue
        stop_if(job.is_cancelled)
        raw = _lies(leaf, values)
        if raw is None:
            moved.append((path, leaf))
        else:
            placed[path] = raw
    nbytes = 0
    if moved:
        written, nbytes = _write(Path(body.file), moved, job, values)
        placed |= written
    leaves = tuple(
        (path, replace(leaf, value=placed[path]) if path in placed else leaf)
        for path, leaf in body.tree.leaves
    )
    return LaidOut(PlainTree(leaves, body.tree.containers), nbytes)


def _has_numbers(leaf: Leaf) -> bool:
    if leaf.kind not in {Kind.ARRAY, Kind.KEY} or isinstance(
        leaf.value, Literal | Unset
    ):
        return False
    if leaf.error:
        raise ReadLeafError(leaf.error, where=name_of(leaf))
    return True


def stored_shape(leaf: Leaf) -> tuple[tuple[int, ...], str]:
    """Returns shape and dtype of a leaf's bytes: random keys as uint32 words.

    Raises:
        ReadLeafError: Its dtype is unknown.
    """
    try:
        if leaf.kind is Kind.KEY:
            return (*leaf.shape, dtypes.words_of(leaf.dtype)), "uint32"
        dtypes.to_numpy(leaf.dtype)
    except (KeyError, ValueError, TypeError) as error:
        message = f"The dtype {leaf.dtype!r} is unknown here."
        raise ReadLeafError(message, where=name_of(leaf)) from error
    return leaf.shape, leaf.dtype


def _lies(leaf: Leaf, values: LeafReader) -> Raw | None:
    """Returns where a leaf lies as it is, None when it has to be written."""
    if isinstance(leaf.value, Raw):
        return leaf.value
    shape, dtype = stored_shape(leaf)
    extent = values.extent(leaf)
    if extent is None or extent.nbytes != _nbytes(shape, dtype):
        return None
    return Raw(extent.file, extent.offset, shape, dtype)


def _nbytes(shape: tuple[int, ...], dtype: str) -> int:
    return math.prod(shape) * dtypes.to_numpy(dtype).itemsize


def _write(
    file: Path, leaves: list[tuple[TreePath, Leaf]], job: Job, values: LeafReader
) -> tuple[dict[TreePath, Raw], int]:
    places: dict[TreePath, Raw] = {}
    total = offset = 0
    for path, leaf in leaves:
        shape, dtype = stored_shape(leaf)
        places[path] = Raw(str(file), offset, shape, dtype)
        total += _nbytes(shape, dtype)
        offset = _aligned(offset + _nbytes(shape, dtype))
    part = file.with_name(f"{file.name}.part")
    try:
        with part.open("wb") as out:
            done = 0
            for path, leaf in leaves:
                out.seek(places[path].offset)
                expected = _nbytes(places[path].shape, places[path].dtype)
                for count in _stream(leaf, out, job, values):
                    done += count
                    expected -= count
                    job.progress(done, total, "Laying out the variables")
                if expected:
                    raise _wrong_size(leaf)
            # The last array ends at a full block too, and an empty file has one:
            # nothing of no length can be mapped.
            out.truncate(max(offset, ALIGNMENT))
        part.replace(file)
    except OSError as error:
        raise WriteFileError(
            message=f"The variables cannot be laid out: {error.strerror or error}",
            where=str(file),
            hint="Free space in the state folder, or choose another one.",
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return places, total


def _wrong_size(leaf: Leaf) -> ReadLeafError:
    return ReadLeafError(
        message="Its bytes do not fill its shape.",
        where=name_of(leaf),
        hint="The file is damaged, or changed while it was read.",
    )


def _stream(leaf: Leaf, out: BinaryIO, job: Job, values: LeafReader) -> Iterator[int]:
    for block in values.blocks(leaf, job.is_cancelled):
        stop_if(job.is_cancelled)
        data = little_endian(block)
        out.write(data)
        yield len(data)


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
