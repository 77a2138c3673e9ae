"""Which leaves of two trees are the same variable: by names, then by alignment.

`align` pairs two selections of leaves, first as their names stand, and where
names differ only at the top, by the shift of names that matches most. Called by
`plan` in the store process; it knows no verdicts beyond "fits".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from inspector.variables.fitting import fits
from inspector.variables.homes import OUTSIDE, PARAMS, SLOTS
from inspector.variables.path import is_prefix
from inspector.variables.tree_index import Entry, Names
from inspector.variables.variable_types import RNGS

_SHIFT = 3
_COMMON = 16


class Selected(NamedTuple):
    """A leaf that takes part, seen from where the person dragged or dropped.

    Attributes:
        entry: The leaf.
        collection: Collection it is matched in; None matches any.
        names: Module path and name below the dragged or dropped-on node.
    """

    entry: Entry
    collection: str | None
    names: Names


@dataclass(frozen=True, slots=True)
class Shift:
    """An alignment: ``source/rest`` is ``target/rest`` for every rest.

    Attributes:
        source: Names below the dragged node.
        target: Names below the node it was dropped on.
    """

    source: Names = ()
    target: Names = ()


DIRECT = Shift()
"""Names below the two nodes are the same."""


@dataclass(slots=True)
class Aligned:
    """What `align` found.

    Attributes:
        pairs: Index of a target selection -> index of the source selection.
        shifts: (shift, pairs that fit), in the order they were taken.
        ambiguous: Shifts that would match equally much, so none was taken.
        offers: Shifts of unlike names that would match the rest fully.
    """

    pairs: dict[int, int] = field(default_factory=dict)
    shifts: list[tuple[Shift, int]] = field(default_factory=list)
    ambiguous: tuple[Shift, ...] = ()
    offers: tuple[Shift, ...] = ()

    @property
    def fitting(self) -> int:
        """Pairs that fit without a person's word."""
        return sum(count for _, count in self.shifts)


def align(source: Sequence[Selected], target: Sequence[Selected]) -> Aligned:
    """Pairs the leaves of two selections.

    No leaf is used twice. Leaves that agree in name but do not fit are paired
    last, so that the person sees why.

    Args:
        source: What is dragged.
        target: What it is dropped on.
    """
    work = _Work(source, target)
    movable = {one.collection for one in target}
    wanted = sum(one.collection is None or one.collection in movable for one in source)
    direct = work.pairs_of(DIRECT)
    if len(direct) >= min(len(target), wanted):
        work.take_pairs(DIRECT, direct)
    else:
        ranked = work.rank(_votes(source, target))
        work.take_best(ranked, len(direct))
        work.take(DIRECT)
        work.take_alike(ranked)
    work.pair_rest()
    return work.result


class _Work:
    """The pairs found so far, and tables to find more."""

    def __init__(self, source: Sequence[Selected], target: Sequence[Selected]) -> None:
        self.source = source
        self.target = target
        self.result = Aligned()
        self._used: set[int] = set()
        self._by_names: dict[Names, list[int]] = defaultdict(list)
        for index, one in enumerate(source):
            self._by_names[one.names].append(index)

    def pairs_of(self, shift: Shift, *, fitting: bool = True) -> list[tuple[int, int]]:
        """Returns (target, source) that a shift would add to what is found."""
        found: list[tuple[int, int]] = []
        taken: set[int] = set()
        length = len(shift.target)
        for index, one in enumerate(self.target):
            if index in self.result.pairs or one.names[:length] != shift.target:
                continue
            match = self._find(one, shift.source + one.names[length:], taken, fitting)
            if match is not None:
                taken.add(match)
                found.append((index, match))
        return found

    def _find(
        self, target: Selected, names: Names, taken: set[int], fitting: bool
    ) -> int | None:
        best: tuple[int, int] | None = None
        for index in self._by_names.get(names, ()):
            one = self.source[index]
            if index in self._used or index in taken:
                continue
            if not _meet(one.collection, target.collection):
                continue
            if fitting and not fits(one.entry.leaf, target.entry.leaf):
                continue
            rank = (_rank(one.collection, target.collection), index)
            best = rank if best is None else min(best, rank)
        return None if best is None else best[1]

    def take(self, shift: Shift) -> int:
        """Adds the pairs of a shift that fit; returns how many."""
        return self.take_pairs(shift, self.pairs_of(shift))

    def take_pairs(self, shift: Shift, pairs: list[tuple[int, int]]) -> int:
        """Adds pairs that `pairs_of` has just found; returns how many."""
        self._add(pairs)
        if pairs:
            self.result.shifts.append((shift, len(pairs)))
        return len(pairs)

    def _add(self, pairs: Iterable[tuple[int, int]]) -> None:
        for target, source in pairs:
            self.result.pairs[target] = source
            self._used.add(source)

    def rank(self, votes: Counter[Shift]) -> list[_Ranked]:
        """Returns the shifts worth a look, best first.

        Those with which more than half of the smaller side would match.
        """
        sources = _leaves_below(self.source, {len(shift.source) for shift in votes})
        targets = _leaves_below(self.target, {len(shift.target) for shift in votes})
        ranked = [
            _Ranked(count, _likeness(shift), shift)
            for shift, count in votes.items()
            if 2 * count > min(sources[shift.source], targets[shift.target])
        ]
        return sorted(ranked, key=_Ranked.order)

    def take_best(self, ranked: Sequence[_Ranked], direct: int) -> None:
        """Takes the shift that matches most, if it matches more than ``direct``.

        Never one of two that match equally much: the person has to say.
        """
        if not ranked or ranked[0].count <= direct:
            return
        rivals = _rivals(ranked[0], ranked)
        if rivals:
            self.result.ambiguous = (ranked[0].shift, *rivals)
        else:
            self.take(ranked[0].shift)

    def take_alike(self, ranked: Sequence[_Ranked]) -> None:
        """Takes what is left where names differ but in spelling."""
        for one in ranked:
            if _rivals(one, ranked):
                continue
            if one.likeness:
                self.take(one.shift)
            elif len(self.pairs_of(one.shift)) == one.count:
                self.result.offers += (one.shift,)

    def pair_rest(self) -> None:
        """Pairs leaves of equal names that do not fit, to say why."""
        for shift in dict.fromkeys([*(s for s, _ in self.result.shifts), DIRECT]):
            # Mostly all is paired, and this is on the way of a hovering mouse.
            if len(self.result.pairs) < min(len(self.source), len(self.target)):
                self._add(self.pairs_of(shift, fitting=False))


