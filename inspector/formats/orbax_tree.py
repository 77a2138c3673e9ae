"""Lists one orbax item: a pytree in a folder, of any generation.

The structure comes from `_METADATA`, else from the msgpack file ``checkpoint`` (orbax
before 0.3, T5X, flax), else from the names of the stored arrays. Arrays are in an
OCDBT database or a folder each, or inline in the msgpack file. A leaf that cannot be
read stays in the tree with its reason. `orbax_items` calls this.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from inspector.errors import ReadFileError
from inspector.formats.arrays import ArrayReader, whole
from inspector.formats.checkpoint import never
from inspector.formats.chunk_store import ChunkStore, FolderStore, open_store
from inspector.formats.faults import (
    LeafFault,
    ReadFileDamagedError,
    ReadFileLfsPointerError,
)
from inspector.formats.listed import Listing
from inspector.formats.msgpack_read import MsgpackLister, scan_file
from inspector.formats.msgpack_scan import Item, ListItem, MapItem
from inspector.formats.ocdbt import MANIFEST
from inspector.formats.orbax_metadata import (
    Entry,
    Extras,
    Structure,
    read_extras,
    read_structure,
)
from inspector.formats.safe_files import FilePool, is_file
from inspector.formats.zarr import open_array, survey
from inspector.formats.zarr_metadata import parse_metadata
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.value import Literal

AGGREGATE = "checkpoint"
"""Name of the msgpack file with the structure, in older generations."""

_PLACEHOLDER = "PLACEHOLDER://"

_EMPTY_KINDS = {
    "None": Kind.NONE,
    "Dict": Kind.EMPTY_DICT,
    "List": Kind.EMPTY_LIST,
    "Tuple": Kind.EMPTY_TUPLE,
}

# How orbax stores Python's numbers. A "scalar" of another dtype was numpy's, whose
# dtype is worth keeping although orbax itself gives a Python number back.
_PYTHON_KINDS = {
    "bool": Kind.BOOL,
    "int64": Kind.INT,
    "float64": Kind.FLOAT,
    "complex128": Kind.COMPLEX,
}

_NO_METADATA = (
    "It has no metadata in the store (.zarray or zarr.json). Names that begin with a "
    "dot get lost when a checkpoint is copied without them; copy it with `cp -a`."
)


class TreeLister:
    """Lists one item into a listing, below a prefix."""

    def __init__(
        self, folder: Path, prefix: TreePath, listing: Listing, pool: FilePool
    ) -> None:
        """Takes the item's folder and what is filled."""
        self._folder = folder
        self._prefix = prefix
        self._listing = listing
        self._pool = pool
        self._extras = Extras()
        self._store: ChunkStore | None = None
        self._store_error = ""
        self._all_stored = False

    def add(self) -> None:
        """Lists everything.

        Raises:
            ReadFileError: Neither structure nor names can be read.
        """
        structure = self._read_structure()
        aggregate = self._folder / AGGREGATE
        has_aggregate = is_file(aggregate)
        self._open_store(known=structure is not None or has_aggregate)
        self._extras = read_extras(self._folder, self._listing.warnings)
        if structure is not None:
            self._add_structure(structure, self._inline_leaves(aggregate))
        elif has_aggregate:
            item = scan_file(aggregate, self._pool)
            self._lister(aggregate, self._listing).add(self._prefix, item)
        else:
            self._add_names()

    def _read_structure(self) -> Structure | None:
        try:
            return read_structure(self._folder)
        except ReadFileLfsPointerError:
            raise
        except ReadFileError as error:
            if not is_file(self._folder / MANIFEST):
                raise
            self._warn(f"{error.where}: {error.message}")
            return None

    def _open_store(self, *, known: bool) -> None:
        """Opens the store; without it, known names are still worth a tree."""
        try:
            self._store = open_store(self._folder, self._pool)
        except LeafFault as error:
            self._store_error = error.problem
        except ReadFileLfsPointerError:
            raise
        except ReadFileError as error:
            if not known:
                raise
            self._store_error = f"{error.where}: {error.message}"
        if self._store_error:
            self._listing.incomplete = "its arrays cannot be read"
            self._warn(f"The arrays cannot be read. {self._store_error}")

    def _warn(self, text: str) -> None:
        self._listing.warnings.append(text)

    def _inline_leaves(self, aggregate: Path) -> Listing | None:
        """Returns the leaves inside the msgpack file beside a `_METADATA`."""
        if not is_file(aggregate):
            return None
        inline = Listing(self._listing.source)
        try:
            self._lister(aggregate, inline).add(
                self._prefix, scan_file(aggregate, self._pool)
            )
        except ReadFileError as error:
            self._warn(f"{AGGREGATE} is ignored: {error.message}")
            return None
        return inline

    def _add_structure(self, structure: Structure, inline: Listing | None) -> None:
        self._all_stored = structure.all_stored
        if structure.custom:
            self._listing.custom.update(structure.custom)
        for path, container in structure.containers.items():
            self._listing.containers[(*self._prefix, *path)] = container
        for entry in structure.entries:
            path = (*self._prefix, *entry.path)
            leaf, reader = self._leaf(entry)
            if leaf.error and inline is not None and path in inline.leaves:
                leaf, reader = inline.leaves[path], inline.arrays.get(path)
            self._listing.add(path, leaf, reader)

    def _leaf(self, entry: Entry) -> tuple[Leaf, ArrayReader | None]:
        if entry.empty:
            kind = _EMPTY_KINDS.get(entry.value_type)
            if kind is not None:
                return Leaf(kind, value=Literal(None)), None
            return Leaf(Kind.OPAQUE, note=f"{entry.value_type}, nothing stored"), None
        if entry.value_type == "string":
            return self._string(entry.name), None
        leaf, reader = self._array(entry.name)
        if entry.value_type == "scalar":
            return self._scalar(leaf, reader)
        return leaf, reader

    def _string(self, name: str) -> Leaf:
        text = self._extras.strings.get(name)
        if text is None:
            return Leaf(Kind.STR, error="Its text is not in _strings.json.")
        return Leaf(Kind.STR, value=Literal(text))

    def _array(
        self, name: str, specification: bytes | None = None
    ) -> tuple[Leaf, ArrayReader | None]:
        """Makes the leaf of the array of a name.

        Args:
            name: Its name in the store.
            specification: Metadata from elsewhere, used when the store has none.
        """
        store = self._store
        if store is None:
            return Leaf(Kind.OPAQUE, error=self._store_error), None
        try:
            data = store.metadata(name) or specification
            if data is None:
                return Leaf(Kind.OPAQUE, error=_NO_METADATA), None
            metadata = parse_metadata(data)
        except LeafFault as error:
            return Leaf(Kind.OPAQUE, error=error.problem), None
        found = survey(metadata, store, name, all_stored=self._all_stored)
        leaf = Leaf(
            Kind.ARRAY,
            metadata.shape,
            metadata.dtype,
            sharding=self._extras.shardings.get(name, ""),
            error=found.error,
            note=found.note,
            stored_bytes=found.stored_bytes,
        )
        leaf = self._as_key(leaf, name)
        if found.error:
            return leaf, None
        reader = open_array(
            metadata, store, name, self._pool, all_stored=self._all_stored
        )
        return leaf, reader

    def _as_key(self, leaf: Leaf, name: str) -> Leaf:
        """Returns a random key's leaf when orbax recorded one under the name."""
        implementation = self._extras.key_implementations.get(name)
        return leaf if implementation is None else key_leaf(leaf, implementation)

    def _scalar(
        self, leaf: Leaf, reader: ArrayReader | None
    ) -> tuple[Leaf, ArrayReader | None]:
        """Reads a Python number, which orbax stores as a 0-d array."""
        if leaf.kind is not Kind.ARRAY or leaf.shape:
            return leaf, reader
        kind = _PYTHON_KINDS.get(leaf.dtype)
        if kind is None:
            return replace(leaf, note="numpy scalar"), reader
        leaf = replace(leaf, kind=kind, dtype="")
        if reader is None:
            return leaf, None
        try:
            value = whole(reader, never).item()
        except LeafFault as error:
            return replace(leaf, error=error.problem), None
        return replace(leaf, value=Literal(value)), None

    def _lister(self, aggregate: Path, into: Listing) -> MsgpackLister:
        """Returns the lister of the msgpack file, which follows placeholders."""

        def take(path: TreePath, item: Item) -> bool:
            if isinstance(item, str) and item.startswith(_PLACEHOLDER):
                leaf, reader = self._array(item.removeprefix(_PLACEHOLDER))
                leaf, reader = self._legacy_number(leaf, reader)
            elif isinstance(item, MapItem) and (found := _specification(item)):
                leaf, reader = self._array(*found)
            else:
                return False
            into.add(path, leaf, reader)
            return True

        return MsgpackLister(aggregate, self._pool, into, take)

    def _legacy_number(
        self, leaf: Leaf, reader: ArrayReader | None
    ) -> tuple[Leaf, ArrayReader | None]:
        """Takes 64-bit 0-d arrays of old generations for Python numbers.

        They recorded no types; JAX itself makes no 64-bit numbers by default, while
        Python's become int64 and float64.
        """
        if leaf.dtype not in {"int64", "float64"} or leaf.shape:
            return leaf, reader
        note = f"stored as {leaf.dtype}[]; this generation of orbax records no types"
        return self._scalar(replace(leaf, note=note), reader)

    def _add_names(self) -> None:
        """Makes a tree of the stored names alone."""
        names = self._store.names() if self._store is not None else []
        if not names:
            raise ReadFileDamagedError(
                self._folder,
                problem="it has no _METADATA and no stored arrays",
                hint="Files are missing; copy the checkpoint again.",
            )
        self._warn(
            "There is no _METADATA: the tree is made of the names of the arrays, split "
            "at dots. Whether a level was a list or a dict, and which keys had a dot, "
            "is not known."
        )
        paths = {tuple(name.split(".")): name for name in names}
        for path, name in paths.items():
            inner = any(path[:length] in paths for length in range(len(path)))
            leaf, reader = self._array(name)
            self._listing.add(
                (*self._prefix, *((name,) if inner else path)), leaf, reader
            )


