"""Fails when an upgrade moves a private name that looking inside needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import linen as nn

from inspector.models import compat


def test_scopes_of_an_equation() -> None:
    def function(x: jax.Array) -> jax.Array:
        with jax.named_scope("mine"):
            return jnp.sin(x)

    (equation,) = jax.make_jaxpr(function)(1.0).jaxpr.eqns
    assert compat.scopes(equation) == (("scope", "mine"),)
    gradient = jax.make_jaxpr(jax.grad(function))(1.0).jaxpr.eqns
    assert compat.scopes(gradient[-1]) == (
        ("transform", "transpose"),
        ("transform", "jvp"),
        ("scope", "mine"),
    )


def test_lines_and_columns_of_an_equation() -> None:
    program = jax.make_jaxpr(lambda x: jnp.sin(x) + jnp.cos(x))(1.0)
    frames = [compat.user_frames(one)[0] for one in program.jaxpr.eqns]
    assert {file.rpartition("/")[2] for file, _ in frames} == {"test_compat_looking.py"}
    assert len({line for _, line in frames}) == 1
    places = {compat.call_stack(one)[0] for one in program.jaxpr.eqns}
    assert len(places) == 3


def _scan(see: Callable[[jax.Array], jax.Array]) -> Any:
    return jax.lax.scan(lambda c, x: (c, see(x)), 0.0, jnp.ones(3))


def _while(see: Callable[[jax.Array], jax.Array]) -> Any:
    return jax.lax.while_loop(lambda x: x < 1, see, jnp.zeros(()))


def _cond(see: Callable[[jax.Array], jax.Array]) -> Any:
    return jax.lax.cond(True, see, see, 0.5)


def _vmap(see: Callable[[jax.Array], jax.Array]) -> Any:
    return jax.vmap(see)(jnp.ones(3))


class _Row(nn.Module):
    see: Callable[[jax.Array], jax.Array]

    @nn.compact
    def __call__(self, carry: jax.Array, _: None) -> tuple[jax.Array, None]:
        return self.see(carry), None


def _flax_scan(see: Callable[[jax.Array], jax.Array]) -> Any:
    rows = nn.scan(_Row, variable_axes={"params": 0}, length=2)(see)
    return rows.init_with_output({}, jnp.ones(()), None)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (_scan, "scan"),
        (_while, "while_loop"),
        (_cond, "cond"),
        (_vmap, "vmap"),
        (_flax_scan, "scan"),
    ],
)
def test_what_traces_the_caller(function: Callable[..., Any], wanted: str) -> None:
    seen: set[str] = set()

    def see(x: jax.Array) -> jax.Array:
        seen.add(compat.transformation())
        return x + 1

    jax.make_jaxpr(lambda: function(see))()
    assert seen == {wanted}
    assert compat.transformation() == ""


def test_recomputation_is_left_out_and_put_back() -> None:
    original = jax.checkpoint, jax.remat

    class Twice(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> jax.Array:
            found: jax.Array = nn.remat(nn.Dense)(2)(x)
            return found

    def names() -> set[str]:
        program = jax.make_jaxpr(Twice().init)(jax.random.key(0), jnp.ones((1, 2)))
        return {equation.primitive.name for equation in program.jaxpr.eqns}

    assert any("remat" in name or "checkpoint" in name for name in names())
    with compat.without_remat():
        assert not any("remat" in name or "checkpoint" in name for name in names())
        replaced: Any = jax.checkpoint
        assert replaced(policy=None)(jnp.sin)(0.0) == 0.0
    assert (jax.checkpoint, jax.remat) == original
