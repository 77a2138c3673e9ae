"""The plan of a transfer: leaf by leaf what fits, what does not, and why.

The store makes one while the mouse hovers, shows it when something is not exact,
and turns it with the person's choices into a `Transfer`. Metadata only; nothing
is read and nothing is changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from inspector.errors import TransferError
from inspector.variables.edit import Asked, Pair, Transfer
from inspector.variables.fitting import Verdict, compare
from inspector.variables.homes import KNOWN
from inspector.variables.leaf import SCALAR_KINDS, Leaf
from inspector.variables.list_names import with_positions_apart
from inspector.variables.matching import DIRECT, Aligned, Selected, Shift, align
from inspector.variables.path import TreePath, join
from inspector.variables.places import (
    Place,
    collections_of,
    locate,
    stands_for_params,
    travelling,
)
from inspector.variables.tree import Node
from inspector.variables.tree_index import Entry, TreeIndex
from inspector.variables.value import Literal
from inspector.variables.variable_types import RNGS, collection_of_type


class PlanRow(NamedTuple):
    """One leaf of a plan.

    Attributes:
        source: Exact path in the source; None when nothing fills the target leaf.
        target: Exact path in the target; None when the source leaf goes nowhere.
        verdict: What the plan says of it.
        rule: ``"cast"`` when the dtype changes, or may change by choice.
        why: A sentence for a person; empty when all is exact.
        source_shape: Shape of the source leaf.
        target_shape: Shape of the target leaf.
        source_dtype: Dtype of the source leaf, of a Python scalar its kind.
        target_dtype: Dtype of the target leaf, of a Python scalar its kind.
        literal: The source leaf's own value when it is a Python scalar.
    """

    source: TreePath | None
    target: TreePath | None
    verdict: Verdict
    rule: str = ""
    why: str = ""
    source_shape: tuple[int, ...] | None = None
    target_shape: tuple[int, ...] | None = None
    source_dtype: str = ""
    target_dtype: str = ""
    literal: Literal | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """What a person may choose, the default first; one is no choice."""
        if self.verdict is Verdict.EXACT:
            return ("take", "skip")
        if self.verdict is Verdict.CONVERTED:
            return ("cast", "skip")
        if self.verdict is Verdict.MISMATCH:
            return ("skip", "cast") if self.rule == "cast" else ("skip",)
        return ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a transfer would do.

    Attributes:
        source: Id of the source.
        rows: Leaves of the target in its order, then unused source leaves.
        asked: What was asked.
        note: How names were aligned, for a person; empty when they agree.
        offered: Whether it begins one level above what was dragged or dropped
            on, so that the person has to agree first.
    """

    source: str
    rows: tuple[PlanRow, ...]
    asked: Asked = field(default_factory=Asked)
    note: str = ""
    offered: bool = False

    @property
    def summary(self) -> dict[str, int]:
        """Verdict -> number of rows, every verdict named."""
        counts = Counter([row.verdict for row in self.rows])
        return {verdict.value: counts[verdict] for verdict in Verdict}

    @property
    def exact(self) -> bool:
        """Whether it can be applied without asking: it fills, and all is exact.

        Source leaves that stay unused and target leaves that stay as they are
        need no decision.
        """
        counts = self.summary
        asks = counts[Verdict.CONVERTED] + counts[Verdict.MISMATCH]
        return counts[Verdict.EXACT] > 0 and not asks and not self.offered


def make_plan(
    source: Node | TreeIndex,
    target: Node | TreeIndex,
    *,
    source_path: TreePath = (),
    target_path: TreePath = (),
    only: str | None = None,
    source_id: str = "",
    source_name: str = "",
) -> Plan:
    """Returns what dragging a subtree of a source onto a node would do.

    Args:
        source: Tree of the source, or its index when that is kept.
        target: Tree of the target, or its index.
        source_path: Key path or module path; ``()`` is the whole source.
        target_path: Key path or module path; ``()`` is the whole target.
        only: The one collection to move; None or empty for all.
        source_id: Id of the source in the document.
        source_name: Its name, for the history.

    Raises:
        TransferError: A path is in neither tree, or ``only`` names a collection
            that neither has.
    """
    # A person may name the type of NNX variables where Linen has a collection.
    named = collection_of_type(only) if only and only[:1].isupper() else only or ""
    ends = _Ends(
        source if isinstance(source, TreeIndex) else TreeIndex(source),
        target if isinstance(target, TreeIndex) else TreeIndex(target),
        named,
    )
    start = locate(ends.source, source_path, "source")
    end = locate(ends.target, target_path, "target")
    found = _try(ends, start, end)
    if not _settled(found):
        found = _one_level_up(ends, found)
    asked = Asked(source_name, source_path, target_path, only or "")
    note = _note(found, source_name)
    return Plan(source_id, _rows(found), asked, note, found.moved_up)


