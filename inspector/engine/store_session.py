"""One session of the store: its collaborators, and who answers which message.

Made when the window or a verb sends `Begin`; ended when its owner is gone.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from inspector.document.journal import Journal
from inspector.engine.client import EngineClient
from inspector.engine.launch import clean_environment, engine_command
from inspector.engine.messages import document, module, viewing
from inspector.engine.store_engines import Notify, OnProgress, StartEngine
from inspector.engine.store_export import Exporter
from inspector.engine.store_initial import InitialValues
from inspector.engine.store_journal import SessionJournal
from inspector.engine.store_kept import KeptValues
from inspector.engine.store_kept_files import KeptFiles
from inspector.engine.store_model import ModelSupervisor
from inspector.engine.store_numbers import LeafReader
from inspector.engine.store_plans import Plans
from inspector.engine.store_reader import ReaderSupervisor
from inspector.engine.store_recipes import Recipes
from inspector.engine.store_run_desk import Colleagues, RunDesk
from inspector.engine.store_sources import Sources
from inspector.engine.store_state import StoreState
from inspector.engine.store_target import Target
from inspector.engine.store_viewing import ViewWorkers
from inspector.engine.store_watch import ModuleWatch
from inspector.errors import ErrorInfo, SessionError

Answer = Callable[[Any, OnProgress], Awaitable[object]]
"""Answers one class of message."""


class Session:
    """The session of one window or verb.

    Attributes:
        handlers: Class of message -> who answers it.
    """

    def __init__(
        self, body: document.Begin, notify: Notify, journal: Journal | None
    ) -> None:
        """Makes the collaborators; no engine runs yet.

        Args:
            body: What the owner said of the session.
            notify: Sends an event to the owner.
            journal: Journal of the session; None for a private one.
        """
        self._notify = notify
        self._state_dir = Path(body.state_dir)
        self._scratch = _make_scratch(self._state_dir)
        self._keep = True
        self._state = StoreState()
        self._state.python = body.python
        self._journal = SessionJournal(journal, notify)
        self._workers = ViewWorkers(self._state)
        self._reader = ReaderSupervisor(_starter("reader", ""), notify)
        self._model = ModelSupervisor(partial(_starter, "model"), notify, body.python)
        self._sources = Sources(self._state, self._reader, self._workers, self._journal)
        self._watch = ModuleWatch(notify)
        self._target = Target(
            self._state, self._model, self._journal, self._workers, watch=self._watch
        )
        self._initial = InitialValues(self._state, self._model, self._scratch)
        self._state.initial = self._initial.table
        self._exporter = Exporter(
            self._state,
            self._sources,
            self._target,
            self._reader,
            self._initial,
            workers=self._workers,
        )
        self._plans = Plans(self._state, self._workers)
        self._numbers = LeafReader(self._state, self._reader, self._initial)
        self._kept = KeptValues(self._state_dir)
        self._state.kept_folder = str(self._kept.folder)
        self._recipes = Recipes(
            self._state,
            self._sources,
            self._journal,
            KeptFiles(self._kept, self._reader),
            state_dir=self._state_dir,
        )
        self._desk = RunDesk(
            Colleagues(
                self._state,
                self._sources,
                self._reader,
                self._model,
                self._initial,
                self._target,
                self._workers,
                self._kept,
                self._scratch,
            )
        )
        self.handlers: Mapping[type, Answer] = self._queries() | self._edits()

    @classmethod
    async def begin(cls, body: document.Begin, notify: Notify) -> Session:
        """Begins a session.

        Raises:
            SessionError: The state folder cannot be written.
        """
        journal = None if body.private else Journal.create(Path(body.state_dir))
        session = cls(body, notify, journal)
        # Whatever comes first wants it: it starts while nobody waits yet.
        session._reader.warm()
        if not body.private:
            loop = asyncio.get_running_loop()
            loop.run_in_executor(None, session._kept.clear_away)
        return session

    def _queries(self) -> dict[type, Answer]:
        """Who answers what changes nothing."""
        made: dict[type, Answer] = {
            document.Begin: self._info,
            document.AskDocument: self._info,
            document.AskModule: self._module,
            document.RecheckSources: lambda *_: self._sources.recheck(),
            document.AskSessions: lambda *_: self._recipes.sessions(),
            document.DiscardSession: lambda body, _: self._recipes.discard(body),
            document.SaveRecipe: lambda body, _: self._recipes.save(body),
            document.Export: self._exporter.export,
            document.StopModel: self._stop,
            document.End: self._end,
            module.ListModules: self._list_modules,
            viewing.AskChildren: lambda body, _: self._workers.children(body),
            viewing.Locate: lambda body, _: self._workers.locate(body),
            viewing.Search: lambda body, _: self._workers.search(body),
            viewing.Describe: lambda body, _: self._workers.describe(body),
            viewing.AskListing: lambda body, _: self._workers.listing(body),
            viewing.ReadStatistics: self._numbers.statistics,
            viewing.ReadNumbers: self._numbers.numbers,
            viewing.ReadPicture: self._numbers.picture,
            viewing.MakePlan: lambda body, _: self._plans.make(body),
            viewing.AskPlanRows: lambda body, _: self._plans.rows(body),
            viewing.AskPlanMarks: lambda body, _: self._plans.marks(body),
        }
        return made | self._desk.queries()

    def _edits(self) -> dict[type, Answer]:
        """Who answers what changes the document; everybody is told of it."""
        target = self._target
        made: dict[type, Answer] = {
            document.CloseSource: lambda body, _: self._sources.close(body),
            document.AcceptSource: self._sources.accept,
            document.LoadTarget: target.load,
            document.LoadRecorded: lambda _, progress: target.load_recorded(progress),
            document.CopyTarget: lambda body, _: target.copy(body),
            document.SetSeed: lambda body, _: target.set_seed(body),
            document.Undo: lambda *_: target.undo(),
            document.Redo: lambda *_: target.redo(),
            document.GoTo: lambda body, _: target.go_to(body),
            document.OpenRecipe: self._unwatched(self._recipes.open),
            document.RestoreSession: self._unwatched(self._recipes.restore),
            viewing.ApplyPlan: lambda body, _: target.apply(self._plans.decision(body)),
        }
        for kind in (
            document.RenameNode,
            document.DeleteNodes,
            document.CastNodes,
            document.FillNodes,
            document.TypeNumbers,
        ):
            made[kind] = lambda body, _: target.edit(body)
        made |= self._desk.edits()
        told = {kind: self._telling(answer) for kind, answer in made.items()}
        return told | {document.OpenSource: self._open}

    def _telling(self, answer: Answer) -> Answer:
        async def told(body: object, progress: OnProgress) -> object:
            changes = await answer(body, progress)
            self._notify(changes)
            return changes

        return told

    def _unwatched(self, answer: Answer) -> Answer:
        """A document that is taken up has a module that nobody has loaded yet."""

        async def taken(body: object, progress: OnProgress) -> object:
            changes = await answer(body, progress)
            await self._watch.watch(())
            return changes

        return taken

    async def _open(self, body: document.OpenSource, progress: OnProgress) -> object:
        info, changes = await self._sources.open(body, progress)
        self._notify(changes)
        return info

    async def _info(self, _body: object, _progress: OnProgress) -> object:
        return self._state.document_info()

    async def _module(self, _body: object, _progress: OnProgress) -> object:
        return self._state.module_spec()

    async def _list_modules(
        self, body: module.ListModules, progress: OnProgress
    ) -> object:
        if body.python:
            await self._model.use_python(body.python)
            self._state.python = body.python
        return await self._model.ask(body, progress)

    async def _stop(self, _body: object, _progress: OnProgress) -> None:
        self._desk.stop()

    async def _end(self, _body: object, _progress: OnProgress) -> None:
        self._keep = not self._state.is_saved()

    async def close(self) -> None:
        """Ends the session: what its owner did not end is offered again."""
        self._watch.close()
        self._desk.close()
        self._workers.close()
        await self._model.close()
        await self._reader.close()
        self._journal.close(keep=self._keep)
        shutil.rmtree(self._scratch, ignore_errors=True)


def _starter(name: str, python: str) -> StartEngine:
    """Returns what starts an engine; ours keeps our environment."""

    def start(
        on_event: Callable[[object], None], on_closed: Callable[[ErrorInfo], None]
    ) -> EngineClient:
        return EngineClient(
            engine_command(name, python or None),
            name=name,
            env=clean_environment() if python else None,
            on_event=on_event,
            on_closed=on_closed,
        )

    return start


_SCRATCH = "scratch-"


class MakeStateFolderError(SessionError):
    """The state folder cannot be made or written."""

    def __init__(self, state_dir: Path, error: OSError) -> None:
        """Names the folder and what the system said."""
        super().__init__(
            f"The state folder cannot be used: {error.strerror or error}",
            where=str(state_dir),
            hint="Choose another one with --state-dir or FLAX_INSPECTOR_STATE.",
        )


def _make_scratch(state_dir: Path) -> Path:
    """Makes the session's scratch folder and clears those of dead owners away.

    Raises:
        MakeStateFolderError: The state folder cannot be made or written.
    """
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        for folder in state_dir.glob(f"{_SCRATCH}*"):
            pid = folder.name.removeprefix(_SCRATCH).partition("-")[0]
            if pid.isdigit() and not _lives(int(pid)):
                shutil.rmtree(folder, ignore_errors=True)
        return Path(tempfile.mkdtemp(prefix=f"{_SCRATCH}{os.getpid()}-", dir=state_dir))
    except OSError as error:
        raise MakeStateFolderError(state_dir, error) from error


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
