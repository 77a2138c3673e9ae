"""One leaf of an input: a shape and what fills it, a file, a number.

A shape that is filled with ones stays abstract, for nothing needs its numbers
before the call runs. On the thread that runs the person's code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp

from inspector.errors import UsageError
from inspector.models.input_files import EXAMPLE, from_file, from_picture, is_picture
from inspector.models.input_generators import generate, key_of
from inspector.models.names import Argument
from inspector.models.spec import did_you_mean
from inspector.variables import dtypes

_SHAPE = re.compile(
    r"([A-Za-z_]\w*|key<\w+>)\[([^\[\]]*)\]\s*(?::\s*(\S.*?)\s*)?", re.DOTALL
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf|nan")
_WORDS: dict[str, bool | None] = {
    "null": None,
    "None": None,
    "true": True,
    "True": True,
    "false": False,
    "False": False,
}


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
struct: Callable[..., jax.ShapeDtypeStruct] = jax.ShapeDtypeStruct
_SHORT = {_short(name): name for name in dtypes.NAMES}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a leaf stands.

    Attributes:
        whole: The whole input as the person wrote it, for messages.
        cwd: Folder for relative paths.
        images: ``.npy`` file by text of an input; None for ``init``, where a
            picture with a shape counts as that shape.
        names: Other texts under which a picture of this input may be listed.
    """

    whole: str
    cwd: Path
    images: Mapping[str, str] | None
    names: tuple[str, ...] = ()


def parse_leaf(text: str, place: Place) -> Argument:
    """Returns the value of a leaf and its expression.

    Args:
        text: The text of the leaf.
        place: Where it stands.

    Raises:
        UsageError: The text is none of the forms.
        LoadModuleError: A file cannot be read.
    """
    if text in _WORDS:
        return Argument(_WORDS[text], repr(_WORDS[text]))
    if _NUMBER.fullmatch(text):
        return _number(text)
    if match := _SHAPE.fullmatch(text):
        shape = _shape(match[2], place.whole)
        name = dtype_named(match[1], place.whole)
        return _filled(shape, name, match[3] or "", text, place)
    if text.startswith('"'):
        text = _unquoted(text, place)
    if is_picture(text):
        return from_picture(text, place.images or {}, [text, *place.names])
    return from_file(text, place.cwd)


def _number(text: str) -> Argument:
    if re.fullmatch(r"[+-]?\d+", text):
        return Argument(int(text), repr(int(text)))
    value = float(text)
    plain = repr(value)
    return Argument(value, plain if plain[-1].isdigit() else f'float("{plain}")')


def _unquoted(text: str, place: Place) -> str:
    """Returns the path that stands in quotes, for names with commas or brackets."""
    try:
        return str(json.loads(text))
    except json.JSONDecodeError as error:
        raise UsageError(
            message=f"{text} in the input “{place.whole}” is not a text in quotes.",
            where=place.whole,
            hint=EXAMPLE,
        ) from error


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


def dtype_named(name: str, whole: str) -> str:
    """Returns the full name of a dtype: ``f32`` is ``float32``.

    Raises:
        UsageError: It is no dtype.
    """
    full = _SHORT.get(name, name)
    if full in dtypes.NAMES or full in dtypes.KEY_IMPLEMENTATIONS:
        return full
    names = (*dtypes.NAMES, *dtypes.KEY_IMPLEMENTATIONS)
    raise UsageError(
        message=f"“{name}” in the input “{whole}” is not a dtype.",
        where=whole,
        hint=did_you_mean(name, names) or EXAMPLE,
    )


def _filled(
    shape: tuple[int, ...], name: str, filling: str, text: str, place: Place
) -> Argument:
    if dtypes.is_key(name):
        if filling:
            return key_of(name, shape, filling, place.whole)
        made = key_of(name, (), "", place.whole)
        code = f"jax.random.split({made.code}, {shape})" if shape else made.code
        dtype = jax.random.key(0, impl=dtypes.KEY_IMPLEMENTATIONS[name][0]).dtype
        return Argument(struct(shape, dtype), code, made.imports)
    # What jnp.ones gives: 64 bits become 32 unless JAX has them enabled.
    dtype = jax.dtypes.canonicalize_dtype(dtypes.to_numpy(name))
    if filling.startswith('"'):
        filling = _unquoted(filling, place)
    picture = is_picture(filling)
    if filling in {"", "ones"} or (picture and place.images is None):
        code = f'jax.numpy.ones({shape}, "{dtype.name}")'
        return Argument(struct(shape, dtype), code, ("import jax",))
    if picture:
        names = [text, filling, *place.names]
        return from_picture(filling, place.images or {}, names, name)
    return generate(shape, dtype, filling, place.whole)


def concrete(abstract: jax.ShapeDtypeStruct) -> jax.Array:
    """Returns the array that the code of a shape makes: ones, or keys of seed 0."""
    if jnp.issubdtype(abstract.dtype, jax.dtypes.prng_key):
        implementation = dtypes.KEY_IMPLEMENTATIONS[str(abstract.dtype)][0]
        key = jax.random.key(0, impl=implementation)
        return jax.random.split(key, abstract.shape) if abstract.shape else key
    return jnp.ones(abstract.shape, abstract.dtype)
