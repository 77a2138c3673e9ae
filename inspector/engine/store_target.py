"""The target: which module or copy it is, and every edit of it.

Loading a module is asked of the model; edits are decided here, made by the document
and journaled before they are answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from inspector.document.base import (
    Base,
    CheckpointBase,
    ModuleBase,
    base_to_json,
    module_tree,
)
from inspector.document.change import NEW_TARGET, DocumentChange
from inspector.document.document import Document
from inspector.document.rebase import RebaseReport
from inspector.engine.messages import document as messages
from inspector.engine.messages.module import LoadModule, ModuleLoaded, ModuleSpec
from inspector.engine.store_edits import make_edit
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_journal import SessionJournal
from inspector.engine.store_model import ModelSupervisor
from inspector.engine.store_state import (
    NoModuleError,
    StoreState,
    TargetReplacedError,
)
from inspector.engine.store_viewing import ViewWorkers
from inspector.engine.store_watch import ModuleWatch
from inspector.errors import RecipeError
from inspector.variables.edit import Edit
from inspector.variables.edit_json import edit_to_json
from inspector.variables.tree import Branch, totals_of

_LISTED = 12


class ModuleChangedError(RecipeError):
    """A recorded module gives another tree now."""

    def __init__(self, file: str, report: RebaseReport) -> None:
        """Names the file and the first leaves that differ."""
        sentences = report.sentences()
        shown = "; ".join(sentences[:_LISTED])
        more = f"; and {len(sentences) - _LISTED} more" if sentences[_LISTED:] else ""
        super().__init__(
            f"The module gives another tree than when the recipe was saved: {shown}"
            f"{more}",
            where=file,
            hint="Load the module again to see what still fits, or bring the old "
            "file back.",
        )


class Target:
    """Makes the target and edits it."""

    def __init__(
        self,
        state: StoreState,
        model: ModelSupervisor,
        journal: SessionJournal,
        workers: ViewWorkers,
        *,
        watch: ModuleWatch | None = None,
    ) -> None:
        """Takes its collaborators; without a watch no file is looked at."""
        self._state = state
        self._watch = watch
        self._workers = workers
        self._turn = asyncio.Lock()
        self._model = model
        self._journal = journal

    async def load(
        self, body: messages.LoadTarget, progress: OnProgress
    ) -> messages.Changes:
        """Makes a module's variable tree the target.

        Raises:
            RemoteError: The module cannot be imported, constructed or traced.
        """
        if body.python:
            await self._model.use_python(body.python)
            self._state.python = body.python
        base, notes = await self._trace(body.module, progress)
        self._state.loaded(base, body.module, base.file_digest)
        if body.keep and isinstance(self._state.document.base, ModuleBase):
            return await self._rebase(base, notes)
        return await self._begin(base, notes)

    async def load_recorded(self, progress: OnProgress) -> messages.Changes:
        """Imports the recorded module, again where that was done already.

        Edits that still fit are kept; the notes name the others.

        Raises:
            TargetReplacedError: The target became another one meanwhile.
            RemoteError: It cannot be loaded.
        """
        spec = self._state.module_spec()
        base, notes = await self._trace_recorded(progress)
        self._state.loaded(base, spec, base.file_digest)
        return await self._rebase(base, notes)

    async def import_unchanged(self, progress: OnProgress) -> None:
        """Imports the recorded module for its initial values alone.

        Raises:
            ModuleChangedError: It gives another tree now.
            RemoteError: It cannot be loaded.
        """
        if self._state.module_loaded:
            return
        base, _ = await self._trace_recorded(progress)
        report = self._state.document.preview_rebase(base)
        if report.leaves:
            raise ModuleChangedError(self._state.module_file(), report)
        recorded, spec = self._state.document.base, self._state.module_spec()
        self._state.loaded(recorded, spec, base.file_digest)
        self._state.module_loaded = True

    async def copy(self, body: messages.CopyTarget) -> messages.Changes:
        """Makes an editable copy of a source the target."""
        self._state.tree(body.source)
        return await self._begin(CheckpointBase(body.source))

    async def set_seed(self, body: messages.SetSeed) -> messages.Changes:
        """Sets the seed of an rng stream."""
        base = self._state.document.base
        if not isinstance(base, ModuleBase):
            raise NoModuleError
        seeds = dict(base.rngs) | {body.stream: body.seed}
        change = self._state.document.set_seeds(tuple(seeds.items()))
        seeds_json = [list(pair) for pair in seeds.items()]
        await self._journal.record({"op": "seeds", "seeds": seeds_json})
        return self._state.changes(change)

    async def edit(self, body: object) -> messages.Changes:
        """Makes the edit that a message asks for.

        Raises:
            EditError: It does not fit the target.
        """
        return await self.apply(lambda target: make_edit(body, target))

    async def apply(self, decide: Callable[[Branch], Edit]) -> messages.Changes:
        """Makes an edit, journals it, and says what changed.

        An edit of 100,000 leaves is worked out beside the loop, one edit at a time
        in the order they came, for the next is of what this one makes.

        Args:
            decide: Returns the edit for the target as it stands; runs on a worker.

        Raises:
            EditError: It does not fit the target.
            TransferError: A pair fits source or target no longer.
        """
        async with self._turn:
            edit, change = await self._make(decide)
        await self._journal.record(lambda: {"op": "edit", "edit": edit_to_json(edit)})
        return self._state.changes(change)

    async def _make(
        self, decide: Callable[[Branch], Edit]
    ) -> tuple[Edit, DocumentChange]:
        while True:
            document, target = self._state.document, self._state.target()

            def work(
                document: Document = document, target: Branch = target
            ) -> tuple[Edit, Branch]:
                edit = decide(target)
                after = document.preview(edit, target)
                # Summed here, beside the loop, and kept by the branches.
                totals_of(after)
                return edit, after

            edit, after = await self._workers.run(work)
            # A recipe, a session or files read again may have changed it meanwhile.
            if self._state.document is document and document.target is target:
                return edit, document.push(edit, after)

    async def undo(self) -> messages.Changes:
        """Takes the last edit back."""
        async with self._turn:
            change = self._state.document.undo()
        return await self._moved(change, {"op": "undo"})

    async def redo(self) -> messages.Changes:
        """Does the last undone edit again."""
        async with self._turn:
            change = self._state.document.redo()
        return await self._moved(change, {"op": "redo"})

    async def go_to(self, body: messages.GoTo) -> messages.Changes:
        """Goes to a state of the history."""
        async with self._turn:
            change = self._state.document.go_to(body.position)
        return await self._moved(change, {"op": "goto", "position": body.position})

    async def _moved(
        self, change: DocumentChange, operation: dict[str, object]
    ) -> messages.Changes:
        await self._journal.record(operation)
        return self._state.changes(change)

    async def _trace(
        self, spec: ModuleSpec, progress: OnProgress
    ) -> tuple[ModuleBase, tuple[str, ...]]:
        """Loads a module; returns its base and what the model says of it."""
        loaded = await self._model.ask(LoadModule(spec), progress)
        assert isinstance(loaded, ModuleLoaded)
        if self._watch is not None:
            await self._watch.watch(filter(None, (loaded.file, *loaded.files)))
        return _base(spec, loaded), loaded.notes

    async def _trace_recorded(
        self, progress: OnProgress
    ) -> tuple[ModuleBase, tuple[str, ...]]:
        """Loads the module of the target again.

        Raises:
            TargetReplacedError: The target became another one meanwhile.
        """
        recorded = self._state.document.base
        loaded = await self._trace(self._state.module_spec(), progress)
        if self._state.document.base is not recorded:
            raise TargetReplacedError
        return loaded

    async def _begin(self, base: Base, notes: tuple[str, ...] = ()) -> messages.Changes:
        async with self._turn:
            tree = None
            if isinstance(base, ModuleBase):
                tree = await self._workers.run(lambda: _summed(base))
            elif self._watch is not None:
                await self._watch.watch(())
            change = self._state.document.set_base(base, tree)
        self._state.module_loaded = isinstance(base, ModuleBase)
        await self._record_base("base", base)
        return self._state.changes(replace(change, notes=notes))

    async def _rebase(
        self, base: ModuleBase, notes: tuple[str, ...]
    ) -> messages.Changes:
        report = self._state.document.rebase(base)
        self._state.module_loaded = True
        await self._record_base("rebase", base)
        text = f"Load {base.name}, {report.kept} edits kept"
        return self._state.changes(
            DocumentChange(NEW_TARGET, text=text, notes=(*report.sentences(), *notes))
        )

    async def _record_base(self, operation: str, base: Base) -> None:
        title = self._state.title()
        await self._journal.record(
            lambda: {"op": operation, "base": base_to_json(base), "title": title}
        )


def _summed(base: ModuleBase) -> Branch:
    """Returns the tree that a module begins with, its sums made."""
    tree = module_tree(base)
    totals_of(tree)
    return tree


def _base(spec: ModuleSpec, loaded: ModuleLoaded) -> ModuleBase:
    """Records a loaded module as the base of a document."""
    seeds = dict.fromkeys(loaded.streams, 0) | dict(spec.seeds)
    # The spec that the model resolved is recorded: replay starts from any folder.
    return ModuleBase(
        loaded.spec,
        loaded.file,
        loaded.digest,
        spec.kwargs,
        spec.inputs,
        spec.method,
        spec.statics,
        tuple(seeds.items()),
        dict(loaded.versions).get("python", ""),
        loaded.versions,
        loaded.flags,
        loaded.name,
        spec.cwd,
        loaded.tree,
    )
