"""What a forward pass gave, as trees of leaves whose numbers lie in a file of scratch.

Model process, on the thread that runs the person's code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from inspector.engine.messages.running import Remark
from inspector.models.describe import Described, Found, describe
from inspector.models.raw_file import Place, RawFile, layout
from inspector.models.traced import is_key
from inspector.variables import dtypes
from inspector.variables.leaf import SCALAR_KINDS, Kind, Leaf
from inspector.variables.path import TreePath, join
from inspector.variables.plain import PlainTree
from inspector.variables.value import UNSET, Literal, Raw, Value

BARE = ("output",)
"""Path of an output that is one array and no tree."""


@dataclass(frozen=True, slots=True)
class Written:
    """Trees whose values lie in one file.

    Attributes:
        trees: The trees, by the name each was given under.
        arrays: Their arrays on the host, by tree and path; random keys as words.
    """

    trees: Mapping[str, PlainTree]
    arrays: Mapping[str, Mapping[TreePath, np.ndarray]]


def describe_outputs(outputs: Any) -> Described:
    """Returns outputs as leaves; a bare one lies at `BARE`."""
    described = describe(outputs)
    leaves = tuple(
        Found(BARE, leaf.kind, leaf.value, leaf.note, leaf.variable)
        if not leaf.path
        else leaf
        for leaf in described.leaves
    )
    return Described(leaves, described.containers)


def write_trees(trees: Mapping[str, Described], file: str) -> Written:
    """Writes the arrays of some trees to one file.

    Args:
        trees: The trees by name.
        file: Absolute path; empty to write nothing: then arrays have no value.

    Raises:
        LoadModuleError: The disk is full, or the folder is gone.
    """
    arrays = {name: _host_arrays(tree) for name, tree in trees.items()}
    places = layout(
        ((name, *path), array.shape, dtypes.name_of(array.dtype))
        for name, found in arrays.items()
        for path, array in found.items()
    )
    if file and places:
        with RawFile(Path(file), places, "The outputs", durable=False) as out:
            for place in places:
                out.write(place, arrays[str(place.path[0])][place.path[1:]])
    by_path = {place.path: place for place in places}
    plain = {
        name: PlainTree(
            tuple(
                (leaf.path, _leaf(leaf, by_path.get((name, *leaf.path)), file))
                for leaf in tree.leaves
            ),
            tree.containers,
        )
        for name, tree in trees.items()
    }
    return Written(plain, arrays)


def _host_arrays(tree: Described) -> dict[TreePath, np.ndarray]:
    found = {}
    for leaf in tree.leaves:
        if leaf.kind is Kind.ARRAY:
            array = host(leaf.value)
            # E.g. float0, the tangent of an integer: nothing that could be shown.
            if dtypes.name_of(array.dtype) in dtypes.NAMES:
                found[leaf.path] = array
    return found


def host(value: Any) -> np.ndarray:
    """Returns a value as an array of this process; random keys as their words."""
    if is_key(value):
        value = jax.random.key_data(value)
    return np.asarray(value)


def _leaf(found: Found, place: Place | None, file: str) -> Leaf:
    if found.kind is not Kind.ARRAY:
        kept = found.kind in SCALAR_KINDS or found.kind is Kind.NONE
        value: Value = Literal(found.scalar if kept else None)
        return Leaf(found.kind, value=value, note=found.note, variable=found.variable)
    if place is None:
        return Leaf(Kind.OPAQUE, value=Literal(None), note=str(found.value.dtype))
    kind = Kind.KEY if is_key(found.value) else Kind.ARRAY
    return Leaf(
        kind,
        tuple(found.value.shape),
        str(found.value.dtype),
        Raw(file, place.offset, place.shape, place.dtype) if file else UNSET,
        note=found.note,
        variable=found.variable,
    )


def nan_remarks(
    arrays: Mapping[TreePath, np.ndarray], most: int = 8
) -> tuple[Remark, ...]:
    """Returns a sentence on every output that holds a NaN.

    Args:
        arrays: Outputs by path.
        most: Most sentences.
    """
    remarks = []
    for path, array in arrays.items():
        bad = count_nan(array)
        if bad:
            all_of = "all" if bad == array.size else f"{bad:,} of"
            remarks.append(
                Remark(
                    "nan",
                    f"{all_of} {array.size:,} numbers of {join(path)} are NaN.",
                    path,
                )
            )
    return tuple(remarks[:most])


def count_nan(array: np.ndarray) -> int:
    """Returns how many elements are NaN; 0 for what has no NaN."""
    if not jax.numpy.issubdtype(array.dtype, jax.numpy.inexact):
        return 0
    return int(np.count_nonzero(np.isnan(array)))


def with_types(updates: Described, known: Sequence[Found]) -> Described:
    """Returns updates with the notes and Variable types of the leaves they replace."""
    by_path = {leaf.path: leaf for leaf in known}
    leaves = []
    for leaf in updates.leaves:
        old = by_path.get(leaf.path)
        if old is not None:
            leaf = Found(  # noqa: PLW2901 - the same leaf, with what is known of it
                leaf.path,
                leaf.kind,
                leaf.value,
                leaf.note or old.note,
                leaf.variable or old.variable,
            )
        leaves.append(leaf)
    return Described(tuple(leaves), updates.containers)
