"""The sources of a document: open checkpoints by id.

Owned by `document.Document`. Knows what the recipe keeps of a source and its
tree; which of them edits use is the document's to say. No I/O.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inspector.document.recipe import SourceEntry
from inspector.errors import RecipeError, TransferError
from inspector.variables.edit import Pair
from inspector.variables.leaf import SCALAR_KINDS
from inspector.variables.nearest import did_you_mean
from inspector.variables.path import join
from inspector.variables.tree import Branch, Node, get

_LONGEST_NUMBER = 9
"""Digits of an id's number; a longer one was made by nobody here."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source of the document.

    Attributes:
        entry: What the recipe keeps of it.
        tree: Its tree; None while its file cannot be read.
    """

    entry: SourceEntry
    tree: Node | None


class Sources:
    """Sources by id, in the order they were opened."""

    def __init__(self) -> None:
        """Begins without any."""
        self._by_id: dict[str, Source] = {}
        self._next = 1

    def __iter__(self) -> Iterator[Source]:
        """Yields the sources in the order they were opened."""
        return iter(self._by_id.values())

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self._by_id)

    def __contains__(self, source_id: object) -> bool:
        """Returns whether a source of this id is open."""
        return source_id in self._by_id

    def get(self, source_id: str) -> Source:
        """Returns a source.

        Raises:
            RecipeError: There is none of this id.
        """
        if source_id not in self._by_id:
            message = f"the document has no source “{source_id}”"
            known = ", ".join(self._by_id) or "none"
            raise RecipeError(message, hint=f"Open are: {known}.")
        return self._by_id[source_id]

    def new_id(self) -> str:
        """Returns an id that no source of this document has, had or was promised.

        Several are opened at once, and each needs its id before its tree is made.
        """
        while f"s{self._next}" in self._by_id:
            self._next += 1
        self._next += 1
        return f"s{self._next - 1}"

    def unique_name(self, name: str) -> str:
        """Returns a name that no source has, ``digits (2)`` beside ``digits``."""
        names = {source.entry.name for source in self}
        candidate, number = name, 2
        while candidate in names:
            candidate, number = f"{name} ({number})", number + 1
        return candidate

    def add(self, source: Source) -> None:
        """Adds a source.

        Raises:
            RecipeError: The id is taken.
        """
        source_id = source.entry.id
        if source_id in self._by_id:
            message = f"a source “{source_id}” is open already"
            raise RecipeError(message, hint="Give it another id.")
        self._by_id[source_id] = source
        number = source_id.removeprefix("s")
        if number.isascii() and number.isdigit() and len(number) < _LONGEST_NUMBER:
            self._next = max(self._next, int(number) + 1)

    def replace(self, source: Source) -> None:
        """Puts another source in the place of the one of the same id."""
        self.get(source.entry.id)
        self._by_id[source.entry.id] = source

    def remove(self, source_id: str) -> None:
        """Removes a source; its id is not given again."""
        self.get(source_id)
        del self._by_id[source_id]


def check_pair(pair: Pair, tree: Node, name: str) -> None:
    """Checks that a source leaf still is what a pair was decided for.

    Args:
        pair: The pair.
        tree: Tree of the source.
        name: Name of the source.

    Raises:
        TransferError: The leaf is gone, or has another shape or dtype.
    """
    where = f"{name}:{join(pair.source)}"
    leaf = get(tree, pair.source)
    if leaf is None or isinstance(leaf, Branch):
        message = "the source has no such leaf"
        raise TransferError(message, where=where, hint=did_you_mean(tree, pair.source))
    dtype = leaf.kind.value if leaf.kind in SCALAR_KINDS else leaf.dtype
    if (dtype, leaf.shape) != (pair.from_dtype, pair.shape):
        message = (
            f"the source has {dtype}{list(leaf.shape)}, the transfer was decided for "
            f"{pair.from_dtype}{list(pair.shape)}"
        )
        hint = "The source changed since the plan; drag the subtree again."
        raise TransferError(message, where=where, hint=hint)