@dataclass(frozen=True, slots=True)
class _Ends:
    """The two trees and the collection asked for."""

    source: TreeIndex
    target: TreeIndex
    only: str

    def __post_init__(self) -> None:
        names = collections_of(self.source) | collections_of(self.target)
        if self.only and self.only not in names:
            message = f"neither side has a collection “{self.only}”"
            hint = f"There are {', '.join(sorted(names & KNOWN)) or 'none'}."
            raise TransferError(message, where=self.only, hint=hint)


@dataclass(frozen=True, slots=True)
class _Found:
    """An alignment together with what was aligned."""

    start: Place
    end: Place
    source: Sequence[Selected]
    target: Sequence[Selected]
    aligned: Aligned
    moved_up: bool = False


def _try(ends: _Ends, start: Place, end: Place) -> _Found:
    others = collections_of(ends.target)
    source = _select(ends.source, start, others, ends.only)
    target = _select(ends.target, end, collections_of(ends.source), ends.only)
    if _alone(ends.source, start, others):
        # A slot or a second set of params, dropped by hand: it fills the one
        # collection it was dropped on.
        source = [Selected(one.entry, None, one.names) for one in source]
        wanted = end.collection or "params"
        target = [one for one in target if one.collection in {wanted, None}]
    source, target = _named(source, target), _named(target, source)
    found = _Found(start, end, source, target, align(source, target))
    if found.aligned.fitting >= min(len(source), len(target)):
        return found
    apart = with_positions_apart(source, target)
    if apart is None:
        return found
    other = _Found(start, end, *apart, align(*apart))
    return other if other.aligned.fitting > found.aligned.fitting else found


def _named(side: list[Selected], other: list[Selected]) -> list[Selected]:
    """Gives a single leaf its name back when the other side is a branch."""
    if any(one.names for one in side) or not any(one.names for one in other):
        return side
    return [one._replace(names=one.entry.names[-1:]) for one in side]


def _alone(index: TreeIndex, place: Place, others: frozenset[str]) -> bool:
    return place.collection is not None and not travelling(index, place, others)


def _select(
    index: TreeIndex, place: Place, others: frozenset[str], only: str
) -> list[Selected]:
    """Returns the leaves that take part on one side."""
    entries: Sequence[Entry] = index.entries(place.home)
    depth = len(place.names)
    if not place.whole:
        together = travelling(index, place, others)
        inside: Collection[str | None] = together or {place.collection}
        entries = [
            entry
            for entry in entries
            if (place.collection is None or entry.collection in inside)
            and entry.names[:depth] == place.names
        ]
    elif place.path:
        length = len(place.path)
        entries = [entry for entry in entries if entry.path[:length] == place.path]
    if place.collection is None and RNGS not in others:
        # A model without keys has nothing to say of those of an NNX module.
        entries = [entry for entry in entries if entry.collection != RNGS]
    if only:
        entries = [entry for entry in entries if entry.collection in {only, None}]
    collections = {
        name: _collection(name, others) for name in {e.collection for e in entries}
    }
    return [
        Selected(entry, collections[entry.collection], entry.names[depth:])
        for entry in entries
    ]


def _collection(name: str | None, others: frozenset[str]) -> str | None:
    return None if name and stands_for_params(name, others) else name


def _settled(found: _Found) -> bool:
    """Whether names agree as they stand, or the whole source found its place."""
    direct = any(shift == DIRECT for shift, _ in found.aligned.shifts)
    return direct or found.aligned.fitting == len(found.source)


def _one_level_up(ends: _Ends, found: _Found) -> _Found:
    """Tries the parent of either end where nothing fits; it must match fully."""
    for start, end in (
        (found.start, _parent(ends.target, found.end)),
        (_parent(ends.source, found.start), found.end),
    ):
        if start is None or end is None:
            continue
        other = _try(ends, start, end)
        count = other.aligned.fitting
        wanted = other.source if start is found.start else other.target
        if count > found.aligned.fitting and count == len(wanted):
            return _Found(start, end, other.source, other.target, other.aligned, True)
    return found


def _parent(index: TreeIndex, place: Place) -> Place | None:
    if not place.names or not place.path:
        return None
    return locate(index, place.path[:-1], "target")


def _rows(found: _Found) -> tuple[PlanRow, ...]:
    pairs = found.aligned.pairs
    rows: list[PlanRow] = []
    for index, one in enumerate(found.target):
        match = pairs.get(index)
        if match is None:
            rows.append(_missing(one.entry))
        else:
            rows.append(_paired(found.source[match].entry, one.entry))
    used = set(pairs.values())
    if len(used) < len(found.source):
        rows.extend(
            _unused(one.entry)
            for index, one in enumerate(found.source)
            if index not in used
        )
    return tuple(rows)