def _leaves_below(side: Sequence[Selected], depths: Iterable[int]) -> Counter[Names]:
    """Counts the leaves below every module path of the given depths."""
    counts: Counter[Names] = Counter()
    for depth in depths:
        counts.update([one.names[:depth] for one in side if len(one.names) >= depth])
    return counts


def _meet(source: str | None, target: str | None) -> bool:
    """Whether leaves of two collections may be the same variable."""
    if source == target:
        return True
    # Random keys and counters are no variables of a model, whatever their names.
    if RNGS in {source, target}:
        return False
    if source is None:
        return True
    # A tree without collections holds variables, never optimizer states.
    return target is None and source != OUTSIDE and source not in SLOTS


def _rank(source: str | None, target: str | None) -> int:
    """Prefers the same collection, then params, then any."""
    return 0 if source == target else 1 if source == PARAMS else 2


def _votes(source: Sequence[Selected], target: Sequence[Selected]) -> Counter[Shift]:
    """Counts for each shift the leaves that would match in name and fit.

    Shifts whose two ends are the same key are left out: the shorter shift, one
    level up, stands for them.
    """
    by_rest: dict[Names, list[tuple[Names, Selected]]] = defaultdict(list)
    for one in source:
        for depth in range(min(_SHIFT + 1, len(one.names))):
            by_rest[one.names[depth:]].append((one.names[:depth], one))
    votes: Counter[tuple[Names, Names]] = Counter()
    for two in target:
        for depth in range(min(_SHIFT + 1, len(two.names))):
            near = by_rest.get(two.names[depth:], ())
            # A rest that occurs everywhere (`kernel`) tells nothing.
            if len(near) > _COMMON:
                continue
            top = two.names[:depth]
            last = top[-1:]
            for other, one in near:
                if other[-1:] != last and _pairable(one, two):
                    votes[other, top] += 1
    return Counter({Shift(*ends): count for ends, count in votes.items()})


def _pairable(source: Selected, target: Selected) -> bool:
    return _meet(source.collection, target.collection) and fits(
        source.entry.leaf, target.entry.leaf
    )


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A shift with what speaks for it."""

    count: int
    likeness: int
    shift: Shift

    def order(self) -> tuple[int, int, int, Names, Names]:
        """Sorts the best first, equals in a fixed order."""
        shift = self.shift
        depth = len(shift.source) + len(shift.target)
        return -self.count, -self.likeness, depth, shift.source, shift.target


def _rivals(one: _Ranked, ranked: Sequence[_Ranked]) -> list[Shift]:
    """Returns shifts of equal weight that want the same leaves for other ones."""
    return [
        other.shift
        for other in ranked
        if (other.count, other.likeness) == (one.count, one.likeness)
        and other.shift != one.shift
        and _compete(other.shift, one.shift)
    ]


def _compete(one: Shift, other: Shift) -> bool:
    """Whether two shifts want the same source leaves or the same target leaves."""
    return (
        is_prefix(one.source, other.source)
        or is_prefix(other.source, one.source)
        or is_prefix(one.target, other.target)
        or is_prefix(other.target, one.target)
    )


_NUMBER = re.compile(r"[_\d]*\d$")


def _likeness(shift: Shift) -> int:
    """Returns 2 for names alike but for spelling, 1 also but for a number, else 0.

    The number may be on one side only: ``Dense_0`` and ``Dense_1`` are two.
    """
    if not shift.source or not shift.target:
        return 0
    one, other = shift.source[-1], shift.target[-1]
    if _plain(one) == _plain(other):
        return 2
    bare, other_bare = _NUMBER.sub("", one), _NUMBER.sub("", other)
    if bare != one and other_bare != other:
        return 0
    return int(_plain(bare) == _plain(other_bare))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
