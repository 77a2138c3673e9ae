"""An opened checkpoint made of leaves and one array reader for each.

Every format lists its leaves into a `Listing`; `ListedCheckpoint` is the one class
that the reader service then sees. `Subtree` shows a part of another checkpoint under
paths of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from inspector.errors import ReadFileError, ReadLeafError
from inspector.formats.arrays import ArrayReader
from inspector.formats.checkpoint import Check, Checkpoint, Extent, Region
from inspector.formats.faults import LeafFault
from inspector.formats.inspector_tree import map_leaves, restore
from inspector.formats.safe_files import FilePool
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath, quote
from inspector.variables.tree import (
    EMPTY,
    Branch,
    Container,
    Node,
    build,
    get,
    walk,
)
from inspector.variables.value import Stored


@dataclass(slots=True)
class Listing:
    """What a format found; filled in while it lists.

    Attributes:
        source: Locator text that the leaves' `Stored` values name.
        leaves: Leaves by exact path.
        arrays: Reader of every leaf with numbers that can be read.
        containers: Paths of lists and tuples.
        warnings: Sentences a person should read.
        custom: Metadata worth showing and keeping.
        files: Files that the checkpoint consists of, and folders full of them.
        incomplete: Why it is not whole; empty when it is.
    """

    source: str
    leaves: dict[TreePath, Leaf] = field(default_factory=dict)
    arrays: dict[TreePath, ArrayReader] = field(default_factory=dict)
    containers: dict[TreePath, Container] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    custom: dict[str, Any] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    incomplete: str = ""

    def add(
        self, path: TreePath, leaf: Leaf, reader: ArrayReader | None = None
    ) -> None:
        """Adds a leaf; an array or key gets its `Stored` value here."""
        if leaf.kind in {Kind.ARRAY, Kind.KEY}:
            # `dataclasses.replace` would take a third of the time of a listing.
            leaf = Leaf(
                leaf.kind,
                leaf.shape,
                leaf.dtype,
                Stored(self.source, path),
                leaf.sharding,
                leaf.error,
                leaf.note,
                leaf.stored_bytes,
            )
        self.leaves[path] = leaf
        if reader is not None:
            self.arrays[path] = reader

    def tree(self) -> Node:
        """Builds the tree of everything that was added.

        A leaf whose path leads through another leaf is left out with a warning.
        """
        leaves = self.leaves
        for path in list(leaves):
            if any(path[:length] in leaves for length in range(len(path))):
                del leaves[path]
                self.arrays.pop(path, None)
                self.warnings.append(
                    f"{quote(path)} is left out: a part of its path is a leaf itself."
                )
        return build(leaves.items(), self.containers) if leaves else EMPTY


class ListedCheckpoint(Checkpoint):
    """A checkpoint whose every array has an `ArrayReader`."""

    def __init__(
        self, format_name: str, path: Path, listing: Listing, pool: FilePool
    ) -> None:
        """Takes over a listing.

        Args:
            format_name: ``"orbax"``, ``"msgpack"``, ``"safetensors"`` or ``"npz"``.
            path: File or folder that holds the tree.
            listing: What was found.
            pool: Open files that the readers use; closed with the checkpoint.
        """
        super().__init__(path)
        self.format = format_name
        self.tree = listing.tree()
        self.warnings = listing.warnings
        self.incomplete = listing.incomplete
        self.custom = listing.custom
        self.locator = listing.source
        self._arrays: Mapping[TreePath, ArrayReader] = listing.arrays
        self._files = listing.files
        self._pool = pool

    def read(self, path: TreePath, region: Region, cancelled: Check) -> np.ndarray:
        """Reads one region of one leaf; see `Checkpoint.read`."""
        leaf, reader = self._leaf(path)
        if leaf.kind is Kind.KEY:
            region = (*region, (0, reader.shape[-1]))
        _check_region(path, region, reader.shape)
        try:
            return reader.read(region, cancelled)
        except (LeafFault, OSError, MemoryError) as error:
            raise _leaf_error(self.path, path, error) from error

    def blocks(self, path: TreePath, cancelled: Check) -> Iterator[np.ndarray]:
        """Yields the whole leaf in C order; see `Checkpoint.blocks`."""
        _, reader = self._leaf(path)
        try:
            yield from reader.blocks(cancelled)
        except (LeafFault, OSError, MemoryError) as error:
            raise _leaf_error(self.path, path, error) from error

    def extent(self, path: TreePath) -> Extent | None:
        """Returns where the leaf lies as plain bytes, None when it does not."""
        reader = self._arrays.get(path)
        return None if reader is None else reader.extent()

    def files(self) -> list[Path]:
        """Returns the files that the checkpoint consists of, folders walked."""
        found: list[Path] = []
        for path in self._files:
            if path.is_dir():
                found.extend(sorted(part for part in path.rglob("*") if part.is_file()))
            else:
                found.append(path)
        return found

    def close(self) -> None:
        """Closes every open file."""
        self._pool.close()

    def _leaf(self, path: TreePath) -> tuple[Leaf, ArrayReader]:
        leaf = get(self.tree, path)
        reader = self._arrays.get(path)
        if isinstance(leaf, Leaf) and reader is not None:
            return leaf, reader
        problem = leaf.error if isinstance(leaf, Leaf) else ""
        raise ReadLeafError(
            message=problem or "There is no array at this path.",
            where=f"{self.path}::{quote(path)}",
        )


def _check_region(path: TreePath, region: Region, shape: tuple[int, ...]) -> None:
    fits = len(region) == len(shape) and all(
        0 <= start <= stop <= extent
        for (start, stop), extent in zip(region, shape, strict=False)
    )
    if not fits:
        raise ReadLeafError(
            message=f"The region {region} does not lie within the shape {shape}.",
            where=quote(path),
        )


def _leaf_error(place: Path, path: TreePath, error: Exception) -> ReadLeafError:
    problem = error.problem if isinstance(error, LeafFault) else str(error)
    return ReadLeafError(
        f"The leaf cannot be read: {problem or type(error).__name__}.",
        where=f"{place}::{quote(path)}",
        hint="The other leaves of the checkpoint can still be used.",
    )


class Subtree(Checkpoint):
    """A part of another checkpoint, whose paths begin below it."""

    def __init__(self, whole: Checkpoint, inner: TreePath, source: str) -> None:
        """Shows the node at ``inner``.

        Args:
            whole: The checkpoint; closed with this one.
            inner: Exact path of the node.
            source: Locator text of this part, for the leaves' values.

        Raises:
            ReadFileError: There is no node at that path.
        """
        super().__init__(whole.path)
        node = get(whole.tree, inner)
        if node is None:
            raise ReadFileError(
                message="There is no such key path.", where=quote(inner)
            )
        self.format = whole.format
        self.warnings = whole.warnings
        self.incomplete = whole.incomplete
        self.step = whole.step
        self.steps = whole.steps
        self.custom = whole.custom
        self.locator = source
        self.tree = map_leaves(node, lambda path, leaf: _restored(source, path, leaf))
        self._whole = whole
        self._inner = inner

    def read(self, path: TreePath, region: Region, cancelled: Check) -> np.ndarray:
        """Reads through the whole checkpoint."""
        return self._whole.read((*self._inner, *path), region, cancelled)

    def blocks(self, path: TreePath, cancelled: Check) -> Iterator[np.ndarray]:
        """Reads through the whole checkpoint."""
        return self._whole.blocks((*self._inner, *path), cancelled)

    def extent(self, path: TreePath) -> Extent | None:
        """Asks the whole checkpoint."""
        return self._whole.extent((*self._inner, *path))

    def files(self) -> list[Path]:
        """Returns the files of the whole checkpoint."""
        return self._whole.files()

    def close(self) -> None:
        """Closes the whole checkpoint."""
        self._whole.close()


def _restored(source: str, path: TreePath, leaf: Leaf) -> Leaf:
    if isinstance(leaf.value, Stored):
        return replace(leaf, value=Stored(source, path))
    return leaf


def place_entries(
    listing: Listing,
    entries: Mapping[str, tuple[Leaf, ArrayReader | None]],
    description: Mapping[str, Any] | None,
) -> None:
    """Adds the named arrays of a flat format, by its tree description if it has one.

    A description that does not fit becomes a warning, and the names alone are shown.

    Args:
        listing: What is filled.
        entries: Name in the file -> leaf and reader.
        description: JSON object of `inspector_tree`, or None.
    """
    leaves = {name: leaf for name, (leaf, _) in entries.items()}
    try:
        tree, names = restore(leaves, description)
    except ReadFileError as error:
        listing.warnings.append(f"{error.message} The plain names are shown.")
        tree, names = restore(leaves)
    _collect(tree, (), listing.containers)
    for path, leaf in walk(tree):
        plain, reader = entries[names[path]] if path in names else (leaf, None)
        if leaf.kind is Kind.OPAQUE:
            leaf, reader = replace(leaf, shape=()), None  # noqa: PLW2901 - refined
        if reader is not None and leaf.kind is Kind.ARRAY and leaf.dtype != plain.dtype:
            reader = reader.viewed_as(dtypes.to_numpy(leaf.dtype))
        listing.add(path, leaf, reader)


def _collect(node: Node, path: TreePath, into: dict[TreePath, Container]) -> None:
    if isinstance(node, Branch):
        if node.container is not Container.DICT:
            into[path] = node.container
        for key, child in node.children.items():
            _collect(child, (*path, key), into)
