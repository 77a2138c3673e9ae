"""What fills the shape of an input: ``normal(0)``, ``arange`` and the like.

Every generator is deterministic and gives its numbers together with the Python
expression that makes exactly these. On the thread that runs the person's code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from inspector.errors import UsageError
from inspector.models.names import Argument
from inspector.models.spec import did_you_mean
from inspector.variables import dtypes

GENERATORS = ("ones", "zeros", "normal", "uniform", "integers", "arange")
"""Names of the generators of plain arrays; a shape alone is ``ones``."""

HINT = (
    "After a shape: :ones, :zeros, :normal(SEED), :uniform(SEED), "
    ":integers(LOW, HIGH, SEED), :arange, or a picture, float32[1,224,224,3]:cat.png."
)
"""Hint of every error about a generator."""

_CALL = re.compile(r"([A-Za-z_]\w*)\s*(?:\(([^()]*)\))?")
# It knows 4-bit integers, and its constructor has no annotations.
_limits: Callable[..., Any] = ml_dtypes.iinfo
_DRAWN = frozenset({"float16", "bfloat16", "float32", "float64"})
_DRAWN_INTEGERS = frozenset({"int32", "uint32", "int64", "uint64"})


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be made: shape, dtype, the generator's numbers, the whole text."""

    shape: tuple[int, ...]
    dtype: np.dtype
    numbers: tuple[int, ...]
    whole: str

    @property
    def integral(self) -> bool:
        return bool(
            jnp.issubdtype(self.dtype, jnp.integer) or self.dtype == np.dtype(bool)
        )

    def cast(self, value: jax.Array, code: str) -> Argument:
        """Returns a value brought to the wanted dtype, where it has another one."""
        if value.dtype != self.dtype:
            value = value.astype(self.dtype)
            code += f'.astype("{self.dtype.name}")'
        return Argument(value, code, ("import jax",))


def is_generator(text: str) -> bool:
    """Returns whether a text reads like a generator rather than like a file."""
    match = _CALL.fullmatch(text.strip())
    return match is not None and "." not in text


def generate(
    shape: tuple[int, ...], dtype: np.dtype, generator: str, whole: str
) -> Argument:
    """Returns the array of a generator and the expression that makes it.

    Args:
        shape: Its shape.
        dtype: Its dtype, as JAX computes with it.
        generator: Its text, e.g. ``"normal(0)"``.
        whole: The whole input, for messages.

    Raises:
        UsageError: There is no such generator, or it does not take these numbers.
    """
    match = _CALL.fullmatch(generator.strip())
    name = match[1] if match else generator
    if match is None or name not in GENERATORS:
        raise UsageError(
            message=f"“{name}” in the input “{whole}” is nothing that fills a shape.",
            where=whole,
            hint=did_you_mean(name, GENERATORS) or HINT,
        )
    numbers = _numbers(match[2] or "", whole)
    low, high = _TAKES[name]
    if not low <= len(numbers) <= high:
        raise UsageError(
            message=f"“{generator}” in the input “{whole}” has {len(numbers)} numbers; "
            f"{_USAGE[name]}.",
            where=whole,
            hint=HINT,
        )
    return _MAKERS[name](_Wanted(shape, dtype, numbers, whole))


