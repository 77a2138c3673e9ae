"""Flax msgpack files: one file, or the shards of an index.

Makes leaves of what `msgpack_scan` finds; the orbax reader uses the same for its
aggregate files. Numbers are read by position from the file, never through the map.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from inspector.errors import ReadFileError
from inspector.formats.arrays import ArrayReader, StridedArray
from inspector.formats.byte_sources import FileRange, FileRuns
from inspector.formats.faults import ReadFileTruncatedError
from inspector.formats.listed import ListedCheckpoint, Listing
from inspector.formats.msgpack_scan import (
    ArrayItem,
    Item,
    ListItem,
    MapItem,
    Scanner,
    UnknownItem,
)
from inspector.formats.safe_files import FilePool
from inspector.formats.shards import ShardIndex, read_index
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import Key, TreePath, quote
from inspector.variables.tree import Container
from inspector.variables.value import Literal, Scalar

_CHUNKED = "__msgpack_chunked_array__"

Replace = Callable[[TreePath, Item], bool]
"""Takes an item over from the lister; returns whether it did."""


def open_msgpack(path: Path, source: str) -> ListedCheckpoint:
    """Opens one msgpack file.

    Args:
        path: The file.
        source: Locator text that the leaves name.

    Raises:
        ReadFileError: It is no whole msgpack file as flax writes it.
    """
    pool = FilePool()
    listing = Listing(source, files=[path])
    with pool.closed_on_error():
        item = scan_file(path, pool)
        MsgpackLister(path, pool, listing).add((), _split_flat(item))
        return ListedCheckpoint("msgpack", path, listing, pool)


def open_msgpack_shards(index_path: Path, source: str) -> ListedCheckpoint:
    """Opens the shards of an index as one tree.

    Weights of a shard that is absent or damaged stay in the tree, each with the
    error.

    Raises:
        ReadFileError: The index is damaged.
    """
    index = read_index(index_path)
    pool = FilePool()
    listing = Listing(source, files=[index_path])
    for shard in index.files():
        try:
            item = scan_file(shard, pool)
        except ReadFileError as error:
            add_missing_shard(listing, index, shard, error)
            continue
        listing.files.append(shard)
        MsgpackLister(shard, pool, listing).add((), _split_flat(item, force=True))
    check_total(listing, index)
    return ListedCheckpoint("msgpack", index_path, listing, pool)


def add_missing_shard(
    listing: Listing, index: ShardIndex, shard: Path, error: ReadFileError
) -> None:
    """Lists the weights of a shard that cannot be read, each with the reason."""
    listing.incomplete = f"{shard.name} cannot be read"
    listing.warnings.append(f"{shard.name}: {error.message}")
    for name, file in index.weights.items():
        if file == shard.name:
            path = tuple(name.split("/"))
            problem = f"The shard {shard.name} cannot be read: {error.message}"
            listing.add(path, Leaf(Kind.OPAQUE, error=problem))


def check_total(listing: Listing, index: ShardIndex) -> None:
    """Compares what the shards hold with the sum that the index names."""
    found = sum(leaf.stored_bytes for leaf in listing.leaves.values())
    if index.total_bytes and found != index.total_bytes and not listing.incomplete:
        listing.warnings.append(
            f"The shards hold {found:,} bytes; the index promises "
            f"{index.total_bytes:,}."
        )


def scan_file(path: Path, pool: FilePool) -> Item:
    """Scans a msgpack file without reading the payload of any array.

    Args:
        path: The file.
        pool: Keeps it open for reading what was found.

    Raises:
        ReadFileError: As `Scanner.scan`, or the file cannot be opened or is empty.
    """
    file = pool.open(path)
    if file.size == 0:
        raise ReadFileTruncatedError(path, ends_at=0, promised=1)
    with mmap.mmap(file.descriptor, 0, access=mmap.ACCESS_READ) as buffer:
        return Scanner(buffer, path).scan()


def _split_flat(item: Item, *, force: bool = False) -> Item:
    """Splits the keys of a flat map at ``/``, as Hugging Face's shards have them.

    Only a map with arrays alone and a ``/`` in some key is one; ``force`` is for
    shards, where flatness is known.
    """
    if not isinstance(item, MapItem):
        return item
    flat = all(isinstance(value, ArrayItem) for _, value in item.pairs)
    slashed = any("/" in str(key) for key, _ in item.pairs)
    return _nest(item) if (flat and slashed) or force else item


def _nest(item: MapItem) -> Item:
    root: dict[Key, object] = {}
    for key, value in item.pairs:
        parts = str(key).split("/")
        level: dict[Key, object] = root
        for part in parts[:-1]:
            following = level.setdefault(part, {})
            if not isinstance(following, dict):
                return item
            level = following
        if parts[-1] in level:
            return item
        level[parts[-1]] = value
    return _as_item(root)


def _as_item(level: dict[Key, object]) -> MapItem:
    return MapItem(
        [
            (key, _as_item(value) if isinstance(value, dict) else value)  # type: ignore[misc]  # values are dicts or Items
            for key, value in level.items()
        ]
    )


class MsgpackLister:
    """Adds the leaves of scanned items to a listing."""

    def __init__(
        self,
        path: Path,
        pool: FilePool,
        listing: Listing,
        replace_item: Replace | None = None,
    ) -> None:
        """Takes what the leaves need.

        Args:
            path: The file that was scanned.
            pool: Where it is opened for reading.
            listing: What is filled.
            replace_item: Asked first about every item that is no list and no map
                of leaves; for orbax's placeholders.
        """
        self._path = path
        self._pool = pool
        self._listing = listing
        self._replace = replace_item

    def add(self, path: TreePath, item: Item) -> None:
        """Adds an item and everything below it."""
        if self._replace is not None and self._replace(path, item):
            return
        if isinstance(item, MapItem):
            self._add_map(path, item)
        elif isinstance(item, ListItem):
            if not item.items:
                self._listing.add(path, Leaf(Kind.EMPTY_LIST, value=Literal(None)))
                return
            self._listing.containers[path] = Container.LIST
            for position, child in enumerate(item.items):
                self.add((*path, position), child)
        elif isinstance(item, ArrayItem):
            self._add_array(path, item.shape, item.dtype, [item])
        elif isinstance(item, UnknownItem):
            leaf = Leaf(Kind.OPAQUE, note=item.text, stored_bytes=item.nbytes)
            self._listing.add(path, leaf)
        else:
            self._listing.add(path, literal_leaf(item))

    def _add_map(self, path: TreePath, item: MapItem) -> None:
        if not item.pairs:
            self._listing.add(path, Leaf(Kind.EMPTY_DICT, value=Literal(None)))
            return
        children = dict(item.pairs)
        if _CHUNKED in children:
            self._add_chunked(path, children)
            return
        if len(children) != len(item.pairs):
            self._warn_duplicates(path, item)
        for key, child in children.items():
            self.add((*path, key), child)

    def _warn_duplicates(self, path: TreePath, item: MapItem) -> None:
        seen: set[Key] = set()
        for key, _ in item.pairs:
            if key in seen:
                self._listing.warnings.append(
                    f"{quote((*path, key))} is in the file more than once; the last "
                    "one is shown."
                )
            seen.add(key)

    def _add_chunked(self, path: TreePath, children: dict[Key, Item]) -> None:
        """Joins an array that flax split because it was above 2^30 bytes."""
        shape = _numbers(children.get("shape"))
        chunks = _ordered(children.get("chunks"))
        pieces = [chunk for chunk in chunks or [] if isinstance(chunk, ArrayItem)]
        names = {piece.dtype for piece in pieces}
        if (
            shape is None
            or chunks is None
            or len(pieces) != len(chunks)
            or len(names) != 1
        ):
            self._listing.add(
                path, Leaf(Kind.OPAQUE, error="Its chunks are damaged or not whole.")
            )
            return
        self._add_array(path, shape, names.pop(), pieces)

    def _add_array(
        self,
        path: TreePath,
        shape: tuple[int, ...],
        dtype: str,
        pieces: list[ArrayItem],
    ) -> None:
        runs = [FileRange(self._path, item.offset, item.nbytes) for item in pieces]
        source = FileRuns(self._pool, runs)
        leaf, reader = array_leaf(shape, dtype, source)
        if len(pieces) == 1 and pieces[0].scalar:
            leaf = replace(leaf, note="numpy scalar")
        self._listing.add(path, leaf, reader)


def array_leaf(
    shape: tuple[int, ...], dtype: str, source: FileRuns
) -> tuple[Leaf, ArrayReader | None]:
    """Makes the leaf of plain bytes, checked against its shape and dtype.

    Returns:
        The leaf, and its reader unless the dtype is unknown or the size is wrong.
    """
    stored = source.nbytes
    if dtype not in dtypes.NAMES:
        note = f"array {list(shape)} of {dtype!r}, a dtype this program does not know"
        return Leaf(Kind.OPAQUE, note=note, stored_bytes=stored), None
    numpy_dtype = dtypes.to_numpy(dtype)
    leaf = Leaf(Kind.ARRAY, shape, dtype, stored_bytes=stored)
    needed = math.prod(shape) * numpy_dtype.itemsize
    if needed != stored:
        problem = f"Its shape needs {needed:,} bytes, {stored:,} are stored."
        return replace(leaf, error=problem), None
    return leaf, StridedArray(source, shape, numpy_dtype)


def literal_leaf(value: Scalar) -> Leaf:
    """Returns the leaf of a Python object."""
    kinds: dict[type, Kind] = {
        bool: Kind.BOOL,
        int: Kind.INT,
        float: Kind.FLOAT,
        complex: Kind.COMPLEX,
        str: Kind.STR,
        bytes: Kind.BYTES,
    }
    return Leaf(kinds.get(type(value), Kind.NONE), value=Literal(value))


def _ordered(item: Item) -> list[Item] | None:
    """Returns the values of a list, or of a map with the keys "0", "1", …."""
    if isinstance(item, ListItem):
        return item.items
    if not isinstance(item, MapItem):
        return None
    values = {str(key): value for key, value in item.pairs}
    names = [str(position) for position in range(len(values))]
    if set(values) != set(names) or len(values) != len(item.pairs):
        return None
    return [values[name] for name in names]


def _numbers(item: Item) -> tuple[int, ...] | None:
    """Returns a shape; None when an extent is no integer from 0 on."""
    values = _ordered(item)
    if values is None:
        return None
    numbers = [value for value in values if isinstance(value, int) and value >= 0]
    return tuple(numbers) if len(numbers) == len(values) else None
