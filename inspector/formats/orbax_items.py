"""The items of an orbax step: pytrees, JSON, single arrays, random keys, others.

Recognises an item by its files and lists it below its name. An item whose handler is
not known here is one opaque leaf that names the handler; it never stands in the way
of the others. `orbax` calls this for steps and single items.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspector.errors import ReadFileError
from inspector.formats.chunk_store import METADATA_NAMES
from inspector.formats.faults import LeafFault, ReadFileAccessError
from inspector.formats.listed import Listing
from inspector.formats.msgpack_read import literal_leaf
from inspector.formats.ocdbt import MANIFEST
from inspector.formats.orbax_metadata import METADATA
from inspector.formats.orbax_tree import (
    AGGREGATE,
    TreeLister,
    array_leaf_in,
    key_leaf,
)
from inspector.formats.safe_files import FilePool, is_file, is_folder, read_json
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.tree import Container
from inspector.variables.value import Literal

TEMPORARY = ".orbax-checkpoint-tmp"
"""What orbax puts into the name of a folder until it is whole."""

_ENTRIES_LOOKED_AT = 2000
_JSON_FILES = ("metadata", "metrics")
_JAX_KEY, _NUMPY_KEY = "jax_random_key", "np_random_key"
_DEFAULT_IMPLEMENTATION = "threefry2x32"


def folders_in(folder: Path) -> list[Path]:
    """Returns the folders inside a folder, sorted by name, hidden ones left out.

    Raises:
        ReadFileError: The folder may not be read.
    """
    return [path for path in entries_in(folder) if is_folder(path)]


def entries_in(folder: Path) -> list[Path]:
    """Returns what a folder holds, sorted by name, hidden names left out.

    Raises:
        ReadFileError: The folder may not be read.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError as error:
        raise ReadFileAccessError(folder, error=error) from error
    return [folder / name for name in names if not name.startswith(".")]


def is_tree(folder: Path) -> bool:
    """Returns whether a folder is a pytree item of some generation."""
    if any(is_file(folder / name) for name in (METADATA, MANIFEST, AGGREGATE)):
        return True
    return any(is_array(path) for path in _some_folders(folder)) and not is_array_item(
        folder
    )


def is_array(folder: Path) -> bool:
    """Returns whether a folder is one zarr array."""
    return any(is_file(folder / name) for name in METADATA_NAMES)


def is_array_item(folder: Path) -> bool:
    """Returns whether a folder is an item that holds one array (ArraySave)."""
    return is_array(folder / AGGREGATE) and len(list(_some_folders(folder))) == 1


def is_item(folder: Path) -> bool:
    """Returns whether a folder is an item of any kind that is known."""
    return (
        is_tree(folder)
        or is_special_item(folder)
        or any(is_file(folder / name) for name in _JSON_FILES)
    )


def is_special_item(folder: Path) -> bool:
    """Returns whether a folder is one array or a random key, and no pytree."""
    keys = any(is_folder(folder / name) for name in (_JAX_KEY, _NUMPY_KEY))
    return keys or is_array_item(folder)


def _some_folders(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            for count, entry in enumerate(entries):
                if count == _ENTRIES_LOOKED_AT:
                    return
                if entry.is_dir():
                    yield Path(entry.path)
    except OSError:
        return


def add_item(
    folder: Path, prefix: TreePath, listing: Listing, pool: FilePool, handler: str = ""
) -> None:
    """Lists an item below a prefix; what cannot be read becomes a leaf with an error.

    Args:
        folder: The item's folder.
        prefix: Path that its leaves start with.
        listing: What is filled.
        pool: Where files are opened.
        handler: Class name that the step's metadata record for it.
    """
    listing.files.append(folder)
    try:
        _add_item(folder, prefix, listing, pool, handler)
    except LeafFault as error:
        listing.add(prefix, Leaf(Kind.OPAQUE, error=error.problem))
    except ReadFileError as error:
        if not prefix:
            raise
        listing.warnings.append(f"{error.where}: {error.message}")
        listing.add(prefix, Leaf(Kind.OPAQUE, error=error.message))


def _add_item(
    folder: Path, prefix: TreePath, listing: Listing, pool: FilePool, handler: str
) -> None:
    if TEMPORARY in folder.name and prefix:
        listing.incomplete = f"its item {folder.name} was not finished"
        listing.add(prefix, Leaf(Kind.OPAQUE, error="It was not written to its end."))
    elif is_folder(folder / _JAX_KEY):
        _add_jax_key(folder, prefix, listing, pool)
    elif is_folder(folder / _NUMPY_KEY):
        TreeLister(folder / _NUMPY_KEY, prefix, listing, pool).add()
    elif is_array_item(folder):
        listing.add(prefix, *array_leaf_in(folder, AGGREGATE, pool))
    elif is_tree(folder):
        TreeLister(folder, prefix, listing, pool).add()
    else:
        _add_json_or_opaque(folder, prefix, listing, handler)


def _add_json_or_opaque(
    folder: Path, prefix: TreePath, listing: Listing, handler: str
) -> None:
    for name in _JSON_FILES:
        if is_file(folder / name):
            add_json(prefix, read_json(folder / name), listing)
            return
    note = f"item of {handler.rpartition('.')[2] or 'an unknown handler'}"
    listing.add(prefix, Leaf(Kind.OPAQUE, note=f"{note}, which is not shown"))


def _add_jax_key(
    folder: Path, prefix: TreePath, listing: Listing, pool: FilePool
) -> None:
    """Lists a JaxRandomKeySave: words, and whether the key was a typed one."""
    leaf, reader = array_leaf_in(folder / _JAX_KEY, AGGREGATE, pool)
    path = folder / f"{_JAX_KEY}_metadata" / "metadata"
    recorded = read_json(path) if is_file(path) else {}
    if isinstance(recorded, dict) and recorded.get("typed") is True:
        named = recorded.get("impl") or recorded.get("implementation")
        implementation = str(named or _DEFAULT_IMPLEMENTATION)
        leaf = key_leaf(leaf, implementation)
    listing.add(prefix, leaf, reader)


def add_json(path: TreePath, value: Any, listing: Listing) -> None:
    """Lists JSON as a tree of Python objects."""
    if isinstance(value, dict) and value:
        for key, child in value.items():
            add_json((*path, str(key)), child, listing)
    elif isinstance(value, list) and value:
        listing.containers[path] = Container.LIST
        for position, child in enumerate(value):
            add_json((*path, position), child, listing)
    elif isinstance(value, dict):
        listing.add(path, Leaf(Kind.EMPTY_DICT, value=Literal(None)))
    elif isinstance(value, list):
        listing.add(path, Leaf(Kind.EMPTY_LIST, value=Literal(None)))
    else:
        listing.add(path, literal_leaf(value))
