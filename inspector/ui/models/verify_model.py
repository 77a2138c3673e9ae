"""How two models differ, call by call: columns for `inspecting.CallDifference`.

A bar shows a difference on a scale of powers of ten around the tolerance, since one
that matters is often a million times another.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from inspector.engine.messages.inspecting import CallDifference
from inspector.ui.models.calls_model import module_name, whole_name
from inspector.ui.models.record_table import Column
from inspector.ui.models.run_text import difference, exact_number

_DECADES = 4.0
"""Powers of ten on each side of the tolerance that a bar tells apart."""


def bar_share(relative: float, tolerance: float) -> float:
    """Returns the length of a bar: half of it is the tolerance, 0 is equal."""
    if not relative > 0:
        return 1.0 if math.isnan(relative) else 0.0
    if math.isinf(relative) or tolerance <= 0:
        return 1.0
    decades = math.log10(relative) - math.log10(tolerance)
    return min(1.0, max(0.02, 0.5 + decades / (2 * _DECADES)))


def is_above(call: CallDifference, tolerance: float) -> bool:
    """Returns whether a call differs by more than the tolerance; NaN does."""
    return not call.max_rel <= tolerance


def verify_columns(tolerance: Callable[[], float]) -> tuple[Column, ...]:
    """Returns the columns; ``tolerance`` is that of the report that is shown."""

    def mark(call: CallDifference) -> str:
        return "mismatch" if is_above(call, tolerance()) else "exact"

    def token(call: CallDifference) -> str:
        return "warning" if is_above(call, tolerance()) else "good"

    return (
        Column(
            "module",
            lambda call: module_name(call.module),
            lambda call: whole_name(call.module),
            indent=lambda call: len(call.module),
            mark=mark,
        ),
        Column(
            "method", lambda call: call.method or "__call__", width=96, look="mono",
            rank=3,
        ),
        Column(
            "largest |a − b|",
            lambda call: difference(call.max_abs),
            lambda call: exact_number(call.max_abs),
            width=112,
            look="number",
            rank=1,
        ),
        Column(
            "relative",
            lambda call: difference(call.max_rel),
            lambda call: exact_number(call.max_rel),
            width=112,
            look="number",
            share=lambda call: bar_share(call.max_rel, tolerance()),
            token=token,
        ),
        Column("note", lambda call: call.note, width=152, rank=2),
    )  # fmt: skip
