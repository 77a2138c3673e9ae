"""Immutable variable trees whose states share their parts.

A tree is a `Branch` of branches and leaves. Changing it builds new branches on
the changed paths alone, so a state of the document costs what changed, and undo
is a pointer. Used by the store and the reader; never holds numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from inspector.variables.leaf import Kind, Leaf, Origin
from inspector.variables.path import Key, TreePath, sort_key


class Container(StrEnum):
    """What a branch is in the pytree."""

    DICT = "dict"
    LIST = "list"
    TUPLE = "tuple"


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over everything below a node.

    Attributes:
        leaves: Leaves of any kind, empty nodes included.
        parameters: Elements of all arrays; random keys do not count.
        nbytes: Bytes of all arrays and random keys when decoded.
        origins: Number of leaves of each origin; empty nodes are left out.
        errors: Leaves that cannot be read.
    """

    leaves: int = 0
    parameters: int = 0
    nbytes: int = 0
    origins: Mapping[Origin, int] = field(default_factory=dict)
    errors: int = 0


class Branch:
    """A mapping, list or tuple of nodes; immutable once made.

    Attributes:
        children: Key -> node, in the file's or module's own order. Lists and
            tuples have the keys 0, 1, ….
        container: What the branch is in the pytree.
    """

    __slots__ = ("_sorted", "_totals", "children", "container")

    def __init__(
        self,
        children: Mapping[Key, Node],
        container: Container = Container.DICT,
    ) -> None:
        """Takes over ``children``; the caller must not change it afterwards."""
        self.children = children
        self.container = container
        self._totals: Totals | None = None
        self._sorted: list[Key] | None = None

    def __eq__(self, other: object) -> bool:
        """Equal when container, keys, their order-free set and nodes are equal."""
        return (
            isinstance(other, Branch)
            and self.container == other.container
            and self.children == other.children
        )

    __hash__ = None  # type: ignore[assignment]  # a mapping inside: compare only

    def __repr__(self) -> str:
        """Returns a short description for test failures."""
        return f"Branch({self.container}, {dict(self.children)!r})"

    @property
    def totals(self) -> Totals:
        """Sums over everything below; computed once per branch."""
        if self._totals is None:
            self._totals = _sum(totals_of(child) for child in self.children.values())
        return self._totals

    def sorted_keys(self) -> list[Key]:
        """Returns the keys in the order they are shown: digits by number.

        Computed once per branch; the list must not be changed.
        """
        if self._sorted is None:
            keys = list(self.children)
            if self.container is Container.DICT:
                keys.sort(key=sort_key)
            self._sorted = keys
        return self._sorted


Node = Branch | Leaf
"""A place in a tree."""

EMPTY = Branch({})
"""The tree without leaves."""


def totals_of(node: Node) -> Totals:
    """Returns the sums of a node; a leaf counts itself."""
    if isinstance(node, Branch):
        return node.totals
    origins = {node.origin: 1} if node.has_origin else {}
    return Totals(1, node.size, node.nbytes, origins, 1 if node.error else 0)


def _sum(parts: Iterable[Totals]) -> Totals:
    origins: dict[Origin, int] = {}
    leaves = parameters = nbytes = errors = 0
    for part in parts:
        leaves += part.leaves
        parameters += part.parameters
        nbytes += part.nbytes
        errors += part.errors
        for origin, count in part.origins.items():
            origins[origin] = origins.get(origin, 0) + count
    return Totals(leaves, parameters, nbytes, origins, errors)


def get(tree: Node, path: TreePath) -> Node | None:
    """Returns the node at an exact path, or None when there is none."""
    node = tree
    for key in path:
        if not isinstance(node, Branch) or key not in node.children:
            return None
        node = node.children[key]
    return node


def resolve(tree: Node, path: TreePath) -> TreePath | None:
    """Finds the exact path that a path of strings means.

    Where a branch has no such string key, an integer key of the same digits is
    taken (``"0"`` finds ``0``).

    Returns:
        The exact path, or None when nothing is there.
    """
    node = tree
    exact: list[Key] = []
    for key in path:
        if not isinstance(node, Branch):
            return None
        match = key if key in node.children else _as_integer(key)
        if match is None or match not in node.children:
            return None
        exact.append(match)
        node = node.children[match]
    return tuple(exact)


_LONGEST_INTEGER = 4000


def _as_integer(key: Key) -> int | None:
    text = str(key)
    # Python refuses longer numbers, and no format has such keys.
    short = len(text) < _LONGEST_INTEGER
    return int(text) if short and text.isascii() and text.isdigit() else None