_KEPT = "nothing in the source has this name; it keeps what it has"
_NOWHERE = "nothing in the target has this name"


def _paired(source: Entry, target: Entry) -> PlanRow:
    given, wanted = source.leaf, target.leaf
    fit = compare(given, wanted)
    return PlanRow(
        source.path,
        target.path,
        fit.verdict,
        fit.rule,
        fit.why,
        given.shape,
        wanted.shape,
        _dtype(given),
        _dtype(wanted),
        given.value if isinstance(given.value, Literal) else None,
    )


def _missing(target: Entry) -> PlanRow:
    return PlanRow(
        None,
        target.path,
        Verdict.MISSING,
        why=_KEPT,
        target_shape=target.leaf.shape,
        target_dtype=_dtype(target.leaf),
    )


def _unused(source: Entry) -> PlanRow:
    value = source.leaf.value
    return PlanRow(
        source.path,
        None,
        Verdict.UNUSED,
        why=_NOWHERE,
        source_shape=source.leaf.shape,
        source_dtype=_dtype(source.leaf),
        literal=value if isinstance(value, Literal) else None,
    )


def _dtype(leaf: Leaf) -> str:
    return leaf.kind.value if leaf.kind in SCALAR_KINDS else leaf.dtype


def _note(found: _Found, source_name: str) -> str:
    """Says how names were aligned where they do not simply agree."""
    aligned = found.aligned
    if aligned.ambiguous:
        fits = "; ".join(
            _arrow(found, shift, source_name) for shift in aligned.ambiguous
        )
        return (
            f"Several ways fit equally well ({fits}), so names were taken as they "
            "are. Drop the part you mean on its own place."
        )
    lines: list[str] = []
    for shift, count in aligned.shifts:
        names = found.start.names + shift.source, found.end.names + shift.target
        if names[0] == names[1] and not found.moved_up:
            continue
        total = sum(
            one.names[: len(shift.target)] == shift.target for one in found.target
        )
        arrow = _arrow(found, shift, source_name)
        lines.append(f"{arrow}, {count:,} of {total:,} leaves")
    for shift in aligned.offers[:3]:
        arrow = _arrow(found, shift, source_name)
        lines.append(f"{arrow} would fit too, but is named otherwise: drop it there")
    if lines and found.moved_up:
        lines.append("one level above where it was dragged or dropped")
    return "; ".join(lines)


def _arrow(found: _Found, shift: Shift, source_name: str) -> str:
    left = "/".join(filter(None, (found.start.text, *shift.source)))
    right = "/".join(filter(None, (found.end.text, *shift.target)))
    return f"{left or source_name or 'the source'} → {right or 'the target'}"


def decide(plan: Plan, choices: Mapping[int, str] | None = None) -> Transfer:
    """Turns a plan and a person's choices into the edit.

    Args:
        plan: The plan.
        choices: Row index -> ``"take"``, ``"cast"`` or ``"skip"`` where the
            person chose otherwise than the default: what is exact is taken, what
            is converted is cast, all else is skipped.

    Raises:
        TransferError: A choice is not possible for its row, or nothing is left.
    """
    choices = choices or {}
    for index in choices:
        if not 0 <= index < len(plan.rows):
            message = f"the plan has {len(plan.rows)} rows, row {index} was chosen"
            raise TransferError(message, hint="Make the plan again.")
    pairs = []
    for index, row in enumerate(plan.rows):
        choice = choices.get(index, row.choices[0] if row.choices else "skip")
        if choice == "skip":
            continue
        if choice not in row.choices and not (
            choice == "take" and row.verdict is Verdict.CONVERTED
        ):
            message = f"“{choice}” is not possible: {row.verdict}, {row.why}"
            place = join(row.target or row.source or ())
            possible = " or ".join(row.choices) or "skip"
            raise TransferError(message, where=place, hint=f"Choose {possible}.")
        pairs.append(_pair(row))
    if not pairs:
        message = "nothing fits, so nothing would be transferred"
        place = join(plan.asked.target_path)
        hint = plan.note or "Drag another part of the source, or choose another place."
        raise TransferError(message, where=place, hint=hint)
    return Transfer(plan.source, tuple(pairs), plan.asked)


def _pair(row: PlanRow) -> Pair:
    assert row.source is not None
    assert row.target is not None
    rule = "exact" if row.verdict is Verdict.EXACT else "cast"
    return Pair(
        row.source,
        row.target,
        rule,
        row.target_shape or (),
        row.source_dtype,
        row.target_dtype,
        row.literal,
    )
