"""How much of a run's findings goes to the window in one message.

No message to the window is larger than 256 KiB, and a deep net has thousands of
modules with names that anybody chose. Pure functions; see `store_bounds`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from inspector.engine.messages.inspecting import (
    BadReport,
    CallDifference,
    ModuleCall,
    ValueSummary,
    VerifyReport,
)
from inspector.engine.messages.running import (
    DifferenceRow,
    Remark,
    RngUse,
    RunDifference,
    RunReport,
)
from inspector.engine.store_bounds import NOTE_TEXT, shortened
from inspector.variables.path import TreePath

ROOM = 160 << 10
"""Bytes that the long lists of one message may take."""

CALLS = 2000
"""Module calls that one message lists."""

_CALL_TEXT = 200
_SENTENCE = 4 * NOTE_TEXT

_T = TypeVar("_T")


def _path_size(path: TreePath) -> int:
    return sum(len(str(key).encode()) + 6 for key in path)


def fitting(
    items: Sequence[_T], size: Callable[[_T], int], room: int = ROOM
) -> tuple[_T, ...]:
    """Returns the first items whose sizes fit into the room together."""
    for count, item in enumerate(items):
        room -= size(item)
        if room < 0:
            return tuple(items[:count])
    return tuple(items)


def brief_remarks(remarks: Sequence[Remark], room: int = ROOM) -> tuple[Remark, ...]:
    """Returns the first remarks, their sentences shortened."""
    cut = [replace(one, text=shortened(one.text, _SENTENCE)) for one in remarks]
    return fitting(
        cut, lambda one: len(one.text.encode()) + _path_size(one.path) + 60, room
    )


def brief_report(report: RunReport, room: int = ROOM) -> RunReport:
    """Returns a report whose lists fit into the room."""

    def size(use: RngUse) -> int:
        return _path_size(use.path) + len(use.stream) + len(use.used) + 60

    return replace(
        report,
        signature=shortened(report.signature, min(_SENTENCE, room)),
        rngs=fitting(report.rngs, size, room // 2),
        remarks=brief_remarks(report.remarks, room // 2),
    )


def brief_calls(calls: Sequence[ModuleCall]) -> tuple[ModuleCall, ...]:
    """Returns the first calls, their texts shortened."""
    cut = [
        replace(
            one,
            inputs=shortened(one.inputs, _CALL_TEXT),
            outputs=shortened(one.outputs, _CALL_TEXT),
            note=shortened(one.note, _CALL_TEXT),
        )
        for one in calls[:CALLS]
    ]

    def size(one: ModuleCall) -> int:
        texts = (one.kind, one.method, one.inputs, one.outputs, one.note)
        return sum(len(text.encode()) for text in texts) + _path_size(one.module) + 80

    return fitting(cut, size)


def brief_bad(report: BadReport) -> BadReport:
    """Returns a report on a bad value whose lists fit into a message."""

    def size(value: ValueSummary) -> int:
        return len(value.name.encode()) + len(value.text.encode()) + 100

    return replace(
        report,
        text=shortened(report.text, _SENTENCE),
        line=shortened(report.line, _SENTENCE),
        inputs=fitting(report.inputs, size, ROOM // 4),
        outputs=fitting(report.outputs, size, ROOM // 4),
        bad_modules=fitting(report.bad_modules, _path_size, ROOM // 4),
        remarks=brief_remarks(report.remarks, ROOM // 4),
    )


def brief_verify(report: VerifyReport) -> VerifyReport:
    """Returns a verification whose calls fit into a message."""

    def size(call: CallDifference) -> int:
        texts = len(call.method.encode()) + len(call.note.encode())
        return texts + _path_size(call.module) + 90

    return replace(
        report,
        calls=fitting(report.calls[:CALLS], size),
        text=shortened(report.text, _SENTENCE),
        remarks=brief_remarks(report.remarks, ROOM // 4),
    )


def brief_difference(difference: RunDifference) -> RunDifference:
    """Returns a difference whose rows fit into a message."""
    cut = [replace(row, why=shortened(row.why, _CALL_TEXT)) for row in difference.rows]

    def size(row: DifferenceRow) -> int:
        return len(row.why.encode()) + _path_size(row.path) + 100

    return replace(
        difference,
        rows=fitting(cut, size),
        text=shortened(difference.text, _SENTENCE),
    )
