"""Equations know their module and their line, in a gradient and in loops too."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from inspector.programs.interpreter import Frame, inner_programs
from inspector.programs.source_lines import Marks, is_backward, line_of, short


def frames(program: Any, outer: Frame | None = None) -> list[Frame]:
    """Returns every equation that has no inner program."""
    found = []
    for equation in program.jaxpr.eqns:
        frame = Frame(equation, outer)
        inner = list(inner_programs(equation))
        found += [one for part in inner for one in frames(part, frame)]
        if not inner:
            found.append(frame)
    return found


def test_the_innermost_mark_is_the_module() -> None:
    marks = Marks()

    def body(carry: jax.Array, row: jax.Array) -> tuple[jax.Array, jax.Array]:
        with marks.mark(("a", 0)):
            return carry, jnp.sin(row)

    def function(x: jax.Array) -> jax.Array:
        y = jnp.exp(x)
        with marks.mark(("a",)), jax.named_scope("mine"):
            y = jnp.cos(y)
            _, y = jax.lax.scan(body, x[0], y)
        return y

    program = jax.make_jaxpr(function)(jnp.ones(3))
    modules = {f.equation.primitive.name: marks.module_of(f) for f in frames(program)}
    assert modules["exp"] is None
    assert modules["cos"] == ("a",)
    assert modules["sin"] == ("a", 0)


def test_the_backward_pass_belongs_to_the_module_of_the_forward_pass() -> None:
    marks = Marks()

    def function(x: jax.Array) -> jax.Array:
        with marks.mark(("b",)):
            return jnp.sum(jnp.sqrt(x))

    program = jax.make_jaxpr(jax.grad(function))(jnp.ones(3))
    backward = [frame for frame in frames(program) if is_backward(frame)]
    assert backward
    assert {marks.module_of(frame) for frame in backward} == {("b",)}
    names = {f.equation.primitive.name for f in frames(program) if not is_backward(f)}
    assert "sqrt" in names


def test_the_line_is_the_first_of_the_persons() -> None:
    program = jax.make_jaxpr(lambda x: jnp.where(x > 0, x, 0.0))(jnp.ones(3))
    for frame in frames(program):
        source, code = line_of(frame, lambda file: file.endswith("_lines.py"))
        assert short(source).startswith("test_source_lines.py:")
        assert "jnp.where(x > 0, x, 0.0)" in code
        assert line_of(frame, lambda _: False) == ("", "")


def test_short_of_no_line_is_no_line() -> None:
    assert short("") == ""
    assert short("a/b/net.py:12") == "net.py:12"
