"""Recipes and sessions: the document as a file, and as a log that outlives a crash.

Opening either runs no code: the recorded tree is shown, sources are listed again,
and a module is imported only when somebody names its file. Files are read and
written beside the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from inspector.document import journal as journals
from inspector.document import recipe as recipes
from inspector.document.base import base_from_json
from inspector.document.change import NEW_TARGET, Change, DocumentChange
from inspector.document.document import Document
from inspector.document.recipe import Recipe
from inspector.engine.messages import document as messages
from inspector.engine.store_bounds import (
    SESSIONS_LISTED,
    TITLE_TEXT,
    shortened,
)
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_export import absolute
from inspector.engine.store_journal import SessionJournal
from inspector.engine.store_kept_files import KeptFiles
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


@dataclass(slots=True)
class _Made:
    """A document in the making, which nobody sees until it is whole.

    Attributes:
        document: The document.
        infos: What is known of its sources, by id.
    """

    document: Document = field(default_factory=Document)
    infos: dict[str, messages.SourceInfo] = field(default_factory=dict)


class Recipes:
    """Saves and opens recipes, offers and restores sessions."""

    def __init__(
        self,
        state: StoreState,
        sources: Sources,
        journal: SessionJournal,
        kept: KeptFiles,
        *,
        state_dir: Path,
    ) -> None:
        """Takes its collaborators."""
        self._state = state
        self._sources = sources
        self._journal = journal
        self._kept = kept
        self._state_dir = state_dir

    async def save(self, body: messages.SaveRecipe) -> messages.DocumentInfo:
        """Saves the document to a recipe file, atomically, and values beside it."""
        path = absolute(body.path, body.cwd)
        document = self._state.document
        # Edits that are made while it is written are not in it.
        recipe, revision = document.recipe(), document.revision
        # First what the recipe needs: a recipe without its values would be worse
        # than values without a recipe.
        await self._kept.write(recipe.edits, path)
        await asyncio.to_thread(recipes.save, recipe, path)
        if self._state.document is document:
            self._state.recipe_file = str(path)
            self._state.saved_revision = revision
        return self._state.document_info()

    async def open(
        self, body: messages.OpenRecipe, progress: OnProgress
    ) -> messages.Changes:
        """Opens a recipe as the document; runs no code.

        Raises:
            RecipeError: It is damaged, or its edits no longer fit.
        """
        path = absolute(body.path, body.cwd)
        recipe = await asyncio.to_thread(recipes.load, path)
        made = _Made(self._state.document)
        change = await self._take(made, recipe, progress)
        missing = await self._kept.read(recipe.edits, path, progress)
        change = replace(change, notes=(*missing, *change.notes))
        self._enter(made)
        self._state.recipe_file = str(path)
        self._state.saved_revision = self._state.document.revision
        title = self._state.title()
        await self._journal.record(
            lambda: {"op": "recipe", "recipe": recipes.to_json(recipe), "title": title}
        )
        return self._state.changes(change)

    async def _take(
        self, made: _Made, recipe: Recipe, progress: OnProgress
    ) -> DocumentChange:
        trees: dict[str, Node] = {}
        infos: dict[str, messages.SourceInfo] = {}
        for entry in recipe.sources:
            tree, infos[entry.id] = await self._sources.take(entry, progress)
            if tree is not None:
                trees[entry.id] = tree
        change = made.document.load_recipe(recipe, trees)
        made.infos = infos
        return change

    def _enter(self, made: _Made) -> None:
        """Makes a document that is whole the session's."""
        self._state.document = made.document
        for info in made.infos.values():
            self._state.set_info(info)
        self._state.module_loaded = False

    async def sessions(self) -> messages.Sessions:
        """Lists the sessions that a crash left behind, the newest first."""
        found = await asyncio.to_thread(journals.sessions, self._state_dir)
        return messages.Sessions(
            tuple(
                messages.SessionInfo(
                    one.id, shortened(one.title, TITLE_TEXT), one.edits, one.ended
                )
                for one in found[:SESSIONS_LISTED]
            )
        )

    async def discard(self, body: messages.DiscardSession) -> messages.Sessions:
        """Forgets a session."""
        await asyncio.to_thread(journals.discard, self._state_dir, body.id)
        return await self.sessions()

    async def restore(
        self, body: messages.RestoreSession, progress: OnProgress
    ) -> messages.Changes:
        """Takes a session up where it ended; runs no code.

        The operations are made on a fresh document, which takes the place of the
        present one when it is whole: a session that cannot be restored stays on
        disk, and nobody sees half of one.

        Raises:
            InspectorError: The session is gone, or an operation no longer fits.
        """
        operations = await asyncio.to_thread(
            journals.read_operations, self._state_dir, body.id
        )
        self._state.culprits |= {
            str(one["locator"]) for one in operations if one.get("op") == "culprit"
        }
        made = _Made()
        for operation in operations:
            if operation.get("op") != "culprit":
                await self._repeat(made, operation, progress)
        missing = await self._kept.missing(made.document.history.all_edits)
        # Not beside the loop: a cancel between the lock and its use would keep it.
        journal, _ = journals.Journal.resume(self._state_dir, body.id)
        self._journal.replace(journal)
        self._enter(made)
        self._state.recipe_file = ""
        flags = NEW_TARGET | Change.SOURCES
        notes = (*missing, *self._state.document.problems())
        text = f"Restore {self._state.title()}"
        return self._state.changes(DocumentChange(flags, text=text, notes=notes))

    async def _repeat(
        self, made: _Made, operation: Mapping[str, object], progress: OnProgress
    ) -> None:
        document = made.document
        match operation:
            case {"op": "source" | "recipe", "recipe": data}:
                await self._repeat_recipe(made, operation["op"], data, progress)
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
        self, made: _Made, kind: object, data: object, progress: OnProgress
    ) -> None:
        recipe = recipes.from_json(data)
        if kind == "recipe":
            await self._take(made, recipe, progress)
            return
        for entry in recipe.sources:
            tree, made.infos[entry.id] = await self._sources.take(entry, progress)
            if entry.id not in made.document.sources:
                made.document.add_source(entry, tree)
            elif tree is not None:
                made.document.replace_source(entry, tree)
