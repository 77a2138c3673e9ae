"""Recipes and sessions: the document as a file, and as a log that outlives a crash.

Opening either runs no code: the recorded tree is shown, sources are listed again,
and a module is imported only when somebody names its file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from inspector.document import journal as journals
from inspector.document import recipe as recipes
from inspector.document.base import base_from_json
from inspector.document.change import NEW_TARGET, Change, DocumentChange
from inspector.document.document import Document
from inspector.document.recipe import Recipe
from inspector.engine.messages import document as messages
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_export import absolute
from inspector.engine.store_journal import SessionJournal
from inspector.engine.store_sources import Sources
from inspector.engine.store_state import StoreState
from inspector.errors import RecipeError
from inspector.variables.edit_json import edit_from_json
from inspector.variables.strict import JsonObject
from inspector.variables.tree import Node


class ReplaySessionError(RecipeError):
    """A session holds an operation that this version does not know."""

    def __init__(self, operation: object) -> None:
        """Names the operation."""
        super().__init__(
            f"The session holds an operation {operation!r} that is not known",
            hint="Open it with the version of the program that wrote it.",
        )


class Recipes:
    """Saves and opens recipes, offers and restores sessions."""

    def __init__(
        self,
        state: StoreState,
        sources: Sources,
        journal: SessionJournal,
        state_dir: Path,
    ) -> None:
        """Takes its collaborators."""
        self._state = state
        self._sources = sources
        self._journal = journal
        self._state_dir = state_dir

    async def save(self, body: messages.SaveRecipe) -> messages.DocumentInfo:
        """Saves the document to a recipe file, atomically."""
        path = absolute(body.path, body.cwd)
        recipes.save(self._state.document.recipe(), path)
        self._state.recipe_file = str(path)
        self._state.saved_revision = self._state.document.revision
        return self._state.document_info()

    async def open(
        self, body: messages.OpenRecipe, progress: OnProgress
    ) -> messages.Changes:
        """Opens a recipe as the document; runs no code.

        Raises:
            RecipeError: It is damaged, or its edits no longer fit.
        """
        path = absolute(body.path, body.cwd)
        recipe = recipes.load(path)
        change = await self._take(recipe, progress)
        self._state.recipe_file = str(path)
        self._state.saved_revision = self._state.document.revision
        data = recipes.to_json(recipe)
        title = self._state.title()
        await self._journal.record({"op": "recipe", "recipe": data, "title": title})
        return self._state.changes(change)

    async def _take(self, recipe: Recipe, progress: OnProgress) -> DocumentChange:
        trees: dict[str, Node] = {}
        for entry in recipe.sources:
            tree, _ = await self._sources.take(entry, progress)
            if tree is not None:
                trees[entry.id] = tree
        change = self._state.document.load_recipe(recipe, trees)
        self._state.module_loaded = False
        return change

    async def sessions(self) -> messages.Sessions:
        """Lists the sessions that a crash left behind."""
        found = journals.sessions(self._state_dir)
        return messages.Sessions(
            tuple(
                messages.SessionInfo(one.id, one.title, one.edits, one.ended)
                for one in found
            )
        )

    async def discard(self, body: messages.DiscardSession) -> messages.Sessions:
        """Forgets a session."""
        journals.discard(self._state_dir, body.id)
        return await self.sessions()

    async def restore(
        self, body: messages.RestoreSession, progress: OnProgress
    ) -> messages.Changes:
        """Takes a session up where it ended; runs no code.

        The operations are made on a fresh document first: a session that cannot be
        restored stays on disk, and the present document stays as it is.

        Raises:
            InspectorError: The session is gone, or an operation no longer fits.
        """
        operations = journals.read_operations(self._state_dir, body.id)
        self._state.culprits |= {
            str(one["locator"]) for one in operations if one.get("op") == "culprit"
        }
        before, loaded = self._state.document, self._state.module_loaded
        self._state.document = Document()
        try:
            for operation in operations:
                if operation.get("op") != "culprit":
                    await self._repeat(operation, progress)
            journal, _ = journals.Journal.resume(self._state_dir, body.id)
        except BaseException:
            self._state.document, self._state.module_loaded = before, loaded
            raise
        self._journal.replace(journal)
        self._state.module_loaded = False
        self._state.recipe_file = ""
        flags = NEW_TARGET | Change.SOURCES
        notes = self._state.document.problems()
        text = f"Restore {self._state.title()}"
        return self._state.changes(DocumentChange(flags, text=text, notes=notes))

    async def _repeat(
        self, operation: Mapping[str, object], progress: OnProgress
    ) -> None:
        document = self._state.document
        match operation:
            case {"op": "source" | "recipe", "recipe": data}:
                await self._repeat_recipe(operation["op"], data, progress)
            case {"op": "close", "source": str(source)}:
                document.remove_source(source)
            case {"op": "base" | "rebase" as kind, "base": data}:
                base, _ = base_from_json(JsonObject(data, "base"))
                if kind == "base":
                    document.set_base(base)
                else:
                    document.rebase(base)
            case {"op": "seeds", "seeds": list(seeds)}:
                document.set_seeds(tuple((str(one), int(two)) for one, two in seeds))
            case {"op": "edit", "edit": data}:
                document.apply(edit_from_json(data))
            case {"op": "undo"}:
                document.undo()
            case {"op": "redo"}:
                document.redo()
            case {"op": "goto", "position": int(position)}:
                document.go_to(position)
            case _:
                raise ReplaySessionError(operation.get("op"))

    async def _repeat_recipe(
        self, kind: object, data: object, progress: OnProgress
    ) -> None:
        recipe = recipes.from_json(data)
        if kind == "recipe":
            await self._take(recipe, progress)
            return
        for entry in recipe.sources:
            tree, _ = await self._sources.take(entry, progress)
            if entry.id not in self._state.document.sources:
                self._state.document.add_source(entry, tree)
            elif tree is not None:
                self._state.document.replace_source(entry, tree)
