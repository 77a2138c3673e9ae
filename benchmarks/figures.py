"""What a benchmark finds: a figure beside its target and its reference.

Plain data, made by the benchmarks and rendered by `table`; no measuring here. Values
are in seconds, bytes or bytes per second; how they are written is chosen for reading.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

SECONDS = "s"
BYTES = "B"
RATE = "B/s"
TIMES = "×"


@dataclass(frozen=True, slots=True)
class Reference:
    """The same job done by what people use today, in the same run.

    Attributes:
        name: Who did it, e.g. ``"cp and sync"``.
        values: One value a run.
        unit: Unit of the values.
    """

    name: str
    values: tuple[float, ...]
    unit: str = SECONDS

    @property
    def median(self) -> float:
        """The value in the middle."""
        return statistics.median(self.values)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report.

    Attributes:
        name: What was measured.
        values: One value a run.
        unit: Unit of the values.
        target: What it should be; None where nothing was promised.
        at_least: Whether more is better; else the target is the most.
        by_worst: Whether every single value has to meet the target (the longest
            stall); else the median does.
        reference: The same job done by others.
        note: What a reader needs to know of how it came about.
    """

    name: str
    values: tuple[float, ...]
    unit: str = SECONDS
    target: float | None = None
    at_least: bool = False
    by_worst: bool = False
    reference: Reference | None = None
    note: str = ""

    @property
    def median(self) -> float:
        """The value in the middle."""
        return statistics.median(self.values)

    @property
    def met(self) -> bool | None:
        """Whether the target was met; None without one."""
        if self.target is None:
            return None
        if self.at_least:
            return (min(self.values) if self.by_worst else self.median) >= self.target
        return (max(self.values) if self.by_worst else self.median) <= self.target

    def to_json(self) -> dict[str, object]:
        """Returns everything, for a machine."""
        found: dict[str, object] = {
            "name": self.name,
            "unit": self.unit,
            "values": list(self.values),
            "median": self.median,
            "target": self.target,
            "met": self.met,
            "note": self.note,
        }
        if self.reference is not None:
            found["reference"] = {
                "name": self.reference.name,
                "unit": self.reference.unit,
                "values": list(self.reference.values),
                "median": self.reference.median,
            }
        return found


def written(value: float, unit: str) -> str:
    """Returns a value as a person reads it, e.g. ``"12.3 ms"`` or ``"1.90 GB"``."""
    if unit == SECONDS:
        return f"{value * 1000:.1f} ms" if value < 0.1 else f"{value:.2f} s"
    if unit == TIMES:
        return f"{value:.2f}×"
    suffix = unit.removeprefix("B")
    for size, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= size:
            return f"{value / size:.3g} {name}{suffix}"
    return f"{value:.0f} B{suffix}"


def spread(values: Sequence[float], unit: str) -> str:
    """Returns the median, and least and most where there are several values."""
    middle = written(statistics.median(values), unit)
    if len(values) == 1:
        return middle
    low, high = written(min(values), unit), written(max(values), unit)
    return f"{middle}  ({low} … {high}, n={len(values)})"
