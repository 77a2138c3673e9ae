"""``verify A B``: the same inputs through two models, call by call."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from inspector.cli.output import json_number, note, print_json, print_line, print_table
from inspector.cli.specs import call_of, module_spec
from inspector.cli.store import StoreSession
from inspector.cli.variables import (
    is_recipe,
    made_of_target,
    open_recipe,
    open_variables,
)
from inspector.engine.messages import document, inspecting
from inspector.engine.messages.module import ModuleSpec
from inspector.errors import UsageError
from inspector.variables.path import TreePath, join

_FAILED = 1


class ReadSideError(UsageError):
    """A side of ``verify`` is neither a recipe nor SPEC=VARIABLES."""

    def __init__(self, text: str) -> None:
        """Names it and says what would do."""
        super().__init__(
            f"A side is a recipe or SPEC=VARIABLES, not {text!r}",
            hint="For example model.py:Net=weights.msgpack, or net.json.",
        )


def check_verify(arguments: argparse.Namespace) -> None:
    """Refuses what no store is needed to refuse.

    Raises:
        UsageError: An argument is malformed.
    """
    for side in (arguments.a, arguments.b):
        if not is_recipe(side):
            _parts(side)
    module_spec(arguments, "model")
    call_of(arguments)


def run_verify(arguments: argparse.Namespace, store: StoreSession) -> int:
    """Runs the same inputs through both sides; 1 when they differ."""
    kwargs_b = arguments.kwargs if arguments.kwargs_b is None else arguments.kwargs_b
    with tempfile.TemporaryDirectory() as folder:
        # A recipe becomes the document, which closes what was open before it, so
        # the variables of both are files before either is opened.
        made = [
            _made(arguments, side, kwargs, Path(folder), store)
            for side, kwargs in (
                (arguments.a, arguments.kwargs),
                (arguments.b, kwargs_b),
            )
        ]
        sources = [open_variables(path, Path(folder), store) for _, path in made]
        report = store.ask(
            inspecting.Verify(
                sources[0].id,
                sources[1].id,
                call_of(arguments),
                made[0][0],
                made[1][0],
                arguments.tolerance,
                fresh=True,
            )
        )
    assert isinstance(report, inspecting.VerifyReport)
    if arguments.json:
        print_json(_document(report))
    else:
        _print(report, arguments.tolerance)
    return 0 if report.worst <= arguments.tolerance else _FAILED


def _parts(side: str) -> tuple[str, str]:
    """Splits SPEC=VARIABLES.

    Raises:
        ReadSideError: It is not of this form.
    """
    spec, equals, path = side.partition("=")
    if not equals or not path or ":" not in spec:
        raise ReadSideError(side)
    return spec, path


def _made(
    arguments: argparse.Namespace,
    side: str,
    kwargs: str,
    folder: Path,
    store: StoreSession,
) -> tuple[ModuleSpec, str]:
    """Returns a side's module and the file of its variables."""
    if is_recipe(side):
        open_recipe(side, store)
        spec = store.ask(document.AskModule())
        assert isinstance(spec, ModuleSpec)
        return spec, made_of_target(folder, store)
    name, path = _parts(side)
    if is_recipe(path):
        open_recipe(path, store)
        path = made_of_target(folder, store)
    return module_spec(arguments, name, kwargs), path


def _document(report: inspecting.VerifyReport) -> dict[str, object]:
    return {
        "calls": [
            {
                "module": _name(call.module),
                "method": call.method,
                "max_abs": json_number(call.max_abs),
                "max_rel": json_number(call.max_rel),
            }
            for call in report.calls
        ],
        "first": None if report.first is None else _name(report.first),
        "worst": json_number(report.worst),
    }


def _name(path: TreePath) -> str:
    return join(path)


def _print(report: inspecting.VerifyReport, tolerance: float) -> None:
    rows = [
        [
            "≠" if call.max_rel > tolerance else "",
            _name(call.module) or "(root)",
            call.method,
            f"max {call.max_abs:.3g}",
            f"relative {call.max_rel:.3g}",
            call.note,
        ]
        for call in report.calls
    ]
    print_table(rows, frozenset({3, 4}))
    for remark in report.remarks:
        note(f"note: {remark.text}")
    print_line(report.text)
