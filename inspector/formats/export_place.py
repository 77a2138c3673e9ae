"""Where an export goes: the final name, and whether something may be replaced there.

Owns the rules of `surface`: a file's format follows its suffix, a folder is Orbax, a
manager's folder gets a further step, a folder with other files is left alone, and a
source is never written to. Runs in the reader process, before a byte is written; it
changes nothing on the disk.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from inspector.errors import UsageError, WriteFileError

SUFFIXES = {".msgpack": "msgpack", ".safetensors": "safetensors", ".npz": "npz"}
"""Suffix -> format; any other name is a folder, and Orbax."""

FORMATS = ("orbax", *SUFFIXES.values())
"""Names of the formats that can be written."""

_STEP = re.compile(r"(?P<prefix>(?:.*_)?)(?P<digits>\d+)")

_TREE_FILES = frozenset(
    {"_METADATA", "_sharding", "_strings.json", "manifest.ocdbt", "checkpoint"}
)
_STEP_FILES = frozenset(
    {"_CHECKPOINT_METADATA", "commit_success.txt", "orbax.checkpoint", "metrics"}
)
_ITEM_FILES = ("_METADATA", "metadata", "metrics", "checkpoint")
_OCDBT_FOLDERS = re.compile(r"d|ocdbt\.process_.*|array_metadatas|descriptor")
_MARKERS = ("_METADATA", "_CHECKPOINT_METADATA")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an export goes.

    Attributes:
        path: The final name, absolute, links resolved.
        format: One of `FORMATS`.
        as_step: Whether it is a step of a manager's folder that holds items.
    """

    path: Path
    format: str
    as_step: bool = False


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps of a manager's folder.

    Attributes:
        prefix: What stands before the number, e.g. ``"ckpt_"``.
        width: Digits to which numbers are filled with zeros, 0 for none.
        newest: The highest number.
        flat: Whether a step is the tree itself and holds no items.
    """

    prefix: str
    width: int
    newest: int
    flat: bool

    def name(self, number: int) -> str:
        return f"{self.prefix}{number:0{self.width}d}"


def format_of(out: Path, name: str) -> str:
    """Returns the format of an export.

    Args:
        out: Where it goes.
        name: The format that was asked for; empty to go by the suffix.

    Raises:
        UsageError: There is no format of this name.
    """
    if name and name not in FORMATS:
        raise UsageError(
            message=f"There is no format {name!r} to export to.",
            hint=f"Choose one of {', '.join(FORMATS)}.",
        )
    return name or SUFFIXES.get(out.suffix.lower(), "orbax")


def find_place(
    out: Path, format_name: str, *, overwrite: bool, sources: Iterable[Path]
) -> Place:
    """Decides where an export goes.

    Args:
        out: What the person gave; relative to the working directory.
        format_name: One of `FORMATS`.
        overwrite: Whether an existing export may be replaced.
        sources: Files and folders that are open as sources.

    Raises:
        WriteFileError: Something there may not be replaced, or is a source.
    """
    path = Path(os.path.realpath(os.path.expanduser(out)))  # noqa: PTH111 - lets ~nobody be
    _refuse_parents(path)
    if format_name == "orbax":
        place = _place_of_folder(path)
    else:
        _refuse_folder(path)
        place = Place(path, format_name)
    _refuse_sources(place.path, sources)
    _refuse_inside_checkpoint(place.path)
    # An empty folder holds nothing that could be lost.
    taken = os.path.lexists(place.path) and not _is_empty_folder(place.path)
    if taken and not overwrite:
        raise WriteFileError(
            message="There is something of this name already.",
            where=str(place.path),
            hint="Choose another name, or allow to replace it.",
        )
    return place


def _refuse_parents(path: Path) -> None:
    """Raises unless the export can lie where its name says."""
    # realpath has followed every link that leads somewhere.
    if path.is_symlink():
        raise WriteFileError(
            message="This is a symbolic link that leads round in a circle.",
            where=str(path),
            hint="Choose another name, or remove the link.",
        )
    for parent in path.parents:
        if os.path.lexists(parent):
            if not parent.is_dir():
                raise WriteFileError(
                    message="A folder was expected here, but this is none.",
                    where=str(parent),
                    hint="Choose another place for the export.",
                )
            return


def _refuse_folder(path: Path) -> None:
    """Raises unless there is a regular file, or nothing."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise WriteFileError(
            message=f"The export is one file, but this is {what}.",
            where=str(path),
            hint="Give the name of a file, e.g. with the suffix .msgpack, "
            ".safetensors or .npz.",
        )


