"""Orbax checkpoints: one item, or a step with several; steps are in `orbax_steps`.

Reads the layout without orbax and JAX, whose import alone takes longer than listing
a checkpoint of 10,000 leaves. Called by the registry, in the reader process.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.errors import ReadFileError
from inspector.formats.faults import ReadFileLfsPointerError
from inspector.formats.listed import ListedCheckpoint, Listing
from inspector.formats.orbax_items import (
    TEMPORARY,
    add_item,
    folders_in,
    is_item,
)
from inspector.formats.safe_files import FilePool, is_file, is_folder, read_json

CHECKPOINT_METADATA = "_CHECKPOINT_METADATA"
"""JSON file of a step or single checkpoint: handlers, times, custom metadata."""

V1_MARKER = "orbax.checkpoint"
"""Empty file that orbax's v1 interface puts beside the items."""

_COMMIT_MARKER = "commit_success.txt"
_NO_LEVEL = frozenset({"default", "state"})
_NO_ITEMS = frozenset({"descriptor", "array_metadatas"})


def is_step(folder: Path) -> bool:
    """Returns whether a folder says itself that it is a step with items."""
    marked = any(is_file(folder / name) for name in (CHECKPOINT_METADATA, V1_MARKER))
    return marked and not is_item(folder)


def has_items(folder: Path) -> bool:
    """Returns whether a folder holds items, whatever it is called."""
    return any(is_item(path) for path in folders_in(folder))


def open_item(folder: Path, source: str) -> ListedCheckpoint:
    """Opens one item.

    Args:
        folder: Its folder.
        source: Locator text that the leaves name.

    Raises:
        ReadFileError: Its structure cannot be read.
    """
    pool = FilePool()
    listing = Listing(source)
    _read_checkpoint_metadata(folder, listing)
    if TEMPORARY in folder.name:
        listing.incomplete = "its folder's name says that it was not finished"
    with pool.closed_on_error():
        add_item(folder, (), listing, pool)
        _check_marker(folder, listing)
        return ListedCheckpoint("orbax", folder, listing, pool)


def open_step(folder: Path, source: str) -> ListedCheckpoint:
    """Opens a step: a single item ``default`` or ``state`` is no level of the tree.

    Args:
        folder: Its folder.
        source: Locator text that the leaves name.

    Raises:
        ReadFileError: There is no item, or the only one cannot be read.
    """
    pool = FilePool()
    listing = Listing(source)
    handlers = _read_checkpoint_metadata(folder, listing)
    if TEMPORARY in folder.name:
        listing.incomplete = "its folder's name says that it was not finished"
    items = [path for path in folders_in(folder) if path.name not in _NO_ITEMS]
    if not items:
        raise ReadFileError(
            message="The step holds no items.",
            where=str(folder),
            hint="It was not written to its end, or not copied whole.",
        )
    single = len(items) == 1 and items[0].name in _NO_LEVEL
    with pool.closed_on_error():
        for item in items:
            prefix = () if single else (item.name.partition(TEMPORARY)[0],)
            add_item(item, prefix, listing, pool, handlers.get(item.name, ""))
        _check_marker(folder, listing)
        return ListedCheckpoint("orbax", folder, listing, pool)


def _read_checkpoint_metadata(folder: Path, listing: Listing) -> dict[str, str]:
    """Reads `_CHECKPOINT_METADATA`; what is wrong with it becomes a warning.

    Returns:
        Class name of each item's handler.
    """
    path = folder / CHECKPOINT_METADATA
    if not is_file(path):
        return {}
    listing.files.append(path)
    try:
        content = read_json(path)
    except ReadFileLfsPointerError:
        raise
    except ReadFileError as error:
        listing.warnings.append(f"{path.name} is ignored: {error.message}")
        return {}
    if not isinstance(content, dict):
        return {}
    custom = content.get("custom_metadata")
    if isinstance(custom, dict):
        listing.custom.update(custom)
    if content.get("init_timestamp_nsecs") and not content.get(
        "commit_timestamp_nsecs"
    ):
        listing.warnings.append(
            f"{path.name} has no time of completion; the checkpoint may be unfinished."
        )
    handlers: Any = content.get("item_handlers")
    if not isinstance(handlers, dict):
        return {}
    return {str(name): str(handler) for name, handler in handlers.items()}


def _check_marker(folder: Path, listing: Listing) -> None:
    """Notes an absent commit marker where the layout is new enough to have one.

    Arrays' own metadata came a little before the marker; older layouts have neither.
    """
    places = [folder, folder.parent]
    if any(is_file(place / _COMMIT_MARKER) for place in places):
        return
    items = [folder, *folders_in(folder)]
    if any(is_folder(item / "array_metadatas") for item in items):
        listing.warnings.append(
            f"There is no {_COMMIT_MARKER}: the checkpoint is older than this marker, "
            "unfinished, or was not copied whole."
        )
