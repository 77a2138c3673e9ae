"""Computes a traced program equation by equation, with a watcher beside it.

The watcher sees every equation with its values and hands back a mark for each output;
marks travel with the values, into and out of inner programs, so that it can follow
what became of them. No program of its own is compiled. On the thread of the model
process that runs the person's code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jax.extend import core as jax_core

from inspector.models import compat

CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "remat2": "jaxpr",
    "remat": "jaxpr",
    "checkpoint": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
}
"""Primitives that run one inner program once -> the parameter that holds it."""

Mark = Any
"""What a watcher wants to know again of a value; None for nothing."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Where an equation stands.

    Attributes:
        equation: The equation.
        outer: The equation whose inner program holds it; None at the top.
        step: Which turn of that inner program, e.g. ``"step 2 of 12 of scan"``.
    """

    equation: jax_core.JaxprEqn
    outer: Frame | None = None
    step: str = ""

    def outwards(self) -> Iterator[Frame]:
        """Yields this frame and those around it, innermost first."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.outer


class Watcher(Protocol):
    """Looks at a program while it is computed."""

    def saw(
        self,
        frame: Frame,
        inputs: Sequence[Any],
        marks: Sequence[Mark],
        outputs: Sequence[Any],
    ) -> Sequence[Mark]:
        """Looks at an equation that has just been computed.

        Args:
            frame: The equation and where it stands.
            inputs: Its input values.
            marks: Their marks.
            outputs: Its output values.

        Returns:
            A mark for each output.
        """

    def narrowed(self, value: Any, mark: Mark) -> Mark:
        """Returns the mark of a slice of a value, given the mark of the whole."""

    def joined(self, marks: Sequence[Mark]) -> Mark:
        """Returns the mark of slices put together."""


@dataclass(frozen=True, slots=True)
class Around:
    """What is around an inner program.

    Attributes:
        frame: The equation that runs it.
        step: Which turn of it.
    """

    frame: Frame | None = None
    step: str = ""


Assigned = Callable[[Any, Mark], None]
"""Told of every variable of the outermost program, and the mark of its value."""


def evaluate(
    program: jax_core.ClosedJaxpr,
    arguments: Sequence[tuple[Any, Mark]],
    watcher: Watcher,
    around: Around | None = None,
    *,
    wanted: int | None = None,
    assigned: Assigned | None = None,
) -> list[tuple[Any, Mark]]:
    """Computes a program, one equation after the other.

    Values are let go of after their last use. Inner programs that run once are
    descended into; loops and branches are one equation each (`walk` looks inside).

    Args:
        program: The program.
        arguments: Value and mark of each input.
        watcher: Sees every equation.
        around: Where the program stands; None for the outermost.
        wanted: How many of the outputs are wanted; None for all.
        assigned: Told of the variables of this program, not of inner ones.

    Returns:
        Value and mark of each wanted output.
    """
    around = around or Around()
    jaxpr = program.jaxpr
    outputs = list(jaxpr.outvars[:wanted])
    last = _last_uses(jaxpr, outputs)
    values: dict[Any, tuple[Any, Mark]] = {}

    def put(variables: Sequence[Any], pairs: Sequence[tuple[Any, Mark]]) -> None:
        for variable, pair in zip(variables, pairs, strict=True):
            values[variable] = pair
            if assigned is not None:
                assigned(variable, pair[1])

    def read(variable: Any) -> tuple[Any, Mark]:
        if isinstance(variable, jax_core.Literal):
            return variable.val, None
        return values[variable]

    put(jaxpr.constvars, [(value, None) for value in program.consts])
    put(jaxpr.invars, list(arguments))
    for index, equation in enumerate(jaxpr.eqns):
        given = [read(variable) for variable in equation.invars]
        frame = Frame(equation, around.frame, around.step)
        put(equation.outvars, _computed(frame, given, watcher))
        del given
        for variable in last.get(index, ()):
            values.pop(variable, None)
    return [read(variable) for variable in outputs]


def _computed(
    frame: Frame, given: Sequence[tuple[Any, Mark]], watcher: Watcher
) -> list[tuple[Any, Mark]]:
    inner = called(frame.equation)
    if inner is not None:
        return evaluate(inner, given, watcher, Around(frame))
    inputs = [value for value, _ in given]
    marks = [mark for _, mark in given]
    made = compat.bind(frame.equation, inputs)
    return list(zip(made, watcher.saw(frame, inputs, marks, made), strict=True))


def called(equation: jax_core.JaxprEqn) -> jax_core.ClosedJaxpr | None:
    """Returns the inner program that an equation runs once; None for any other."""
    name = CALLS.get(equation.primitive.name)
    inner = equation.params.get(name) if name else None
    if inner is None or isinstance(inner, jax_core.ClosedJaxpr):
        return inner
    return jax_core.ClosedJaxpr(inner, ())


def _last_uses(jaxpr: Any, outputs: Sequence[Any]) -> dict[int, list[Any]]:
    """Returns the variables that may go after each equation, by its index."""
    last: dict[Any, int] = {}
    for index, equation in enumerate(jaxpr.eqns):
        # What nobody reads goes at once.
        last.update(dict.fromkeys(equation.outvars, index))
        for variable in equation.invars:
            if not isinstance(variable, jax_core.Literal):
                last[variable] = index
    for variable in outputs:
        if not isinstance(variable, jax_core.Literal):
            last.pop(variable, None)
    found: dict[int, list[Any]] = {}
    for variable, index in last.items():
        found.setdefault(index, []).append(variable)
    return found


def inner_programs(equation: jax_core.JaxprEqn) -> Iterator[jax_core.ClosedJaxpr]:
    """Yields every program among the parameters of an equation, however it is run."""
    for parameter in equation.params.values():
        several = parameter if isinstance(parameter, tuple | list) else (parameter,)
        for one in several:
            if isinstance(one, jax_core.ClosedJaxpr):
                yield one
            elif isinstance(one, jax_core.Jaxpr):
                yield jax_core.ClosedJaxpr(one, ())
