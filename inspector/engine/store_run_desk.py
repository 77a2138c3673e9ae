"""Everything of a session that has to do with calls and runs, put together.

Made once for a session, on the store's loop; says who answers which message, and
what Stop means.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.engine.messages import calling, document, inspecting, running
from inspector.engine.messages.module import LoadModule
from inspector.engine.store_calls import Calls
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_initial import InitialValues
from inspector.engine.store_layout import Layouts
from inspector.engine.store_model import ModelSupervisor
from inspector.engine.store_reader import ReaderSupervisor
from inspector.engine.store_run_state import RunRecords
from inspector.engine.store_runs import Runs
from inspector.engine.store_runs_results import RunResults, TakesUpdates
from inspector.engine.store_sources import Sources
from inspector.engine.store_state import StoreState
from inspector.engine.store_target import Target
from inspector.engine.store_verify import Verifier
from inspector.engine.store_viewing import ViewWorkers
from inspector.errors import CancelledError, InspectorError

Answer = Callable[[Any, OnProgress], Awaitable[object]]
"""Answers one class of message."""


@dataclass(frozen=True, slots=True)
class Colleagues:
    """Who else works for the session.

    Attributes:
        state: Its state.
        sources: Its sources.
        reader: The reader.
        model: The model.
        initial: Initial values.
        target: The target.
        workers: Threads for long walks.
        kept: Values that outlive the session.
        scratch: Folder for what does not.
    """

    state: StoreState
    sources: Sources
    reader: ReaderSupervisor
    model: ModelSupervisor
    initial: InitialValues
    target: Target
    workers: ViewWorkers
    kept: TakesUpdates
    scratch: Path


class RunDesk:
    """Answers about calls and runs, and stops them."""

    def __init__(self, who: Colleagues) -> None:
        """Makes what is needed; asks no engine anything."""
        self._state = who.state
        self._model = who.model
        self._state.runs = RunRecords(who.scratch)
        self._target = who.target
        layouts = Layouts(
            who.state,
            who.sources,
            who.reader,
            who.initial,
            workers=who.workers,
            scratch=who.scratch,
        )
        self._calls = Calls(who.state, who.model, who.reader, who.scratch)
        self._runs = Runs(who.state, who.target, who.model, layouts, self._calls)
        self._results = RunResults(who.state, who.reader, who.target, who.kept)
        self._verifier = Verifier(who.state, self._runs, layouts, self._calls)
        self._again: asyncio.Task[None] | None = None
        self._is_closed = False
        who.model.on_cancelled = self._bring_back

    def queries(self) -> dict[type, Answer]:
        """Who answers what changes nothing."""
        return {
            calling.AskCallForm: self._calls.form,
            calling.AskDevices: self._calls.devices,
            calling.ProposeInputs: self._calls.propose,
            running.AskCode: self._calls.code,
            running.Run: self._runs.run,
            running.AskRuns: lambda *_: self._runs.listing(),
            running.CompareRuns: self._results.compare,
            running.CompareUpdates: self._results.compare_updates,
            running.SaveRun: self._results.save,
            inspecting.Record: self._runs.record,
            inspecting.RunSubmodule: self._runs.submodule,
            inspecting.FindBad: self._runs.find_bad,
            inspecting.Verify: self._verifier.verify,
        }

    def edits(self) -> dict[type, Answer]:
        """Who answers what changes the document."""
        return {
            running.TakeUpdates: lambda body, _: self._results.take(body),
            document.ReloadModule: lambda _, progress: self._target.load_recorded(
                progress
            ),
        }

    def stop(self) -> None:
        """Ends the model and every run; the module is loaded again at once.

        Not so when its import may be what hung: then nothing but the person's next
        wish brings it back.
        """
        hung = self._model.may_hang()
        self._runs.stop()
        self._model.stop()
        if not hung:
            self._bring_back()

    def _bring_back(self) -> None:
        """Loads the module in the process that takes over, if that is safe."""
        if self._is_closed or not self._state.module_loaded or self._model.may_hang():
            return
        self._again = asyncio.create_task(self._load_again())

    async def _load_again(self) -> None:
        # Nobody waits for it: whoever needs the module is told what is wrong.
        with suppress(InspectorError, CancelledError):
            await self._model.ask(LoadModule(self._state.module_spec()))

    def close(self) -> None:
        """Ends what nobody waits for."""
        self._is_closed = True
        if self._again is not None:
            self._again.cancel()
