"""Trees for the tests of the writers: from plain Python objects, numbers in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from inspector.formats.checkpoint import Check, Extent, never
from inspector.formats.export import ExportRequest, Written, export_tree
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.tree import Branch, Container, Node, empty_leaf
from inspector.variables.value import Literal, Stored

KINDS = {
    bool: Kind.BOOL,
    int: Kind.INT,
    float: Kind.FLOAT,
    complex: Kind.COMPLEX,
    str: Kind.STR,
    bytes: Kind.BYTES,
    type(None): Kind.NONE,
}


@dataclass(frozen=True)
class RandomKey:
    """A typed random key as its words."""

    dtype: str
    words: np.ndarray


@dataclass
class MemoryValues:
    """Gives the numbers of a tree that `tree_of` made, ``rows`` elements at a time."""

    arrays: dict[TreePath, np.ndarray] = field(default_factory=dict)
    extents: dict[TreePath, Extent] = field(default_factory=dict)
    rows: int = 5

    def blocks(self, leaf: Leaf, cancelled: Check) -> Iterator[np.ndarray]:
        assert isinstance(leaf.value, Stored)
        flat = self.arrays[leaf.value.path].reshape(-1)
        for start in range(0, flat.size, self.rows):
            assert not cancelled()
            yield flat[start : start + self.rows]

    def extent(self, leaf: Leaf) -> Extent | None:
        assert isinstance(leaf.value, Stored)
        return self.extents.get(leaf.value.path)


def tree_of(value: Any, rows: int = 5) -> tuple[Node, MemoryValues]:
    """Makes a tree of dicts, lists, tuples, arrays, random keys and Python objects."""
    values = MemoryValues(rows=rows)
    return _node(value, (), values), values


def _node(value: Any, path: TreePath, values: MemoryValues) -> Node:
    if isinstance(value, dict) and (value or not path):
        return Branch({k: _node(v, (*path, k), values) for k, v in value.items()})
    if isinstance(value, list | tuple) and value:
        container = Container.LIST if isinstance(value, list) else Container.TUPLE
        items = enumerate(value)
        return Branch({i: _node(v, (*path, i), values) for i, v in items}, container)
    if isinstance(value, dict | list | tuple):
        return empty_leaf(Container(type(value).__name__))
    if isinstance(value, RandomKey):
        values.arrays[path] = value.words
        shape = value.words.shape[:-1]
        return Leaf(Kind.KEY, shape, value.dtype, Stored("s", path))
    if isinstance(value, np.ndarray):
        values.arrays[path] = value
        name = dtypes.name_of(value.dtype)
        return Leaf(Kind.ARRAY, value.shape, name, Stored("s", path))
    return Leaf(KINDS[type(value)], value=Literal(value))


def sample(dtype: str, shape: tuple[int, ...] = (2, 3)) -> np.ndarray:
    """Returns an array with different numbers that every dtype can hold."""
    numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2
    if dtype == "float8_e8m0fnu":
        numbers = numbers + 1
    return np.asarray(numbers.astype(dtypes.to_numpy(dtype)))


def odd_tree() -> dict[str, Any]:
    """Returns a tree of everything that Orbax and msgpack both keep."""
    generator = np.random.default_rng(7)
    return {
        "params": {
            "Dense_0": {
                "kernel": generator.standard_normal((37, 11)).astype(np.float32),
                "bias": generator.standard_normal(11).astype(ml_dtypes.bfloat16),
            },
            "Dense_10": {"kernel": np.arange(12.0).reshape(3, 4)},
            "Dense_2": {"kernel": np.asarray(np.float16(1.5))},
        },
        "layers": [np.arange(3), {"w": np.ones((2, 2), np.complex64)}, [], {}, None],
        "a.b": np.array([True, False]),
        "c/d": {"e\\f": np.arange(4, dtype=np.uint8)},
        "ключ": np.arange(2, dtype=np.int16),
        "it's": np.array([[1, -2]], dtype=ml_dtypes.int4),
        "empty": {},
        "nothing": None,
    }


def export(
    value: Any,
    out: Path,
    *,
    progress: list[tuple[int, int, str]] | None = None,
    **how: Any,
) -> Written:
    """Exports what `tree_of` makes of ``value``."""
    tree, values = tree_of(value)
    steps = [] if progress is None else progress
    return export_tree(
        tree,
        values,
        ExportRequest(out, **how),
        lambda done, total, text: steps.append((done, total, text)),
        never,
    )


def same(left: Any, right: Any) -> bool:
    """Returns whether two trees are equal: structure, types, dtypes and every bit."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, RandomKey):
        return left.dtype == right.dtype and same(left.words, right.words)
    if isinstance(left, np.ndarray):
        alike = (left.dtype, left.shape) == (right.dtype, right.shape)
        return alike and left.tobytes() == right.tobytes()
    return bool(left == right or (left != left and right != right))  # noqa: PLR0124 - NaN


def in_order(value: Any) -> Any:
    """Returns a tree with the keys of its dicts sorted, as JAX flattens it."""
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return type(value)(map(in_order, value))
    return value
