"""From what a person asks of the target to the edit that is made of it.

Pure functions: casts and fills of a branch become edits of its arrays, typed texts
become bytes in the leaf's dtype.
"""

from __future__ import annotations

from inspector.engine.messages import document as messages
from inspector.engine.store_typed import Number, encode_block, parse_number
from inspector.engine.store_view import node_at
from inspector.errors import EditError
from inspector.variables.apply import array_leaves
from inspector.variables.edit import (
    CastLeaves,
    Delete,
    Edit,
    FillLeaves,
    Rename,
    SetNumbers,
)
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath, join
from inspector.variables.tree import Branch


class NoArraysError(EditError):
    """A cast or fill was asked of nodes without an array."""

    def __init__(self, paths: tuple[TreePath, ...]) -> None:
        """Names the nodes."""
        super().__init__(
            "There is no array here",
            where=", ".join(join(path) or "the root" for path in paths[:3]),
            hint="Choose a leaf with a shape, or a branch above one.",
        )


class NotEditableError(EditError):
    """Numbers were typed into something that is no array."""

    def __init__(self, path: TreePath) -> None:
        """Names the node."""
        super().__init__("Only an array takes numbers", where=join(path))


def make_edit(body: object, target: Branch) -> Edit:
    """Returns the edit that a message of `messages.document` asks for.

    Args:
        body: `RenameNode`, `DeleteNodes`, `CastNodes`, `FillNodes`, `TypeNumbers`.
        target: The target as it stands.

    Raises:
        EditError: It cannot be made of this target.
        TypeError: The message asks for no edit.
    """
    match body:
        case messages.RenameNode():
            return Rename(body.path, body.name)
        case messages.DeleteNodes():
            return Delete(body.paths)
        case messages.CastNodes():
            return CastLeaves(_arrays(target, body.paths), body.dtype)
        case messages.FillNodes():
            paths = _arrays(target, body.paths)
            return FillLeaves(paths, _fill_number(target, paths, body.number))
        case messages.TypeNumbers():
            leaf = node_at(target, body.path)
            if not isinstance(leaf, Leaf) or not leaf.has_numbers:
                raise NotEditableError(body.path)
            data = encode_block(
                body.numbers, leaf.dtype, body.path, body.start, body.shape
            )
            return SetNumbers(body.path, body.start, body.shape, data, leaf.dtype)
        case _:
            raise TypeError(type(body).__name__)


def _arrays(target: Branch, paths: tuple[TreePath, ...]) -> tuple[TreePath, ...]:
    found = array_leaves(target, paths)
    if not found:
        raise NoArraysError(paths)
    return found


def _fill_number(target: Branch, paths: tuple[TreePath, ...], text: str) -> Number:
    """Reads the number as the first leaf does; every other one must hold it too."""
    numbers: list[Number] = []
    for path in paths:
        leaf = node_at(target, path)
        assert isinstance(leaf, Leaf), "array_leaves gives leaves"
        numbers.append(parse_number(text, leaf.dtype, join(path)))
    return numbers[0]
