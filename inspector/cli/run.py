"""Runs a verb: parse, start the store, print, exit status."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence

from inspector.cli.arguments import (
    RESERVED,
    build_parser,
    is_unknown_verb,
    unknown_verb_text,
)
from inspector.cli.convert import run_convert, run_replay
from inspector.cli.forward import check_run, run_forward
from inspector.cli.ls import run_ls
from inspector.cli.output import flush_output, note
from inspector.cli.store import StoreSession
from inspector.cli.transfer import check_transfer, run_transfer
from inspector.cli.verify import check_verify, run_verify
from inspector.errors import CancelledError, ErrorInfo, InspectorError, UsageError

_VERBS: dict[str, Callable[[argparse.Namespace, StoreSession], int]] = {
    "ls": run_ls,
    "transfer": run_transfer,
    "run": run_forward,
    "verify": run_verify,
    "replay": run_replay,
    "convert": run_convert,
}

_CHECKS: dict[str, Callable[[argparse.Namespace], object]] = {
    "transfer": check_transfer,
    "run": check_run,
    "verify": check_verify,
}
"""What is refused before a store is started."""

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def run(argv: Sequence[str]) -> int:
    """Runs the verb that the arguments name.

    Args:
        argv: Arguments, the verb first.

    Returns:
        0 done, 1 the request could not be met, 2 usage, 130 interrupted.
    """
    if unavailable := _unavailable(argv):
        note(f"flax-inspector: {unavailable}")
        return USAGE
    try:
        arguments = build_parser().parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        return _run(arguments)
    except (Exception, KeyboardInterrupt) as error:
        return _failed(error, debug=arguments.debug)
    finally:
        _abandon_output()


def _unavailable(argv: Sequence[str]) -> str:
    """Says why the verb is none of this version; empty when it is one."""
    if argv and argv[0] in RESERVED:
        return f"{argv[0]} is not in this version of the program."
    return unknown_verb_text(argv[0]) if is_unknown_verb(argv) else ""


def _run(arguments: argparse.Namespace) -> int:
    if check := _CHECKS.get(arguments.verb):
        check(arguments)
    python = arguments.python or os.environ.get("FLAX_INSPECTOR_PYTHON", "")
    state_dir = arguments.state_dir or os.environ.get("FLAX_INSPECTOR_STATE", "")
    with StoreSession(python=python, state_dir=state_dir) as store:
        status = _VERBS[arguments.verb](arguments, store)
    flush_output()
    return status


def _abandon_output() -> None:
    """Drops what stdout did not take, which the interpreter would try again."""
    try:
        flush_output()
    except (InspectorError, BrokenPipeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _failed(error: BaseException, *, debug: bool) -> int:
    """Says what went wrong and returns the exit status."""
    match error:
        case KeyboardInterrupt() | CancelledError():
            return INTERRUPTED
        case BrokenPipeError():
            # The reader of stdout went away (``| head``): nothing is left to say.
            return FAILED
        case InspectorError():
            info = error.info()
        case _:
            # A fault of ours is one sentence too; the rest is for --debug.
            kind = type(error).__name__
            hint = "This is a fault of the program: run it with --debug and report it."
            text = "".join(traceback.format_exception(error))
            info = ErrorInfo(kind, f"{kind}: {error}", hint=hint, traceback=text)
    note(f"flax-inspector: {info.text()}")
    if debug and info.traceback:
        note(info.traceback)
    usage = isinstance(error, UsageError) or info.kind == UsageError.__name__
    return USAGE if usage else FAILED
