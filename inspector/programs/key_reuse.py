"""Random keys that a program consumes twice: the same numbers where others are meant.

A key is consumed when bits are drawn from it or when it is split. What is derived
from keys (slices of a split, a fold of a number) is numbered by how it is made, so
that taking ``keys[0]`` twice is the same key, and two folds of other numbers are not.
A key that comes into the body of a loop from outside, and is consumed there, gives
the same numbers in every step. Walks a trace; computes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax.extend import core as jax_core

from inspector.models import compat
from inspector.programs.interpreter import called
from inspector.programs.source_lines import IsUsers

_CONSUMES = frozenset({"random_bits", "random_split"})
_PASSES = frozenset(
    {
        "random_wrap", "random_unwrap", "random_fold_in", "random_split",
        "random_clone", "slice", "squeeze", "reshape", "broadcast_in_dim",
        "dynamic_slice", "gather", "convert_element_type", "transpose", "copy",
        "expand_dims", "concatenate", "add", "lt", "select_n",
    }
)  # fmt: skip
"""Primitives whose results from a key depend on their inputs alone."""


@dataclass(frozen=True, slots=True)
class Reuse:
    """A key that is consumed more than once.

    Attributes:
        places: ``file:line`` of the person's lines that consume it, in order; one of
            them may be empty when no line of theirs is known.
        is_loop: Whether it is consumed in every step of a loop.
    """

    places: tuple[str, ...]
    is_loop: bool = False


def reuses(program: jax_core.ClosedJaxpr, is_users: IsUsers) -> tuple[Reuse, ...]:
    """Returns the keys that a program consumes more than once.

    Args:
        program: The trace.
        is_users: Whether a file is one of the person's.
    """
    walk = _Walk(is_users)
    jaxpr = program.jaxpr
    given = [walk.fresh(v) for v in (*jaxpr.constvars, *jaxpr.invars)]
    walk.run(jaxpr, given, "")
    twice = (places for places in walk.consumed.values() if len(places) > 1)
    found = [Reuse(tuple(places)) for places in twice]
    return (*dict.fromkeys(found), *dict.fromkeys(walk.loops))


class _Walk:
    """Numbers keys and notes who consumes them."""

    def __init__(self, is_users: IsUsers) -> None:
        self._is_users = is_users
        self._numbers: dict[object, int] = {}
        self.consumed: dict[int, list[str]] = {}
        self.loops: list[Reuse] = []

    def fresh(self, variable: Any) -> int | None:
        """Returns a number that nothing else has, for what may be a key."""
        if not _may_be_key(variable.aval):
            return None
        return self._number(object())

    def _number(self, what: object) -> int:
        return self._numbers.setdefault(what, len(self._numbers))

    def run(self, jaxpr: Any, given: Sequence[int | None], place: str) -> list[Any]:
        """Walks a program.

        Args:
            jaxpr: The program.
            given: Number of each constant and input; None for what is no key.
            place: The person's line that calls it.

        Returns:
            The number of each output.
        """
        inputs = (*jaxpr.constvars, *jaxpr.invars)
        known: dict[Any, int | None] = dict(zip(inputs, given, strict=True))

        def read(variable: Any) -> Any:
            if isinstance(variable, jax_core.Literal):
                return f"={variable.val!r}"
            return known.get(variable)

        for equation in jaxpr.eqns:
            here = place or self._line(equation)
            numbers = [read(variable) for variable in equation.invars]
            made = self._equation(equation, numbers, here)
            known.update(zip(equation.outvars, made, strict=True))
        return [
            None if isinstance(variable, jax_core.Literal) else known.get(variable)
            for variable in jaxpr.outvars
        ]

    def _equation(
        self, equation: jax_core.JaxprEqn, numbers: list[Any], place: str
    ) -> list[Any]:
        keys = [one for one in numbers if isinstance(one, int)]
        name = equation.primitive.name
        if not keys:
            return [self.fresh(variable) for variable in equation.outvars]
        if name in _CONSUMES:
            self.consumed.setdefault(keys[0], []).append(place)
        inner = called(equation)
        if inner is not None:
            given = [None] * len(inner.jaxpr.constvars) + [
                one if isinstance(one, int) else None for one in numbers
            ]
            return self.run(inner.jaxpr, given, place)
        if name == "scan":
            self._loop(equation, numbers, place)
        elif name in _PASSES:
            what = (name, tuple(numbers), _parameters(equation))
            return [
                self._number((*what, n)) if _may_be_key(variable.aval) else None
                for n, variable in enumerate(equation.outvars)
            ]
        return [self.fresh(variable) for variable in equation.outvars]

    def _loop(
        self, equation: jax_core.JaxprEqn, numbers: list[Any], place: str
    ) -> None:
        """Looks for keys that every step of a scan consumes alike."""
        body = equation.params["jaxpr"].jaxpr
        count = equation.params["num_consts"]
        if equation.params.get("length") in {0, 1}:
            return
        inside = _Walk(self._is_users)
        outer = [inside.fresh(variable) for variable in body.invars]
        given = [None] * len(body.constvars) + outer
        inside.run(body, given, "")
        same = {
            outer[position]
            for position in range(count)
            if isinstance(numbers[position], int)
        }
        derived = inside.derived(same)
        for number, places in inside.consumed.items():
            if number in derived:
                self.loops.append(Reuse((places[0] or place,), is_loop=True))
            elif len(places) > 1:
                self.consumed.setdefault(self._number(object()), []).extend(places)

    def derived(self, numbers: set[Any]) -> set[Any]:
        """Returns numbers and everything that was made of them alone."""
        found = set(numbers)
        for what, number in self._numbers.items():
            if isinstance(what, tuple):
                keys = [one for one in what[1] if isinstance(one, int)]
                rest = [one for one in what[1] if one is None]
                if keys and not rest and all(one in found for one in keys):
                    found.add(number)
        return found

    def _line(self, equation: jax_core.JaxprEqn) -> str:
        for file, number in compat.user_frames(equation):
            if self._is_users(file):
                return f"{file}:{number}"
        return ""


def _parameters(equation: jax_core.JaxprEqn) -> str:
    return str(sorted((name, str(value)) for name, value in equation.params.items()))


def _may_be_key(aval: Any) -> bool:
    """Returns whether a value is a key, or the words of one."""
    dtype = getattr(aval, "dtype", None)
    if dtype is None:
        return False
    if jax.numpy.issubdtype(dtype, jax.dtypes.prng_key):
        return True
    return bool(dtype == jax.numpy.uint32 and aval.ndim and aval.shape[-1] in {2, 4})
