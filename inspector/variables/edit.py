"""Edits of the target: data only, each one reversible step of the document.

The store makes them, `apply` turns them into trees, the recipe and the journal
keep them (`edit_json`), the window shows their text. An edit stores decisions,
never heuristics: applying one again on the same tree gives the same tree. No
function here changes anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from inspector.variables import dtypes
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath, common_prefix, join
from inspector.variables.value import Literal


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asked of a transfer; for display, never read by replay.

    Attributes:
        source_name: Name of the source, e.g. ``"digits"``.
        source_path: What was dragged, ``()`` for the whole source.
        target_path: What it was dropped on.
        only: The one collection that was asked for; empty for all.
    """

    source_name: str = ""
    source_path: TreePath = ()
    target_path: TreePath = ()
    only: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """One decided leaf of a transfer.

    Attributes:
        source: Path of the leaf in the source's own tree.
        target: Path of the leaf in the target as it is before the edit.
        rule: ``"exact"`` or ``"cast"``.
        shape: Shape of both leaves.
        from_dtype: Dtype of the source leaf; the kind for Python scalars.
        to_dtype: Dtype of the target leaf; the kind for Python scalars.
        literal: The value itself when the source leaf is a Python scalar.
    """

    source: TreePath
    target: TreePath
    rule: str = "exact"
    shape: tuple[int, ...] = ()
    from_dtype: str = ""
    to_dtype: str = ""
    literal: Literal | None = None


@dataclass(frozen=True, slots=True)
class Transfer:
    """Leaves of a source become the values of leaves of the target.

    Attributes:
        source: Id of the source in the document.
        pairs: The decided leaves; no target appears twice.
        asked: What the person did, for the history's text.
    """

    source: str
    pairs: tuple[Pair, ...]
    asked: Asked = field(default_factory=Asked)


@dataclass(frozen=True, slots=True)
class Rename:
    """A node gets another name and keeps its place in the order.

    Attributes:
        path: The node; its parent is a dict.
        name: The new last key; no other child has it.
    """

    path: TreePath
    name: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Nodes go, with all that is below; list positions after them move up.

    Attributes:
        paths: Nodes of the tree before the edit.
    """

    paths: tuple[TreePath, ...]


@dataclass(frozen=True, slots=True)
class CastLeaves:
    """Array leaves get another dtype.

    Attributes:
        paths: Array leaves.
        dtype: Name of the new dtype.
    """

    paths: tuple[TreePath, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class FillLeaves:
    """Array leaves hold one number everywhere.

    Attributes:
        paths: Array leaves.
        number: The number; their dtypes can hold it.
    """

    paths: tuple[TreePath, ...]
    number: bool | int | float | complex


@dataclass(frozen=True, slots=True)
class SetNumbers:
    """One block of numbers of one leaf is replaced; stores the block alone.

    Attributes:
        path: An array leaf.
        start: First index on every axis; ``()`` for a 0-d leaf.
        shape: Extent on every axis.
        data: Elements in C order, little-endian, in ``dtype``.
        dtype: The leaf's dtype, so that the block means the same for ever.
    """

    path: TreePath
    start: tuple[int, ...]
    shape: tuple[int, ...]
    data: bytes
    dtype: str


@dataclass(frozen=True, slots=True)
class TakeValues:
    """Leaves take the values that a run gave them; new ones are added.

    Attributes:
        values: (path, leaf): what the leaf is, its value `Kept` or `Literal`. Where
            the target has a leaf it must be of the same kind, shape and dtype.
        text: Verb phrase for the history, e.g. ``"Take 4 updates of run 3"``.
    """

    values: tuple[tuple[TreePath, Leaf], ...]
    text: str


Edit = Transfer | Rename | Delete | CastLeaves | FillLeaves | SetNumbers | TakeValues
"""Every kind of edit."""

KINDS: tuple[type[Edit], ...] = (
    Transfer, Rename, Delete, CastLeaves, FillLeaves, SetNumbers, TakeValues,
)  # fmt: skip
"""The classes of `Edit`, for codecs and tests."""


def touched(edit: Edit) -> tuple[TreePath, ...]:
    """Returns the paths of the target that an edit changes, as they are before it."""
    if isinstance(edit, Transfer):
        return tuple(pair.target for pair in edit.pairs)
    if isinstance(edit, Rename | SetNumbers):
        return (edit.path,)
    if isinstance(edit, TakeValues):
        return tuple(path for path, _ in edit.values)
    return edit.paths


def describe(edit: Edit) -> str:  # noqa: PLR0911 - one return a kind
    """Returns an edit as a verb phrase that names its object, for the history."""
    if isinstance(edit, Transfer):
        return _describe_transfer(edit)
    if isinstance(edit, Rename):
        return f"Rename {join(edit.path)} to {edit.name}"
    if isinstance(edit, Delete):
        return f"Delete {_objects(edit.paths, 'node')}"
    if isinstance(edit, CastLeaves):
        return f"Cast {_objects(edit.paths, 'leaf')} to {edit.dtype}"
    if isinstance(edit, TakeValues):
        return edit.text
    if isinstance(edit, FillLeaves):
        return f"Fill {_objects(edit.paths, 'leaf')} with {_number(edit.number)}"
    return _describe_numbers(edit)


def _describe_transfer(edit: Transfer) -> str:
    asked = edit.asked
    origin = asked.source_name or edit.source
    if asked.source_path:
        origin = f"{origin}:{join(asked.source_path)}"
    place = join(asked.target_path) or "the root"
    only = f", {asked.only} only" if asked.only else ""
    return f"Transfer {_count(len(edit.pairs), 'leaf')} from {origin} to {place}{only}"


def _describe_numbers(edit: SetNumbers) -> str:
    name = join(edit.path)
    if int(np.prod(edit.shape, dtype=np.int64)) != 1:
        parts = zip(edit.start, edit.shape, strict=True)
        block = ", ".join(f"{at}:{at + extent}" for at, extent in parts)
        return f"Set {name}[{block}]"
    index = f"[{', '.join(map(str, edit.start))}]" if edit.start else ""
    number = np.frombuffer(edit.data, dtypes.to_numpy(edit.dtype))[0]
    return f"Set {name}{index} to {number}"


def _objects(paths: tuple[TreePath, ...], noun: str) -> str:
    if len(paths) == 1:
        return join(paths[0])
    shared = join(common_prefix(paths))
    where = f" below {shared}" if shared else ""
    return f"{_count(len(paths), noun)}{where}"


def _count(number: int, noun: str) -> str:
    many = "leaves" if noun == "leaf" else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def _number(number: complex) -> str:
    return f"{number:.6g}" if isinstance(number, float) else str(number)
