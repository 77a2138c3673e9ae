"""Fails when an upgrade of JAX or Flax moves a private name."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.core import scope

from inspector.models import compat


class Noisy(nn.Module):
    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        y = nn.Dense(2)(x)
        return jnp.add(y, jax.random.normal(self.make_rng("noise")))


def test_streams_are_recorded_and_the_method_put_back() -> None:
    original = scope.Scope.make_rng
    with compat.recorded_streams() as streams:
        jax.eval_shape(Noisy().init, jax.random.key(0), jnp.ones((1, 2)))
    assert streams == ["params", "noise"]
    assert scope.Scope.make_rng is original


def test_equations_are_computed_as_plain_code_does() -> None:
    def function(x: jax.Array) -> jax.Array:
        y = jax.nn.relu(jnp.where(x > 0, x, -x))
        total, _ = jax.lax.scan(lambda c, v: (c + v, c), jnp.zeros(()), y)
        result: jax.Array = jax.checkpoint(jnp.sin)(total)
        return result

    x = jnp.arange(4.0) - 1.5
    jaxpr = jax.make_jaxpr(function)(x)
    values = dict(zip(jaxpr.jaxpr.invars, [x], strict=True))
    for equation in jaxpr.jaxpr.eqns:
        read = [v.val if hasattr(v, "val") else values[v] for v in equation.invars]
        made = compat.bind(equation, read)
        values.update(zip(equation.outvars, made, strict=True))
    found = values[jaxpr.jaxpr.outvars[0]]
    assert found.tobytes() == function(x).tobytes()


def test_settings_that_change_initial_values() -> None:
    flags = dict(compat.prng_flags())
    assert list(flags) == list(compat.PRNG_FLAGS)
    assert flags["jax_default_prng_impl"] == "threefry2x32"
