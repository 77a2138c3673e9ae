"""Finds what first makes a bad value in the gradient of a forward pass that is fine.

The gradient is that of the mean of all floating outputs with respect to the floating
variables, or to the inputs where there are none. Model process, on the thread that runs
the person's code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
from jax.extend import core as jax_core

from inspector.engine.messages.inspecting import BadReport
from inspector.engine.messages.running import Remark
from inspector.models.bad_values_report import Look, report_of
from inspector.models.bad_values_text import count_text, module_text
from inspector.models.bad_values_trace import arguments_of
from inspector.models.bad_values_watch import CONSTANT, Argument, BadWatch, Trail
from inspector.models.executing import Prepared
from inspector.models.gradient_origin import Origin, origin_of
from inspector.models.recording_calls import CallWatch, arrays_in
from inspector.programs.interpreter import evaluate
from inspector.programs.source_lines import Marks, short

_SHOWN = 3
"""Most gradients that the sentence names."""


def find(prepared: Prepared, forward: BadReport) -> BadReport:
    """Returns what first made a bad value in the gradient.

    Args:
        prepared: The call.
        forward: The report on the forward pass, which is fine; it is returned with a
            sentence more when the gradient is fine too.
    """
    arguments = arguments_of(prepared)
    chosen = _chosen(prepared, arguments)
    if not chosen:
        remark = Remark("gradient", "Nothing that goes in is a floating-point number.")
        return replace(forward, remarks=(*forward.remarks, remark))
    program, marks = _traced(prepared, chosen)
    watch = BadWatch()
    given = [
        (value, watch.argument(position, value, argument))
        for position, (value, argument) in enumerate(
            zip(prepared.inputs.arrays, arguments, strict=True)
        )
    ]
    results = [mark or Trail() for _, mark in evaluate(program, given, watch)]
    look = Look(watch, marks, tuple(arguments), prepared.subject.imported.roots)
    number = _first(watch, results)
    if number is None:
        text = f"{forward.text} Neither does the gradient of the mean of the outputs."
        return replace(forward, text=text)
    bad = [
        arguments[at].name
        for at, trail in zip(chosen, results, strict=True)
        if trail.nan or trail.inf
    ]
    return _report(look, number, program, bad, forward)


def _chosen(prepared: Prepared, arguments: Sequence[Argument]) -> list[int]:
    """Returns the positions of the variables, or of the inputs, that are floating."""
    floating = [
        position
        for position, value in enumerate(prepared.inputs.arrays)
        if jax.numpy.issubdtype(jax.numpy.result_type(value), jax.numpy.floating)
    ]
    variables = [position for position in floating if arguments[position].is_variable]
    return variables or floating


def _traced(
    prepared: Prepared, chosen: Sequence[int]
) -> tuple[jax_core.ClosedJaxpr, Marks]:
    """Traces the gradient; its inputs are those of the call, its outputs as chosen."""
    marks = Marks()
    watch = CallWatch(marks)
    forward = prepared.subject.forward(prepared.call, prepared.mutable, watch)

    def gradients(*arrays: Any) -> Any:
        def loss(floating: Sequence[Any]) -> Any:
            whole = list(arrays)
            for position, value in zip(chosen, floating, strict=True):
                whole[position] = value
            with watch.watching():
                outputs, _ = forward(*prepared.inputs.joined(whole))
            watch.calls.clear()
            return _mean(outputs)

        return jax.grad(loss)([arrays[position] for position in chosen])

    return jax.make_jaxpr(gradients)(*prepared.inputs.arrays), marks


def _mean(outputs: Any) -> Any:
    """Returns the sum of the means of all floating outputs."""
    total: Any = jax.numpy.zeros(())
    for leaf in arrays_in(outputs):
        if jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact) and leaf.size:
            total = total + jax.numpy.mean(jax.numpy.real(leaf)).astype(total.dtype)
    return total


def _first(watch: BadWatch, results: Sequence[Trail]) -> int | None:
    """Returns the source of the first NaN in the gradients, else of the first Inf."""
    nan = {number for trail in results for number in trail.nan} - {CONSTANT}
    inf = {number for trail in results for number in trail.inf} - {CONSTANT}
    equations = [
        sorted(n for n in numbers if watch.sources[n].frame is not None)
        for numbers in (nan, inf)
    ]
    found = equations[0] or equations[1]
    return found[0] if found else None


def _report(
    look: Look,
    number: int,
    program: jax_core.ClosedJaxpr,
    bad: Sequence[str],
    forward: BadReport,
) -> BadReport:
    source = look.watch.sources[number]
    frame = source.frame
    assert frame is not None
    report = report_of(look, number)
    what = "NaN" if source.is_nan else "Inf"
    origin = origin_of(program, frame)
    parts = [
        f"The forward pass is fine; its gradient is {what}: first in "
        f"{report.primitive}, the backward pass of {_operation(origin)} in "
        f"{module_text(report.module)}{_at(report.source)}.",
        origin.text if origin else "",
        f"{count_text(len(bad), 'gradient is', 'gradients are')} bad: "
        f"{', '.join(bad[:_SHOWN])}{' …' if len(bad) > _SHOWN else ''}.",
    ]
    remarks = [one for one in forward.remarks if one not in report.remarks]
    return replace(
        report,
        kind="gradient",
        text=" ".join(part for part in parts if part),
        remarks=(*report.remarks, *remarks),
        bad_modules=forward.bad_modules,
    )


def _operation(origin: Origin | None) -> str:
    return origin.primitive if origin else "an operation"


def _at(source: str) -> str:
    return f" at {short(source)}" if source else ""
