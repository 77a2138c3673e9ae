"""Compiles a traced function and tells what that took and what it will take.

Knows no module and no message; model process, on the thread that runs the person's
code.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Compiled:
    """One compiled program.

    Attributes:
        executable: Runs it: ``executable(*arrays)``, on the device it was made for.
        trace_s: Seconds that tracing took.
        lower_s: Seconds that lowering took.
        compile_s: Seconds that XLA took.
        flops: Floating-point operations of one run; None when XLA does not say.
        bytes_accessed: Bytes it reads and writes; None likewise.
        peak_bytes: Arguments, outputs and temporaries at the worst moment; None
            likewise.
    """

    executable: Any
    trace_s: float
    lower_s: float
    compile_s: float
    flops: float | None
    bytes_accessed: float | None
    peak_bytes: int | None


def compile_traced(traced: Any, trace_s: float) -> Compiled:
    """Lowers and compiles what ``jax.jit(f).trace(…)`` gave.

    Args:
        traced: The trace.
        trace_s: Seconds that it took.
    """
    start = time.perf_counter()
    lowered = traced.lower()
    middle = time.perf_counter()
    executable = lowered.compile()
    end = time.perf_counter()
    cost = _cost(executable)
    return Compiled(
        executable,
        trace_s,
        middle - start,
        end - middle,
        _number(cost, "flops"),
        _number(cost, "bytes accessed"),
        _peak(executable),
    )


def _cost(executable: Any) -> dict[str, Any]:
    """Returns XLA's cost analysis; older versions of JAX give a list of one."""
    try:
        cost = executable.cost_analysis()
    except Exception:
        # Not every backend has one, and each says so in its own way.
        return {}
    if isinstance(cost, Sequence):
        cost = cost[0] if cost else {}
    return dict(cost or {})


def _number(cost: dict[str, Any], name: str) -> float | None:
    value = cost.get(name)
    # XLA says -1 for what it does not know.
    return float(value) if value is not None and value >= 0 else None


def _peak(executable: Any) -> int | None:
    try:
        memory = executable.memory_analysis()
    except Exception:
        # As above.
        return None
    sizes = [
        getattr(memory, f"{part}_size_in_bytes", None)
        for part in ("argument", "output", "temp")
    ]
    if any(size is None for size in sizes):
        return None
    alias = getattr(memory, "alias_size_in_bytes", 0) or 0
    return sum(int(size) for size in sizes if size) - int(alias)
