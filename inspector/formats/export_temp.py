"""Temporary siblings of exports, and the moment in which one takes its final name.

Owns the names ``.<name>.<host>-<pid>-<random>.part`` (being written) and ``.old``
(the replaced one, until it is deleted), the rename that a crash cannot tear, and the
removal of what dead exports left. Runs in the reader process. What is written is not
its business.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import secrets
import shutil
import socket
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

_PATTERN = re.compile(
    r"\.(?P<name>.+)\.(?P<host>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]{8}\.(?P<kind>part|old)"
)
_MAX_NAME_BYTES = 255
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that an export has beside its target.

    Attributes:
        path: The file or folder.
        target: The name it was written for.
        replaced: Whether it is the old target and not the new one.
        alive: Whether its owner still runs, or may run on another machine.
    """

    path: Path
    target: Path
    replaced: bool
    alive: bool


def temporary_name(target: Path, kind: str = "part") -> Path:
    """Returns a name beside the target that says who owns it.

    Args:
        target: The final name.
        kind: ``"part"`` or ``"old"``.
    """
    owner = f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
    room = _MAX_NAME_BYTES - len(owner) - len(kind) - 3
    # A name of the system need not be UTF-8; here it only has to be recognised.
    name = os.fsencode(target.name)[:room].decode(errors="ignore")
    return target.with_name(f".{name}.{owner}.{kind}")


def _host() -> str:
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def leftovers(folder: Path) -> list[Leftover]:
    """Returns what exports have in a folder beside their targets.

    Raises:
        OSError: The folder cannot be listed.
    """
    found = []
    for entry in sorted(folder.iterdir()):
        match = _PATTERN.fullmatch(entry.name)
        if match:
            alive = match["host"] != _host() or _is_alive(int(match["pid"]))
            target = folder / match["name"]
            found.append(Leftover(entry, target, match["kind"] == "old", alive))
    return found


def _is_alive(pid: int) -> bool:
    """Returns whether a process of this machine runs; True when that is not known."""
    if sys.platform == "win32":
        # os.kill would end the process there.
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def clean(folder: Path) -> list[Path]:
    """Removes what dead exports left; puts an old target back where none is.

    Returns:
        What was removed.

    Raises:
        OSError: The folder cannot be listed, or something cannot be removed.
    """
    removed = []
    for leftover in leftovers(folder):
        if leftover.alive:
            continue
        if leftover.replaced and not os.path.lexists(leftover.target):
            # A name so long that it was cut does not say what to call it.
            if len(leftover.path.name.encode()) < _MAX_NAME_BYTES - 3:
                leftover.path.rename(leftover.target)
            continue
        remove(leftover.path)
        removed.append(leftover.path)
    return removed


def remove(path: Path) -> None:
    """Removes a file or a folder; nothing there is fine.

    Raises:
        OSError: Something cannot be removed.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def put_in_place(temporary: Path, target: Path) -> None:
    """Gives the finished export its final name, and forces the names to the disk.

    A file replaces a file in one step. A folder is exchanged with the old one where
    the system can; else the old one is renamed aside first, so that between two
    renames both are there under other names, and `clean` can put the old one back.

    Raises:
        OSError: A rename fails; the old target is in its place.
    """
    if not target.is_dir():
        temporary.replace(target)
        sync_folder(target.parent)
        return
    old = temporary
    if not _exchange(temporary, target):
        old = temporary_name(target, "old")
        target.rename(old)
        try:
            temporary.rename(target)
        except OSError:
            old.rename(target)
            raise
    sync_folder(target.parent)
    # The export is done; an old file that cannot be deleted does not undo it.
    shutil.rmtree(old, ignore_errors=True)


def _exchange(left: Path, right: Path) -> bool:
    """Swaps two names in one step; False where the system or the disk cannot."""
    if sys.platform != "linux":
        return False
    with contextlib.suppress(OSError, AttributeError):
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        done: int = rename(
            _AT_FDCWD,
            os.fsencode(left),
            _AT_FDCWD,
            os.fsencode(right),
            _RENAME_EXCHANGE,
        )
        return done == 0
    return False


def sync_folder(folder: Path) -> None:
    """Forces the names in a folder to the disk, where the system has that.

    Raises:
        OSError: The disk fails.
    """
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Forces the names in a folder and in all below it to the disk.

    Raises:
        OSError: The disk fails.
    """
    for place, _, _ in os.walk(folder, topdown=False):
        sync_folder(Path(place))
