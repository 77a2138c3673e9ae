"""Opens whatever a locator names: the one entry to the formats.

Recognises files by content and folders by what they hold, chooses steps and
subtrees. The reader service and the command line call `open_checkpoint`, in the
reader process.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from inspector.errors import ReadFileError
from inspector.formats.checkpoint import Checkpoint
from inspector.formats.faults import ReadFileUnknownError
from inspector.formats.listed import Subtree
from inspector.formats.locator import Locator, parse_locator
from inspector.formats.msgpack_read import open_msgpack, open_msgpack_shards
from inspector.formats.npz_read import open_npz
from inspector.formats.orbax import has_items, is_step, open_item, open_step
from inspector.formats.orbax_items import (
    TEMPORARY,
    entries_in,
    is_array,
    is_item,
    is_special_item,
    is_tree,
)
from inspector.formats.orbax_steps import StepsOf, step_number, steps_of
from inspector.formats.recognise import FileKind, recognise_file
from inspector.formats.safe_files import is_file, is_folder
from inspector.formats.safetensors_read import (
    open_safetensors,
    open_safetensors_shards,
)
from inspector.formats.shards import INDEX_SUFFIX, index_beside, is_shard
from inspector.variables.nearest import did_you_mean
from inspector.variables.path import quote
from inspector.variables.tree import resolve

Opener = Callable[[Path, str], Checkpoint]
"""Opens a path whose leaves name a locator text."""

OPENERS: Mapping[FileKind, Opener] = {
    FileKind.MSGPACK: open_msgpack,
    FileKind.MSGPACK_INDEX: open_msgpack_shards,
    FileKind.SAFETENSORS: open_safetensors,
    FileKind.SAFETENSORS_INDEX: open_safetensors_shards,
    FileKind.NPZ: open_npz,
}
"""Every file format that is opened; folders are Orbax, or hold files of these."""

_INDEXED = {
    FileKind.MSGPACK: FileKind.MSGPACK_INDEX,
    FileKind.SAFETENSORS: FileKind.SAFETENSORS_INDEX,
}

_NESTING = 3
_INNER_FOLDERS = frozenset({"d", "array_metadatas"})
_NAMED = 8
_FILES_LOOKED_AT = 50
_TEXT_SUFFIXES = frozenset({".json", ".txt", ".md", ".yaml", ".yml", ".toml"})


def open_checkpoint(locator_text: str) -> Checkpoint:
    """Opens a checkpoint; reads metadata only.

    Args:
        locator_text: ``PATH``, ``PATH@STEP``, ``PATH::KEY/PATH`` or
            ``PATH@STEP::KEY/PATH``, as a person gives it.

    Returns:
        The checkpoint; its ``locator`` is the absolute text that opens the same tree
        again, with the step that was chosen.

    Raises:
        ReadFileError: There is no checkpoint; says what is there instead, and what
            to do.
    """
    locator = parse_locator(locator_text)
    with _collector_paused():
        checkpoint = _open(locator.path, locator.step)
    if not locator.inner:
        return checkpoint
    inner = resolve(checkpoint.tree, locator.inner)
    if inner is None:
        checkpoint.close()
        raise ReadFileError(
            message=f"There is no key path {quote(locator.inner)} in the checkpoint.",
            where=str(locator.path),
            hint=did_you_mean(checkpoint.tree, locator.inner),
        )
    return Subtree(checkpoint, inner, f"{checkpoint.locator}::{quote(inner)}")


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Keeps the cyclic collector from walking a listing over and over.

    A listing of 100,000 leaves makes a million objects and no cycles; collecting
    while it grows doubles its time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _open(path: Path, step: str | None) -> Checkpoint:
    if is_folder(path):
        return _open_folder(path, step, _NESTING)
    if step is not None:
        raise ReadFileError(
            message=f"A file has no steps; step {step} was asked for.",
            where=str(path),
            hint="Leave out what follows the @.",
        )
    return _open_file(path)


def _open_file(path: Path) -> Checkpoint:
    """Opens a file; one shard of several opens all of them."""
    kind = recognise_file(path)
    index = index_beside(path)
    if index is not None and kind in _INDEXED:
        path, kind = index, _INDEXED[kind]
    checkpoint = OPENERS[kind](path, Locator(path).text)
    if is_shard(path.name):
        checkpoint.warnings.append(
            f"{path.name} is one shard of several; their index file is not beside it."
        )
    return checkpoint


def _open_folder(folder: Path, step: str | None, nesting: int) -> Checkpoint:
    entries = entries_in(folder)
    if not entries:
        raise ReadFileError(
            message="The folder is empty.",
            where=str(folder),
            hint="Open the folder or file that holds the checkpoint.",
        )
    _refuse_inside(folder)
    steps = None if is_tree(folder) or is_step(folder) else _steps(folder)
    if steps is not None:
        return _open_one_step(steps, step)
    if step is not None:
        raise ReadFileError(
            message=f"The folder has no steps; step {step} was asked for.",
            where=str(folder),
            hint="Leave out what follows the @.",
        )
    source = Locator(folder).text
    if is_tree(folder) or is_special_item(folder):
        return open_item(folder, source)
    if is_step(folder) or (step_number(folder.name) is not None and has_items(folder)):
        return open_step(folder, source)
    return _open_only_one(folder, entries, nesting)


def _steps(folder: Path) -> StepsOf | None:
    """Returns the steps of a folder, unless it is a step whose items have numbers."""
    return None if is_item(folder) else steps_of(folder)


def _open_one_step(steps: StepsOf, wanted: str | None) -> Checkpoint:
    chosen = steps.choose(wanted)
    path = steps.folder / chosen.name
    source = Locator(steps.folder, steps.text_of(chosen)).text
    if not is_folder(path):
        checkpoint = OPENERS[recognise_file(path)](path, source)
    elif is_item(path):
        checkpoint = open_item(path, source)
    else:
        checkpoint = open_step(path, source)
    checkpoint.step = steps.text_of(chosen)
    checkpoint.steps = steps.steps
    checkpoint.incomplete = checkpoint.incomplete or chosen.incomplete
    return checkpoint


def _open_only_one(folder: Path, entries: list[Path], nesting: int) -> Checkpoint:
    """Opens the one checkpoint that a folder holds.

    Raises:
        ReadFileError: There is none, or there are several, which are named.
    """
    found = [path for path in entries if _is_checkpoint(path, nesting - 1)]
    if len(found) > 1:
        found = [path for path in found if not _is_part(path, found)]
    if len(found) == 1 and nesting:
        if is_folder(found[0]):
            return _open_folder(found[0], None, nesting - 1)
        return _open_file(found[0])
    if is_item(folder):
        return open_item(folder, Locator(folder).text)
    if not found:
        _refuse_foreign_files(entries)
    unfinished = [path.name for path in entries if TEMPORARY in path.name]
    names = [path.name for path in found] or unfinished
    raise ReadFileError(
        message=f"The folder holds {len(found)} checkpoints; one has to be chosen."
        if found
        else "Nothing in the folder is a checkpoint that this program knows.",
        where=str(folder),
        hint=f"Open one of: {', '.join(names[:_NAMED])}."
        if names
        else "It opens Orbax folders, Flax msgpack, safetensors and npz files.",
    )


def _refuse_foreign_files(entries: list[Path]) -> None:
    """Raises what the first known foreign file of a folder is."""
    for path in entries[:_FILES_LOOKED_AT]:
        if not is_file(path) or _is_text(path):
            continue
        try:
            recognise_file(path)
        except ReadFileUnknownError:
            continue


def _is_text(path: Path) -> bool:
    """Returns whether a file's name is that of a note or configuration."""
    return path.suffix in _TEXT_SUFFIXES and not path.name.endswith(INDEX_SUFFIX)


