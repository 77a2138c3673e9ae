"""The document: sources, base, history, and the target that they give.

The one place that knows what the target is. Lives on the store's state thread;
pure Python without I/O: files are read by the reader, saved by `recipe`, and
operations are logged by `journal`, all driven by the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from inspector.document.base import (
    Base,
    CheckpointBase,
    ModuleBase,
    NoBase,
    as_branch,
    module_tree,
)
from inspector.document.change import NEW_TARGET, Change, DocumentChange
from inspector.document.history import History
from inspector.document.rebase import RebaseReport, changed_leaves, replay_what_fits
from inspector.document.recipe import Recipe, SourceEntry
from inspector.document.sources import Source, Sources, check_pair
from inspector.errors import EditError, InspectorError, RecipeError, TransferError
from inspector.variables.apply import apply_edit
from inspector.variables.edit import (
    Delete,
    Edit,
    Rename,
    TakeValues,
    Transfer,
    describe,
    touched,
)
from inspector.variables.path import TreePath
from inspector.variables.tree import EMPTY, Branch, Node


class Document:
    """One recipe, one target, one history.

    Attributes:
        base: Where the target begins.
        sources: The open checkpoints.
        history: The edits and the states they gave.
        revision: Counts the changes; equal numbers mean equal documents.
    """

    def __init__(self) -> None:
        """Begins without sources and without a base."""
        self.base: Base = NoBase()
        self.history = History(EMPTY)
        self.revision = 0
        self.sources = Sources()

    @property
    def target(self) -> Branch:
        """The target as it stands; immutable."""
        return self.history.tree

    def add_source(self, entry: SourceEntry, tree: Node | None) -> DocumentChange:
        """Adds an opened checkpoint.

        Args:
            entry: Its id comes from ``sources.new_id()``.
            tree: Its tree, leaves valued ``Stored(entry.id, path)``; None when its
                file cannot be read now.

        Raises:
            RecipeError: The id is taken.
        """
        self.sources.add(Source(entry, tree))
        return self._changed(Change.SOURCES, text=f"Open {entry.name}")

    def replace_source(self, entry: SourceEntry, tree: Node) -> DocumentChange:
        """Takes a source as its files are now; the edits stay.

        Raises:
            TransferError: A leaf that an edit uses is gone or another; nothing is
                changed then.
            RecipeError: There is no such source, or the target is a copy of it
                and its tree changed in a way that the edits do not fit.
        """
        old = self.sources.get(entry.id)
        for edit in self.history.all_edits:
            if isinstance(edit, Transfer) and edit.source == entry.id:
                for pair in edit.pairs:
                    check_pair(pair, tree, entry.name)
        self.sources.replace(Source(entry, tree))
        flags = Change.SOURCES | Change.VALUES
        if self.base == CheckpointBase(entry.id):
            try:
                self._replay(self._base_tree(self.base), self.history.all_edits)
            except InspectorError:
                self.sources.replace(old)
                raise
            flags |= Change.STRUCTURE
        return self._changed(flags, text=f"Read {entry.name} again")

    def remove_source(self, source_id: str) -> DocumentChange:
        """Closes a source.

        Raises:
            EditError: The base or edits use it; the message names them.
        """
        entry = self.sources.get(source_id).entry
        uses = self.uses_of(source_id)
        if uses:
            named = "; ".join(uses[:3]) + ("; …" if len(uses) > 3 else "")  # noqa: PLR2004 - as many as fit a line
            message = f"{entry.name} is in use: {named}"
            hint = "Undo these edits, or choose another target, before closing it."
            raise EditError(message, where=entry.locator, hint=hint)
        self.sources.remove(source_id)
        return self._changed(Change.SOURCES, text=f"Close {entry.name}")

    def uses_of(self, source_id: str) -> tuple[str, ...]:
        """Returns what uses a source, as phrases; undone edits count too."""
        uses = [
            describe(edit)
            for edit in self.history.all_edits
            if isinstance(edit, Transfer) and edit.source == source_id
        ]
        if self.base == CheckpointBase(source_id):
            uses.insert(0, "the target is a copy of it")
        return tuple(uses)

    def set_base(self, base: Base, tree: Branch | None = None) -> DocumentChange:
        """Begins a new target; the edits of the old one are forgotten.

        Args:
            base: Where it begins.
            tree: What `base.module_tree` gives for it, made beforehand where a
                large one would hold up the state thread.

        Raises:
            RecipeError: The source is not open, or its tree is a single leaf.
        """
        if tree is None:
            tree = self._base_tree(base)
        self.base = base
        self.history = History(tree)
        return self._changed(
            NEW_TARGET, text=f"Make {base_name(self, base)} the target"
        )

    def rebase(self, base: Base) -> RebaseReport:
        """Takes another base and keeps the edits that fit it.

        Undone edits are forgotten.

        Returns:
            What came, went and no longer fits, leaf by leaf.

        Raises:
            RecipeError: As `set_base`.
        """
        report, history = self._rebased(base)
        self.base = base
        self.history = history
        self._changed(NEW_TARGET)
        return report

    def preview_rebase(self, base: Base) -> RebaseReport:
        """Returns what `rebase` would report, without doing it."""
        return self._rebased(base)[0]

    def _rebased(self, base: Base) -> tuple[RebaseReport, History]:
        tree = self._base_tree(base)
        kept, misfits = replay_what_fits(tree, self.history.edits)
        history = History(tree)
        for edit, after in kept:
            history.push(edit, after)
        leaves = changed_leaves(self.history.start, tree)
        return RebaseReport(leaves, misfits, len(kept)), history

    def set_seeds(self, rngs: tuple[tuple[str, int], ...]) -> DocumentChange:
        """Records other seeds for the module's initial values.

        Raises:
            EditError: The target is no module's.
        """
        if not isinstance(self.base, ModuleBase):
            message = "only a module has seeds"
            raise EditError(message, hint="Load a module as the target first.")
        self.base = replace(self.base, rngs=rngs)
        return self._changed(Change.VALUES, text="Set the seeds")

    def apply(self, edit: Edit) -> DocumentChange:
        """Makes an edit.

        Raises:
            EditError: It does not fit the target; nothing is changed.
            TransferError: A pair fits source or target no longer.
        """
        return self.push(edit, self.preview(edit, self.target))

    def preview(self, edit: Edit, target: Branch) -> Branch:
        """Returns what an edit makes of a target; changes nothing, on any thread.

        Raises:
            EditError: It does not fit the target.
            TransferError: A pair fits source or target no longer.
        """
        if isinstance(edit, Transfer):
            source = self.sources.get(edit.source)
            if source.tree is not None:
                for pair in edit.pairs:
                    check_pair(pair, source.tree, source.entry.name)
        return apply_edit(target, edit)

    def push(self, edit: Edit, after: Branch) -> DocumentChange:
        """Takes an edit whose `preview` of the present target was ``after``."""
        self.history.push(edit, after)
        return self._moved((edit,), describe(edit))

    def undo(self) -> DocumentChange:
        """Takes the last edit back."""
        edits = self.history.undo()
        return self._moved(edits, f"Undo: {describe(edits[0])}")

    def redo(self) -> DocumentChange:
        """Does the last undone edit again."""
        edits = self.history.redo()
        return self._moved(edits, f"Redo: {describe(edits[0])}")

    def go_to(self, position: int) -> DocumentChange:
        """Goes to the state after so many edits; 0 is the base alone."""
        return self._moved(self.history.go_to(position), f"Go to edit {position}")

    def recipe(self) -> Recipe:
        """Returns the document as a recipe: the edits in force, not the undone."""
        entries = tuple(source.entry for source in self.sources)
        return Recipe(self.base, entries, self.history.edits)

    def load_recipe(self, recipe: Recipe, trees: Mapping[str, Node]) -> DocumentChange:
        """Becomes the document of a recipe; nothing is changed when that fails.

        Args:
            recipe: The recipe.
            trees: Source id -> tree of those that could be opened.

        Returns:
            The change; its notes name sources that are absent, and pairs that no
            longer fit their source.

        Raises:
            RecipeError: An edit does not fit the tree it was made for, or the
                target is a copy of a source that could not be opened.
        """
        fresh = Document()
        for entry in recipe.sources:
            fresh.add_source(entry, trees.get(entry.id))
        fresh.base = recipe.base
        fresh._replay(fresh._base_tree(recipe.base), recipe.edits)
        self.sources, self.base, self.history = fresh.sources, fresh.base, fresh.history
        return self._changed(NEW_TARGET | Change.SOURCES, notes=self.problems())

    def problems(self) -> tuple[str, ...]:
        """Returns what of the sources no longer is as the edits need it."""
        found: list[str] = []
        for source in self.sources:
            if source.tree is None:
                found.append(f"{source.entry.name} is not at {source.entry.path}")
        for edit in self.history.edits:
            if not isinstance(edit, Transfer):
                continue
            source = self.sources.get(edit.source)
            if source.tree is None:
                continue
            for pair in edit.pairs:
                try:
                    check_pair(pair, source.tree, source.entry.name)
                except TransferError as error:
                    found.append(f"{error.where}: {error.message}")
        return tuple(found)

    def _base_tree(self, base: Base) -> Branch:
        if isinstance(base, NoBase):
            return EMPTY
        if isinstance(base, ModuleBase):
            return module_tree(base)
        source = self.sources.get(base.source)
        if source.tree is None:
            message = f"{source.entry.name}, which the target is a copy of, is absent"
            hint = "Put the file back, or open the recipe where the file lies."
            raise RecipeError(message, where=source.entry.path, hint=hint)
        return as_branch(source.tree, source.entry.name)

    def _replay(self, start: Branch, edits: tuple[Edit, ...]) -> None:
        position = self.history.position if len(self.history) else len(edits)
        history = History(start)
        for index, edit in enumerate(edits):
            try:
                history.push(edit, apply_edit(history.tree, edit))
            except InspectorError as error:
                message = f"{describe(edit)}: {error.message}"
                where = f"edits[{index}] {error.where}".strip()
                raise RecipeError(message, where=where, hint=error.hint) from error
        history.go_to(position)
        self.history = history

    def _moved(self, edits: tuple[Edit, ...], text: str) -> DocumentChange:
        flags = Change.HISTORY
        paths: dict[TreePath, None] = {}
        for edit in edits:
            # A value that was taken may be a new leaf, for undo a leaf that goes.
            if isinstance(edit, Rename | Delete | TakeValues):
                flags |= Change.STRUCTURE
            if not isinstance(edit, Rename | Delete):
                flags |= Change.VALUES
            paths.update(dict.fromkeys(touched(edit)))
            if isinstance(edit, Rename):
                paths[(*edit.path[:-1], edit.name)] = None
        return self._changed(flags, paths=tuple(paths), text=text)

    def _changed(
        self,
        flags: Change,
        *,
        paths: tuple[TreePath, ...] = (),
        text: str = "",
        notes: tuple[str, ...] = (),
    ) -> DocumentChange:
        self.revision += 1
        return DocumentChange(flags, paths, text, notes)


def base_name(document: Document, base: Base) -> str:
    """Returns a base's name for titles; ``"nothing"`` without one."""
    if isinstance(base, ModuleBase):
        return base.name or base.spec
    if isinstance(base, CheckpointBase):
        return f"a copy of {document.sources.get(base.source).entry.name}"
    return "nothing"
