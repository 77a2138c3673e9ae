"""The document and what the store knows beside it: the state of one session.

Lives on the store's loop. Every collaborator of the session reads from here; what
changes the document goes through `document.Document` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from inspector.document.base import CheckpointBase, ModuleBase
from inspector.document.change import Change, DocumentChange
from inspector.document.document import Document, base_name
from inspector.engine.messages import document as messages
from inspector.engine.messages import viewing
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.store_bounds import (
    HISTORY_TEXT,
    NOTE_TEXT,
    brief,
    listed,
    shortened,
)
from inspector.engine.store_run_state import RunRecords
from inspector.engine.store_values import KEPT
from inspector.engine.store_view import origin_counts
from inspector.errors import EditError
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath
from inspector.variables.tree import EMPTY, Branch, Node, get, totals_of
from inspector.variables.value import Initial, Raw, innermost

_TEXTS = 500
_PATHS = 200
_PATHS_TEXT = 32 << 10


class SourceUnknownError(EditError):
    """A request names a source that is not open."""

    def __init__(self, name: str, known: list[str]) -> None:
        """Names it and what is open."""
        super().__init__(
            f"No source {name!r} is open",
            hint=f"Open are: {', '.join(known) or 'none'}.",
        )


class StoreState:
    """The state of one session.

    Attributes:
        document: Sources, base, edits and the target they give.
        module_loaded: Whether the module of the base was imported in this session.
        python: Interpreter of the model; empty for ours.
        recipe_file: File that the document was saved to or opened from.
        saved_revision: Revision of the document that this file holds.
        initial: Path in the base's own tree -> initial value that has been made.
        kept_folder: Folder of the values that were taken from runs.
        culprits: Locators of sources whose reading ended the reader.
        runs: The runs of this session and what they gave.
        module_digest: SHA-256 of the module's file as this session imported it.
    """

    def __init__(self) -> None:
        """Begins with an empty document."""
        self.document = Document()
        self.module_loaded = False
        self.python = ""
        self.recipe_file = ""
        self.saved_revision = 0
        self.initial: Mapping[TreePath, Raw] = {}
        self.kept_folder = ""
        self.culprits: set[str] = set()
        self.runs = RunRecords(Path())
        self.module_digest = ""
        self._loaded_as: tuple[object, ModuleSpec] | None = None
        self._infos: dict[str, messages.SourceInfo] = {}

    def target(self) -> Branch:
        """Returns the target as it stands."""
        return self.document.target

    def is_target(self, tree: str) -> bool:
        """Returns whether a tree's name is that of the target."""
        return tree == messages.TARGET

    def tree(self, name: str) -> Node:
        """Returns the tree of the target, a source or a run.

        That of an absent source is empty.

        Raises:
            SourceUnknownError: No such source is open.
            EditError: It is a run's, and that run or its values are gone.
        """
        if self.is_target(name):
            return self.target()
        given = self.runs.tree(name)
        if given is not None:
            return given
        if name not in self.document.sources:
            raise SourceUnknownError(name, self.source_ids())
        tree = self.document.sources.get(name).tree
        return EMPTY if tree is None else tree

    def trees(self) -> list[tuple[str, Node]]:
        """Returns (name, tree) of the target and of every source."""
        named = [(name, self.tree(name)) for name in self.source_ids()]
        return [(messages.TARGET, self.target()), *named]

    def names(self) -> dict[str, str]:
        """Returns id -> name for a person of every source."""
        return {one.entry.id: one.entry.name for one in self.document.sources}

    def locators(self) -> dict[str, str]:
        """Returns where values lie, see `store_values.Locators`."""
        found = {one.entry.id: one.entry.locator for one in self.document.sources}
        return found | ({KEPT: self.kept_folder} if self.kept_folder else {})

    def source_ids(self) -> list[str]:
        """Returns the ids of the sources, in the order they were opened."""
        return [one.entry.id for one in self.document.sources]

    def infos(self) -> tuple[messages.SourceInfo, ...]:
        """Returns what is known of every source, in the order they were opened."""
        return tuple(
            self._infos[name] for name in self.source_ids() if name in self._infos
        )

    def info(self, source: str) -> messages.SourceInfo:
        """Returns what is known of one source.

        Raises:
            SourceUnknownError: No such source is open.
        """
        if source not in self._infos or source not in self.document.sources:
            raise SourceUnknownError(source, self.source_ids())
        return self._infos[source]

    def set_info(self, info: messages.SourceInfo) -> None:
        """Keeps what is known of a source."""
        self._infos[info.id] = info

    def with_readiness(self, details: viewing.Details) -> viewing.Details:
        """Marks an initial value that has been made as ready."""
        if details.ready or not self.is_target(details.tree):
            return details
        leaf = get(self.target(), details.path)
        inner = innermost(leaf.value) if isinstance(leaf, Leaf) else None
        made = isinstance(inner, Initial) and inner.path in self.initial
        return replace(details, ready=made)

    def base_stamp(self) -> object:
        """Returns what the initial values depend on, to be compared by identity.

        Loading a module again makes another base even when all that is recorded of
        it is equal: a file that it imports may have changed.
        """
        return self.document.base

    def base_leaves(self) -> int:
        """Returns how many arrays and keys the base's own tree has."""
        base = self.document.base
        if not isinstance(base, ModuleBase):
            return 0
        return sum(1 for _, leaf in base.tree.leaves if leaf.dtype)

    def module_spec(self) -> ModuleSpec:
        """Returns the spec of the base's module.

        Raises:
            EditError: The target is no module's.
        """
        base = self.document.base
        if not isinstance(base, ModuleBase):
            raise NoModuleError
        if self._loaded_as is not None and self._loaded_as[0] is base:
            return self._loaded_as[1]
        return spec_of(base)

    def loaded(self, base: object, spec: ModuleSpec, digest: str) -> None:
        """Notes how the module of a base was loaded in this session.

        Args:
            base: The base.
            spec: The very spec that was sent, by which the model knows the module.
            digest: SHA-256 of its file.
        """
        self._loaded_as = base, spec
        self.module_digest = digest

    def module_file(self) -> str:
        """Returns the file that importing the base's module runs."""
        base = self.document.base
        return (base.file or base.spec) if isinstance(base, ModuleBase) else ""

    def target_info(self) -> messages.TargetInfo:
        """Returns the target as titles and counts show it."""
        base = self.document.base
        target = self.target()
        totals = totals_of(target)
        kind = "none"
        if isinstance(base, ModuleBase):
            kind = "module"
        elif isinstance(base, CheckpointBase):
            kind = "checkpoint"
        return messages.TargetInfo(
            kind,
            base_name(self.document, base) if kind != "none" else "",
            loaded=kind != "module" or self.module_loaded,
            spec=base.spec if isinstance(base, ModuleBase) else "",
            file=self.module_file(),
            leaves=totals.leaves,
            parameters=totals.parameters,
            nbytes=totals.nbytes,
            origins=origin_counts(target),
            seeds=base.rngs if isinstance(base, ModuleBase) else (),
            python=self.python,
        )

    def history(self) -> messages.HistoryState:
        """Returns the history as the window mirrors it, its newest texts at most."""
        state = self.document.history.state()
        first = max(0, min(len(state.texts) - _TEXTS, state.position - _TEXTS // 2))
        return messages.HistoryState(
            state.position,
            len(state.texts),
            tuple(
                shortened(text, HISTORY_TEXT)
                for text in state.texts[first : first + _TEXTS]
            ),
            first,
            state.can_undo,
            state.can_redo,
        )

    def document_info(self) -> messages.DocumentInfo:
        """Returns the whole document in small."""
        infos = self.infos()
        return messages.DocumentInfo(
            tuple(brief(info, len(infos)) for info in infos),
            self.target_info(),
            self.history(),
            self.recipe_file,
            self.is_saved(),
        )

    def is_saved(self) -> bool:
        """Returns whether nothing would be lost if the session were forgotten."""
        if self.recipe_file:
            return self.saved_revision == self.document.revision
        return self.document.history.state().position == 0

    def changes(self, change: DocumentChange) -> messages.Changes:
        """Returns a change of the document as the message for every panel."""
        flags = change.flags
        return messages.Changes(
            sources=bool(flags & Change.SOURCES),
            base=bool(flags & Change.BASE),
            structure=bool(flags & Change.STRUCTURE),
            values=bool(flags & Change.VALUES),
            paths=change.paths if _are_few(change.paths) else (),
            count=len(change.paths),
            text=shortened(change.text, NOTE_TEXT),
            history=self.history(),
            notes=listed(change.notes),
        )

    def title(self) -> str:
        """Returns what the session is called when it is offered again."""
        names = ", ".join(self.names().values()) or "no source"
        base = self.document.base
        if isinstance(base, ModuleBase | CheckpointBase):
            return f"{names} → {base_name(self.document, base)}"
        return names


def _are_few(paths: tuple[TreePath, ...]) -> bool:
    """Returns whether the paths of a change fit into its message."""
    if len(paths) > _PATHS:
        return False
    return sum(len(str(key)) for path in paths for key in path) <= _PATHS_TEXT


class NoModuleError(EditError):
    """Something of a module was asked for, and the target has none."""

    def __init__(self) -> None:
        """Says what to do."""
        super().__init__(
            "The target is no module's", hint="Load a module as the target first."
        )


class TargetReplacedError(EditError):
    """The target became another one while something was done for the old one."""

    def __init__(self) -> None:
        """Says what to do."""
        super().__init__(
            "The target, its module or its seeds changed while this was under way",
            hint="Ask for it again; it is then done for the target as it is now.",
        )


def spec_of(base: ModuleBase) -> ModuleSpec:
    """Returns the spec that loads a recorded module again."""
    return ModuleSpec(
        base.spec,
        base.kwargs_json,
        base.inputs,
        base.method,
        base.statics,
        base.rngs,
        base.cwd,
    )
