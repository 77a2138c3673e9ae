"""``ls PATH [--stats]``: the tree of a checkpoint."""

from __future__ import annotations

import argparse

from inspector.cli.output import (
    bytes_text,
    json_number,
    note,
    print_json,
    print_line,
    print_table,
    shape_text,
)
from inspector.cli.store import StoreSession
from inspector.engine.messages import document, viewing
from inspector.engine.messages.reading import StatisticsReply
from inspector.errors import RemoteError
from inspector.variables.leaf import Kind
from inspector.variables.path import join


def run_ls(arguments: argparse.Namespace, store: StoreSession) -> int:
    """Prints the leaves of a checkpoint, as a table or as JSON."""
    source = store.open_source(arguments.path)
    leaves = list(store.leaves(source.id))
    statistics: dict[int, StatisticsReply] = {}
    problems: dict[int, str] = {}
    if arguments.stats:
        for index, leaf in enumerate(leaves):
            if leaf.row.kind != Kind.ARRAY or leaf.row.error:
                continue
            try:
                reply = store.ask(viewing.ReadStatistics(source.id, leaf.path, bins=0))
            except RemoteError as error:
                problems[index] = error.message
            else:
                assert isinstance(reply, StatisticsReply)
                statistics[index] = reply
    if arguments.json:
        print_json(_document(source, leaves, statistics, problems))
    else:
        _print(source, leaves, statistics, problems)
    return 0


def statistics_json(reply: StatisticsReply) -> dict[str, object]:
    """Returns statistics under the names of the command line's JSON."""
    return {
        "min": json_number(reply.minimum),
        "max": json_number(reply.maximum),
        "mean": json_number(reply.mean),
        "std": json_number(reply.std),
        "sum": json_number(reply.total),
        "zeros": reply.zeros,
        "nan": reply.nan,
        "inf": reply.inf,
    }


def _document(
    source: document.SourceInfo,
    leaves: list[viewing.ListedLeaf],
    statistics: dict[int, StatisticsReply],
    problems: dict[int, str],
) -> dict[str, object]:
    result: dict[str, object] = {"format": source.format, "path": source.path}
    if source.step:
        result["step"] = source.step
    if source.incomplete:
        result["incomplete"] = source.incomplete
    result["leaves"] = [
        _leaf_json(leaf, statistics.get(index), problems.get(index, ""))
        for index, leaf in enumerate(leaves)
    ]
    result["total_bytes"] = source.nbytes
    result["warnings"] = list(source.warnings)
    return result


def _leaf_json(
    leaf: viewing.ListedLeaf, statistics: StatisticsReply | None, problem: str
) -> dict[str, object]:
    row = leaf.row
    result: dict[str, object] = {"keys": list(leaf.path), "path": join(leaf.path)}
    if row.kind in {Kind.ARRAY, Kind.KEY}:
        result |= {"shape": list(row.shape), "dtype": row.dtype, "nbytes": row.nbytes}
    if row.kind != Kind.ARRAY:
        result["kind"] = row.kind
    if leaf.literal is not None:
        result["value"] = _literal_json(leaf.literal)
    if row.variable:
        result["variable"] = row.variable
    if row.sharding:
        result["sharding"] = row.sharding
    if row.error or problem:
        result["error"] = row.error or problem
    if statistics is not None:
        result["stats"] = statistics_json(statistics)
    return result


def _literal_json(value: object) -> object:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, complex):
        return [json_number(value.real), json_number(value.imag)]
    if isinstance(value, float):
        return json_number(value)
    return value


def _print(
    source: document.SourceInfo,
    leaves: list[viewing.ListedLeaf],
    statistics: dict[int, StatisticsReply],
    problems: dict[int, str],
) -> None:
    step = f", step {source.step}" if source.step else ""
    print_line(f"{source.path}  ({source.format}{step})")
    rows = []
    for index, leaf in enumerate(leaves):
        row = leaf.row
        cells = [
            join(leaf.path),
            row.dtype or row.kind,
            shape_text(row.shape) if row.dtype else row.value,
            bytes_text(row.nbytes) if row.dtype else "",
        ]
        if index in statistics:
            cells.append(_statistics_text(statistics[index]))
        problem = row.error or problems.get(index, "")
        cells.append(f"! {problem}" if problem else "")
        rows.append(cells)
    width = max((len(cells) for cells in rows), default=0)
    padded = [[*cells[:-1], *[""] * (width - len(cells)), cells[-1]] for cells in rows]
    print_table(padded, frozenset({3}))
    print_line(
        f"{len(leaves)} leaves, {source.parameters:,} parameters, "
        f"{bytes_text(source.nbytes)}"
    )
    for text in (source.incomplete, *source.warnings):
        if text:
            note(f"warning: {text}")


def _statistics_text(reply: StatisticsReply) -> str:
    if reply.minimum is None or reply.maximum is None or reply.mean is None:
        text = "no finite value"
    else:
        text = (
            f"min {reply.minimum:.4g}  max {reply.maximum:.4g}  "
            f"mean {reply.mean:.4g}  std {reply.std or 0:.4g}"
        )
    bad = [f"{reply.nan} NaN"] if reply.nan else []
    bad += [f"{reply.inf} Inf"] if reply.inf else []
    return "  ".join([text, *bad])
