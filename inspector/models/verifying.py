"""Runs the same inputs through two models and compares every module call.

Both sides are recorded in a program of their own; their calls are brought together by
`verifying_pairs`. Model process, on the thread that runs the person's code.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from inspector.engine.messages.inspecting import (
    CallDifference,
    VerifyModules,
    VerifyReport,
)
from inspector.engine.messages.running import Remark, RunModule
from inspector.models.executing import Prepared, prepare
from inspector.models.loading import Progress
from inspector.models.outputs import host
from inspector.models.recording import MOST_BYTES
from inspector.models.recording_calls import CallWatch, SeenCall, arrays_in
from inspector.models.recording_inner import inner_outputs
from inspector.models.running import memory_explained
from inspector.models.verifying_pairs import Pair, pairs_of
from inspector.variables.path import TreePath, join

_INNER = "not compared: "


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two models, run.

    Attributes:
        calls: Its calls in call order, without their values.
        outputs: The arrays that each call put out; empty for an inner call.
        remarks: Sentences for a person.
    """

    calls: tuple[SeenCall, ...]
    outputs: tuple[tuple[np.ndarray, ...], ...]
    remarks: tuple[Remark, ...]


def verify(body: VerifyModules, progress: Progress) -> VerifyReport:
    """Compares two models call by call.

    Args:
        body: Both sides; a call without a mode is made in ``eval``.
        progress: Told what is being done.

    Raises:
        LoadModuleError: As `executing.prepare`, for either side.
        UsageError: A text of the call cannot be parsed.
    """
    start = time.perf_counter()
    progress("Running the first")
    first = run_side(body.a, progress)
    progress("Running the second")
    second = run_side(body.b, progress)
    pairs = pairs_of(first.calls, second.calls)
    rows = [_row(pair, first, second) for pair in pairs]
    order = sorted(range(len(pairs)), key=lambda at: _end(pairs[at]))
    bad = [at for at in order if rows[at].max_rel > body.tolerance]
    worst = max((row.max_rel for row in rows), default=0.0)
    return VerifyReport(
        calls=tuple(rows),
        first=rows[bad[0]].module if bad else None,
        worst=worst,
        text=_text(rows, bad, body.tolerance),
        seconds=time.perf_counter() - start,
        remarks=tuple(dict.fromkeys((*first.remarks, *second.remarks))),
    )


def run_side(run: RunModule, progress: Progress) -> Side:
    """Runs one model and keeps the outputs of every module call."""
    call = run.call if run.call.mode else replace(run.call, mode="eval")
    with memory_explained(call.device):
        prepared = prepare(replace(run, call=call), progress)
        with prepared.running("Running"):
            calls, arrays = _recorded(prepared)
            rest = iter([host(array) for array in arrays])
            hidden = any(call.is_inner for call, _ in calls)
            inner = inner_outputs(prepared, MOST_BYTES) if hidden else {}
            outputs = tuple(
                inner.get(call.position, ())
                if call.is_inner
                else tuple(next(rest) for _ in range(count))
                for call, count in calls
            )
    seen = tuple(call for call, _ in calls)
    return Side(seen, outputs, _outside(prepared.remarks))


def _outside(remarks: Sequence[Remark]) -> tuple[Remark, ...]:
    """Leaves out that the mode had no effect: here it is not the person's choice."""
    return tuple(remark for remark in remarks if remark.kind != "mode")


def _recorded(prepared: Prepared) -> tuple[list[tuple[SeenCall, int]], list[Any]]:
    """Returns the calls, each with how many of the arrays are its outputs."""
    watch = CallWatch()
    forward = prepared.subject.forward(prepared.call, prepared.mutable, watch)
    found: list[tuple[SeenCall, int]] = []

    def run(*arrays: Any) -> list[Any]:
        with watch.watching():
            outputs, _ = forward(*prepared.inputs.joined(arrays))
        found.clear()
        kept: list[Any] = []
        for call in [*watch.calls, *_whole(watch.calls, outputs, prepared)]:
            leaves = [] if call.is_inner else arrays_in(call.outputs)
            kept += leaves
            bare = replace(call, args=(), kwargs={}, outputs=None)
            found.append((bare, len(leaves)))
        watch.calls.clear()
        return kept

    arrays: list[Any] = jax.jit(run)(*prepared.inputs.arrays)
    return found, arrays


