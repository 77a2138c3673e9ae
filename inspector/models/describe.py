"""A variables pytree of Flax as leaves by path: boxes looked through, nothing lost.

Works on tracers and on arrays alike. Paths are the framework's own: collection,
module path, name; a FrozenDict is a dict; a box is a fact about its leaf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import jax
import numpy as np
from flax.core import meta

from inspector.variables.leaf import Kind
from inspector.variables.path import Key, TreePath
from inspector.variables.tree import Container
from inspector.variables.value import Scalar

_SCALARS: dict[type, Kind] = {
    bool: Kind.BOOL,
    int: Kind.INT,
    float: Kind.FLOAT,
    complex: Kind.COMPLEX,
    str: Kind.STR,
    bytes: Kind.BYTES,
    type(None): Kind.NONE,
}


@dataclass(frozen=True, slots=True)
class Found:
    """One leaf of a variables pytree.

    Attributes:
        path: Its path.
        kind: What it is; ARRAY for anything JAX computes with, keys included.
        value: The array or tracer, or the Python object.
        note: Its boxes, or the static node it stands for.
        variable: NNX Variable type that holds it, e.g. ``"Param"``; else empty.
    """

    path: TreePath
    kind: Kind
    value: Any
    note: str = ""
    variable: str = ""

    @property
    def scalar(self) -> Scalar:
        """The Python object of a leaf that is no array."""
        plain = self.kind in _SCALARS.values()
        return self.value if plain else None


@dataclass(frozen=True, slots=True)
class Described:
    """A variables pytree, flat.

    Attributes:
        leaves: In the pytree's own order.
        containers: (path, kind) of lists and tuples.
    """

    leaves: tuple[Found, ...]
    containers: tuple[tuple[TreePath, str], ...]


def describe(variables: object) -> Described:
    """Returns the leaves of a variables pytree."""
    containers: list[tuple[TreePath, str]] = []
    leaves = tuple(_walk(variables, (), "", containers))
    return Described(leaves, tuple(containers))


def _walk(
    node: Any, path: TreePath, note: str, containers: list[tuple[TreePath, str]]
) -> Iterator[Found]:
    if isinstance(node, meta.AxisMetadata):
        text = f"{note}; {box_text(node)}" if note else box_text(node)
        for _, child in children_of(node):
            yield from _walk(child, path, text, containers)
        return
    if type(node) in _SCALARS:
        yield Found(path, _SCALARS[type(node)], node, note)
        return
    if isinstance(node, jax.Array | np.ndarray | np.generic):
        yield Found(path, Kind.ARRAY, node, note)
        return
    children = children_of(node)
    container = _container(node)
    if not children:
        yield _empty(node, path, container, note)
        return
    if container is not Container.DICT:
        containers.append((path, container.value))
    for key, child in children:
        if child is node:
            yield Found(path, Kind.OPAQUE, node, note or type(node).__name__)
        else:
            yield from _walk(child, (*path, key), note, containers)


def _container(node: object) -> Container:
    if isinstance(node, tuple) and not hasattr(node, "_fields"):
        return Container.TUPLE
    return Container.LIST if isinstance(node, list) else Container.DICT


def children_of(node: Any) -> list[tuple[Key, Any]]:
    """Returns the children of one pytree node; a leaf is its own only child."""
    if isinstance(node, Mapping):
        return [(k if isinstance(k, int) else str(k), v) for k, v in node.items()]
    if isinstance(node, list | tuple) and not hasattr(node, "_fields"):
        return list(enumerate(node))
    flat, _ = jax.tree_util.tree_flatten_with_path(
        node, is_leaf=lambda other: other is not node
    )
    return [(key_of(keys[0]) if keys else "", child) for keys, child in flat]


def key_of(entry: Any) -> Key:
    """Returns a step of a JAX key path as a key: attribute, mapping key or index."""
    for attribute in ("name", "key", "idx"):
        if hasattr(entry, attribute):
            found = getattr(entry, attribute)
            return found if isinstance(found, int) else str(found)
    return str(entry)


def _empty(node: object, path: TreePath, container: Container, note: str) -> Found:
    """Returns the leaf of an empty container or of a node that is all static.

    A static node (the ``params_axes`` of T5X) is an empty dict for
    ``flax.serialization`` too.
    """
    kinds = {
        Container.DICT: Kind.EMPTY_DICT,
        Container.LIST: Kind.EMPTY_LIST,
        Container.TUPLE: Kind.EMPTY_TUPLE,
    }
    static = not isinstance(node, Mapping | list | tuple)
    return Found(path, kinds[container], None, box_text(node) if static else note)


def box_text(box: object) -> str:
    """Returns a box as one line, e.g. ``LogicallyPartitioned names=('a', None)``.

    The value, the mesh and the rules are left out, and so is what is at None.
    """
    name = type(box).__name__
    if not is_dataclass(box):
        return name
    hidden = {"value", "mesh", "rules"}
    parts = [
        f"{field.name}={getattr(box, field.name)!r}"
        for field in fields(box)
        if field.name not in hidden and getattr(box, field.name) is not None
    ]
    return " ".join([name, *parts])
