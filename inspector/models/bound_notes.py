"""Bound modules among the fields of a Linen module, whose variables ``init`` drops.

``Classifier(backbone.bind(variables))`` looks as if the classifier began with these
variables. Flax takes the module without them: ``init`` makes new ones. It is said
where they would have to go. Looks at fields; runs nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import jax
from flax import linen as nn

from inspector.models.traced import Traced
from inspector.variables.path import TreePath, join


def bound_notes(module: nn.Module, traced: Traced) -> tuple[str, ...]:
    """Returns a sentence about each bound module that is a field.

    Args:
        module: The constructed module.
        traced: Its trace, for the places in its tree.
    """
    notes = []
    for path, inner in _bound(module, ()):
        places = _places(path, traced)
        where = " and ".join(join(place) for place in places) or join(path)
        notes.append(
            f"The field {join(path)} is bound to variables (Module.bind), and init "
            f"drops them: {type(inner).__name__} gets new initial values at {where}. "
            "To keep the old ones, write what it is bound to into a checkpoint "
            f"({join(path)}.variables), open that, and drag it onto {where}."
        )
    return tuple(notes)


def _bound(module: nn.Module, path: TreePath) -> Iterator[tuple[TreePath, nn.Module]]:
    """Yields the bound modules below a module, with the path they get in its tree."""
    for field in dataclasses.fields(module):
        if field.name in {"parent", "name"}:
            continue
        value: Any = getattr(module, field.name, None)
        flat, _ = jax.tree_util.tree_flatten_with_path(
            value, is_leaf=lambda one: isinstance(one, nn.Module)
        )
        for keys, leaf in flat:
            if not isinstance(leaf, nn.Module):
                continue
            # Flax names a module in a list or dict after the field and its place.
            parts = [field.name, *(_key(key) for key in keys)]
            place = (*path, "_".join(parts))
            if leaf.scope is not None:
                yield place, leaf
            else:
                yield from _bound(leaf, place)


def _key(entry: Any) -> str:
    return str(getattr(entry, "key", getattr(entry, "idx", entry)))


def _places(path: TreePath, traced: Traced) -> tuple[TreePath, ...]:
    """Returns the node of every collection that holds variables of the module."""
    found = (
        (leaf.path[0], *path)
        for leaf in traced.described.leaves
        if leaf.path[1 : len(path) + 1] == path
    )
    return tuple(dict.fromkeys(found))
