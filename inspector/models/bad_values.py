"""Finds what first made a NaN or an Inf: a weight, an input, or an equation.

The forward pass is computed equation by equation with a watcher beside it. A NaN is an
error; an Inf is one only when it reaches an output or became a NaN, because masks are
made of them. Model process, on the thread that runs the person's code.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from inspector.engine.messages.inspecting import BadReport, FindBadModule
from inspector.engine.messages.running import Remark
from inspector.models import gradient
from inspector.models.bad_values_report import Look, infinity_remarks, report_of
from inspector.models.bad_values_trace import (
    WatchedTrace,
    arguments_of,
    watched_trace,
)
from inspector.models.bad_values_watch import CONSTANT, Argument, BadWatch, Trail
from inspector.models.executing import Prepared, prepare
from inspector.models.id_check import check_ids
from inspector.models.loading import Progress
from inspector.models.running import memory_explained
from inspector.programs.interpreter import evaluate
from inspector.programs.walk import has_inside
from inspector.variables.path import TreePath


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a look at a forward pass found.

    Attributes:
        look: The trace and the watcher.
        results: Trails of the outputs.
        bad: Module paths whose outputs hold a NaN.
    """

    look: Look
    results: tuple[Trail, ...]
    bad: frozenset[TreePath]


def find_bad(body: FindBadModule, progress: Progress) -> BadReport:
    """Finds what first made a bad value in a forward pass, or in its gradient.

    Args:
        body: The call.
        progress: Told what is being done.

    Raises:
        LoadModuleError: As `executing.prepare`; also when the gradient cannot be
            traced.
        UsageError: A text of the call cannot be parsed.
    """
    start = time.perf_counter()
    with memory_explained(body.run.call.device):
        prepared = prepare(body.run, progress)
        title = prepared.subject.imported.target.title
        progress(f"Looking for bad values in {title}")
        with prepared.running("Looking for bad values in"):
            report = _forward(prepared)
        if body.gradient and report.kind == "none":
            progress(f"Looking for bad values in the gradient of {title}")
            with prepared.running("Differentiating"):
                report = gradient.find(prepared, report)
        ids = check_ids(prepared)
    remarks = (*report.remarks, *ids)
    if ids and report.kind == "equation" and report.primitive == "gather":
        report = replace(report, text=f"{report.text} {ids[0].text}")
    return replace(report, remarks=remarks, seconds=time.perf_counter() - start)


def _forward(prepared: Prepared) -> BadReport:
    trace = watched_trace(prepared)
    arguments = arguments_of(prepared)
    seen = _look(prepared, trace, arguments, BadWatch())
    chosen = chosen_nan(seen.look, _reached(seen.results, is_nan=True))
    infinite = sorted(_reached(seen.results, is_nan=False)) if chosen is None else []
    if infinite or (chosen is not None and _is_of_loop(seen.look, chosen)):
        # Once more, into the loops that make an Inf.
        seen = _look(prepared, trace, arguments, BadWatch(walks_inf=True))
        chosen = chosen_nan(seen.look, _reached(seen.results, is_nan=True))
        infinite = sorted(_reached(seen.results, is_nan=False))
    if chosen is None and infinite:
        chosen = infinite[0]
    if chosen is None:
        chosen = _bad_weight(prepared, seen.look)
    modules = tuple(path for path in trace.modules if path in seen.bad)
    if chosen is None:
        remarks = (*_masked(seen.look), *infinity_remarks(seen.look))
        text = "No output and no weight holds a NaN or an Inf."
        if any(trail.nan for trail in seen.results):
            text = "An output is NaN by a constant that the code writes."
        return BadReport("none", text, bad_modules=modules, remarks=remarks)
    report = report_of(seen.look, chosen)
    return replace(report, bad_modules=modules)


def _look(
    prepared: Prepared,
    trace: WatchedTrace,
    arguments: Sequence[Argument],
    watch: BadWatch,
) -> _Seen:
    given = [
        (value, watch.argument(position, value, argument))
        for position, (value, argument) in enumerate(
            zip(prepared.inputs.arrays, arguments, strict=True)
        )
    ]
    bad: set[TreePath] = set()

    def assigned(variable: Any, mark: Trail | None) -> None:
        if mark is not None and mark.nan and variable in trace.watched:
            bad.update(trace.watched[variable])

    made = evaluate(
        trace.program, given, watch, wanted=trace.outputs, assigned=assigned
    )
    look = Look(watch, trace.marks, tuple(arguments), prepared.subject.imported.roots)
    known = {path for paths in trace.watched.values() for path in paths}
    # Of a module inside a loop only equations are seen, its own and of what is in it.
    paths = {look.module_of(frame) for frame in watch.frames_with_nan}
    inner = {path[:stop] for path in paths for stop in range(len(path) + 1)} - known
    results = tuple(mark or Trail() for _, mark in made)
    return _Seen(look, results, frozenset(bad | inner))


def _reached(trails: Iterable[Trail], *, is_nan: bool) -> frozenset[int]:
    """Returns the sources of the bad values among the outputs."""
    found: set[int] = set()
    for trail in trails:
        found |= trail.nan if is_nan else trail.inf
    return frozenset(found - {CONSTANT})


def chosen_nan(look: Look, reached: frozenset[int]) -> int | None:
    """Returns the source that a person has to know of first; None without a NaN.

    Args:
        look: What was seen.
        reached: Sources of the NaNs among the outputs.
    """
    sources = look.watch.sources
    candidates = sorted(reached) or sorted(look.watch.vanished)
    if not candidates:
        return None
    first = candidates[0]
    # A NaN that came of an Inf in a weight or an input: that one is at fault.
    for cause in sorted(sources[first].causes - {CONSTANT}):
        if sources[cause].frame is None:
            return cause
    return first


def _is_of_loop(look: Look, chosen: int) -> bool:
    """Returns whether a NaN came of an Inf that a loop made."""
    sources = look.watch.sources
    frames = (sources[cause].frame for cause in sources[chosen].causes - {CONSTANT})
    return any(frame is not None and has_inside(frame.equation) for frame in frames)


def _bad_weight(prepared: Prepared, look: Look) -> int | None:
    """Returns a variable that is bad although no output shows it."""
    for number, source in enumerate(look.watch.sources):
        if source.frame is not None or not look.arguments[source.argument].is_variable:
            continue
        if source.is_nan or not _is_mask(prepared.inputs.arrays[source.argument]):
            return number
    return None


def _is_mask(value: Any) -> bool:
    """Returns whether a variable is a mask: nothing but -Inf, 0 and 1."""
    return bool(np.isin(np.asarray(value), (-np.inf, 0, 1)).all())


def _masked(look: Look) -> list[Remark]:
    """Returns sentences on NaNs that the code leaves out before they reach anything."""
    return [
        look.remark("nan", source.frame, "and the code leaves it out")
        for source in look.watch.sources
        if source.is_nan and source.frame is not None
    ][:3]