def key_leaf(leaf: Leaf, implementation: str) -> Leaf:
    """Returns the leaf of random keys whose words an array leaf stores.

    Args:
        leaf: uint32 array whose last axis is the words.
        implementation: JAX's name, e.g. ``"threefry2x32"``.
    """
    for dtype, (name, words) in dtypes.KEY_IMPLEMENTATIONS.items():
        if name == implementation and leaf.shape[-1:] == (words,):
            return replace(leaf, kind=Kind.KEY, dtype=dtype, shape=leaf.shape[:-1])
    return replace(leaf, note=f"words of random keys, implementation {implementation}")


def _specification(item: MapItem) -> tuple[str, bytes] | None:
    """Reads T5X's stand-in for an array: tensorstore's specification of it.

    Returns:
        Name of the array's folder, and the ``.zarray`` that the specification
        amounts to; None when the map is something else.
    """
    content = dict(item.pairs)
    kvstore, metadata = content.get("kvstore"), content.get("metadata")
    if "driver" not in content or not isinstance(kvstore, MapItem):
        return None
    place = dict(kvstore.pairs).get("path")
    if not isinstance(place, str):
        return None
    name = place.rstrip("/").rpartition("/")[2]
    recorded = _plain(metadata)
    if not isinstance(recorded, dict):
        return name, b"{}"
    complete = {
        "zarr_format": 2,
        "dtype": content.get("dtype"),
        "order": "C",
        "filters": None,
        "fill_value": None,
        **recorded,
    }
    return name, json.dumps(complete).encode()


def _plain(item: Item) -> object:
    """Returns a scanned item as dicts, lists and scalars."""
    if isinstance(item, MapItem):
        return {str(key): _plain(value) for key, value in item.pairs}
    if isinstance(item, ListItem):
        return [_plain(value) for value in item.items]
    if isinstance(item, str | int | float) or item is None:
        return item
    return str(item)


def array_leaf_in(folder: Path, name: str, pool: FilePool) -> tuple[Leaf, ArrayReader]:
    """Opens one array folder that stands alone (ArraySave, random keys).

    Raises:
        LeafFault: It has no metadata, or its chunks cannot be right.
    """
    store = FolderStore(folder, pool)
    data = store.metadata(name)
    if data is None:
        raise LeafFault(problem=_NO_METADATA)
    metadata = parse_metadata(data)
    found = survey(metadata, store, name, all_stored=False)
    if found.error:
        raise LeafFault(problem=found.error)
    leaf = Leaf(
        Kind.ARRAY,
        metadata.shape,
        metadata.dtype,
        note=found.note,
        stored_bytes=found.stored_bytes,
    )
    return leaf, open_array(metadata, store, name, pool, all_stored=False)
