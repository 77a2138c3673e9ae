"""Export of the target: initial values first, then the reader writes.

The store never writes the file itself; it says what each leaf is and lets the reader
stream it, so a full disk or a kill costs the reader alone.
"""

from __future__ import annotations

import os
from pathlib import Path

from inspector.engine.messages import document, reading
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_initial import InitialValues
from inspector.engine.store_reader import ReaderSupervisor
from inspector.engine.store_sources import Sources
from inspector.engine.store_state import StoreState, TargetReplacedError
from inspector.engine.store_target import Target
from inspector.engine.store_values import resolve_tree
from inspector.engine.store_viewing import ViewWorkers
from inspector.errors import WriteFileError
from inspector.variables.path import TreePath
from inspector.variables.plain import to_plain
from inspector.variables.tree import Node, walk
from inspector.variables.value import Initial, innermost


class ExportNoTargetError(WriteFileError):
    """There is no target to write."""

    def __init__(self) -> None:
        """Says what to do."""
        super().__init__(
            "There is nothing to export yet",
            hint="Load a module, or make an editable copy of a checkpoint.",
        )


class ExportChangedSourceError(WriteFileError):
    """A source changed on disk since it was opened."""

    def __init__(self, name: str, what: str) -> None:
        """Names the source and what changed."""
        super().__init__(
            f"The files of {name} have changed since it was opened: {what}",
            where=name,
            hint="Use the files as they are now, or bring the old ones back.",
        )


class Exporter:
    """Writes the target to a file."""

    def __init__(
        self,
        state: StoreState,
        sources: Sources,
        target: Target,
        reader: ReaderSupervisor,
        initial: InitialValues,
        *,
        workers: ViewWorkers,
    ) -> None:
        """Takes its collaborators."""
        self._state = state
        self._workers = workers
        self._sources = sources
        self._target = target
        self._reader = reader
        self._initial = initial

    async def export(self, body: document.Export, progress: OnProgress) -> object:
        """Writes the target; `reading.Exported` answers.

        Raises:
            ExportNoTargetError: There is no target.
            ExportChangedSourceError: A source changed and nobody agreed to that.
            ModuleNotImportedError: See `document.Export.run`.
            TargetReplacedError: The base or a seed changed before it was written.
            RemoteError: The reader refused or could not write.
        """
        # What is written is the target as it is now, whatever is edited meanwhile;
        # a source that it needs may even be closed after an undo.
        target, base = self._state.target(), self._state.document.base
        locators = self._state.locators()
        if not target.children:
            raise ExportNoTargetError
        await self._sources.recheck()
        if not body.changed:
            for info in self._state.infos():
                if info.changed:
                    raise ExportChangedSourceError(info.name, info.changed)
        needed = await self._workers.run(lambda: _initial_paths(target))
        if body.run and needed:
            await self._target.import_unchanged(progress)
        if needed and self._state.document.base is not base:
            raise TargetReplacedError
        await self._initial.ensure(needed, progress)
        table = dict(self._initial.table)
        plain = await self._workers.run(
            lambda: to_plain(resolve_tree(target, locators, table))
        )
        return await self._reader.ask(
            reading.WriteExport(
                plain,
                str(absolute(body.out, body.cwd)),
                body.format,
                lossy=body.lossy,
                overwrite=body.overwrite,
                sources=tuple(info.path for info in self._state.infos()),
            ),
            progress,
        )


def _initial_paths(target: Node) -> list[TreePath]:
    """Returns the paths, in the base's tree, of the initial values in a target."""
    return [
        inner.path
        for _, leaf in walk(target)
        if isinstance(inner := innermost(leaf.value), Initial)
    ]


def absolute(path: str, cwd: str) -> Path:
    """Returns an absolute path of what a person gave, ``~`` expanded.

    As in a shell, ``~NAME`` stays what it is when nobody has that name, where
    `Path.expanduser` would raise.
    """
    expanded = os.path.expanduser(path)  # noqa: PTH111 - see above
    return Path(cwd or Path.cwd(), expanded).absolute()
