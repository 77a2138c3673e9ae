"""The target: which module or copy it is, and every edit of it.

Loading a module is asked of the model; edits are decided here, made by the document
and journaled before they are answered.
"""

from __future__ import annotations

from dataclasses import replace

from inspector.document.base import Base, CheckpointBase, ModuleBase, base_to_json
from inspector.document.change import NEW_TARGET, DocumentChange
from inspector.document.rebase import RebaseReport
from inspector.engine.messages import document as messages
from inspector.engine.messages.module import LoadModule, ModuleLoaded, ModuleSpec
from inspector.engine.store_edits import make_edit
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_journal import SessionJournal
from inspector.engine.store_model import ModelSupervisor
from inspector.engine.store_state import NoModuleError, StoreState
from inspector.errors import RecipeError
from inspector.variables.edit import Edit
from inspector.variables.edit_json import edit_to_json

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
        self, state: StoreState, model: ModelSupervisor, journal: SessionJournal
    ) -> None:
        """Takes its collaborators."""
        self._state = state
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
        if body.keep and isinstance(self._state.document.base, ModuleBase):
            return await self._rebase(base, notes)
        return await self._begin(base, notes)

    async def load_recorded(self, progress: OnProgress) -> messages.Changes:
        """Imports the module that an opened recipe recorded."""
        base, notes = await self._trace(self._state.module_spec(), progress)
        return await self._rebase(base, notes)

    async def import_unchanged(self, progress: OnProgress) -> None:
        """Imports the recorded module for its initial values alone.

        Raises:
            ModuleChangedError: It gives another tree now.
            RemoteError: It cannot be loaded.
        """
        if self._state.module_loaded:
            return
        base, _ = await self._trace(self._state.module_spec(), progress)
        report = self._state.document.preview_rebase(base)
        if report.leaves:
            raise ModuleChangedError(self._state.module_file(), report)
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
        return await self.apply(make_edit(body, self._state.target()))

    async def apply(self, edit: Edit) -> messages.Changes:
        """Makes an edit, journals it, and says what changed."""
        change = self._state.document.apply(edit)
        await self._journal.record({"op": "edit", "edit": edit_to_json(edit)})
        return self._state.changes(change)

    async def undo(self) -> messages.Changes:
        """Takes the last edit back."""
        return await self._moved(self._state.document.undo(), {"op": "undo"})

    async def redo(self) -> messages.Changes:
        """Does the last undone edit again."""
        return await self._moved(self._state.document.redo(), {"op": "redo"})

    async def go_to(self, body: messages.GoTo) -> messages.Changes:
        """Goes to a state of the history."""
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
        return _base(spec, loaded), loaded.notes

    async def _begin(self, base: Base, notes: tuple[str, ...] = ()) -> messages.Changes:
        change = self._state.document.set_base(base)
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
        await self._journal.record(
            {
                "op": operation,
                "base": base_to_json(base),
                "title": self._state.title(),
            }
        )


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
