"""Values that were taken from runs: kept by content, as long as a document needs them.

A kept value is a file of raw bytes in the state folder, named by its SHA-256 and
synced before the edit that needs it is answered, so that a session survives a crash.
A saved recipe has its own copy beside it (`store_kept_files`). Called on the store's
loop; bytes are copied on threads.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import re
import secrets
import time
from dataclasses import replace
from pathlib import Path

from inspector.engine.store_values import KEPT_SUFFIX
from inspector.errors import EditError
from inspector.variables import dtypes
from inspector.variables.edit import TakeValues
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath, join
from inspector.variables.tree import Node, get, walk
from inspector.variables.value import Kept, Literal, Raw

FOLDER = "kept"
"""Folder of the kept values in the state folder."""

_BLOCK = 4 << 20
_SPARED_S = 2 * 24 * 3600
"""Age from which an unneeded value goes: a living session may not have logged it."""

_NAMED = re.compile(rb'"digest":\s*"([0-9a-f]{64})"')
_JOURNALS = "sessions/*/*.jsonl"


class NothingToTakeError(EditError):
    """A run changed nothing that could be taken."""

    def __init__(self, run: int) -> None:
        """Names the run."""
        super().__init__(
            f"Run {run} updated no variables",
            hint="Run it again with the collections that it may update.",
        )


class UpdateAbsentError(EditError):
    """An update was asked for that the run does not have."""

    def __init__(self, run: int, path: TreePath) -> None:
        """Names the run and the path."""
        super().__init__(f"Run {run} did not update this leaf", where=join(path))


class UpdateNotKeptError(EditError):
    """The numbers of a run could not be copied to where they are kept."""

    def __init__(self, where: str, why: str) -> None:
        """Names the file and says why."""
        super().__init__(
            f"The values of the run cannot be kept: {why}",
            where=where,
            hint="Run it again; see that the state folder has space.",
        )


class KeptValues:
    """The folder of kept values.

    Attributes:
        folder: The folder; made when the first value is kept.
    """

    def __init__(self, state_dir: Path) -> None:
        """Makes nothing yet."""
        self.folder = state_dir / FOLDER
        self._state_dir = state_dir

    def file_of(self, digest: str) -> Path:
        """Returns where the bytes of a value lie, whether they are there or not."""
        return self.folder / f"{digest}{KEPT_SUFFIX}"

    def has(self, kept: Kept) -> bool:
        """Returns whether the bytes of a value are there, whole."""
        try:
            size = self.file_of(kept.digest).stat().st_size
        except OSError:
            return False
        return size == nbytes_of(kept)

    async def keep(self, raw: Raw) -> Kept:
        """Copies an array into the folder, synced; returns its name.

        Args:
            raw: Where it lies, e.g. in the scratch file of a run.

        Raises:
            UpdateNotKeptError: It cannot be read, or the folder not be written.
        """
        return await asyncio.to_thread(self.keep_now, raw)

    def keep_now(self, raw: Raw) -> Kept:
        """As `keep`, on the calling thread."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            digest = self._copy(raw)
        except OSError as error:
            raise UpdateNotKeptError(raw.file, error.strerror or str(error)) from error
        return Kept(digest, raw.shape, raw.dtype)

    def _copy(self, raw: Raw) -> str:
        temporary = self.folder / f".{secrets.token_hex(8)}.tmp"
        hashed = hashlib.sha256()
        left = nbytes_of(raw)
        try:
            with Path(raw.file).open("rb") as source, temporary.open("xb") as copy:
                source.seek(raw.offset)
                while left:
                    block = source.read(min(left, _BLOCK))
                    if not block:
                        raise UpdateNotKeptError(raw.file, f"{left} bytes are missing")
                    hashed.update(block)
                    copy.write(block)
                    left -= len(block)
                copy.flush()
                os.fsync(copy.fileno())
            temporary.replace(self.file_of(hashed.hexdigest()))
            _sync_folder(self.folder)
        finally:
            temporary.unlink(missing_ok=True)
        return hashed.hexdigest()

    async def take_updates(
        self, updates: Node, paths: tuple[TreePath, ...], run: int
    ) -> TakeValues:
        """Keeps updates of a run and returns the edit that takes them.

        Args:
            updates: The run's tree of updates, leaves valued `Raw` or `Literal`.
            paths: Leaves, or branches for all below; empty for all.
            run: Number of the run, for the history.

        Raises:
            NothingToTakeError: The run has no updates.
            UpdateAbsentError: A path is none of them.
            UpdateNotKeptError: Their bytes cannot be read or kept.
        """
        chosen: dict[TreePath, Leaf] = {}
        for path in paths or ((),):
            node = get(updates, path)
            if node is None:
                raise UpdateAbsentError(run, path)
            chosen |= {
                place: leaf
                for place, leaf in walk(node, path)
                if isinstance(leaf.value, Raw | Literal)
            }
        if not chosen:
            raise NothingToTakeError(run)
        values: list[tuple[TreePath, Leaf]] = []
        for path, leaf in chosen.items():
            value = leaf.value
            if isinstance(value, Raw):
                value = await self.keep(value)
            values.append((path, replace(leaf, value=value)))
        count = f"{len(values):,} update{'s' if len(values) > 1 else ''}"
        return TakeValues(tuple(values), f"Take {count} of run {run}")

    def clear_away(self) -> None:
        """Deletes what no session's journal names any more; blocking, for a thread.

        Young files stay: another session may keep them before its journal says so.
        """
        try:
            found = list(self.folder.glob(f"*{KEPT_SUFFIX}"))
            found += self.folder.glob(".*.tmp")
            old = [
                file for file in found if time.time() - file.stat().st_mtime > _SPARED_S
            ]
            needed = self._named() if old else set()
        except OSError:
            return
        for file in old:
            if file.stem not in needed:
                file.unlink(missing_ok=True)

    def _named(self) -> set[str]:
        """Returns every digest that a journal names, those of living sessions too."""
        names: set[str] = set()
        for journal in self._state_dir.glob(_JOURNALS):
            with journal.open("rb") as lines:
                for line in lines:
                    names.update(one.decode() for one in _NAMED.findall(line))
        return names


def nbytes_of(array: Raw | Kept) -> int:
    """Returns the bytes of an array."""
    return math.prod(array.shape) * dtypes.to_numpy(array.dtype).itemsize


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
