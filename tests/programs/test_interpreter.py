"""Programs computed equation by equation: the same numbers, every equation seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from inspector.programs.interpreter import Frame, Mark, evaluate
from inspector.programs.source_lines import steps_of
from inspector.programs.walk import has_inside, look_inside


class Seen:
    """Notes every equation, and looks into loops when it is told to."""

    def __init__(self, *, walks: bool = False) -> None:
        self.names: list[tuple[str, str]] = []
        self._walks = walks

    def saw(
        self,
        frame: Frame,
        inputs: Sequence[Any],
        marks: Sequence[Mark],
        outputs: Sequence[Any],
    ) -> Sequence[Mark]:
        if self._walks and has_inside(frame.equation):
            pairs = list(zip(inputs, marks, strict=True))
            found = look_inside(frame, pairs, self)
            assert found is not None
            return found
        self.names.append((frame.equation.primitive.name, steps_of(frame)))
        mark = "+".join(sorted({part for one in marks if one for part in one}))
        return [mark or None] * len(outputs)

    def narrowed(self, value: Any, mark: Mark) -> Mark:
        assert value is not None
        return mark

    def joined(self, marks: Sequence[Mark]) -> Mark:
        return "".join(dict.fromkeys(mark for mark in marks if mark)) or None


def run(function: Callable[..., Any], *inputs: Any, walks: bool = False) -> Any:
    """Returns the results, their marks and what was seen."""
    program = jax.make_jaxpr(function)(*inputs)
    seen = Seen(walks=walks)
    named = [(value, "abc"[at]) for at, value in enumerate(inputs)]
    pairs = evaluate(program, named, seen)
    return [value for value, _ in pairs], [mark for _, mark in pairs], seen.names


@jax.custom_vjp
def doubled(x: jax.Array) -> jax.Array:
    return x * 2


doubled.defvjp(lambda x: (x * 2, None), lambda _, g: (g * 2,))


def _calls(x: jax.Array) -> jax.Array:
    y = jax.nn.relu(jax.jit(jnp.sin)(x))
    found: jax.Array = jax.checkpoint(lambda z: doubled(jnp.exp(z)))(y)
    return found


def test_inner_programs_are_gone_through() -> None:
    x = jnp.linspace(-1, 1, 5)
    (value,), (mark,), names = run(_calls, x)
    np.testing.assert_allclose(value, _calls(x), rtol=1e-6)
    assert [name for name, _ in names] == ["sin", "max", "exp", "mul"]
    assert mark == "a"


def test_marks_follow_their_values() -> None:
    _, marks, _ = run(lambda x, y: (x + 1, x * y, jnp.ones(())), 1.0, 2.0)
    assert marks == ["a", "a+b", None]


def _scan(x: jax.Array, y: jax.Array) -> Any:
    def body(carry: jax.Array, row: jax.Array) -> tuple[jax.Array, jax.Array]:
        return carry * 2, jnp.sin(row)

    return jax.lax.scan(body, x, y, reverse=True)


def _while(x: jax.Array) -> Any:
    return jax.lax.while_loop(lambda v: v < 5, lambda v: v + 2, x)


def _cond(x: jax.Array) -> Any:
    return jax.lax.cond(x > 0, jnp.sin, jnp.cos, x)


@pytest.mark.parametrize(
    ("function", "inputs", "wanted"),
    [
        (
            _scan,
            (jnp.ones(()), jnp.arange(2.0)),
            [
                *[("mul", "step 1 of 2 of scan"), ("sin", "step 1 of 2 of scan")],
                *[("mul", "step 2 of 2 of scan"), ("sin", "step 2 of 2 of scan")],
            ],
        ),
        (
            _while,
            (jnp.ones(()),),
            [("add", "step 1 of while"), ("add", "step 2 of while")],
        ),
    ],
)
def test_loops_are_walked_turn_by_turn(
    function: Callable[..., Any], inputs: tuple[Any, ...], wanted: list[Any]
) -> None:
    values, marks, names = run(function, *inputs, walks=True)
    for value, other in zip(values, jax.tree.leaves(function(*inputs)), strict=True):
        np.testing.assert_array_equal(value, other)
    assert names == wanted
    assert marks == ["a", "b"][: len(values)]


def test_the_branch_that_is_taken_is_walked() -> None:
    _, _, names = run(_cond, jnp.ones(()), walks=True)
    assert names[-1] == ("sin", "branch 2 of 2 of cond")
    assert ("cos", "branch 1 of 2 of cond") not in names
    _, _, names = run(_cond, -jnp.ones(()), walks=True)
    assert names[-1] == ("cos", "branch 1 of 2 of cond")


def test_only_wanted_outputs_are_kept() -> None:
    program = jax.make_jaxpr(lambda x: (x + 1, x * 2))(1.0)
    told: list[Any] = []
    found = evaluate(
        program,
        [(1.0, "a")],
        Seen(),
        wanted=1,
        assigned=lambda variable, mark: told.append((variable, mark)),
    )
    assert [(float(value), mark) for value, mark in found] == [(2.0, "a")]
    variables = [variable for variable, _ in told]
    assert variables == [*program.jaxpr.invars, *program.jaxpr.outvars]
