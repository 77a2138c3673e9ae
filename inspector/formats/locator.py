"""Where a checkpoint is: the text a person gives, and what it means.

``PATH``, ``PATH@STEP``, ``PATH::KEY/PATH`` and ``PATH@STEP::KEY/PATH``. Parsed once
at the edge, by the reader and by whoever takes a path from a person. Only names are
looked up here; nothing is opened.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from inspector.errors import ReadFileError
from inspector.variables.path import TreePath, parse, quote

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")

_SIBLINGS_READ = 2000
_SIBLINGS_NAMED = 5


@dataclass(frozen=True, slots=True)
class Locator:
    """A checkpoint, one of its steps, or a subtree of either.

    Attributes:
        path: Absolute path of an existing file or folder; symbolic links are kept,
            because the names beside a link matter (shards, index files).
        step: Step as it was given, a number or a folder name; None for none.
        inner: Path of the subtree, strings only as a person gives them (see
            `variables.tree.resolve`); ``()`` for the whole tree.
    """

    path: Path
    step: str | None = None
    inner: TreePath = ()

    @property
    def text(self) -> str:
        """The text that `parse_locator` reads back, absolute."""
        step = "" if self.step is None else f"@{self.step}"
        inner = f"::{quote(self.inner)}" if self.inner else ""
        return f"{self.path}{step}{inner}"


def parse_locator(text: str, cwd: Path | None = None) -> Locator:
    """Reads the text of a checkpoint's place.

    An existing file or folder of the very name wins over ``@`` and ``::``; among
    several readings the one with the longest existing path wins. A step never holds
    a ``/``.

    Args:
        text: As typed or dropped; may be relative and may begin with ``~``.
        cwd: Folder that a relative path starts from; the process's own by default.

    Returns:
        The locator with an absolute path.

    Raises:
        ReadFileError: Nothing is at that path, with the nearest folder that exists
            and names in it that look alike; or the text is a URL, or empty.
    """
    if not text.strip():
        raise ReadFileError(
            message="No path was given.", hint="Give a file or a folder."
        )
    if _URL.match(text):
        raise ReadFileError(
            message=f"{text.split('://', 1)[0]}:// locations are not supported; only "
            "files and folders of this machine are.",
            where=text,
            hint="Copy the checkpoint to a local folder and open that.",
        )
    for path_text, step, inner in _readings(text):
        path = _absolute(path_text, cwd)
        if _exists(path):
            return Locator(path, step, parse(inner))
    raise _missing(_absolute(next(_readings(text.partition("::")[0]))[0], cwd))


def _readings(text: str) -> Iterator[tuple[str, str | None, str]]:
    """Yields (path, step, inner) in order of preference: longest path first."""
    yield text, None, ""
    positions = [match.start() for match in re.finditer(r"(?=::)", text)]
    for position in [len(text), *reversed(positions)]:
        head, inner = text[:position], text[position + 2 :]
        if position < len(text):
            yield head, None, inner
        for match in reversed(list(re.finditer("@", head))):
            step = head[match.end() :]
            if step and not any(mark in step for mark in ("/", os.sep, "::")):
                yield head[: match.start()], step, inner


def _absolute(text: str, cwd: Path | None) -> Path:
    """Makes a path absolute and free of ``.`` and ``..`` without following links."""
    # Path.expanduser raises where nobody has the name; a shell lets it be.
    path = os.path.expanduser(text)  # noqa: PTH111 - see above
    return Path(os.path.normpath((cwd or Path.cwd()) / path))


def _exists(path: Path) -> bool:
    """Returns whether the name exists, a broken or looping link included."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except PermissionError as error:
        raise ReadFileError(
            message="There is no permission to look into the folder.",
            where=str(path.parent),
            hint="Ask for read and search permission on the folder.",
        ) from error
    except (OSError, ValueError):
        # A name too long, or with a NUL in it, names nothing.
        return False
    return True


def _missing(path: Path) -> ReadFileError:
    """Returns the error for a path at which there is nothing."""
    parent = path.parent
    while not parent.is_dir() and parent != parent.parent:
        parent = parent.parent
    wanted = path.parts[len(parent.parts)] if path != parent else path.name
    alike = _look_alikes(parent, wanted)
    hint = f"The nearest folder that exists is {parent}."
    if alike:
        hint += f" Did you mean {', '.join(alike)}?"
    return ReadFileError("There is nothing at this path.", where=str(path), hint=hint)


def _look_alikes(parent: Path, wanted: str) -> list[str]:
    """Returns names in a folder that look like ``wanted``, the closest first."""
    names: list[str] = []
    try:
        with os.scandir(parent) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) == _SIBLINGS_READ:
                    break
    except OSError:
        return []
    lowered = {name.lower(): name for name in sorted(names)}
    close = difflib.get_close_matches(wanted.lower(), lowered, _SIBLINGS_NAMED, 0.6)
    return [lowered[name] for name in close]
