"""Whether one source leaf can fill one target leaf, and what it would cost.

Used by `matching` and `plan` in the store process. Looks at shapes, dtypes and
kinds; the only values it sees are Python scalars, which a tree holds itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from inspector.variables import casting
from inspector.variables.leaf import SCALAR_KINDS, Kind, Leaf
from inspector.variables.value import Literal


class Verdict(StrEnum):
    """What a plan says of one leaf."""

    EXACT = "exact"
    CONVERTED = "converted"
    MISMATCH = "mismatch"
    MISSING = "missing"
    UNUSED = "unused"


@dataclass(frozen=True, slots=True)
class Fit:
    """How a source leaf fits a target leaf.

    Attributes:
        verdict: Exact, converted or mismatch.
        rule: ``"cast"`` when a cast is possible, also for a mismatch that needs
            a person's word for it; else empty.
        why: A sentence for anything but exact.
    """

    verdict: Verdict
    rule: str = ""
    why: str = ""


EXACT = Fit(Verdict.EXACT)
"""The fit that needs no word."""

_NUMBERS = {Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.COMPLEX}


def fits(source: Leaf, target: Leaf) -> bool:
    """Returns whether the source leaf fills the target without a person's word."""
    if source.shape != target.shape:
        return False
    if source.dtype == target.dtype and source.kind is target.kind is Kind.ARRAY:
        return not source.error
    return compare(source, target).verdict is not Verdict.MISMATCH


def compare(source: Leaf, target: Leaf) -> Fit:
    """Returns how a source leaf fits a target leaf."""
    if source.error:
        return _mismatch(f"the source leaf cannot be read: {source.error}")
    if source.kind is Kind.ARRAY and target.kind is Kind.ARRAY:
        return _arrays(source, target)
    if source.kind in _NUMBERS and target.kind is Kind.ARRAY:
        return _number_to_array(source, target)
    same = (source.kind, source.dtype, source.shape) == (
        target.kind,
        target.dtype,
        target.shape,
    )
    if same and source.kind in SCALAR_KINDS | {Kind.KEY}:
        return EXACT
    return _mismatch(f"source {describe_leaf(source)}, target {describe_leaf(target)}")


def describe_leaf(leaf: Leaf) -> str:
    """Returns what a leaf is, e.g. ``float32 [3, 4]``, ``Python int``, ``None``."""
    if leaf.kind is Kind.ARRAY:
        return f"{leaf.dtype} {list(leaf.shape)}"
    if leaf.kind is Kind.KEY:
        return f"random key {leaf.dtype} {list(leaf.shape)}"
    return f"Python {leaf.kind}" if leaf.kind in SCALAR_KINDS else str(leaf.kind)


def _mismatch(why: str, rule: str = "") -> Fit:
    return Fit(Verdict.MISMATCH, rule, why)


def _arrays(source: Leaf, target: Leaf) -> Fit:
    if source.shape != target.shape:
        return _mismatch(f"source {list(source.shape)}, target {list(target.shape)}")
    if source.dtype == target.dtype:
        return EXACT
    change = f"{source.dtype} → {target.dtype}"
    known = casting.is_known(source.dtype) and casting.is_known(target.dtype)
    if not (known and casting.is_possible(source.dtype, target.dtype)):
        return _mismatch(f"{change} is not possible in one step")
    effect = casting.cast_effect(source.dtype, target.dtype)
    if not effect:
        return Fit(Verdict.CONVERTED, "cast", f"{change}, exact")
    if _changes_kind(source.dtype, target.dtype):
        return _mismatch(f"{change} {effect}", "cast")
    return Fit(Verdict.CONVERTED, "cast", f"{change}, {effect}")


def _changes_kind(source: str, target: str) -> bool:
    """Whether a cast loses more than a number's last digits or its range."""
    if target == "bool":
        return True
    if casting.is_complex(source) and not casting.is_complex(target):
        return True
    return casting.is_integer(target) and not (
        casting.is_integer(source) or source == "bool"
    )


def _number_to_array(source: Leaf, target: Leaf) -> Fit:
    if target.shape:
        return _mismatch(f"source {describe_leaf(source)}, target {list(target.shape)}")
    number = source.value.value if isinstance(source.value, Literal) else None
    if number is None or isinstance(number, str | bytes):
        return _mismatch("the value of the source leaf is not known")
    change = f"Python {source.kind} {number} → {target.dtype}"
    if not casting.is_known(target.dtype):
        return _mismatch(f"{change} is not known")
    if why := casting.why_unfit(number, target.dtype):
        return _mismatch(f"{change}: {why}")
    exact = casting.holds(number, target.dtype)
    return Fit(Verdict.CONVERTED, "cast", f"{change}, {'exact' if exact else 'rounds'}")
