"""The only place with names of JAX and Flax that are private or change by version.

Every one has a test in ``tests/models/test_compat.py`` that fails when an upgrade
moves it. Public names are used where they are needed, not here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
from flax.core import scope as flax_scope
from jax.extend import core as jax_core

PRNG_FLAGS = (
    "jax_default_prng_impl",
    "jax_threefry_partitionable",
    "jax_enable_x64",
    "jax_numpy_dtype_promotion",
)
"""Settings of JAX that change the initial values of a module."""


@contextmanager
def recorded_streams() -> Iterator[list[str]]:
    """Gives a list to which every rng stream that is drawn from is added.

    Interceptors of Flax do not see ``make_rng`` of a scope, from which parameters
    draw, so the method is replaced for the time of the body. The name recorded is
    the one asked for, not the stream that Flax falls back to.
    """
    streams: list[str] = []
    scope: Any = flax_scope.Scope
    original = scope.make_rng

    def make_rng(self: flax_scope.Scope, name: str = "params") -> Any:
        if name not in streams:
            streams.append(name)
        return original(self, name)

    scope.make_rng = make_rng
    try:
        yield streams
    finally:
        scope.make_rng = original


def bind(equation: jax_core.JaxprEqn, values: Sequence[Any]) -> list[Any]:
    """Computes one equation on concrete values, as plain Python code would.

    ``get_bind_params`` returned a pair of functions and parameters before JAX 0.9.2
    and returns the parameters alone since.
    """
    primitive: Any = equation.primitive
    parameters = primitive.get_bind_params(equation.params)
    functions: Sequence[Any] = ()
    if isinstance(parameters, tuple):
        functions, parameters = parameters
    with equation.ctx.manager:
        found = primitive.bind(*functions, *values, **parameters)
    return list(found) if primitive.multiple_results else [found]


def prng_flags() -> tuple[tuple[str, str], ...]:
    """Returns the present (setting, value) pairs of `PRNG_FLAGS`."""
    return tuple(
        (name, str(getattr(jax.config, name)))
        for name in PRNG_FLAGS
        if hasattr(jax.config, name)
    )
