"""Sentences about bad values: what was found, where, and what made it.

Model process; knows no trace, only what was found in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from inspector.engine.messages.inspecting import ValueSummary
from inspector.programs.source_lines import short
from inspector.variables.path import TreePath, join

_POSITIVE = frozenset({"log", "sqrt", "rsqrt", "log1p", "pow", "lgamma"})
_LOWEST = {"log1p": -1.0}


def held_text(what: str, held: ValueSummary) -> str:
    """Returns the finding that a variable or an input is bad already.

    Args:
        what: ``"weight"`` or ``"input"``.
        held: The value.
    """
    name = f"The {what} {held.name}"
    if held.name.startswith(f"{what} "):
        name = f"{held.name[:1].upper()}{held.name[1:]}"
    return f"{name} already holds {bad_text(held)}."


def bad_text(value: ValueSummary) -> str:
    """Returns the bad numbers of a value, e.g. ``"3 NaN of 12 numbers"``."""
    parts = []
    if value.nan:
        parts.append(f"{value.nan:,} NaN")
    if value.inf:
        parts.append(f"{value.inf:,} Inf")
    return f"{' and '.join(parts) or 'no bad number'} of {value.size:,} numbers"


def made_text(
    primitive: str, module: TreePath, source: str, steps: str, is_nan: bool
) -> str:
    """Returns which equation made the first bad value.

    Args:
        primitive: Its primitive.
        module: Its module.
        source: Its line.
        steps: Where inside loops.
        is_nan: A NaN; else an Inf.
    """
    what = "NaN" if is_nan else "Inf"
    line = f" at {short(source)}" if source else ""
    turn = f", in {steps}" if steps else ""
    return f"{primitive} in {module_text(module)} made the first {what}{line}{turn}."


def why_text(primitive: str, inputs: Sequence[ValueSummary]) -> str:
    """Returns why an equation gave a NaN, as far as its inputs tell; may be empty."""
    if not inputs:
        return ""
    first = inputs[0]
    lowest = _LOWEST.get(primitive, 0.0)
    if primitive in _POSITIVE and first.minimum is not None and first.minimum < lowest:
        return f"Its input {_named(first)}goes down to {first.minimum:g}."
    if primitive == "div" and len(inputs) > 1 and inputs[1].minimum is not None:
        divisor = inputs[1]
        if divisor.minimum == 0 == divisor.maximum:
            return f"Its divisor {_named(divisor)}is 0."
    infinite = [position for position, value in enumerate(inputs) if value.inf]
    if infinite:
        return f"Its input {infinite[0]} {_named(inputs[infinite[0]])}holds Inf."
    return ""


def _named(value: ValueSummary) -> str:
    return f"({value.name}) " if value.name else ""


def module_text(path: TreePath) -> str:
    """Returns a module's path, or what the root is called."""
    return join(path) or "the module itself"


def count_text(number: int, one: str, many: str) -> str:
    """Returns e.g. ``"1 weight"`` or ``"3 weights"``."""
    return f"{number:,} {one if number == 1 else many}"
