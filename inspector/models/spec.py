"""The text that names a module: ``file.py:Name`` or ``package.module:Name``.

Only text and the file system are looked at here; nothing is imported.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from inspector.errors import LoadModuleError, UsageError

EXAMPLE = "Write it as file.py:Name or package.module:Name."
"""Hint of every error about the text."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a spec names.

    Attributes:
        file: Absolute path of the file; None for an import path.
        package: Dotted import path; empty for a file.
        name: Name inside it, may be dotted; empty when none was given.
        cwd: Folder that relative paths and import paths start from.
    """

    file: Path | None
    package: str
    name: str
    cwd: Path

    @property
    def place(self) -> str:
        """The file or import path, as text."""
        return self.package if self.file is None else str(self.file)

    @property
    def spec(self) -> str:
        """The spec with the file made absolute."""
        return f"{self.place}:{self.name}" if self.name else self.place

    @property
    def title(self) -> str:
        """The spec as titles show it, without folders."""
        short = self.package if self.file is None else self.file.name
        return f"{short}:{self.name}" if self.name else short


def parse_spec(text: str, cwd: str = "") -> Target:
    r"""Splits a spec at its last ``:`` when an identifier follows.

    So ``C:\nets\file.py`` has no name, and a folder may hold colons.

    Args:
        text: What the person wrote; ``~`` is the home folder.
        cwd: Folder for relative paths; empty for that of the process.

    Raises:
        UsageError: The text names neither a file nor an import path.
        LoadModuleError: There is no such file.
    """
    folder = Path(cwd) if cwd else Path.cwd()
    place, colon, name = text.strip().rpartition(":")
    if not colon or (name and not _is_dotted(name)):
        place, name = text.strip(), ""
    if not place:
        raise UsageError(message=f"“{text}” names no module.", hint=EXAMPLE)
    path = folder / os.path.expanduser(place)  # noqa: PTH111 - lets ~nobody be
    if place.endswith(".py") or path.is_file():
        return Target(_existing(path), "", name, folder)
    if not _is_dotted(place):
        raise UsageError(
            message=f"“{place}” is neither a Python file nor an import path.",
            hint=EXAMPLE,
        )
    return Target(None, place, name, folder)


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _existing(path: Path) -> Path:
    if path.is_file():
        return path.resolve()
    if path.is_dir():
        raise LoadModuleError(
            message="This is a folder, a Python file was expected.",
            where=str(path),
            hint=EXAMPLE,
        )
    folder = path.parent
    names = [other.name for other in folder.glob("*.py")] if folder.is_dir() else []
    hint = did_you_mean(path.name, names) or f"Check the path. {EXAMPLE}"
    raise LoadModuleError(message="There is no such file.", where=str(path), hint=hint)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Returns “Did you mean a or b?”, or nothing when no name is near."""
    by_text = {other.lower(): other for other in names}
    close = difflib.get_close_matches(name.lower(), by_text, 3, 0.5)
    if not close:
        return ""
    return f"Did you mean {' or '.join(by_text[text] for text in close)}?"
