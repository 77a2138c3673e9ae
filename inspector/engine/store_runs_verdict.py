"""The verdict on two runs in a sentence: equal, within rounding, or not.

What counts as rounding follows from the dtype of the outputs and from the precision
and device of each side. Pure functions.
"""

from __future__ import annotations

import math

from inspector.engine.messages.running import RunDifference, RunReport
from inspector.variables.plain import PlainTree

TF32 = 1e-2
"""Relative error of products at an accelerator's default precision, with room.

TF32 and bfloat16 products keep 8 to 11 bits; a net of some layers adds that up.
"""

_ROUNDING = {
    "float64": 1e-12,
    "complex128": 1e-12,
    "float16": 5e-3,
    "bfloat16": 3e-2,
}
"""Relative error that reordered sums may give, by dtype; float8 is coarser still."""

_SINGLE = 1e-5
_EIGHT_BITS = 0.2
_COARSE = {"", "default", "high"}


def verdict(
    a: RunReport, b: RunReport, difference: RunDifference, outputs: PlainTree
) -> str:
    """Returns what the difference of two runs means.

    Args:
        a: The first run.
        b: The second run.
        difference: Their outputs compared, largest difference first.
        outputs: Outputs of the first, for their dtypes.
    """
    rows = difference.rows
    apart = [row for row in rows if row.max_rel is None]
    sides = _sides(a, b)
    if apart:
        first = f": {apart[0].why}" if apart[0].why else ""
        return f"{len(apart)} outputs cannot be compared{first}.{sides}"
    worst = max((row.max_rel for row in rows if row.max_rel is not None), default=0.0)
    most = max((row.max_abs for row in rows if row.max_abs is not None), default=0.0)
    if any(math.isnan(row.max_abs or 0.0) for row in rows):
        return f"One run has a NaN where the other has none.{sides}"
    if most == 0.0:
        return f"Every output is equal.{sides} {difference.text}".rstrip()
    said = f"The largest relative difference is {worst:.2g}"
    rounding = max((_rounding(leaf.dtype) for _, leaf in outputs.leaves), default=0.0)
    coarse = _coarse(a) or _coarse(b)
    return f"{said}, {_explained(worst, rounding, coarse=coarse)}.{sides}"


def _explained(worst: float, rounding: float, *, coarse: bool) -> str:
    """Returns what explains a difference.

    Args:
        worst: Largest relative difference.
        rounding: What rounding of the dtype may give.
        coarse: Whether a side may have rounded its products.
    """
    if worst <= rounding:
        return "within the rounding of the dtype"
    if not coarse:
        return "more than rounding explains"
    if worst > max(TF32, rounding):
        return "more than TF32 error explains"
    return (
        "within TF32 error: at default precision an accelerator rounds products to"
        " about 1e-3; with precision highest on both sides the rest would show"
    )


def _rounding(dtype: str) -> float:
    if dtype.startswith("float8"):
        return _EIGHT_BITS
    if not dtype.startswith(("float", "bfloat", "complex")):
        return 0.0
    return _ROUNDING.get(dtype, _SINGLE)


def _coarse(run: RunReport) -> bool:
    """Returns whether a run may have rounded its products."""
    return not run.device.startswith("cpu") and run.precision in _COARSE


def _sides(a: RunReport, b: RunReport) -> str:
    """Returns device and precision of each side, where they differ."""
    if (a.device, a.precision) == (b.device, b.precision):
        return ""
    texts = (f"{one.device}, precision {one.precision or 'default'}" for one in (a, b))
    return f" ({' against '.join(texts)}.)"
