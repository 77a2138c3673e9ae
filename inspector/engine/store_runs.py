"""Conducts forward passes: variables laid out, the model asked, results kept.

A run is of the target as it stands when it is asked for, whatever is edited
meanwhile. On the store's loop; reader and model do the work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from inspector.engine.messages import inspecting, running
from inspector.engine.messages.calling import Call
from inspector.engine.store_calls import Calls, RunNotImportedError
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_layout import LaidOutTree, Layouts
from inspector.engine.store_model import ModelSupervisor
from inspector.engine.store_run_remarks import discarded
from inspector.engine.store_run_state import Kept, RunValuesGoneError
from inspector.engine.store_runs_bounds import (
    ROOM,
    brief_bad,
    brief_calls,
    brief_remarks,
    brief_report,
)
from inspector.engine.store_state import StoreState
from inspector.engine.store_target import Target
from inspector.errors import RemoteError
from inspector.variables.leaf import Leaf
from inspector.variables.plain import PlainTree, from_plain
from inspector.variables.tree import Branch, get

NOT_HELD = "VariablesNotHeldError"
"""Kind of the error with which the model asks for variables."""

_T = TypeVar("_T")


class Prepared(NamedTuple):
    """What is known of a run before the model is asked.

    Attributes:
        request: What the model is asked, without the variables.
        variables: The variables.
        target: The target as it was.
        revision: Revision of the document as it was.
    """

    request: running.RunModule
    variables: LaidOutTree
    target: Branch
    revision: int


class Runs:
    """Answers the requests that run the target's module."""

    def __init__(
        self,
        state: StoreState,
        target: Target,
        model: ModelSupervisor,
        layouts: Layouts,
        calls: Calls,
    ) -> None:
        """Takes its collaborators."""
        self._state = state
        self._target = target
        self._model = model
        self._layouts = layouts
        self._calls = calls
        self._tasks: set[asyncio.Task[object]] = set()

    def stop(self) -> None:
        """Cancels every run, whatever stage it is in."""
        for task in self._tasks:
            task.cancel()

    async def conducted(self, work: Awaitable[_T]) -> _T:
        """Waits for work that `stop` may cancel."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        try:
            return await task
        finally:
            self._tasks.discard(task)
            task.cancel()

    async def run(self, body: running.Run, progress: OnProgress) -> running.RunReport:
        """Runs the target's module; `RunReport` answers.

        Raises:
            EditError: The target is no module's.
            ModuleNotImportedError: See `running.Run.fresh`.
            RunChangedSourceError: A source that is read has changed on disk.
            RemoteError: A leaf, a picture, the module or the run failed.
        """
        return await self.conducted(self._run(body, progress))

    async def _run(self, body: running.Run, progress: OnProgress) -> running.RunReport:
        prepared = await self.prepare(body.call, progress, fresh=body.fresh)
        file = self._state.runs.new_file()
        request = replace(prepared.request, out=str(file))
        done = await self._into(file, lambda run: run, request, prepared, progress)
        assert isinstance(done, running.RunDone)
        return await self._report(
            Kept(self._state.runs.next_number(), file), done, prepared
        )

    async def submodule(
        self, body: inspecting.RunSubmodule, progress: OnProgress
    ) -> running.RunReport:
        """Runs one recorded call alone; `RunReport` answers.

        Raises:
            EditError: There is no such recording any more.
            RemoteError: The model failed.
        """
        return await self.conducted(self._submodule(body, progress))

    async def _submodule(
        self, body: inspecting.RunSubmodule, progress: OnProgress
    ) -> running.RunReport:
        recorded = self._state.runs.get(body.run)
        recorded.tree("calls")
        if recorded.request is None or recorded.request.variables is None:
            raise RunValuesGoneError(body.run, "calls")
        file = self._state.runs.new_file()
        tree = recorded.request.variables
        variables = LaidOutTree(tree, recorded.request.stamp)
        request = replace(recorded.request, variables=None, out=str(file))
        prepared = Prepared(request, variables, Branch({}), recorded.revision)

        def wrap(run: running.RunModule) -> object:
            return inspecting.RunCallModule(run, body.index)

        done = await self._into(file, wrap, request, prepared, progress)
        assert isinstance(done, running.RunDone)
        return await self._report(
            Kept(self._state.runs.next_number(), file), done, prepared
        )

    async def record(
        self, body: inspecting.Record, progress: OnProgress
    ) -> inspecting.CallsReport:
        """Runs once more and records every module call; `CallsReport` answers.

        Raises:
            InspectorError: As `run`.
        """
        return await self.conducted(self._record(body, progress))

    async def _record(
        self, body: inspecting.Record, progress: OnProgress
    ) -> inspecting.CallsReport:
        prepared = await self.prepare(body.call, progress, fresh=body.fresh)
        file = self._state.runs.new_file()
        request = replace(prepared.request, out=str(file))
        done = await self._into(
            file, inspecting.RecordModule, request, prepared, progress
        )
        assert isinstance(done, inspecting.CallsDone)
        number = self._state.runs.next_number()
        report = inspecting.CallsReport(
            number,
            brief_calls(done.calls),
            len(done.calls),
            done.seconds,
            brief_remarks(done.remarks, ROOM // 4),
        )
        kept = Kept(
            number,
            file,
            {"calls": from_plain(done.values)},
            calls=report,
            request=replace(request, variables=prepared.variables.tree),
            revision=prepared.revision,
            nbytes=await asyncio.to_thread(_size, file),
        )
        self._state.runs.add(kept)
        return report

    async def find_bad(
        self, body: inspecting.FindBad, progress: OnProgress
    ) -> inspecting.BadReport:
        """Finds what first made a NaN or an Inf; `BadReport` answers.

        Raises:
            InspectorError: As `run`.
        """
        return await self.conducted(self._find_bad(body, progress))

    async def _find_bad(
        self, body: inspecting.FindBad, progress: OnProgress
    ) -> inspecting.BadReport:
        prepared = await self.prepare(body.call, progress, fresh=body.fresh)

        def wrap(run: running.RunModule) -> object:
            return inspecting.FindBadModule(run, body.gradient)

        found = await self.ask(wrap, progress, (prepared.request, prepared.variables))
        assert isinstance(found, inspecting.BadReport)
        return brief_bad(found)

    async def listing(self) -> running.Runs:
        """Answers the runs of this session, newest first."""
        self._state.runs.look_at(self._state.document.history.edits)
        reports = [one.report for one in self._state.runs.newest() if one.report]
        share = ROOM // max(1, len(reports))
        return running.Runs(tuple(brief_report(one, share) for one in reports))

    async def prepare(
        self, call: Call, progress: OnProgress, *, fresh: bool
    ) -> Prepared:
        """Brings together what a run of the target needs.

        Args:
            call: The call.
            progress: Told what is being done.
            fresh: Whether a module of an opened recipe may be imported.

        Raises:
            InspectorError: As `run`.
        """
        await self.imported(progress, fresh=fresh)
        document = self._state.document
        target, revision = document.target, document.revision
        spec = self._state.module_spec()
        variables = await self._layouts.lay_out(target, progress)
        images = await self._calls.images(call, progress)
        request = running.RunModule(
            spec,
            self._state.module_digest,
            call,
            variables.stamp,
            images=images,
        )
        return Prepared(request, variables, target, revision)

    async def imported(self, progress: OnProgress, *, fresh: bool) -> None:
        """Sees to it that the target's module has been imported in this session.

        Raises:
            NoModuleError: The target is no module's.
            RunNotImportedError: It has not, and nobody agreed to it.
            RemoteError: It cannot be loaded.
        """
        self._state.module_spec()
        if self._state.module_loaded:
            return
        if not fresh:
            raise RunNotImportedError(self._state.module_file())
        await self._target.import_unchanged(progress)

    async def ask(
        self,
        wrap: Callable[..., object],
        progress: OnProgress,
        *sides: tuple[running.RunModule, LaidOutTree],
    ) -> object:
        """Asks the model; sends the variables when it does not have them.

        Args:
            wrap: Makes the message of the requests.
            progress: Told what is being done.
            sides: Requests without variables, and the variables of each.

        Raises:
            RemoteError: The model failed.
        """
        try:
            return await self._model.ask(wrap(*(one for one, _ in sides)), progress)
        except RemoteError as error:
            if error.error.kind != NOT_HELD:
                raise
        whole = (replace(one, variables=laid.tree) for one, laid in sides)
        return await self._model.ask(wrap(*whole), progress)

    async def _into(
        self,
        file: Path,
        wrap: Callable[[running.RunModule], object],
        request: running.RunModule,
        prepared: Prepared,
        progress: OnProgress,
    ) -> object:
        """Asks for something that is written to a file, which a failure removes."""
        try:
            return await self.ask(wrap, progress, (request, prepared.variables))
        except BaseException:
            # A model that was ended could not clear away what it had begun.
            file.unlink(missing_ok=True)
            raise

    async def _report(
        self, kept: Kept, done: running.RunDone, prepared: Prepared
    ) -> running.RunReport:
        """Remembers a finished run and returns what is told of it."""
        updates = from_plain(done.updates)
        variables = prepared.variables.short
        self._state.runs.look_at(self._state.document.history.edits)
        stale = discarded(self._state.runs.newest(), variables, prepared.target)
        report = running.RunReport(
            run=kept.number,
            call=prepared.request.call,
            device=done.device,
            signature=done.signature,
            program=done.program,
            run_s=done.run_s,
            transfer_s=done.transfer_s,
            revision=prepared.revision,
            variables=variables,
            outputs=len(done.outputs.leaves),
            updates=len(done.updates.leaves),
            rngs=done.rngs,
            seeds=done.seeds,
            mutable=done.mutable,
            remarks=(*done.remarks, *stale),
            device_peak=done.device_peak,
            precision=done.precision,
        )
        kept.report = report = brief_report(report)
        kept.revision = prepared.revision
        kept.trees["outputs"] = from_plain(done.outputs)
        if done.updates.leaves:
            kept.trees["updates"] = updates
            kept.before = await self._before(prepared, done.updates)
        kept.nbytes = await asyncio.to_thread(_size, kept.file)
        self._state.runs.add(kept)
        return report

    async def _before(self, prepared: Prepared, updates: PlainTree) -> PlainTree:
        """Returns the leaves that a run updated as they were when it ran."""
        leaves = tuple(
            (path, leaf)
            for path, _ in updates.leaves
            if isinstance(leaf := get(prepared.target, path), Leaf)
        )
        return await self._layouts.resolved(PlainTree(leaves))


def _size(file: Path) -> int:
    """Returns the bytes of a file; 0 when it was not needed."""
    return file.stat().st_size if file.exists() else 0
