"""Which framework an object belongs to, and in words what belongs to none.

Looks at classes only; constructs and calls nothing.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from flax import linen as nn
from flax import nnx

LINEN = "linen"
NNX = "nnx"
HAIKU = "haiku"
"""A pair of functions ``init`` and ``apply``; its parameters are a pytree."""
PYTREE = "pytree"

WANTED = (
    "Name a class derived from flax.linen.Module or flax.nnx.Module, a class that is "
    "a pytree (an Equinox module), an instance, or a function that returns one."
)
"""Hint of every error about an object that is none of them."""

_FOREIGN = (
    ("torch", "Module", "a PyTorch module, which JAX cannot run"),
    ("keras", "Layer", "a Keras layer, which is no pytree of arrays"),
    ("tensorflow", "Module", "a TensorFlow module, which JAX cannot run"),
    ("sklearn", "BaseEstimator", "a scikit-learn estimator, which JAX cannot run"),
    ("haiku", "Module", "a Haiku module, which exists inside hk.transform only"),
)
"""(top package, class, words) of the bases that are told apart."""

_PLAIN: tuple[tuple[Callable[[object], bool], str], ...] = (
    (lambda value: value is None, "None"),
    (inspect.ismodule, "a Python module"),
    (inspect.isroutine, "a function"),
    (
        lambda value: isinstance(value, jax.Array | np.ndarray),
        "a bare array; a tree with a key for each array is needed",
    ),
)
"""(test, words) of what is said without its class."""


def family_of(value: object) -> str:
    """Returns the family of a class, an instance, or a partial of a class.

    Returns:
        `LINEN`, `NNX`, `HAIKU`, `PYTREE` for an instance that JAX can flatten, or an
        empty text when only a call can tell.
    """
    if is_transformed(value):
        return HAIKU
    inner = unwrapped(value)
    kind = inner if isinstance(inner, type) else type(inner)
    if issubclass(kind, nn.Module):
        return LINEN
    if issubclass(kind, nnx.Module):
        return NNX
    callable_only = isinstance(value, type | functools.partial)
    return PYTREE if not callable_only and is_pytree(value) else ""


def is_instance(value: object) -> bool:
    """Returns whether a value is a module or a tree already, not what makes one."""
    made = not isinstance(value, type | functools.partial)
    return made and family_of(value) != ""


def is_pytree(value: object) -> bool:
    """Returns whether JAX sees a tree in a value and not a single leaf or nothing."""
    if value is None:
        return False
    leaves, structure = jax.tree_util.tree_flatten(value)
    return bool(leaves) and not jax.tree_util.treedef_is_leaf(structure)


def is_transformed(value: object) -> bool:
    """Returns whether a value is a pair of functions as ``hk.transform`` gives it."""
    names = getattr(value, "_fields", ())
    return (
        isinstance(value, tuple)
        and {"init", "apply"} <= set(names)
        and all(callable(getattr(value, name)) for name in ("init", "apply"))
    )


def unwrapped(value: object) -> object:
    """Returns the class or function inside of partials."""
    while isinstance(value, functools.partial):
        value = value.func
    return value


def is_tree_class(kind: object) -> bool:
    """Returns whether the instances of a class are modules or registered pytrees.

    What JAX knows is asked with an instance that no constructor made; a class that
    registers on the first construction is not recognised.
    """
    if not isinstance(kind, type):
        return False
    if issubclass(kind, nn.Module | nnx.Module):
        return True
    if issubclass(kind, dict | list | tuple | str | type) or inspect.isabstract(kind):
        return False
    try:
        empty: Any = object.__new__(kind)
        structure = jax.tree_util.tree_structure(empty)
    except (AttributeError, KeyError):
        return True  # JAX called its flatten function, which missed the fields
    except Exception:  # a flatten function is foreign code and may raise anything
        return False
    return not jax.tree_util.treedef_is_leaf(structure)


def returned_class(function: object) -> type | None:
    """Returns the module or tree class that a function says it returns."""
    try:
        hint = typing.get_type_hints(function).get("return")
    except Exception:  # the hints are foreign text: any name in them may be absent
        return None
    return hint if isinstance(hint, type) and is_tree_class(hint) else None


def foreign_words(value: object) -> str:
    """Returns what a class or instance of another framework is; else nothing."""
    kind = value if isinstance(value, type) else type(value)
    for base in kind.__mro__:
        package = base.__module__.partition(".")[0]
        for top, name, words in _FOREIGN:
            if (package, base.__name__) == (top, name):
                return f"the class of {words}" if isinstance(value, type) else words
    return ""


def words_for(value: object) -> str:
    """Returns what a value is, in words: a PyTorch module, a function, a dict."""
    if words := foreign_words(value):
        return words
    for is_one, plain in _PLAIN:
        if is_one(value):
            return plain
    if isinstance(value, type):
        return f"the class {value.__name__}"
    kind = type(value)
    article = "an" if kind.__name__[0].lower() in "aeiou" else "a"
    if isinstance(value, dict | list | tuple):
        return f"{article} {kind.__name__} without arrays"
    return f"{article} {kind.__name__}, not a module"
