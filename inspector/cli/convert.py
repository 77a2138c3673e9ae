"""``convert`` and ``replay``: a tree goes to a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from inspector.cli.output import bytes_text, note, print_json, print_line
from inspector.cli.store import StoreSession
from inspector.engine.messages import document
from inspector.engine.messages.reading import Exported
from inspector.errors import ModuleNotImportedError, RemoteError


def run_convert(arguments: argparse.Namespace, store: StoreSession) -> int:
    """Rewrites a checkpoint in another format."""
    source = store.open_source(arguments.source)
    store.ask(document.CopyTarget(source.id))
    report(arguments, export(arguments, store))
    return 0


def run_replay(arguments: argparse.Namespace, store: StoreSession) -> int:
    """Makes the target of a recipe again; names a file before it runs it."""
    changes = store.ask(document.OpenRecipe(arguments.recipe, str(Path.cwd())))
    assert isinstance(changes, document.Changes)
    for text in changes.notes:
        note(f"warning: {text}")
    try:
        written = export(arguments, store)
    except RemoteError as error:
        if error.error.kind != ModuleNotImportedError.__name__:
            raise
        note(f"running {error.where} for the initial values of unfilled leaves")
        written = export(arguments, store, run=True)
    report(arguments, written)
    return 0


def export(
    arguments: argparse.Namespace, store: StoreSession, *, run: bool = False
) -> Exported:
    """Writes the target where the arguments say.

    Args:
        arguments: ``out``, ``format`` and ``lossy``.
        store: The open store.
        run: Whether a recorded module may be imported.
    """
    reply = store.ask(
        document.Export(
            arguments.out,
            arguments.format,
            lossy=arguments.lossy,
            run=run,
            cwd=str(Path.cwd()),
        )
    )
    assert isinstance(reply, Exported)
    return reply


def exported_json(written: Exported) -> dict[str, object]:
    """Returns what was written under the names of the command line's JSON."""
    return {
        "out": written.out,
        "format": written.format,
        "leaves": written.leaves,
        "bytes": written.nbytes,
        "warnings": list(written.warnings),
    }


def report(arguments: argparse.Namespace, written: Exported) -> None:
    """Prints what was written."""
    if arguments.json:
        print_json(exported_json(written))
        return
    for text in written.warnings:
        note(f"warning: {text}")
    print_line(
        f"wrote {written.out} ({written.format}, {written.leaves} leaves, "
        f"{bytes_text(written.nbytes)})"
    )