def _refuse_sources(path: Path, sources: Iterable[Path]) -> None:
    """Raises when the export would replace or swallow a source."""
    for source in sources:
        real = Path(os.path.realpath(source))
        if real == path or path in real.parents:
            raise WriteFileError(
                message="A source that is open lies here; sources are never changed.",
                where=str(real),
                hint="Export to another name, or close the source first.",
            )


def _refuse_inside_checkpoint(path: Path) -> None:
    """Raises when the export would lie inside a checkpoint's folder."""
    for parent in path.parents:
        if any((parent / marker).is_file() for marker in _MARKERS):
            raise WriteFileError(
                message=f"This is inside the checkpoint {parent}.",
                where=str(path),
                hint="Export beside the checkpoint, not into it.",
            )


def _place_of_folder(path: Path) -> Place:
    """Finds where an Orbax export goes.

    Raises:
        WriteFileError: There is a file, or a folder with other files.
    """
    if path.exists() and not path.is_dir():
        raise WriteFileError(
            message="An Orbax checkpoint is a folder, but this is a file.",
            where=str(path),
            hint="Give the name of a folder, or another format.",
        )
    steps = _steps_of(path.parent)
    match = _STEP.fullmatch(path.name)
    if steps and match and match["prefix"] in {"", steps.prefix}:
        step = path.parent / steps.name(int(match["digits"]))
        step = path if path.is_dir() else step
        _refuse_other_files(step)
        return Place(step, "orbax", as_step=not steps.flat)
    inner = _steps_of(path)
    if inner:
        step = path / inner.name(inner.newest + 1)
        return Place(step, "orbax", as_step=not inner.flat)
    _refuse_other_files(path)
    return Place(path, "orbax")


def _steps_of(folder: Path) -> _Steps | None:
    """Returns the steps of a manager's folder, None when it is none."""
    if not folder.is_dir() or any((folder / name).is_file() for name in _MARKERS):
        return None
    numbered = []
    for entry in folder.iterdir():
        match = _STEP.fullmatch(entry.name)
        if match and entry.is_dir():
            numbered.append((int(match["digits"]), match, entry))
    steps = [item for item in numbered if _is_step(item[2])]
    if not steps:
        return None
    number, match, newest = max(steps, key=lambda item: item[0])
    # A number that is taken by anything else is not given to a new step either.
    taken = max(n for n, other, _ in numbered if other["prefix"] == match["prefix"])
    padded = any(
        other["digits"].startswith("0") and len(other["digits"]) > 1
        for _, other, _ in steps
    )
    width = len(match["digits"]) if padded else 0
    flat = any((newest / name).is_file() for name in ("_METADATA", "checkpoint"))
    return _Steps(match["prefix"], width, max(number, taken), flat)


def _is_step(folder: Path) -> bool:
    """Returns whether a numbered folder holds a checkpoint, or items that do."""
    markers = (*_MARKERS, "checkpoint")
    if any((folder / name).is_file() for name in markers):
        return True
    return any((child / "_METADATA").is_file() for child in folder.iterdir())


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _refuse_other_files(folder: Path) -> None:
    """Raises when a folder holds anything that is no part of one checkpoint.

    Replacing a folder deletes what is in it, so only a whole that is surely ours to
    replace may be: a tree, or a step of which every folder is an item.
    """
    if not folder.is_dir() or _is_empty_folder(folder):
        return
    is_tree = any((folder / name).is_file() for name in ("_METADATA", "checkpoint"))
    is_step = not is_tree and _is_step(folder)
    known = _TREE_FILES | _STEP_FILES if is_tree or is_step else frozenset()
    ocdbt = (folder / "manifest.ocdbt").is_file()
    others = []
    for entry in sorted(folder.iterdir()):
        if not entry.is_dir():
            fine = entry.name in known
        elif is_tree:
            fine = not ocdbt or bool(_OCDBT_FOLDERS.fullmatch(entry.name))
        else:
            fine = is_step and any((entry / name).is_file() for name in _ITEM_FILES)
        if not fine:
            others.append(entry.name)
    if others:
        shown = ", ".join(others[:5]) + (" …" if len(others) > len(others[:5]) else "")
        raise WriteFileError(
            message=f"The folder holds other files: {shown}.",
            where=str(folder),
            hint="Give the name of a new folder, of an empty one, or of a checkpoint "
            "to replace.",
        )
