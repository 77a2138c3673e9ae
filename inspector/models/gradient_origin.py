"""Which operation of the forward pass a backward equation belongs to, and why it broke.

A backward equation keeps the call stack of the forward operation that it comes from;
among the equations of that line and column, the one whose derivative can be infinite is
meant. Model process; looks at traces, computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jax.extend import core as jax_core

from inspector.models import compat
from inspector.programs.interpreter import Frame, called, inner_programs
from inspector.programs.source_lines import is_backward

_SINGULAR = frozenset(
    {
        *("sqrt", "rsqrt", "cbrt", "log", "log1p", "div", "pow", "integer_pow"),
        *("acos", "asin", "acosh", "atanh", "atan2", "erf_inv", "tan"),
    }
)
"""Operations whose derivative is infinite or undefined somewhere."""

_FAR = 12
"""Most equations between an operation and the ``where`` it is a branch of."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A forward operation.

    Attributes:
        primitive: Its primitive.
        text: Why its derivative is bad, as a sentence; may be empty.
    """

    primitive: str
    text: str


def origin_of(program: jax_core.ClosedJaxpr, frame: Frame) -> Origin | None:
    """Returns the forward operation of an equation of a gradient.

    Args:
        program: The whole gradient.
        frame: The equation.
    """
    place = _place(frame)
    same = [
        one
        for one in _frames(program, None)
        if not is_backward(one) and place and _place(one) == place
    ]
    singular = [one for one in same if one.equation.primitive.name in _SINGULAR]
    # The derivative itself is written with div and pow, and comes after.
    found = next(iter(singular or same), None)
    if found is None:
        return None
    name = found.equation.primitive.name
    return Origin(name, _text(name, program, found))


def _text(name: str, program: jax_core.ClosedJaxpr, frame: Frame) -> str:
    if _feeds_where(program, frame):
        return (
            f"Its result goes into a where: the gradient of the branch that is not "
            f"selected is infinite and is multiplied by 0, which gives NaN. Make the "
            f"input of {name} safe with a where of its own, before the {name}."
        )
    if name == "sqrt" and _is_norm(program, frame):
        return (
            "It is the norm of a vector, which has no derivative where the vector is "
            "zero. Add a small number below the root, or use a where before it."
        )
    return ""


def _place(frame: Frame) -> tuple[Any, ...]:
    """Returns the call stack of an equation, or of the nearest around with one."""
    for one in frame.outwards():
        found = compat.call_stack(one.equation)
        if found:
            return found
    return ()


def _frames(program: jax_core.ClosedJaxpr, outer: Frame | None) -> Iterator[Frame]:
    for equation in program.jaxpr.eqns:
        frame = Frame(equation, outer)
        inner = list(inner_programs(equation))
        if not inner:
            yield frame
        for one in inner:
            yield from _frames(one, frame)


def _jaxpr_of(program: jax_core.ClosedJaxpr, frame: Frame) -> Any:
    """Returns the program that holds an equation."""
    if frame.outer is None:
        return program.jaxpr
    return next(
        one.jaxpr
        for one in inner_programs(frame.outer.equation)
        if any(equation is frame.equation for equation in one.jaxpr.eqns)
    )


def _feeds_where(program: jax_core.ClosedJaxpr, frame: Frame) -> bool:
    """Returns whether the result becomes a case of a select, perhaps further out."""
    variables = set(frame.equation.outvars)
    here: Frame | None = frame
    while here is not None:
        jaxpr = _jaxpr_of(program, here)
        found, variables = _selected(jaxpr, variables)
        if found:
            return True
        out = here.outer
        if out is None:
            return False
        results = zip(jaxpr.outvars, out.equation.outvars, strict=False)
        variables = {
            outside
            for inside, outside in results
            if not isinstance(inside, jax_core.Literal) and inside in variables
        }
        here = out
    return False


def _selected(jaxpr: Any, variables: set[Any]) -> tuple[bool, set[Any]]:
    """Follows variables through a program to a select.

    Returns:
        Whether there is one, and every variable that was reached.
    """
    reached = set(variables)
    steps = 0
    for equation in jaxpr.eqns:
        used = [
            position
            for position, variable in enumerate(equation.invars)
            if not isinstance(variable, jax_core.Literal) and variable in reached
        ]
        if not used or steps > _FAR or is_backward(Frame(equation)):
            continue
        steps += 1
        # The first operand says which case is taken.
        if equation.primitive.name == "select_n" and max(used) > 0:
            return True, reached
        inner = called(equation)
        if inner is not None:
            inside = {inner.jaxpr.invars[position] for position in used}
            if _selected(inner.jaxpr, inside)[0]:
                return True, reached
        reached |= set(equation.outvars)
    return False, reached


def _is_norm(program: jax_core.ClosedJaxpr, frame: Frame) -> bool:
    """Returns whether a root is taken of a sum."""
    (variable,) = frame.equation.invars
    made = {
        one: equation
        for equation in _jaxpr_of(program, frame).eqns
        for one in equation.outvars
    }
    for _ in range(_FAR):
        if isinstance(variable, jax_core.Literal) or variable not in made:
            return False
        equation = made[variable]
        if equation.primitive.name in {"reduce_sum", "dot_general"}:
            return True
        inner = called(equation)
        if inner is not None:
            names = {one.primitive.name for one in inner.jaxpr.eqns}
            return "reduce_sum" in names
        variable = equation.invars[0]
    return False
