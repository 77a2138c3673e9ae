"""Goes through loops and branches turn by turn, to see what happens inside.

`interpreter` computes a loop as one equation; a watcher that has to know more calls
`look_inside` with the same inputs. On the thread of the model process that runs the
person's code.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend import core as jax_core

from inspector.programs.interpreter import Around, Frame, Mark, Watcher, evaluate

LONGEST_S = 60.0
"""A walk that takes longer is given up; the loop as a whole stays the finding."""

Pair = tuple[Any, Mark]


class _TooLongError(Exception):
    """The walk takes more than `LONGEST_S`."""


class _Quiet:
    """Watches nothing; for the conditions of loops."""

    def saw(
        self,
        frame: Frame,
        inputs: Sequence[Any],
        marks: Sequence[Mark],
        outputs: Sequence[Any],
    ) -> Sequence[Mark]:
        del frame, inputs, marks
        return [None] * len(outputs)

    def narrowed(self, value: Any, mark: Mark) -> Mark:
        del value, mark

    def joined(self, marks: Sequence[Mark]) -> Mark:
        del marks


def has_inside(equation: jax_core.JaxprEqn) -> bool:
    """Returns whether an equation is a loop or a branch that can be walked."""
    return equation.primitive.name in _WALKS


def look_inside(
    frame: Frame, given: Sequence[Pair], watcher: Watcher
) -> list[Mark] | None:
    """Computes a loop or branch again, in Python, with a watcher inside.

    Args:
        frame: The loop or branch.
        given: Value and mark of each of its inputs.
        watcher: Sees every equation of every turn.

    Returns:
        The marks of its outputs; None when it took more than `LONGEST_S`.
    """
    end = time.monotonic() + LONGEST_S
    try:
        return _WALKS[frame.equation.primitive.name](frame, given, watcher, end)
    except _TooLongError:
        return None


def _scan(
    frame: Frame, given: Sequence[Pair], watcher: Watcher, end: float
) -> list[Mark]:
    params = frame.equation.params
    consts, carries = params["num_consts"], params["num_carry"]
    fixed = list(given[:consts])
    carry = list(given[consts : consts + carries])
    sliced = given[consts + carries :]
    length = params["length"]
    stacked: list[list[Mark]] = []
    for turn in range(length):
        _check(end)
        at = length - 1 - turn if params["reverse"] else turn
        now = [_slice(pair, at, watcher) for pair in sliced]
        around = Around(frame, f"step {turn + 1} of {length} of scan")
        made = evaluate(params["jaxpr"], [*fixed, *carry, *now], watcher, around)
        carry = made[:carries]
        stacked.append([mark for _, mark in made[carries:]])
    rest = [watcher.joined(marks) for marks in zip(*stacked, strict=True)]
    return [mark for _, mark in carry] + rest


def _slice(pair: Pair, at: int, watcher: Watcher) -> Pair:
    value = jax.lax.dynamic_index_in_dim(pair[0], at, keepdims=False)
    return value, watcher.narrowed(value, pair[1])


def _while(
    frame: Frame, given: Sequence[Pair], watcher: Watcher, end: float
) -> list[Mark]:
    params = frame.equation.params
    tests, bodies = params["cond_nconsts"], params["body_nconsts"]
    test = list(given[:tests])
    fixed = list(given[tests : tests + bodies])
    carry = list(given[tests + bodies :])
    quiet = _Quiet()
    turn = 0
    while bool(evaluate(params["cond_jaxpr"], [*test, *carry], quiet)[0][0]):
        _check(end)
        turn += 1
        around = Around(frame, f"step {turn} of while")
        carry = evaluate(params["body_jaxpr"], [*fixed, *carry], watcher, around)
    return [mark for _, mark in carry]


def _cond(
    frame: Frame, given: Sequence[Pair], watcher: Watcher, end: float
) -> list[Mark]:
    _check(end)
    branches = frame.equation.params["branches"]
    index = min(max(int(given[0][0]), 0), len(branches) - 1)
    around = Around(frame, f"branch {index + 1} of {len(branches)} of cond")
    made = evaluate(branches[index], list(given[1:]), watcher, around)
    return [mark for _, mark in made]


def _check(end: float) -> None:
    if time.monotonic() > end:
        raise _TooLongError


_Walk = Callable[[Frame, Sequence[Pair], Watcher, float], list[Mark]]
_WALKS: dict[str, _Walk] = {"scan": _scan, "while": _while, "cond": _cond}
