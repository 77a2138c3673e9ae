"""Edits as pure functions from tree to tree.

The document calls `apply_edit` for every edit, redo and replay, in the store
process. What an edit does not touch is shared between the trees; nothing is read
and nothing is changed in place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from inspector.errors import EditError, TransferError
from inspector.variables import casting, dtypes
from inspector.variables.edit import (
    CastLeaves,
    Delete,
    Edit,
    FillLeaves,
    Pair,
    Rename,
    SetNumbers,
    TakeValues,
    Transfer,
)
from inspector.variables.leaf import EMPTY_KINDS, Kind, Leaf
from inspector.variables.nearest import did_you_mean
from inspector.variables.patching import patch
from inspector.variables.path import Key, TreePath, join
from inspector.variables.taking import take_values
from inspector.variables.tree import (
    Branch,
    Container,
    Node,
    empty_leaf,
    get,
    update,
    walk,
)
from inspector.variables.value import Cast, Filled, Stored, Unset, Value


def apply_edit(tree: Branch, edit: Edit) -> Branch:  # noqa: PLR0911 - one return a kind
    """Returns the tree after an edit.

    Args:
        tree: The target before; stays as it is.
        edit: What to do.

    Raises:
        TransferError: A pair's target is absent or does not fit.
        EditError: Any other edit that does not fit; says path, expected, found.
    """
    if isinstance(edit, Transfer):
        return _transfer(tree, edit)
    if isinstance(edit, Rename):
        return _rename(tree, edit)
    if isinstance(edit, Delete):
        return _delete(tree, edit)
    if isinstance(edit, CastLeaves):
        return _cast(tree, edit)
    if isinstance(edit, FillLeaves):
        return _fill(tree, edit)
    if isinstance(edit, TakeValues):
        return take_values(tree, edit)
    return _set_numbers(tree, edit)


def array_leaves(tree: Node, paths: Iterable[TreePath]) -> tuple[TreePath, ...]:
    """Returns the array leaves at and below paths, each once, for casts and fills.

    Raises:
        EditError: A path is not in the tree.
    """
    found: dict[TreePath, None] = {}
    for path in paths:
        node = get(tree, path)
        if node is None:
            raise _absent(tree, path)
        for place, leaf in walk(node, path):
            if leaf.kind is Kind.ARRAY:
                found[place] = None
    return tuple(found)


def kind_text(leaf: Leaf) -> str:
    """Returns what a leaf is as a person reads it, e.g. ``float32[3,4]``."""
    if leaf.kind in {Kind.ARRAY, Kind.KEY}:
        return f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"
    return leaf.kind.value if leaf.kind in EMPTY_KINDS else f"Python {leaf.kind.value}"


def _absent(tree: Node, path: TreePath) -> EditError:
    message = "the target has no such path"
    return EditError(message, where=join(path), hint=did_you_mean(tree, path))


def _leaf_at(tree: Node, path: TreePath) -> Leaf:
    """Returns the array leaf at a path, or raises what is there instead."""
    node = get(tree, path)
    if node is None:
        raise _absent(tree, path)
    if isinstance(node, Branch) or node.kind is not Kind.ARRAY:
        found = "a branch" if isinstance(node, Branch) else kind_text(node)
        message = f"expected an array, found {found}"
        hint = "Choose array leaves; a branch is given by the leaves below it."
        raise EditError(message, where=join(path), hint=hint)
    return node


def _changed(tree: Branch, changes: dict[TreePath, Callable[[Leaf], Leaf]]) -> Branch:
    result, _ = update(tree, changes)
    assert isinstance(result, Branch)
    return result


def _transfer(tree: Branch, edit: Transfer) -> Branch:
    changes: dict[TreePath, Callable[[Leaf], Leaf]] = {}
    for pair in edit.pairs:
        if pair.target in changes:
            message = "two source leaves would fill one target leaf"
            hint = "Skip one of the two rows."
            raise TransferError(message, where=join(pair.target), hint=hint)
        leaf = get(tree, pair.target)
        if leaf is None:
            message = "the target has no such leaf"
            hint = did_you_mean(tree, pair.target)
            raise TransferError(message, where=join(pair.target), hint=hint)
        _check_pair(pair, leaf)
        value = _pair_value(edit.source, pair)
        changes[pair.target] = lambda old, value=value: replace(old, value=value)  # type: ignore[misc]  # mypy cannot infer a lambda's default
    return _changed(tree, changes)


def _check_pair(pair: Pair, leaf: Node) -> None:
    """Checks that the target leaf still is what the pair was decided for."""
    place = join(pair.target)
    if isinstance(leaf, Branch):
        message = "the target is a branch, a leaf of the source cannot fill it"
        raise TransferError(message, where=place, hint="Drop it on a leaf.")
    array = leaf.kind in {Kind.ARRAY, Kind.KEY}
    dtype = leaf.dtype if array else leaf.kind.value
    if (dtype, leaf.shape) != (pair.to_dtype, pair.shape):
        expected = f"{pair.to_dtype}{list(pair.shape)}"
        message = f"the target expects {kind_text(leaf)}, the transfer gives {expected}"
        hint = "The target changed since the plan; drag the subtree again."
        raise TransferError(message, where=place, hint=hint)
    if pair.rule not in {"exact", "cast"}:
        message = f"unknown rule “{pair.rule}”"
        hint = "The recipe needs a newer version of this program."
        raise TransferError(message, where=place, hint=hint)


def _pair_value(source: str, pair: Pair) -> Value:
    stored: Value = pair.literal or Stored(source, pair.source)
    if pair.rule == "cast" and pair.literal is None:
        return Cast(stored, pair.from_dtype, pair.to_dtype)
    return stored


def _rename(tree: Branch, edit: Rename) -> Branch:
    place = join(edit.path)
    if not edit.path:
        message = "the root has no name"
        raise EditError(message, hint="Choose a node below it.")
    parent = get(tree, edit.path[:-1])
    if not isinstance(parent, Branch) or edit.path[-1] not in parent.children:
        raise _absent(tree, edit.path)
    if parent.container is not Container.DICT:
        message = f"a position in a {parent.container.value} has no name to change"
        hint = "Delete items to move the later ones up."
        raise EditError(message, where=place, hint=hint)
    if not edit.name:
        message = "a name needs at least one character"
        raise EditError(message, where=place, hint="Type a name.")
    old = edit.path[-1]
    if any(str(key) == edit.name for key in parent.children if key != old):
        message = f"“{edit.name}” exists beside it already"
        hint = "Choose another name, or delete or rename the other one first."
        raise EditError(message, where=place, hint=hint)
    children = {
        (edit.name if key == old else key): child
        for key, child in parent.children.items()
    }
    return _put_branch(tree, edit.path[:-1], Branch(children, parent.container))


def _put_branch(tree: Branch, path: TreePath, branch: Branch) -> Branch:
    """Returns the tree with another branch in the place of an existing one."""
    if not path:
        return branch
    child = tree.children[path[0]]
    assert isinstance(child, Branch)
    children = dict(tree.children)
    children[path[0]] = _put_branch(child, path[1:], branch)
    return Branch(children, tree.container)


def _delete(tree: Branch, edit: Delete) -> Branch:
    gone: dict[Key, object] = {}
    for path in edit.paths:
        if not path:
            message = "the root cannot be deleted"
            raise EditError(message, hint="Delete what lies below it.")
        if get(tree, path) is None:
            raise _absent(tree, path)
        level = gone
        for key in path[:-1]:
            following = level.setdefault(key, {})
            if not isinstance(following, dict):
                break  # an ancestor goes as a whole
            level = following
        else:
            level[path[-1]] = True
    return _without_all(tree, gone)


def _without_all(branch: Branch, gone: dict[Key, object]) -> Branch:
    children: dict[Key, Node] = {}
    for key, child in branch.children.items():
        below = gone.get(key)
        if isinstance(below, dict) and isinstance(child, Branch):
            smaller = _without_all(child, below)
            children[key] = smaller if smaller.children else empty_leaf(child.container)
        elif below is None:
            children[key] = child
    if branch.container is not Container.DICT:
        children = dict(enumerate(children.values()))
    return Branch(children, branch.container)


def _cast(tree: Branch, edit: CastLeaves) -> Branch:
    if not casting.is_known(edit.dtype):
        message = f"“{edit.dtype}” is no dtype of arrays"
        hint = "Known are bool, int8 … uint64, float16 … float64, bfloat16, float8_…."
        raise EditError(message, hint=hint)

    def change(leaf: Leaf) -> Leaf:
        if leaf.dtype == edit.dtype:
            return leaf
        value = leaf.value
        if not isinstance(value, Unset):
            value = Cast(value, leaf.dtype, edit.dtype)
        return replace(leaf, value=value, dtype=edit.dtype)

    for path in edit.paths:
        leaf = _leaf_at(tree, path)
        if not (
            casting.is_known(leaf.dtype) and casting.is_possible(leaf.dtype, edit.dtype)
        ):
            message = f"{leaf.dtype} cannot be cast to {edit.dtype}"
            hint = "Cast to float32 first."
            raise EditError(message, where=join(path), hint=hint)
    return _changed(tree, dict.fromkeys(edit.paths, change))


def _fill(tree: Branch, edit: FillLeaves) -> Branch:
    for path in edit.paths:
        leaf = _leaf_at(tree, path)
        if why := casting.why_unfit(edit.number, leaf.dtype):
            message = f"{edit.number} does not fit {leaf.dtype}: {why}"
            hint = "Choose another number, or cast the leaf first."
            raise EditError(message, where=join(path), hint=hint)
    value = Filled(edit.number)
    return _changed(
        tree, dict.fromkeys(edit.paths, lambda leaf: replace(leaf, value=value))
    )


def _set_numbers(tree: Branch, edit: SetNumbers) -> Branch:
    leaf = _leaf_at(tree, edit.path)
    place = join(edit.path)
    if edit.dtype != leaf.dtype:
        message = f"the leaf is {kind_text(leaf)}, the numbers are {edit.dtype}"
        hint = "Cast the leaf, or give the numbers in its dtype."
        raise EditError(message, where=place, hint=hint)
    fits = len(edit.start) == len(edit.shape) == len(leaf.shape) and all(
        at >= 0 and extent >= 0 and at + extent <= size
        for at, extent, size in zip(edit.start, edit.shape, leaf.shape, strict=True)
    )
    if not fits:
        message = (
            f"the leaf is {kind_text(leaf)}, the block begins at {list(edit.start)} "
            f"and has shape {list(edit.shape)}"
        )
        hint = "Choose a block that lies within the leaf."
        raise EditError(message, where=place, hint=hint)
    itemsize = dtypes.to_numpy(leaf.dtype).itemsize
    expected = math.prod(edit.shape) * itemsize
    if len(edit.data) != expected:
        message = f"the block needs {expected} bytes, {len(edit.data)} were given"
        hint = "Give the numbers in C order in the leaf's dtype."
        raise EditError(message, where=place, hint=hint)
    try:
        value = patch(leaf.value, edit.start, edit.shape, edit.data, itemsize)
    except EditError as error:
        raise EditError(error.message, where=place, hint=error.hint) from None
    return _changed(tree, {edit.path: lambda old: replace(old, value=value)})


def encode(numbers: np.ndarray, dtype: str) -> bytes:
    """Returns numbers as the bytes of `SetNumbers`: C order, little-endian.

    Args:
        numbers: Array of any dtype that `dtype` can hold.
        dtype: The leaf's dtype.
    """
    with np.errstate(all="ignore"):
        array = np.ascontiguousarray(numbers.astype(dtypes.to_numpy(dtype)))
    return array.astype(array.dtype.newbyteorder("<")).tobytes()