def walk(tree: Node, prefix: TreePath = ()) -> Iterator[tuple[TreePath, Leaf]]:
    """Yields (path, leaf) for every leaf, in the order they are shown."""
    stack: list[tuple[TreePath, Node]] = [(prefix, tree)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, Leaf):
            yield path, node
            continue
        for key in reversed(node.sorted_keys()):
            stack.append(((*path, key), node.children[key]))


def update(
    tree: Node, leaves: Mapping[TreePath, Callable[[Leaf], Leaf]]
) -> tuple[Node, list[TreePath]]:
    """Replaces leaves in one pass; untouched branches are shared.

    Args:
        tree: Where to begin.
        leaves: Exact path -> function from the old leaf to the new one.

    Returns:
        The new tree, and the paths at which there was no leaf.
    """
    nested: dict[Key, object] = {}
    for path, change in leaves.items():
        level = nested
        for key in path[:-1]:
            following = level.setdefault(key, {})
            # A leaf and something below it cannot both be; the leaf goes first.
            level = following if isinstance(following, dict) else {}
        if path:
            level[path[-1]] = change
    if () in leaves and isinstance(tree, Leaf):
        return leaves[()](tree), []
    absent: list[TreePath] = []
    return _update(tree, nested, (), absent), absent


def _update(
    node: Node, changes: dict[Key, object], prefix: TreePath, absent: list[TreePath]
) -> Node:
    if not isinstance(node, Branch):
        absent.append(prefix)
        return node
    children = dict(node.children)
    for key, change in changes.items():
        path = (*prefix, key)
        child = children.get(key)
        if child is None:
            absent.append(path)
        elif isinstance(change, dict):
            children[key] = _update(child, change, path, absent)
        elif isinstance(child, Leaf) and callable(change):
            children[key] = change(child)
        else:
            absent.append(path)
    return Branch(children, node.container)


def without(tree: Branch, path: TreePath) -> Branch:
    """Returns the tree without the node at a non-empty path.

    A branch that loses its last child becomes an empty node of its container, so
    that the structure a file can hold stays. List positions after a removed one
    move up.

    Raises:
        KeyError: There is nothing at the path.
    """
    key, rest = path[0], path[1:]
    children = dict(tree.children)
    if rest:
        child = children[key]
        if not isinstance(child, Branch):
            raise KeyError(path)
        smaller = without(child, rest)
        children[key] = smaller if smaller.children else empty_leaf(child.container)
    else:
        del children[key]
        if tree.container is not Container.DICT:
            children = dict(enumerate(children.values()))
    return Branch(children, tree.container)


def empty_leaf(container: Container) -> Leaf:
    """Returns the leaf that stands for an empty container."""
    return Leaf(
        {
            Container.DICT: Kind.EMPTY_DICT,
            Container.LIST: Kind.EMPTY_LIST,
            Container.TUPLE: Kind.EMPTY_TUPLE,
        }[container]
    )


def put(tree: Branch, path: TreePath, node: Node) -> Branch:
    """Returns the tree with ``node`` at a non-empty path, making dict branches.

    A replaced child keeps its place in the order; a new one comes last.

    Raises:
        KeyError: A leaf with a value stands in the way.
    """
    key, rest = path[0], path[1:]
    children = dict(tree.children)
    if rest:
        child = children.get(key, EMPTY)
        if isinstance(child, Leaf):
            if child.kind is not Kind.EMPTY_DICT:
                raise KeyError(path)
            child = EMPTY
        children[key] = put(child, rest, node)
    else:
        children[key] = node
    return Branch(children, tree.container)


def build(
    leaves: Iterable[tuple[TreePath, Leaf]],
    containers: Mapping[TreePath, Container] | None = None,
) -> Node:
    """Makes a tree from its leaves.

    Args:
        leaves: (path, leaf) in any order; a later one wins over an equal path.
        containers: Path of each list or tuple; every other branch is a dict.

    Returns:
        The tree; a single leaf at ``()`` is a tree of its own.

    Raises:
        KeyError: A path leads through a leaf.
    """
    root: dict[Key, object] = {}
    containers = containers or {}
    for path, leaf in leaves:
        if not path:
            return leaf
        level = root
        for key in path[:-1]:
            following = level.setdefault(key, {})
            if not isinstance(following, dict):
                raise KeyError(path)
            level = following
        level[path[-1]] = leaf
    return _freeze(root, (), containers)


def _freeze(
    level: dict[Key, object], prefix: TreePath, containers: Mapping[TreePath, Container]
) -> Branch:
    children: dict[Key, Node] = {}
    for key, child in level.items():
        if isinstance(child, dict):
            children[key] = _freeze(child, (*prefix, key), containers)
        elif isinstance(child, Leaf):
            children[key] = child
    return Branch(children, containers.get(prefix, Container.DICT))
