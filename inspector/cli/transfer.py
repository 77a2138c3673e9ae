"""``transfer SRC --model SPEC``: what would fit, and with ``--out`` the result."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from inspector.cli.convert import export, exported_json
from inspector.cli.output import note, print_json, print_line, print_table, shape_text
from inspector.cli.specs import module_spec
from inspector.cli.store import StoreSession
from inspector.engine.messages import document, viewing
from inspector.errors import UsageError
from inspector.variables.path import join, parse


class UseRulesUnavailableError(UsageError):
    """``--rules`` belongs to other versions of the program."""

    def __init__(self) -> None:
        """Says what can be done here."""
        super().__init__(
            "--rules is not in this version",
            hint="Move subtrees with --from and --to, or rename in the window.",
        )


class UseShapeUnavailableError(UsageError):
    """A choice of ``--shape`` that belongs to other versions of the program."""

    def __init__(self, choice: str) -> None:
        """Names the choice and what can be done here."""
        super().__init__(
            f"--shape {choice} is not in this version",
            hint="Use --shape skip: leaves whose shapes differ stay initial.",
        )


def check_transfer(arguments: argparse.Namespace) -> None:
    """Refuses what no store is needed to refuse.

    Raises:
        UsageError: An argument is malformed or belongs to another version.
    """
    if arguments.rules:
        raise UseRulesUnavailableError
    if arguments.shape != "skip":
        raise UseShapeUnavailableError(arguments.shape)
    module_spec(arguments)


def run_transfer(arguments: argparse.Namespace, store: StoreSession) -> int:
    """Plans a transfer; applies and writes it when asked to."""
    plan = _plan(arguments, store)
    rows = list(store.plan_rows(plan.plan))
    written = None
    if arguments.out or arguments.save_recipe:
        store.ask(viewing.ApplyPlan(plan.plan))
    if arguments.save_recipe:
        store.ask(document.SaveRecipe(arguments.save_recipe, str(Path.cwd())))
    if arguments.out:
        written = export(arguments, store)
    if arguments.json:
        result = _document(plan, rows)
        if written is not None:
            result["written"] = exported_json(written)
        print_json(result)
        return 0
    _print(plan, rows)
    if written is not None:
        _warn(written.warnings)
        print_line(f"wrote {written.out} ({written.format}, {written.leaves} leaves)")
    return 0


def _plan(arguments: argparse.Namespace, store: StoreSession) -> viewing.PlanInfo:
    """Opens the source, loads the module and plans."""
    source = store.open_source(arguments.source)
    _warn((source.incomplete, *source.warnings))
    loaded = store.ask(document.LoadTarget(module_spec(arguments)))
    assert isinstance(loaded, document.Changes)
    _warn(loaded.notes)
    plan = store.ask(
        viewing.MakePlan(
            source.id, parse(arguments.origin), parse(arguments.goal), arguments.only
        )
    )
    assert isinstance(plan, viewing.PlanInfo)
    return plan


def _warn(sentences: Iterable[str]) -> None:
    for text in filter(None, sentences):
        note(f"warning: {text}")


def _document(
    plan: viewing.PlanInfo, rows: list[viewing.PlanLine]
) -> dict[str, object]:
    return {
        "rows": [_row_json(row) for row in rows],
        "summary": dict(plan.summary),
        "note": plan.note,
    }


def _row_json(row: viewing.PlanLine) -> dict[str, object]:
    result: dict[str, object] = {
        "source": None if row.source is None else join(row.source),
        "source_keys": None if row.source is None else list(row.source),
        "target": None if row.target is None else join(row.target),
        "target_keys": None if row.target is None else list(row.target),
        "verdict": row.verdict,
    }
    if row.rule:
        result["rule"] = row.rule
    if row.why:
        result["why"] = row.why
    for name, shape in (
        ("source_shape", row.source_shape),
        ("target_shape", row.target_shape),
    ):
        result[name] = None if shape is None else list(shape)
    result["source_dtype"] = row.source_dtype or None
    result["target_dtype"] = row.target_dtype or None
    return result


def _print(plan: viewing.PlanInfo, rows: list[viewing.PlanLine]) -> None:
    table = [
        [
            row.verdict,
            "" if row.source is None else join(row.source),
            "→" if row.source is not None and row.target is not None else "",
            "" if row.target is None else join(row.target),
            _what(row.source_dtype, row.source_shape),
            _what(row.target_dtype, row.target_shape),
            row.why,
        ]
        for row in rows
    ]
    print_table(table, frozenset())
    if plan.note:
        note(plan.note)
    print_line(", ".join(f"{count} {verdict}" for verdict, count in plan.summary))


def _what(dtype: str, shape: tuple[int, ...] | None) -> str:
    return f"{dtype}{shape_text(shape)}" if shape is not None else dtype
