"""From a source of bad values to the report that a person reads.

Model process, on the thread that runs the person's code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from inspector.engine.messages.inspecting import BadReport
from inspector.engine.messages.running import Remark
from inspector.models import explain
from inspector.models.bad_values_text import (
    bad_text,
    count_text,
    held_text,
    made_text,
    module_text,
    why_text,
)
from inspector.models.bad_values_watch import Argument, BadWatch, Source
from inspector.programs.interpreter import Frame
from inspector.programs.source_lines import Marks, line_of, short, steps_of
from inspector.variables.path import TreePath

_MOST = 3
"""Most sentences on Infs."""


@dataclass(frozen=True, slots=True)
class Look:
    """A program that was looked at.

    Attributes:
        watch: What was seen.
        marks: Which equations belong to which module.
        arguments: What went in.
        roots: Folders whose files are the person's.
    """

    watch: BadWatch
    marks: Marks
    arguments: tuple[Argument, ...]
    roots: Sequence[Path]

    def module_of(self, frame: Frame) -> TreePath:
        """Returns the module of an equation; the root when none is known."""
        return self.marks.module_of(frame) or ()

    def line_of(self, frame: Frame) -> tuple[str, str]:
        """Returns the person's line of an equation, and its code."""
        return line_of(frame, lambda file: explain.is_users(file, self.roots))

    def remark(self, kind: str, frame: Frame, rest: str) -> Remark:
        """Returns a sentence on an equation that made something bad."""
        module = self.module_of(frame)
        source, _ = self.line_of(frame)
        line = f" at {short(source)}" if source else ""
        what = "a NaN" if kind == "nan" else "an Inf"
        name = frame.equation.primitive.name
        text = f"{name} in {module_text(module)} makes {what}{line}, {rest}."
        return Remark(kind, text, module)


def report_of(look: Look, number: int) -> BadReport:
    """Returns the report on one source.

    Args:
        look: What was seen.
        number: The source.
    """
    source = look.watch.sources[number]
    if source.frame is None:
        return _held(look, source)
    module = look.module_of(source.frame)
    name = source.frame.equation.primitive.name
    line, code = look.line_of(source.frame)
    steps = steps_of(source.frame)
    parts = [made_text(name, module, line, steps, source.is_nan)]
    parts.append(why_text(name, source.inputs))
    remarks = [
        look.remark("inf", frame, "which became the NaN")
        for cause in sorted(source.causes)
        if cause >= 0 and (frame := look.watch.sources[cause].frame) is not None
    ]
    return BadReport(
        "equation",
        " ".join(part for part in parts if part),
        module,
        primitive=name,
        source=line,
        line=code,
        inputs=source.inputs,
        outputs=source.outputs,
        steps=steps,
        remarks=tuple(remarks[:_MOST]) or tuple(infinity_remarks(look, number)),
    )


def _held(look: Look, source: Source) -> BadReport:
    """Returns the report on a variable or an input that is bad already."""
    argument = look.arguments[source.argument]
    what = "weight" if argument.is_variable else "input"
    others = {
        one.argument
        for one in look.watch.sources
        if one.frame is None
        and one.argument != source.argument
        and look.arguments[one.argument].is_variable
    }
    text = held_text(what, source.outputs[0])
    remarks = []
    if others and argument.is_variable:
        more = count_text(len(others), "more weight holds", "more weights hold")
        names = ", ".join(look.arguments[one].name for one in sorted(others)[:_MOST])
        remarks.append(Remark("nan", f"{more} a NaN or an Inf: {names}."))
    return BadReport(
        what,
        text,
        argument.module,
        argument.path,
        outputs=source.outputs,
        remarks=tuple(remarks),
    )


def infinity_remarks(look: Look, but: int = -1) -> list[Remark]:
    """Returns sentences on the first Infs, which are legal so far.

    Args:
        look: What was seen.
        but: A source to leave out, because it is the finding.
    """
    found = [
        look.remark("inf", source.frame, "which is legal so far")
        for number, source in enumerate(look.watch.sources)
        if not source.is_nan and source.frame is not None and number != but
    ]
    held = [
        Remark("inf", f"{source.outputs[0].name} holds {bad_text(source.outputs[0])}.")
        for source in look.watch.sources
        if not source.is_nan and source.frame is None
    ]
    return (held + found)[:_MOST]
