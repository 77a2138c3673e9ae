"""What is done with the results of runs: compared, saved, taken into the target.

The reader reads the numbers, the document takes the edit. On the store's loop.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import Protocol

from inspector.engine.messages import document, reading, running
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_export import absolute
from inspector.engine.store_reader import ReaderSupervisor
from inspector.engine.store_run_state import RunRecords
from inspector.engine.store_runs_bounds import brief_difference
from inspector.engine.store_runs_verdict import verdict
from inspector.engine.store_state import StoreState
from inspector.engine.store_target import Target
from inspector.variables.edit import Edit
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree, to_plain
from inspector.variables.tree import Node

_SUFFIXES = (".npz", ".safetensors", ".msgpack")


class TakesUpdates(Protocol):
    """Keeps values for good and makes the edit of them."""

    async def take_updates(
        self, updates: Node, paths: tuple[TreePath, ...], run: int
    ) -> Edit:
        """Returns the edit that takes updates of a run; empty paths mean all."""
        ...


class RunResults:
    """Answers what is asked of finished runs."""

    def __init__(
        self,
        state: StoreState,
        reader: ReaderSupervisor,
        target: Target,
        kept: TakesUpdates,
    ) -> None:
        """Takes its collaborators."""
        self._state = state
        self._reader = reader
        self._target = target
        self._kept = kept

    @property
    def _runs(self) -> RunRecords:
        return self._state.runs

    async def compare(
        self, body: running.CompareRuns, progress: OnProgress
    ) -> running.RunDifference:
        """Compares the outputs of two runs; `RunDifference` answers.

        Raises:
            EditError: A run, or its values, are gone.
            RemoteError: The values cannot be read.
        """
        a, b = self._runs.get(body.a), self._runs.get(body.b)
        first, second = to_plain(a.tree("outputs")), to_plain(b.tree("outputs"))
        found = await self._compare(first, second, progress)
        if a.report is not None and b.report is not None:
            found = replace(found, text=verdict(a.report, b.report, found, first))
        return brief_difference(found)

    async def compare_updates(
        self, body: running.CompareUpdates, progress: OnProgress
    ) -> running.RunDifference:
        """Compares updates with what was there before; `RunDifference` answers.

        Raises:
            EditError: The run, or its values, are gone, or it updated nothing.
            RemoteError: The values cannot be read.
        """
        kept = self._runs.get(body.run)
        updates = to_plain(kept.tree("updates"))
        found = await self._compare(kept.before, updates, progress)
        return brief_difference(found)

    async def _compare(
        self, first: PlainTree, second: PlainTree, progress: OnProgress
    ) -> running.RunDifference:
        reply = await self._reader.ask(reading.CompareTrees(first, second), progress)
        assert isinstance(reply, running.RunDifference)
        return reply

    async def save(self, body: running.SaveRun, progress: OnProgress) -> object:
        """Writes the outputs of a run to a file; `reading.Exported` answers.

        Raises:
            EditError: The run, or its values, are gone.
            RemoteError: The file cannot be written.
        """
        tree = to_plain(self._runs.get(body.run).tree("outputs"))
        known = PurePath(body.out).suffix.lower() in _SUFFIXES
        return await self._reader.ask(
            reading.WriteExport(
                tree,
                str(absolute(body.out, body.cwd)),
                "" if known else "npz",
                sources=tuple(info.path for info in self._state.infos()),
            ),
            progress,
        )

    async def take(self, body: running.TakeUpdates) -> document.Changes:
        """Makes the updates of a run an edit of the target; `Changes` answers.

        Raises:
            EditError: The run, or its values, are gone, or they do not fit the
                target as it stands.
        """
        tree = self._runs.get(body.run).tree("updates")
        edit = await self._kept.take_updates(tree, body.paths, body.run)
        changes = await self._target.apply(lambda _: edit)
        self._runs.take(body.run, edit)
        return changes
