"""Writes an Orbax checkpoint: zarr arrays in OCDBT, and Orbax's own JSON records.

Owns names, chunks and the records ``_METADATA``, ``_CHECKPOINT_METADATA``,
``_strings.json`` and ``array_metadatas``, as ``StandardCheckpointer().save`` of
orbax-checkpoint 0.12.8 makes them (``PyTreeCheckpointer`` for a tree with strings or
Python numbers). Chunks are not compressed, so that other leaves copy at the speed of
the disk and a slice of them is one read. The reader process calls it through
`export`; Orbax itself is not imported, `orbax_check` lets it read the result.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from inspector.errors import WriteFileError
from inspector.formats.export_plan import Abilities, adapt
from inspector.formats.ocdbt_write import INLINE_BYTES, OcdbtWriter
from inspector.formats.write_file import FileSink
from inspector.formats.write_orbax_records import (
    EMPTY_TYPES,
    PYTREE_HANDLER,
    STANDARD_HANDLER,
    OrbaxLeaf,
    key_record,
    orbax_leaves,
    sharding_record,
    stored_dtype,
    stored_shape,
    tree_record,
    zarr_record,
)
from inspector.formats.write_stream import LeafStream, WriteContext, object_array
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath, quote
from inspector.variables.tree import Node
from inspector.variables.value import Literal

MAX_CHUNK_BYTES = 64 << 20
"""Longest chunk, unless one element is longer."""

ABILITIES = Abilities(
    name="Orbax",
    # What tensorstore's zarr driver has; checked dtype by dtype in the tests.
    dtypes=frozenset(dtypes.NAMES)
    - {"float8_e4m3", "float6_e2m3fn", "float6_e3m2fn", "uint2", "uint4"},
    tuples=False,
    integer_keys=False,
    zero_size=False,
    complex_scalars=False,
    bytes_objects=False,
    any_integer=False,
)
"""What plain Orbax gives back as it was."""

_BYTES_PER_RECORD = 400
"""About what one leaf takes in the records and in the B+tree."""


class OrbaxWriter:
    """One planned Orbax checkpoint.

    Attributes:
        tree: What is written.
        warnings: What was changed to make it fit.
        nbytes: Size of the folder, a little above the real one.
        leaves: All leaves, in Orbax's order.
        handler: Name of the handler that the checkpoint is recorded for.
    """

    format = "orbax"

    def __init__(self, tree: Node, *, lossy: bool) -> None:
        """Plans the checkpoint.

        Raises:
            WriteFileError: The tree is empty, or holds something Orbax cannot.
            LossyExportError: Orbax cannot say something and ``lossy`` is False.
        """
        adapted = adapt(tree, ABILITIES, lossy=lossy)
        self.tree = adapted.tree
        self.warnings = adapted.warnings
        self.leaves = list(orbax_leaves(self.tree, (), ()))
        if isinstance(self.tree, Leaf) and self.tree.kind in EMPTY_TYPES:
            self.leaves = []
        if not self.leaves:
            raise WriteFileError(
                message="Orbax cannot save a tree without leaves.",
                hint="Move something into the target first.",
            )
        _refuse_shared_names(self.leaves)
        plain = all(
            item.leaf.kind in {Kind.ARRAY, Kind.KEY, *EMPTY_TYPES}
            for item in self.leaves
        )
        self.handler = STANDARD_HANDLER if plain else PYTREE_HANDLER
        self.nbytes = sum(
            _stored_bytes(item.leaf) + _BYTES_PER_RECORD + 4 * len(item.name.encode())
            for item in self.leaves
        )

    def write(self, path: Path, context: WriteContext) -> None:
        """Writes the tree's folder at ``path``, which must not exist.

        `write_checkpoint_record` makes it a checkpoint.

        Raises:
            OSError: The disk is full or fails.
            ReadLeafError: A leaf cannot be read.
            CancelledError: The person cancelled.
        """
        path.mkdir()
        self._write_arrays(path, context)
        records: dict[str, object] = {"_METADATA": tree_record(self.leaves)}
        strings = {
            item.name: _literal(item.leaf)
            for item in self.leaves
            if item.leaf.kind is Kind.STR
        }
        if strings:
            records["_strings.json"] = strings
        keys = [item for item in self.leaves if item.leaf.kind is Kind.KEY]
        if keys:
            (path / "array_metadatas").mkdir()
            records["array_metadatas/process_0"] = key_record(keys)
            records["_sharding"] = sharding_record(keys)
        for name, record in records.items():
            write_record(path / name, json.dumps(record), context)

    def _write_arrays(self, path: Path, context: WriteContext) -> None:
        """Writes the database; Orbax makes none for a tree without arrays."""
        stored = [
            item
            for item in self.leaves
            if item.leaf.kind not in {*EMPTY_TYPES, Kind.STR}
        ]
        if not stored:
            return
        database = OcdbtWriter(path, context.job)
        try:
            for item in stored:
                _write_leaf(database, item, context)
            database.finish()
        finally:
            database.abandon()


def write_record(path: Path, text: str, context: WriteContext) -> None:
    """Writes a small text file and forces it to the disk.

    Raises:
        OSError: The disk is full or fails.
    """
    with FileSink(path, context.job) as sink:
        sink.write(text.encode())


def _refuse_shared_names(leaves: list[OrbaxLeaf]) -> None:
    """Raises when two arrays would get one name, of which Orbax would lose one."""
    seen: dict[str, TreePath] = {}
    for item in leaves:
        if item.leaf.kind in EMPTY_TYPES:
            continue
        # tensorstore adds the slash of a folder only where there is none.
        name = item.name.removesuffix("/")
        if name in seen:
            raise WriteFileError(
                message=f"Orbax joins keys with a dot, so {quote(seen[name])} and "
                f"{quote(item.path)} would both be stored as {item.name!r}.",
                where=quote(item.path),
                hint="Rename one of them in the target, or choose another format.",
            )
        seen[name] = item.path


def _literal(leaf: Leaf) -> object:
    return leaf.value.value if isinstance(leaf.value, Literal) else None


def _object_array(leaf: Leaf) -> tuple[str, tuple[int, ...], bytes]:
    """Returns the dtype, shape and bytes of a Python number or of ``bytes``."""
    value = _literal(leaf)
    if not isinstance(value, bool | int | float | complex | bytes):
        raise TypeError(value)
    return object_array(value)


def _stored_bytes(leaf: Leaf) -> int:
    """Returns the bytes of all chunks, the padding of the last ones included."""
    if leaf.kind not in {Kind.ARRAY, Kind.KEY}:
        return 0
    shape = stored_shape(leaf)
    itemsize = dtypes.itemsize(stored_dtype(leaf))
    chunk = chunk_shape(shape, itemsize)
    grid = (-(-extent // part) for extent, part in zip(shape, chunk, strict=True))
    return math.prod(grid) * math.prod(chunk) * itemsize


def chunk_shape(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Returns the chunks of an array: runs of it in C order, cut on one axis.

    The axis is the first whose rows fit into `MAX_CHUNK_BYTES`; on the axes before
    it a chunk has the extent 1. The pieces are of nearly equal length, because zarr
    pads the last one to the length of the others.
    """
    row = math.prod(shape) * itemsize
    for axis, extent in enumerate(shape):
        if row <= MAX_CHUNK_BYTES:
            return (1,) * axis + shape[axis:]
        row //= extent
        if row <= MAX_CHUNK_BYTES:
            pieces = -(-extent // (MAX_CHUNK_BYTES // row))
            return (*(1,) * axis, -(-extent // pieces), *shape[axis + 1 :])
    return (1,) * len(shape)


def _write_leaf(database: OcdbtWriter, item: OrbaxLeaf, context: WriteContext) -> None:
    leaf = item.leaf
    folder = item.name.encode()
    if folder and not folder.endswith(b"/"):
        folder += b"/"
    if leaf.kind in {Kind.ARRAY, Kind.KEY}:
        context.job.advance(0, quote(item.path))
        shape, dtype = stored_shape(leaf), stored_dtype(leaf)
        chunks = chunk_shape(shape, dtypes.itemsize(dtype))
        database.put(folder + b".zarray", zarr_record(shape, chunks, dtype))
        _write_chunks(database, folder, context.stream(item.path, leaf), chunks)
    else:
        dtype, shape, data = _object_array(leaf)
        database.put(folder + b".zarray", zarr_record(shape, shape, dtype))
        database.put(folder + b"0", data)


def _write_chunks(
    database: OcdbtWriter, folder: bytes, stream: LeafStream, chunks: tuple[int, ...]
) -> None:
    shape = stored_shape(stream.leaf)
    itemsize = dtypes.itemsize(stored_dtype(stream.leaf))
    whole = math.prod(chunks) * itemsize
    if whole <= INLINE_BYTES:
        data = b"".join(stream.pieces(whole))
        database.put(folder + _chunk_key((0,) * len(shape)), data)
        stream.end()
        return
    grid = [-(-extent // part) for extent, part in zip(shape, chunks, strict=True)]
    for index in _indices(grid):
        present = whole
        for position, extent, part in zip(index, shape, chunks, strict=True):
            present = present // part * min(part, extent - position * part)
        fill = partial(_fill_chunk, stream=stream, present=present, whole=whole)
        database.put_stream(folder + _chunk_key(index), fill)
    stream.end()


def _indices(grid: list[int]) -> Iterator[tuple[int, ...]]:
    """Yields every index of a grid in C order."""
    if not grid:
        yield ()
        return
    for first in range(grid[0]):
        for rest in _indices(grid[1:]):
            yield (first, *rest)


def _fill_chunk(
    sink: FileSink, *, stream: LeafStream, present: int, whole: int
) -> None:
    """Writes a chunk: the rows that there are, and zeros up to its full length."""
    sink.copy(stream, present)
    sink.write(bytes(whole - present))


def _chunk_key(index: tuple[int, ...]) -> bytes:
    return ".".join(map(str, index)).encode() or b"0"
