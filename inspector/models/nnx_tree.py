"""An NNX module as graph definition and skeleton: its leaves by attribute path.

Takes modules of tracers and of arrays. Thread of the model process that runs the
person's code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
from flax import nnx

from inspector.models.describe import Described, Found, key_of
from inspector.models.skeleton import Skeleton, skeleton_of
from inspector.variables.leaf import Kind
from inspector.variables.path import TreePath

_HIDDEN = frozenset({"eager_sharding", "hijax", "is_hijax", "mesh", "mutable", "ref"})
"""Metadata that every Variable has, or that says how Flax keeps it."""
_SHARDING = frozenset({"out_sharding", "sharding", "sharding_names"})


@dataclass(frozen=True, slots=True)
class NnxTree:
    """An NNX module, taken apart.

    Attributes:
        graphdef: Everything that is no array.
        skeleton: The arrays; one copy of what several attributes hold.
        annotated: Whether a Variable names a sharding, which needs a mesh.
    """

    graphdef: Any
    skeleton: Skeleton
    annotated: bool


def nnx_tree(module: nnx.Module) -> NnxTree:
    """Takes a module apart."""
    split: Any = nnx.split
    graphdef, state = split(module)
    variables = variables_of(state)
    skeleton = skeleton_of(state, _Paths(variables))
    empty = [
        Found(path, Kind.NONE, None, note_of(one), type(one).__name__)
        for path, one in variables.items()
        if value_of(one) is None
    ]
    leaves = (*skeleton.described.leaves, *empty)
    annotated = any(_SHARDING & set(_metadata(one)) for one in variables.values())
    return NnxTree(
        graphdef, replace(skeleton, described=Described(leaves, ())), annotated
    )


def variables_of(state: Any) -> dict[TreePath, Any]:
    """Returns the Variables of a state, by path."""
    flatten: Any = nnx.to_flat_state
    flat: Iterable[tuple[TreePath, Any]] = flatten(state)
    return {path: one for path, one in flat if isinstance(one, nnx.Variable)}


def leaves_of(state: Any) -> dict[TreePath, tuple[Any, str]]:
    """Returns (leaf, Variable type) by path, for a state of tracers or arrays."""
    paths = _Paths(variables_of(state))
    found = {}
    for keys, leaf in jax.tree_util.tree_flatten_with_path(state)[0]:
        path, _, variable = paths(keys)
        found[path] = leaf, variable
    return found


def value_of(variable: Any) -> Any:
    """Returns what a Variable holds, whatever the version of Flax calls it."""
    get = getattr(variable, "get_value", None)
    return variable.value if get is None else get()


class _Paths:
    """Path, note and Variable type of a leaf of a state."""

    def __init__(self, variables: Mapping[TreePath, Any]) -> None:
        self._variables = variables

    def __call__(self, keys: tuple[Any, ...]) -> tuple[TreePath, str, str]:
        path = tuple(key_of(key) for key in keys)
        for length in range(1, len(path) + 1):
            found = self._variables.get(path[:length])
            if found is not None:
                # The step after it is the attribute of the Variable itself.
                whole = path[:length] + path[length + 1 :]
                return whole, note_of(found), type(found).__name__
        return path, "", ""


def note_of(variable: Any) -> str:
    """Returns the metadata of a Variable as one line."""
    parts = [f"{name}={value!r}" for name, value in _metadata(variable).items()]
    return " ".join(parts)


def _metadata(variable: Any) -> dict[str, Any]:
    return {
        name: value
        for name, value in variable.get_metadata().items()
        if name not in _HIDDEN
        and value is not None
        and not callable(value)
        and not (isinstance(value, tuple | list | dict) and not value)
    }