def _is_checkpoint(path: Path, nesting: int) -> bool:
    """Returns whether something in a folder can be opened by itself."""
    if TEMPORARY in path.name:
        return False
    if not is_folder(path):
        return _is_checkpoint_file(path)
    try:
        if is_tree(path) or is_step(path) or steps_of(path) is not None:
            return True
        return nesting > 0 and any(
            _is_checkpoint(child, nesting - 1) for child in entries_in(path)
        )
    except ReadFileError:
        return False


def _is_checkpoint_file(path: Path) -> bool:
    if not is_file(path):
        return False
    if _is_text(path):
        return False
    try:
        recognise_file(path)
    except ReadFileError:
        return False
    return True


def _is_part(path: Path, found: list[Path]) -> bool:
    """Returns whether a file is a shard whose index is among the found ones."""
    index = index_beside(path)
    return index is not None and index in found


def _refuse_inside(folder: Path) -> None:
    """Raises for a folder that is a part of a checkpoint, naming the whole."""
    part = (
        folder.name in _INNER_FOLDERS
        or folder.name.startswith("ocdbt.process_")
        or is_array(folder)
    )
    if not part:
        return
    for parent in list(folder.parents)[:_NESTING]:
        if is_tree(parent):
            raise ReadFileError(
                message="This folder is inside a checkpoint.",
                where=str(folder),
                hint=f"Open {parent}.",
            )
