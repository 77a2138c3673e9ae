"""Inputs of ``init`` from text: ``float32[8,28,28,1]``, ``x=…``, files of arrays.

A shape stays abstract. Where a value is needed after all (initialisers that look at
their input), it is ones, and ``jax.random.key(0)`` for a random key; `Input.code`
says so to the person.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import jax
import jax.numpy as jnp
import numpy as np

from inspector.errors import LoadModuleError, UsageError
from inspector.models.spec import did_you_mean
from inspector.variables import dtypes

EXAMPLE = "E.g. float32[8,28,28,1], int32[], x=float32[1,3], x.npy or inputs.npz:x."
"""Hint of every error about the text of an input."""

_SHAPE = re.compile(r"([A-Za-z_]\w*|key<\w+>)\[([^\[\]]*)\]")
_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def _short(name: str) -> str:
    """Returns a dtype as JAX prints it in a jaxpr, e.g. ``f32`` or ``f8_e4m3fn``."""
    for long, short in (
        ("bfloat", "bf"),
        ("float", "f"),
        ("uint", "u"),
        ("int", "i"),
        ("complex", "c"),
    ):
        if name.startswith(long):
            return short + name.removeprefix(long)
    return name


# Its constructor has no annotations.
_struct: Callable[..., jax.ShapeDtypeStruct] = jax.ShapeDtypeStruct
_SHORT = {_short(name): name for name in dtypes.NAMES}


@dataclass(frozen=True, slots=True)
class Input:
    """One input of ``init``.

    Attributes:
        keyword: Name it is passed by; empty for a positional one.
        value: ShapeDtypeStruct of a shape, or the array of a file.
        code: Expression that makes it in a Python program.
        text: The part after the keyword, as the person wrote it.
    """

    keyword: str
    value: jax.ShapeDtypeStruct | np.ndarray
    code: str
    text: str

    @property
    def imports(self) -> tuple[str, ...]:
        """Lines that the code needs."""
        name = "numpy as np" if isinstance(self.value, np.ndarray) else "jax"
        return (f"import {name}",)


def parse_input(text: str, cwd: Path) -> Input:
    """Parses one input.

    Args:
        text: What the person wrote.
        cwd: Folder for relative paths.

    Raises:
        UsageError: The text is none of the forms.
        LoadModuleError: The file or the array in it cannot be read.
    """
    keyword, rest = "", text.strip()
    named = _NAMED.fullmatch(rest)
    if named and not (cwd / rest).exists():
        keyword, rest = named[1], named[2].strip()
    if match := _SHAPE.fullmatch(rest):
        shape, name = _shape(match[2], text), _dtype(match[1], text)
        return _abstract(keyword, shape, name, rest)
    return _from_file(keyword, rest, cwd)


def _shape(text: str, whole: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if parts and not parts[-1]:
        parts.pop()
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise UsageError(
            message=f"“{text}” in the input “{whole}” is not a shape: expected whole "
            "numbers with commas between.",
            where=whole,
            hint=EXAMPLE,
        )
    return tuple(int(part) for part in parts)


def _dtype(name: str, whole: str) -> str:
    full = _SHORT.get(name, name)
    if full in dtypes.NAMES or full in dtypes.KEY_IMPLEMENTATIONS:
        return full
    names = (*dtypes.NAMES, *dtypes.KEY_IMPLEMENTATIONS)
    raise UsageError(
        message=f"“{name}” in the input “{whole}” is not a dtype.",
        where=whole,
        hint=did_you_mean(name, names) or EXAMPLE,
    )


def _abstract(keyword: str, shape: tuple[int, ...], name: str, text: str) -> Input:
    if dtypes.is_key(name):
        implementation = dtypes.KEY_IMPLEMENTATIONS[name][0]
        key = jax.eval_shape(lambda: jax.random.key(0, impl=implementation))
        code = f'jax.random.key(0, impl="{implementation}")'
        if shape:
            code = f"jax.random.split({code}, {shape})"
        return Input(keyword, _struct(shape, key.dtype), code, text)
    # What jnp.ones gives: 64 bits become 32 unless JAX has them enabled.
    dtype = jax.dtypes.canonicalize_dtype(dtypes.to_numpy(name))
    code = f'jax.numpy.ones({shape}, "{dtype.name}")'
    return Input(keyword, _struct(shape, dtype), code, text)


def concrete(struct: jax.ShapeDtypeStruct) -> jax.Array:
    """Returns the array that `Input.code` makes of a shape."""
    if jnp.issubdtype(struct.dtype, jax.dtypes.prng_key):
        implementation = dtypes.KEY_IMPLEMENTATIONS[str(struct.dtype)][0]
        key = jax.random.key(0, impl=implementation)
        return jax.random.split(key, struct.shape) if struct.shape else key
    return jnp.ones(struct.shape, struct.dtype)


def _from_file(keyword: str, text: str, cwd: Path) -> Input:
    place, colon, member = text.rpartition(":")
    if text.endswith((".npy", ".npz")) or not colon:
        place, member = text, ""
    if not place.endswith((".npy", ".npz")):
        raise UsageError(
            message=f"“{text}” is neither a shape nor a .npy or .npz file.",
            where=text,
            hint=f"A shape has brackets. {EXAMPLE}",
        )
    path = cwd / os.path.expanduser(place)  # noqa: PTH111 - lets ~nobody be
    if not path.is_file():
        raise LoadModuleError(
            message="There is no such file.", where=str(path), hint=EXAMPLE
        )
    try:
        # NumPy leaves the file of a broken archive open, so it is opened here.
        # Pickled objects are code; they are not read.
        with path.open("rb") as stream:
            loaded = np.load(stream, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return _array(keyword, loaded, f"np.load({str(path)!r})", text)
            name = _member(loaded.files, member, path)
            code = f"np.load({str(path)!r})[{name!r}]"
            return _array(keyword, loaded[name], code, text)
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise LoadModuleError(
            message=f"NumPy cannot read it: {error}", where=str(path), hint=EXAMPLE
        ) from error


def _member(names: list[str], member: str, path: Path) -> str:
    if member in names:
        return member
    if not member and len(names) == 1:
        return names[0]
    listed = ", ".join(names[:12]) or "nothing"
    raise LoadModuleError(
        f"There is no “{member}” in it." if member else "Which of its arrays?",
        where=str(path),
        hint=did_you_mean(member, names)
        or f"Write {path.name}:NAME. It holds {listed}.",
    )


def _array(keyword: str, array: np.ndarray, code: str, text: str) -> Input:
    if dtypes.name_of(array.dtype) not in dtypes.NAMES:
        raise LoadModuleError(
            message=f"Its dtype {array.dtype} is not one that JAX computes with.",
            where=text,
        )
    return Input(keyword, array, code, text)
