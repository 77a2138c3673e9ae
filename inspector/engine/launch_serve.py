"""The first lines of ours that run in an engine process.

`serve` takes the pipes away from standard input and output before anything that is
not Python's own or ours is imported, then hands over to the service. Called by the
boot line of `launch.engine_command` and by ``inspector engine NAME``, on the main
thread of a fresh process.
"""

from __future__ import annotations

import importlib
import sys
from typing import NoReturn

from inspector.engine.pipe import take_pipes
from inspector.engine.pipe_guard import end_group, start_guard


def serve(name: str) -> NoReturn:
    """Runs an engine until its owner is gone, then ends the process.

    The service is ``inspector.engine.NAME`` with a function ``serve(pipes)`` that
    does not return. The engines that touch foreign files and foreign code get a
    guard, because such code can keep their own threads from running.

    Args:
        name: ``"store"``, ``"reader"`` or ``"model"``.
    """
    pipes = take_pipes()
    if name != "store":
        start_guard(pipes)
    # What the person's own code may look at, an argument parser for example.
    sys.argv = [f"flax-inspector-{name}"]
    importlib.import_module(f"inspector.engine.{name}").serve(pipes)
    end_group()