def _numbers(text: str, whole: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if not all(re.fullmatch(r"-?[0-9]+", part) for part in parts):
        raise UsageError(
            message=f"“({text})” in the input “{whole}” has something that is no "
            "whole number.",
            where=whole,
            hint=HINT,
        )
    return tuple(int(part) for part in parts)


def _zeros(wanted: _Wanted) -> Argument:
    code = f'jax.numpy.zeros({wanted.shape}, "{wanted.dtype.name}")'
    return Argument(jnp.zeros(wanted.shape, wanted.dtype), code, ("import jax",))


def _ones(wanted: _Wanted) -> Argument:
    code = f'jax.numpy.ones({wanted.shape}, "{wanted.dtype.name}")'
    return Argument(jnp.ones(wanted.shape, wanted.dtype), code, ("import jax",))


def _normal(wanted: _Wanted) -> Argument:
    _refuse_integers(wanted, "normal")
    name = wanted.dtype.name
    complex_ = jnp.issubdtype(wanted.dtype, jnp.complexfloating)
    drawn = name if name in _DRAWN or complex_ else "float32"
    seed = _seed(wanted.numbers)
    value = jax.random.normal(jax.random.key(seed), wanted.shape, drawn)
    code = f'jax.random.normal(jax.random.key({seed}), {wanted.shape}, "{drawn}")'
    return wanted.cast(value, code)


def _uniform(wanted: _Wanted) -> Argument:
    _refuse_integers(wanted, "uniform")
    drawn = wanted.dtype.name if wanted.dtype.name in _DRAWN else "float32"
    seed = _seed(wanted.numbers)
    value = jax.random.uniform(jax.random.key(seed), wanted.shape, drawn)
    code = f'jax.random.uniform(jax.random.key({seed}), {wanted.shape}, "{drawn}")'
    return wanted.cast(value, code)


def _integers(wanted: _Wanted) -> Argument:
    low, high = wanted.numbers[:2]
    seed = _seed(wanted.numbers[2:])
    _check_range(wanted, low, high)
    name = wanted.dtype.name
    drawn = name if name in _DRAWN_INTEGERS else "int32"
    key = jax.random.key(seed)
    value = jax.random.randint(key, wanted.shape, low, high, drawn)
    code = f"jax.random.randint(jax.random.key({seed}), {wanted.shape}, "
    return wanted.cast(value, f'{code}{low}, {high}, "{drawn}")')


def _arange(wanted: _Wanted) -> Argument:
    size = int(np.prod(wanted.shape, dtype=np.int64))
    value = jnp.arange(size).reshape(wanted.shape)
    return wanted.cast(value, f"jax.numpy.arange({size}).reshape({wanted.shape})")


def _seed(numbers: tuple[int, ...]) -> int:
    return numbers[0] if numbers else 0


def _refuse_integers(wanted: _Wanted, name: str) -> None:
    if wanted.integral:
        raise UsageError(
            message=f"“{name}” in the input “{wanted.whole}” makes fractions, and "
            f"{wanted.dtype.name} has none.",
            where=wanted.whole,
            hint="Use :integers(LOW, HIGH, SEED), e.g. int32[2,8]:integers(0, 100, 0).",
        )


def _check_range(wanted: _Wanted, low: int, high: int) -> None:
    """Refuses an empty range, and one that the dtype does not hold."""
    least, most = -(2**31), 2**31 - 1
    if wanted.dtype == np.dtype(bool):
        least, most = 0, 1
    elif wanted.integral:
        limits = _limits(wanted.dtype)
        least, most = int(limits.min), int(limits.max)
    if low >= high:
        message = f"The range from {low} up to and without {high} is empty"
    elif low < least or high - 1 > most:
        message = f"{wanted.dtype.name} holds {least} to {most}, not all of {low} to "
        message += f"{high - 1}"
    elif high > 2**31 and wanted.dtype.name in {"int32", "uint32"}:
        message = f"Numbers above {2**31 - 1} cannot be drawn"
    else:
        return
    raise UsageError(
        message=f"{message}, in the input “{wanted.whole}”.",
        where=wanted.whole,
        hint=HINT,
    )


_MAKERS: dict[str, Callable[[_Wanted], Argument]] = {
    "ones": _ones,
    "zeros": _zeros,
    "normal": _normal,
    "uniform": _uniform,
    "integers": _integers,
    "arange": _arange,
}
_TAKES = {
    "ones": (0, 0),
    "zeros": (0, 0),
    "normal": (0, 1),
    "uniform": (0, 1),
    "integers": (2, 3),
    "arange": (0, 0),
}
_USAGE = {
    "ones": "ones takes none",
    "zeros": "zeros takes none",
    "normal": "normal takes a seed at most",
    "uniform": "uniform takes a seed at most",
    "integers": "integers takes a lowest number, the number to stay below, and a seed",
    "arange": "arange takes none",
}


def key_of(name: str, shape: tuple[int, ...], generator: str, whole: str) -> Argument:
    """Returns random keys of a seed, ``key<fry>[]:seed(3)``.

    Args:
        name: Dtype of the keys.
        shape: Shape of the batch of keys.
        generator: ``seed(N)``; empty for seed 0.
        whole: The whole input, for messages.

    Raises:
        UsageError: It is none of the forms.
    """
    match = re.fullmatch(r"seed\(\s*([0-9]+)\s*\)|", generator.strip())
    if match is None:
        raise UsageError(
            message=f"“{generator}” in the input “{whole}” makes no random keys.",
            where=whole,
            hint="Random keys take a seed alone: key<fry>[]:seed(3).",
        )
    seed = int(match[1] or 0)
    implementation = dtypes.KEY_IMPLEMENTATIONS[name][0]
    value = jax.random.key(seed, impl=implementation)
    code = f'jax.random.key({seed}, impl="{implementation}")'
    if shape:
        value = jax.random.split(value, shape)
        code = f"jax.random.split({code}, {shape})"
    return Argument(value, code, ("import jax",))
