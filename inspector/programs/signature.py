"""What decides a program: two calls of equal signature share one compiled program.

Made of what JAX itself looks at (shapes, dtypes, weak types, tree structure, device,
settings) and of what is closed over (module, method, static values). Values that
cannot be hashed, as lists in the fields of a module, count by what they print as.
Knows no module and no message; model process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from inspector.models import compat


@dataclass(frozen=True, slots=True)
class LeafType:
    """What a program knows of one input.

    Attributes:
        shape: Its shape.
        dtype: Its dtype as JAX prints it.
        weak: Whether it is a Python number, which takes the dtype of what it meets.
    """

    shape: tuple[int, ...]
    dtype: str
    weak: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """What decides a program.

    Attributes:
        module: Identity of the loaded module.
        method: Method, or the text of the function that stands for it.
        statics: (name, value as text) of what is closed over.
        leaves: Types of the inputs, in the order of the tree.
        tree: Structure of the inputs.
        mutable: Collections that may be updated.
        streams: Rng streams that are given a key.
        device: Name of the device.
        precision: Precision of matrix products.
        settings: (setting of JAX, value) that change programs.
    """

    module: int
    method: str
    statics: tuple[tuple[str, str], ...]
    leaves: tuple[LeafType, ...]
    tree: object
    mutable: tuple[str, ...]
    streams: tuple[str, ...]
    device: str
    precision: str
    settings: tuple[tuple[str, str], ...]


def leaf_types(leaves: Iterable[Any]) -> tuple[LeafType, ...]:
    """Returns the types of arrays, random keys, NumPy arrays and Python numbers."""
    return tuple(map(_leaf_type, leaves))


def _leaf_type(leaf: Any) -> LeafType:
    aval = compat.abstract(leaf)
    weak = bool(getattr(aval, "weak_type", False))
    return LeafType(tuple(aval.shape), str(aval.dtype), weak)


def structure(tree: jax.tree_util.PyTreeDef) -> object:
    """Returns a tree's structure as something that can be hashed and compared."""
    try:
        hash(tree)
    except TypeError:
        # A pytree class of the person's with a list, dict or array that is static.
        return str(tree)
    return tree


def statics_of(values: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Returns static values by name as text, in order of their names."""
    return tuple((name, value_text(values[name])) for name in sorted(values))


def value_text(value: object) -> str:
    """Returns a text that is equal for values that give the same program.

    NumPy shortens what it prints of large arrays, so arrays count by their bytes.
    Objects that print their address count by identity.
    """
    if isinstance(value, np.ndarray | jax.Array):
        array: Any = value
        if jax.numpy.issubdtype(array.dtype, jax.dtypes.prng_key):
            array = jax.random.key_data(array)
        content = hashlib.sha256(np.asarray(array).tobytes()).hexdigest()
        return f"{array.dtype}{list(array.shape)}:{content}"
    if isinstance(value, Mapping):
        inner = (f"{key!r}: {value_text(one)}" for key, one in value.items())
        return f"{type(value).__name__}({', '.join(inner)})"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(map(value_text, value))})"
    return f"{type(value).__qualname__}:{value!r}"


def shape_text(leaf: Any) -> str:
    """Returns an input as JAX prints it, e.g. ``float32[2,5]``."""
    aval = compat.abstract(leaf)
    return f"{aval.dtype}[{','.join(map(str, aval.shape))}]"


def tree_text(tree: Any) -> str:
    """Returns an input as text; an array as its shape, a nest with its brackets."""
    if isinstance(tree, Mapping):
        inner = ", ".join(f"{key}: {tree_text(one)}" for key, one in tree.items())
        return f"{{{inner}}}"
    if isinstance(tree, Sequence) and not isinstance(tree, str | bytes):
        inner = ", ".join(map(tree_text, tree))
        return f"[{inner}]" if isinstance(tree, list) else f"({inner})"
    if hasattr(tree, "shape") and hasattr(tree, "dtype"):
        return shape_text(tree)
    return repr(tree)
