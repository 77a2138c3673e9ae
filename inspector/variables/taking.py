"""Values that a run made become values of the target; new leaves are added.

The part of `apply` that knows `TakeValues`. Pure functions in the store process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from inspector.errors import EditError
from inspector.variables.edit import TakeValues
from inspector.variables.fitting import describe_leaf
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath, join
from inspector.variables.tree import Branch, Container, get, put, update


def take_values(tree: Branch, edit: TakeValues) -> Branch:
    """Returns the tree with the values of a run in place of its own.

    Raises:
        EditError: A leaf of the target is of another kind, shape or dtype, or the
            place of a new one is taken; says path, expected and found.
    """
    changes: dict[TreePath, Callable[[Leaf], Leaf]] = {}
    added: list[tuple[TreePath, Leaf]] = []
    for path, given in edit.values:
        node = get(tree, path)
        if node is None:
            added.append((path, given))
            continue
        _check(path, node, given)
        changes[path] = lambda old, value=given.value: replace(old, value=value)  # type: ignore[misc]  # mypy cannot infer a lambda's default
    after, _ = update(tree, changes)
    assert isinstance(after, Branch)
    for path, leaf in added:
        after = _added(after, path, leaf)
    return after


def _check(path: TreePath, node: Branch | Leaf, given: Leaf) -> None:
    if isinstance(node, Branch):
        message = f"the target has a branch here, the run gave {describe_leaf(given)}"
        hint = "Load the module again, so that the target is what the run updates."
        raise EditError(message, where=join(path), hint=hint)
    if (node.kind, node.shape, node.dtype) != (given.kind, given.shape, given.dtype):
        message = (
            f"the target has {describe_leaf(node)}, the run gave {describe_leaf(given)}"
        )
        hint = "Undo the edit that changed the leaf since the run, or run again."
        raise EditError(message, where=join(path), hint=hint)


def _added(tree: Branch, path: TreePath, leaf: Leaf) -> Branch:
    parent = _nearest_branch(tree, path)
    if path and parent.container is Container.DICT:
        try:
            return put(tree, path, leaf)
        except KeyError:
            pass
    message = "the run gave a leaf for which the target has no place"
    hint = "Take the other updates only, or load the module again."
    raise EditError(message, where=join(path), hint=hint)


def _nearest_branch(tree: Branch, path: TreePath) -> Branch:
    """Returns the innermost branch that there is on the way to a path."""
    node = tree
    for key in path:
        child = node.children.get(key)
        if not isinstance(child, Branch):
            break
        node = child
    return node
