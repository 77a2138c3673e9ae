"""What matching has to know of one tree: every leaf as a variable.

A variable is (collection, module path, name); in an NNX module its type stands
for the collection. The store keeps a `TreeIndex` of
each source and of the target, so that a plan is made while the mouse hovers. It
knows one tree at a time; pairing two is `matching`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from inspector.variables.homes import OUTSIDE, Home, find_homes
from inspector.variables.leaf import EMPTY_KINDS, Leaf
from inspector.variables.path import TreePath, is_prefix
from inspector.variables.tree import Branch, Node, get, walk
from inspector.variables.variable_types import (
    RNGS,
    collection_of_type,
    is_rng_state,
)

Names = tuple[str, ...]
"""Module path and name, integers written out: a list position meets a text."""

_LOOKED_AT = 256
_VALUE_KEYS = ("value", "raw_value")


class Entry(NamedTuple):
    """One leaf with its place among the variables.

    A named tuple, as are the other records that exist once a leaf: a frozen
    dataclass takes five times as long to make, and plans are made while hovering.

    Attributes:
        path: Exact path in the tree.
        leaf: The leaf.
        collection: Its collection, None when the tree has none.
        names: Module path and name below the collection; boxes (``…/value``)
            looked through.
    """

    path: TreePath
    leaf: Leaf
    collection: str | None
    names: Names


class TreeIndex:
    """What matching has to know of one tree, found once.

    Used by one thread. Make it anew when the tree is another.

    Attributes:
        tree: The tree.
        homes: Where variables lie in it; none in an NNX module.
    """

    def __init__(self, tree: Node) -> None:
        """Looks for the homes; leaves are walked when they are asked for."""
        self.tree = tree
        first = islice(walk(tree), _LOOKED_AT)
        self._typed = any(leaf.variable for _, leaf in first)
        # An attribute of a module may be called `params`; its types say what is.
        self.homes = () if self._typed else find_homes(tree)
        self._leaves: list[tuple[TreePath, Leaf, Names]] | None = None
        self._entries: dict[Home | None, tuple[Entry, ...]] = {}

    def home_for(self, path: TreePath) -> Home | None:
        """Returns the home that a path lies in, or the only one at or below it."""
        around = [home for home in self.homes if is_prefix(home.path, path)]
        if around:
            return max(around, key=lambda home: len(home.path))
        below = [home for home in self.homes if is_prefix(path, home.path)]
        if not below and len(self.homes) == 1:
            return self.homes[0]
        return below[0] if len(below) == 1 else None

    def entries(self, home: Home | None) -> tuple[Entry, ...]:
        """Returns all leaves but empty nodes, in the tree's order."""
        if home not in self._entries:
            self._entries[home] = tuple(self._classify(home))
        return self._entries[home]

    def collections(self) -> frozenset[str]:
        """Returns the names of all collections: those of homes, or those of types."""
        if self.homes:
            return frozenset(
                name for home in self.homes for name, _ in home.collections
            )
        found = {entry.collection for entry in self.entries(None)}
        return frozenset(name for name in found if name is not None)

    def _classify(self, home: Home | None) -> Iterable[Entry]:
        if self._leaves is None:
            self._leaves = [
                (path, leaf, self._names(path))
                for path, leaf in walk(self.tree)
                if leaf.kind not in EMPTY_KINDS
            ]
        if home is None:
            return [
                Entry(path, leaf, _bare_collection(leaf, at, typed=self._typed), at)
                for path, leaf, at in self._leaves
            ]
        places = {place: name for name, place in home.collections}
        lengths = sorted({len(place) for place in places}, reverse=True)
        found: list[Entry] = []
        for path, leaf, names in self._leaves:
            for length in lengths:
                if (name := places.get(path[:length])) is not None:
                    found.append(Entry(path, leaf, name, names[length:]))
                    break
            else:
                found.append(Entry(path, leaf, OUTSIDE, names))
        return found

    def _names(self, path: TreePath) -> Names:
        names = tuple(map(str, path))
        if len(path) > 1 and names[-1] in _VALUE_KEYS:
            parent = get(self.tree, path[:-1])
            if isinstance(parent, Branch) and _is_box(parent):
                return names[:-1]
        if len(path) == 1 and "." in names[0]:
            # A flat file joins the names of its modules with dots.
            return tuple(names[0].split("."))
        return names


def _bare_collection(leaf: Leaf, names: Names, *, typed: bool) -> str | None:
    if leaf.variable:
        return collection_of_type(leaf.variable)
    if not typed and is_rng_state(names, leaf):
        return RNGS
    return None


def _is_box(branch: Branch) -> bool:
    """Whether a branch holds one leaf with a shape, and facts about it at most."""
    return (
        sum(
            isinstance(child, Branch) or bool(child.dtype)
            for child in branch.children.values()
        )
        == 1
    )
