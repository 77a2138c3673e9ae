"""Where the variables of a model lie in a tree, and which collection is which.

Checkpoints wrap variables in train states, managers' items and old optimizers.
`matching` asks here, in the store process; nothing is guessed from shapes, only
from the names that Flax, T5X and Orbax give to their containers.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from inspector.variables.path import TreePath, is_prefix
from inspector.variables.tree import Branch, Node

PARAMS = "params"
"""The collection that a tree without collections is taken for."""

KNOWN = frozenset(
    {
        PARAMS, "batch_stats", "cache", "intermediates", "params_axes", "losses",
        "perturbations", "lora", "stats", "state", "constants", "buffers",
        "spectral_stats", "_overwrite_with_gradient", "fp8_params", "quant",
    }
)  # fmt: skip
"""Collections of Linen modules that travel with params."""

SLOTS = frozenset(
    {"opt_state", "optimizer", "opt", "optimizer_state", "opt_states", "tx", "optim"}
)
"""Names of optimizer states: parameter names below them are slots, no params."""

OUTSIDE = ""
"""The collection of leaves beside the variables, e.g. of a manager's other items."""

_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Home:
    """One place where variables lie.

    Attributes:
        path: The node that holds the collections.
        collections: (name, path) of each, params first.
    """

    path: TreePath
    collections: tuple[tuple[str, TreePath], ...]

    def collection_of(self, path: TreePath) -> tuple[str, TreePath] | None:
        """Returns the collection that a path lies in or above, and its path."""
        found = None
        for name, place in self.collections:
            if is_prefix(place, path) and (found is None or len(place) > len(found[1])):
                found = name, place
        if found is None and len(path) > len(self.path):
            # Between the home and a collection, e.g. `params` of `params/params`.
            for name, place in self.collections:
                if is_prefix(path, place):
                    return name, place
        return found


def find_homes(tree: Node) -> tuple[Home, ...]:
    """Returns the places where variables lie, outermost first.

    Nothing below a home or an optimizer state is looked at. A tree without any
    (bare params, an NNX state) gives none.
    """
    homes: list[Home] = []
    queue: deque[tuple[TreePath, Node]] = deque([((), tree)])
    while queue:
        path, node = queue.popleft()
        if not isinstance(node, Branch):
            continue
        collections = _collections(node)
        if collections:
            homes.append(_home(node, path, collections))
        elif len(path) < _DEPTH:
            for key, child in node.children.items():
                if str(key) not in SLOTS:
                    queue.append(((*path, key), child))
    return tuple(homes)


def _collections(node: Branch) -> dict[str, TreePath]:
    """Returns name → path below ``node``; empty when no variables lie there."""
    children = node.children
    own: dict[str, TreePath] = {str(key): (key,) for key in children}
    branches = {str(key) for key, at in children.items() if isinstance(at, Branch)}
    if PARAMS in branches:
        return own
    optimizer = children.get("optimizer")
    if isinstance(optimizer, Branch) and _branch(optimizer, "target"):
        return own | _inside(node, "model_state") | {PARAMS: ("optimizer", "target")}
    if "target" in branches and "state" in children:
        return own | _inside(node, "flax_mutables") | {PARAMS: ("target",)}
    if branches and branches <= KNOWN | SLOTS and branches & {"batch_stats", "cache"}:
        return own
    return {}


def _inside(node: Branch, name: str) -> dict[str, TreePath]:
    child = node.children.get(name)
    if not isinstance(child, Branch):
        return {}
    return {str(key): (name, key) for key in child.children}


def _branch(node: Branch, name: str) -> bool:
    return isinstance(node.children.get(name), Branch)


def _home(node: Branch, path: TreePath, found: dict[str, TreePath]) -> Home:
    """Looks through collections that hold themselves, e.g. ``params/params``."""
    places: dict[str, TreePath] = {}
    for name, outer in found.items():
        place = outer
        places.setdefault(name, place)
        inner = _descend(node, place)
        while isinstance(inner, Branch) and _repeats(inner, name):
            for key in inner.children:
                places[str(key)] = (*place, key)
            place = (*place, name)
            inner = inner.children[name]
    order = sorted(places, key=lambda name: name != PARAMS)
    return Home(path, tuple((name, (*path, *places[name])) for name in order))


def _repeats(inner: Branch, name: str) -> bool:
    """Whether a collection holds collections again, the same one among them."""
    return _branch(inner, name) and {str(key) for key in inner.children} <= KNOWN


def _descend(node: Node, path: TreePath) -> Node | None:
    for key in path:
        if not isinstance(node, Branch) or key not in node.children:
            return None
        node = node.children[key]
    return node
