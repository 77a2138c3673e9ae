"""What a person means by a path that is dragged, dropped on, or typed.

A path is a key path of the tree (`params/backbone`, also below wrappers) or a
module path (`backbone`). Either way it names a module in all its collections.
Called by `plan` in the store process.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.errors import TransferError
from inspector.variables.homes import KNOWN, OUTSIDE, PARAMS, SLOTS, Home
from inspector.variables.nearest import did_you_mean
from inspector.variables.path import TreePath, is_prefix, join
from inspector.variables.tree import Branch, get, resolve
from inspector.variables.tree_index import Names, TreeIndex
from inspector.variables.variable_types import RNGS


@dataclass(frozen=True, slots=True)
class Place:
    """A node, understood.

    Attributes:
        path: Exact path of the node in the tree.
        home: Where the variables lie that it belongs to; None in a bare tree.
        collection: Collection it lies in; None when the tree has none, or when it
            holds all of them.
        names: Module path below the collection, of a leaf its name too.
    """

    path: TreePath
    home: Home | None
    collection: str | None = None
    names: Names = ()

    @property
    def whole(self) -> bool:
        """Whether it holds all collections, or the whole of a bare tree."""
        return self.collection is None and not self.names

    @property
    def text(self) -> str:
        """The place as notes name it, e.g. ``backbone``; empty for the root."""
        if self.collection in {None, OUTSIDE}:
            return join(self.path)
        return "/".join(self.names)


def locate(index: TreeIndex, path: TreePath, role: str) -> Place:
    """Finds the place that a path means.

    Args:
        index: The tree.
        path: Key path or module path; ``()`` is the root.
        role: ``"source"`` or ``"target"``, for the message.

    Raises:
        TransferError: Nothing lies there, or the module path means several places.
    """
    exact = resolve(index.tree, path)
    if exact is not None:
        return _place(index, exact)
    found: list[Place] = []
    for home in index.homes:
        for start in (home.path, *(place for _, place in home.collections)):
            exact = resolve(index.tree, (*start, *path))
            if exact is not None:
                found.append(_place(index, exact))
                break
    if len(found) == 1:
        return found[0]
    if found:
        message = f"{join(path)} lies in several places of the {role}"
        names = " or ".join(join(place.path) for place in found)
        raise TransferError(message, where=join(path), hint=f"Give {names}.")
    message = f"the {role} has nothing at this path"
    raise TransferError(message, where=join(path), hint=_hint(index, path))


def _hint(index: TreeIndex, path: TreePath) -> str:
    """Names what the path may mean, as module path where that comes nearer."""
    for home in index.homes:
        start = home.collections[0][1]
        if path and str(path[0]) not in {name for name, _ in home.collections}:
            return did_you_mean(index.tree, (*start, *path))
    return did_you_mean(index.tree, path)


def _place(index: TreeIndex, exact: TreePath) -> Place:
    home = index.home_for(exact)
    node = get(index.tree, exact)
    if not isinstance(node, Branch) and exact:
        for entry in index.entries(home):
            if entry.path == exact:
                return Place(exact, home, entry.collection, entry.names)
    if home is None:
        return Place(exact, None, None, tuple(map(str, exact)))
    if is_prefix(exact, home.path):
        return Place(exact, home)
    found = home.collection_of(exact)
    if found is None:
        return Place(exact, home, OUTSIDE, tuple(map(str, exact)))
    name, place = found
    return Place(exact, home, name, tuple(map(str, exact[len(place) :])))


def travelling(index: TreeIndex, place: Place, others: frozenset[str]) -> set[str]:
    """Returns the collections that go along when a node is dragged.

    Params takes those with it that belong to modules (batch statistics), never
    optimizer states and counters. A collection of neither kind goes alone.

    Args:
        index: The tree.
        place: What is dragged or dropped on, inside a collection.
        others: Collections of the other tree.
    """
    if place.home is None or place.collection is None:
        return set()
    names = {
        name
        for name, at in place.home.collections
        if (name in KNOWN or name in others)
        and name not in SLOTS
        and isinstance(get(index.tree, at), Branch)
    }
    return names if place.collection in names else set()


def collections_of(index: TreeIndex) -> frozenset[str]:
    """Returns the names of all collections of a tree."""
    return index.collections()


def stands_for_params(name: str, others: frozenset[str]) -> bool:
    """Returns whether a collection of unknown kind may fill any collection.

    E.g. `batch` of an NNX state beside params. Never a second set of params
    (`ema_params`), a counter or an optimizer state.
    """
    known = name in KNOWN or name in SLOTS or name in others
    return not known and PARAMS not in name and name not in {OUTSIDE, RNGS}
