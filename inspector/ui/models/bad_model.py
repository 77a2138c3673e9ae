"""The values around the first bad one: columns for `inspecting.ValueSummary`.

The rows are complete when they come.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.engine.messages.inspecting import BadReport, ValueSummary
from inspector.ui import format as fmt
from inspector.ui.models.record_table import Column
from inspector.ui.models.run_text import difference, exact_number


@dataclass(frozen=True, slots=True)
class Side:
    """One value of the equation.

    Attributes:
        side: ``"input"`` or ``"output"``, or what else it is.
        value: The value in numbers.
    """

    side: str
    value: ValueSummary


_OUTPUT_WORDS = {"weight": "variable", "input": "input"}
"""What the bad value itself is called; that of an equation is an output."""


def sides(report: BadReport) -> list[Side]:
    """Returns the inputs, then the outputs, of what a report is about."""
    output = _OUTPUT_WORDS.get(report.kind, "output")
    return [Side("input", value) for value in report.inputs] + [
        Side(output, value) for value in report.outputs
    ]


COLUMNS = (
    Column("value", lambda side: side.value.name or side.side, look="mono"),
    Column("is", lambda side: side.side, width=64, rank=4),
    Column("array", lambda side: side.value.text, width=144, look="mono", rank=1),
    Column(
        "min",
        lambda side: difference(side.value.minimum),
        lambda side: exact_number(side.value.minimum),
        width=80,
        look="number",
    ),
    Column(
        "max",
        lambda side: difference(side.value.maximum),
        lambda side: exact_number(side.value.maximum),
        width=80,
        look="number",
    ),
    Column(
        "NaN",
        lambda side: fmt.count(side.value.nan),
        lambda side: f"{side.value.nan:,} of {side.value.size:,}",
        width=64,
        look="number",
        token=lambda side: "error" if side.value.nan else "",
    ),
    Column(
        "Inf",
        lambda side: fmt.count(side.value.inf),
        lambda side: f"{side.value.inf:,} of {side.value.size:,}",
        width=64,
        look="number",
        token=lambda side: "warning" if side.value.inf else "",
    ),
)
"""Columns of the table of values."""
