"""Runs a verb: parse, start the store, print, exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from inspector.cli.arguments import RESERVED, build_parser
from inspector.cli.convert import run_convert, run_replay
from inspector.cli.ls import run_ls
from inspector.cli.output import note
from inspector.cli.store import StoreSession
from inspector.cli.transfer import run_transfer
from inspector.errors import CancelledError, ErrorInfo, InspectorError, UsageError

_VERBS: dict[str, Callable[[argparse.Namespace, StoreSession], int]] = {
    "ls": run_ls,
    "transfer": run_transfer,
    "replay": run_replay,
    "convert": run_convert,
}

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def run(argv: Sequence[str]) -> int:
    """Runs the verb that the arguments name.

    Args:
        argv: Arguments, the verb first.

    Returns:
        0 done, 1 the request could not be met, 2 usage, 130 interrupted.
    """
    if argv and argv[0] in RESERVED:
        note(f"flax-inspector: {argv[0]} is not in this version of the program.")
        return USAGE
    try:
        arguments = build_parser().parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    python = arguments.python or os.environ.get("FLAX_INSPECTOR_PYTHON", "")
    state_dir = arguments.state_dir or os.environ.get("FLAX_INSPECTOR_STATE", "")
    try:
        with StoreSession(python=python, state_dir=state_dir) as store:
            return _VERBS[arguments.verb](arguments, store)
    except InspectorError as error:
        _show(error.info(), debug=arguments.debug)
        return USAGE if _is_usage(error) else FAILED
    except (KeyboardInterrupt, CancelledError):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of stdout went away (``| head``); nothing is left to say, and
        # the interpreter must not try to flush what nobody reads.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _is_usage(error: InspectorError) -> bool:
    return isinstance(error, UsageError) or error.info().kind == UsageError.__name__


def _show(error: ErrorInfo, *, debug: bool) -> None:
    note(f"flax-inspector: {error.text()}")
    if debug and error.traceback:
        note(error.traceback)