def _whole(
    calls: Sequence[SeenCall], outputs: Any, prepared: Prepared
) -> list[SeenCall]:
    """Returns the call of the module itself where no recorder saw it."""
    if any(not call.path for call in calls):
        return []
    method = prepared.call.method or "__call__"
    kind = type(prepared.subject.module).__name__
    ended = len(calls)
    return [
        SeenCall(ended, (), kind, method, 0, (), {}, outputs, finished=ended),
    ]


def _end(pair: Pair) -> tuple[int, int]:
    """Returns what sorts pairs by the end of the call: the innermost come first."""
    call = pair.first or pair.second
    assert call is not None
    return (0 if pair.first else 1, call.finished)


def _row(pair: Pair, first: Side, second: Side) -> CallDifference:
    a, b = pair.first, pair.second
    one = a or b
    assert one is not None
    if a is None or b is None:
        note = "only in the first" if b is None else "only in the second"
        return CallDifference(one.path, one.method, 0.0, 0.0, note)
    note = "" if a.path == b.path else f"{join(b.path) or 'root'} in the second"
    left, right = first.outputs[a.index], second.outputs[b.index]
    if (a.is_inner and not left) or (b.is_inner and not right):
        inside = a.inside or b.inside
        return CallDifference(a.path, a.method, 0.0, 0.0, f"{_INNER}{inside}")
    if a.inside:
        note = note or f"{a.inside}, all together"
    if len(left) != len(right):
        text = f"{len(left)} and {len(right)} outputs"
        return CallDifference(a.path, a.method, math.inf, math.inf, text)
    found = [difference(x, y) for x, y in zip(left, right, strict=True)]
    if any(x.shape != y.shape for x, y in zip(left, right, strict=True)):
        note = "shapes differ"
    max_abs = max((one for one, _ in found), default=0.0)
    max_rel = max((one for _, one in found), default=0.0)
    return CallDifference(a.path, a.method, max_abs, max_rel, note)


def difference(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Returns the largest absolute difference, and that over the largest of ``b``.

    Equal Infs and NaNs at the same places differ by 0; a NaN or an Inf where the
    other has none is an infinite difference, and so is another shape. 0 over 0 is 0.
    """
    if a.shape != b.shape:
        return math.inf, math.inf
    if not a.size or np.array_equal(a, b):
        return 0.0, 0.0
    left, right = _wide(a), _wide(b)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    with np.errstate(all="ignore"):
        apart = np.where(same, 0.0, np.abs(left - right))
    max_abs = float(np.where(np.isnan(apart), np.inf, apart).max())
    finite = np.abs(right[np.isfinite(right)])
    scale = float(finite.max()) if finite.size else 0.0
    if max_abs == 0:
        return 0.0, 0.0
    return max_abs, max_abs / scale if scale else math.inf


def _wide(array: np.ndarray) -> np.ndarray:
    """Returns numbers in which the difference of any two is exact enough."""
    kind = np.complex128 if np.iscomplexobj(array) else np.float64
    return array.astype(kind)


def _text(rows: Sequence[CallDifference], bad: Sequence[int], tolerance: float) -> str:
    compared = [row for row in rows if not row.note.startswith(("only in", _INNER))]
    left = len(rows) - len(compared)
    rest = f" {left} calls could not be compared." if left else ""
    count = len(compared)
    calls = f"{count} module call" + ("" if count == 1 else "s")
    if bad:
        row = rows[bad[0]]
        size = _size(row)
        return (
            f"{_name(row.module)}.{row.method} is the first that differs: {size}. "
            f"{len(bad)} of {calls} differ by more than {tolerance:g}.{rest}"
        )
    if all(row.max_abs == 0 for row in compared):
        return f"Equal bit for bit in {calls}.{rest}"
    worst = max(row.max_rel for row in compared)
    return f"Equal within {tolerance:g} in {calls}; the largest is {worst:.2g}.{rest}"


def _size(row: CallDifference) -> str:
    if row.note and math.isinf(row.max_abs):
        return row.note
    if math.isinf(row.max_abs):
        return "a NaN or an Inf on one side alone"
    return f"{row.max_abs:.3g} absolute, {row.max_rel:.3g} relative"


def _name(path: TreePath) -> str:
    return join(path) or "the module itself"
