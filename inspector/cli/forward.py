"""``run --model SPEC``: one forward pass of a module."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from inspector.cli.ls import statistics_json
from inspector.cli.output import (
    bytes_text,
    json_number,
    note,
    print_json,
    print_line,
    print_table,
    shape_text,
)
from inspector.cli.specs import call_of, module_spec
from inspector.cli.store import StoreSession
from inspector.cli.variables import fill, load, open_variables, warn
from inspector.engine.messages import running, viewing
from inspector.engine.messages.reading import Exported, StatisticsReply
from inspector.errors import RemoteError
from inspector.variables.leaf import Kind
from inspector.variables.path import join

_MILLI = 1000.0


def check_run(arguments: argparse.Namespace) -> None:
    """Refuses what no store is needed to refuse.

    Raises:
        UsageError: An argument is malformed.
    """
    module_spec(arguments)
    call_of(arguments)


def run_forward(arguments: argparse.Namespace, store: StoreSession) -> int:
    """Runs a module once and prints what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        if arguments.variables:
            source = open_variables(arguments.variables, Path(folder), store)
            load(module_spec(arguments), store)
            fill(source, store)
        else:
            load(module_spec(arguments), store)
        if arguments.code:
            return _print_code(arguments, store)
        report = store.ask(running.Run(call_of(arguments)))
        assert isinstance(report, running.RunReport)
        outputs = _leaves(running.outputs_of(report.run), store)
        updates = []
        if report.updates:
            updates = _leaves(running.updates_of(report.run), store)
        saved = _save(arguments, report, store)
    if arguments.json:
        print_json(_document(report, outputs, updates))
    else:
        _print(report, outputs, updates, saved)
    return 0


def _print_code(arguments: argparse.Namespace, store: StoreSession) -> int:
    path = arguments.variables
    reply = store.ask(
        running.AskCode(call_of(arguments), str(Path(path).absolute()) if path else "")
    )
    assert isinstance(reply, running.Code)
    if arguments.json:
        print_json({"text": reply.text})
    else:
        for line in reply.text.splitlines():
            print_line(line)
    return 0


def _save(
    arguments: argparse.Namespace, report: running.RunReport, store: StoreSession
) -> Exported | None:
    if not arguments.save:
        return None
    reply = store.ask(running.SaveRun(report.run, arguments.save, str(Path.cwd())))
    assert isinstance(reply, Exported)
    warn(reply.warnings)
    return reply


Given = tuple[viewing.ListedLeaf, StatisticsReply | None]
"""A leaf that a run gave, and its statistics when it has any."""


def _leaves(tree: str, store: StoreSession) -> list[Given]:
    return [(leaf, _statistics(tree, leaf, store)) for leaf in store.leaves(tree)]


def _statistics(
    tree: str, leaf: viewing.ListedLeaf, store: StoreSession
) -> StatisticsReply | None:
    if leaf.row.kind != Kind.ARRAY:
        return None
    try:
        reply = store.ask(viewing.ReadStatistics(tree, leaf.path, bins=0))
    except RemoteError as error:
        note(f"warning: {join(leaf.path)}: {error.message}")
        return None
    assert isinstance(reply, StatisticsReply)
    return reply


def _document(
    report: running.RunReport, outputs: list[Given], updates: list[Given]
) -> dict[str, object]:
    program = report.program
    return {
        "device": report.device,
        "signature": report.signature,
        "program": {
            "trace_s": program.trace_s,
            "lower_s": program.lower_s,
            "compile_s": program.compile_s,
            "flops": json_number(program.flops),
            "peak_bytes": program.peak_bytes,
        },
        "run_s": report.run_s,
        "outputs": [_given_json(*one) for one in outputs],
        "updates": [_given_json(*one) for one in updates],
        "rngs": [
            {
                "path": join(use.path),
                "stream": use.stream,
                "used": use.used,
                "draws": use.draws,
            }
            for use in report.rngs
        ],
        "variables": report.variables,
        "remarks": [{"kind": one.kind, "text": one.text} for one in report.remarks],
    }


def _given_json(
    leaf: viewing.ListedLeaf, statistics: StatisticsReply | None
) -> dict[str, object]:
    row = leaf.row
    result: dict[str, object] = {"path": join(leaf.path)}
    if row.dtype:
        result |= {"shape": list(row.shape), "dtype": row.dtype}
    if row.kind != Kind.ARRAY:
        result["kind"] = row.kind
    if statistics is not None:
        result["stats"] = statistics_json(statistics)
    return result


def _print(
    report: running.RunReport,
    outputs: list[Given],
    updates: list[Given],
    saved: Exported | None,
) -> None:
    precision = f", precision {report.precision}" if report.precision else ""
    print_line(f"{report.signature}  on {report.device}{precision}")
    for title, given in (("outputs", outputs), ("updates", updates)):
        if given:
            print_line(f"{title}:")
            _print_given(given)
    if report.rngs:
        print_line("rng streams:")
        print_table(
            [
                [
                    "  " + (join(use.path) or "(root)"),
                    use.stream
                    if use.used == use.stream
                    else f"{use.stream} → {use.used}",
                    f"{use.draws} draws",
                ]
                for use in report.rngs
            ],
            frozenset({2}),
        )
    print_line(_times(report))
    for remark in report.remarks:
        note(f"note: {remark.text}")
    if saved is not None:
        print_line(f"wrote {saved.out} ({saved.format}, {saved.leaves} leaves)")


def _print_given(given: list[Given]) -> None:
    rows = []
    for leaf, statistics in given:
        row = leaf.row
        what = f"{row.dtype}{shape_text(row.shape)}" if row.dtype else row.kind
        rows.append([f"  {join(leaf.path)}", what, *_numbers(statistics)])
    print_table(rows, frozenset({2, 3, 4, 5}))


def _numbers(statistics: StatisticsReply | None) -> list[str]:
    if statistics is None:
        return [""] * 5
    names = ("min", "max", "mean", "std")
    values = (
        statistics.minimum,
        statistics.maximum,
        statistics.mean,
        statistics.std,
    )
    cells = [
        f"{name} {value:.6g}" if value is not None else ""
        for name, value in zip(names, values, strict=True)
    ]
    bad = [
        f"{count} {name}"
        for count, name in ((statistics.nan, "nan"), (statistics.inf, "inf"))
        if count
    ]
    return [*cells, ", ".join(bad)]


def _times(report: running.RunReport) -> str:
    program = report.program
    made = program.trace_s + program.lower_s + program.compile_s
    parts = [
        f"ran in {report.run_s * _MILLI:.3g} ms",
        f"compiled in {made:.2g} s",
        f"transferred in {report.transfer_s * _MILLI:.3g} ms",
    ]
    if program.peak_bytes is not None:
        parts.append(f"program memory {bytes_text(program.peak_bytes)}")
    return f"{', '.join(parts)}, variables {report.variables}"
