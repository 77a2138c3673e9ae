"""The recipe: a base, the sources, and the edits that make the target.

It is the document as a file. The store saves and opens it; replaying is
`document`'s work. Reading is strict (`schema`), opening runs no code and touches
no source. What stands in the file is described by ``recipe.schema.json`` beside
this module; every version is read for ever.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path

from inspector.document.base import Base, ModuleBase, NoBase, base_to_json, relative_to
from inspector.document.fingerprint import Fingerprint, fingerprint_to_json
from inspector.document.schema import (
    FORMAT,
    VERSION,
    ParsedRecipe,
    ParsedSource,
    parse_recipe,
)
from inspector.errors import RecipeError
from inspector.variables.edit import Edit
from inspector.variables.edit_json import edit_to_json

SIZE_LIMIT = 256 << 20
"""Bytes of the largest recipe that is read: about a million leaves."""


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One source of a recipe.

    Attributes:
        id: Its id in the document, e.g. ``"s1"``.
        path: Absolute path of the file or folder.
        suffix: What follows the path in its locator, e.g. ``"@100::params"``.
        format: Format of the checkpoint.
        name: Short name, unique in the document.
        fingerprint: State of its files when it was last read.
    """

    id: str
    path: str
    suffix: str = ""
    format: str = ""
    name: str = ""
    fingerprint: Fingerprint = field(default_factory=Fingerprint)

    @property
    def locator(self) -> str:
        """The absolute locator that opens it."""
        return self.path + self.suffix


@dataclass(frozen=True, slots=True)
class Recipe:
    """A document as data.

    Attributes:
        base: Where the target begins.
        sources: The sources, in the order they were opened.
        edits: The edits in force, oldest first.
        version: Version of the form it was read from.
    """

    base: Base = field(default_factory=NoBase)
    sources: tuple[SourceEntry, ...] = ()
    edits: tuple[Edit, ...] = ()
    version: int = VERSION


def to_json(recipe: Recipe, folder: Path | None = None) -> dict[str, object]:
    """Returns a recipe as JSON of the newest version.

    Args:
        recipe: The recipe.
        folder: Folder that it is saved in; paths are kept absolute and relative
            to it. None keeps the absolute ones alone.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "base": base_to_json(recipe.base, folder),
        "sources": [_source_to_json(entry, folder) for entry in recipe.sources],
        "edits": [edit_to_json(edit) for edit in recipe.edits],
    }


def _source_to_json(entry: SourceEntry, folder: Path | None) -> dict[str, object]:
    return {
        "id": entry.id,
        "path": entry.path,
        "relative": relative_to(entry.path, folder),
        "suffix": entry.suffix,
        "format": entry.format,
        "name": entry.name,
        "fingerprint": fingerprint_to_json(entry.fingerprint),
    }


def from_json(data: object, folder: Path | None = None) -> Recipe:
    """Returns the recipe that `to_json` wrote, of any version up to the newest.

    Args:
        data: Parsed JSON.
        folder: Folder that it was read from. A file that is no more at its
            absolute path is looked for at its relative one.

    Raises:
        RecipeError: It is no recipe, of a newer version, or damaged.
    """
    parsed: ParsedRecipe = parse_recipe(data)
    base = parsed.base
    if isinstance(base, ModuleBase) and base.file:
        base = _moved_module(base, parsed.base_relative, folder)
    sources = tuple(_source(one, folder) for one in parsed.sources)
    return Recipe(base, sources, parsed.edits, parsed.version)


def _source(parsed: ParsedSource, folder: Path | None) -> SourceEntry:
    return SourceEntry(
        parsed.id,
        _find(parsed.path, parsed.relative, folder),
        parsed.suffix,
        parsed.format,
        parsed.name,
        parsed.fingerprint,
    )


def _moved_module(base: ModuleBase, relative: str, folder: Path | None) -> ModuleBase:
    """Follows a module's file that moved with its recipe, in the spec too."""
    file = _find(base.file, relative, folder)
    spec = base.spec
    if file != base.file and spec.startswith(base.file):
        spec = file + spec.removeprefix(base.file)
    return replace(base, file=file, spec=spec)


def _find(path: str, relative: str, folder: Path | None) -> str:
    """Returns where a file is: absolute path first, then beside the recipe."""
    if folder is None or not relative or Path(path).exists():
        return path
    beside = Path(os.path.normpath(folder / relative))
    return str(beside) if beside.exists() else path


def save(recipe: Recipe, path: Path) -> None:
    """Writes a recipe; the old file, or the new one whole, is there at any time.

    Args:
        recipe: What to write.
        path: The file; its folder exists.

    Raises:
        RecipeError: The file cannot be written.
    """
    path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    text = json.dumps(to_json(recipe, path.parent), allow_nan=False, indent=1)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("x", encoding="ascii") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        message = f"the recipe cannot be written: {error.strerror or error}"
        hint = "Choose a folder you can write to, with enough space."
        raise RecipeError(message, where=str(path), hint=hint) from error


def _read_bounded(path: Path) -> bytes:
    """Reads a file of any origin; never waits for a pipe, never reads without end."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        message = "it is no file but a folder, a pipe or a device"
        hint = "Choose the file that the recipe was saved to."
        raise RecipeError(message, where=str(path), hint=hint)
    # One byte more than allowed tells a file that grew since it was looked at.
    with path.open("rb") as file:
        data = file.read(min(status.st_size, SIZE_LIMIT) + 1)
    size = max(status.st_size, len(data))
    if size > SIZE_LIMIT:
        message = f"it has {size:,} bytes, a recipe has at most {SIZE_LIMIT:,}"
        hint = "This is hardly a recipe; open it as a checkpoint."
        raise RecipeError(message, where=str(path), hint=hint)
    return data


def load(path: Path) -> Recipe:
    """Reads a recipe; runs no code and opens no source.

    Raises:
        RecipeError: It cannot be read, is no recipe, or is damaged.
    """
    path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    try:
        data = json.loads(_read_bounded(path))
    except OSError as error:
        message = f"the recipe cannot be read: {error.strerror or error}"
        hint = "Check the path and its permissions."
        raise RecipeError(message, where=str(path), hint=hint) from error
    except (ValueError, RecursionError) as error:
        message = f"it is no JSON: {error}"
        hint = "The file is damaged, or not a recipe of this program."
        raise RecipeError(message, where=str(path), hint=hint) from error
    try:
        return from_json(data, path.parent)
    except RecipeError as error:
        where = f"{path}: {error.where}" if error.where else str(path)
        raise RecipeError(error.message, where=where, hint=error.hint) from error
