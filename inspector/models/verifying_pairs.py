"""Brings the module calls of two models together.

The same place in the tree is the same call; where names are written differently
(``h_0`` of Linen, ``h/0`` of NNX) the words decide; what is left is paired in order.
Knows no values. Model process.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from inspector.models.recording_calls import SeenCall

_ALIKE = {"Linear": "Dense", "LinearGeneral": "DenseGeneral"}
"""Class of NNX -> its name in Linen."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A call of the first, of the second, or of both."""

    first: SeenCall | None
    second: SeenCall | None


def pairs_of(first: Sequence[SeenCall], second: Sequence[SeenCall]) -> list[Pair]:
    """Returns every call once, paired where possible.

    Args:
        first: Calls of the first, in call order.
        second: Calls of the second, in call order.

    Returns:
        In call order of the first, then what only the second has.
    """
    found: dict[int, SeenCall] = {}
    taken: set[int] = set()
    for key in (_exact, _loose, _by_kind):
        open_calls: dict[Hashable, list[SeenCall]] = {}
        for call in second:
            if call.index not in taken:
                open_calls.setdefault(key(call), []).append(call)
        for call in first:
            waiting = open_calls.get(key(call))
            if call.index not in found and waiting:
                found[call.index] = waiting.pop(0)
                taken.add(found[call.index].index)
    pairs = [Pair(call, found.get(call.index)) for call in first]
    return pairs + [Pair(None, call) for call in second if call.index not in taken]


def _exact(call: SeenCall) -> Hashable:
    return call.path, call.method, call.nth


def _loose(call: SeenCall) -> Hashable:
    text = "".join(str(key) for key in call.path)
    words = "".join(letter for letter in text if letter.isalnum()).lower()
    return words, call.method, call.nth


def _by_kind(call: SeenCall) -> Hashable:
    return _ALIKE.get(call.kind, call.kind), call.method
