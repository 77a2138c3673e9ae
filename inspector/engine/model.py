"""The model process: JAX, Flax and the person's own code, one job at a time.

Runs on the interpreter that has the person's packages, so only the standard library,
numpy and what flax brings may be imported here. Jobs run on the main thread in the
order they came; nothing of value lives in this process, because Stop ends it. What
the jobs do is `inspector.models`; Cancel of a running one is the owner's Stop.
"""

from __future__ import annotations

import faulthandler
import importlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from inspector.engine.connection import Connection, Job, SerialDispatcher
from inspector.engine.messages.calling import AskDevices, ReadCallForm, TryInputs
from inspector.engine.messages.document import EngineStatus
from inspector.engine.messages.inspecting import (
    FindBadModule,
    RecordModule,
    RunCallModule,
    VerifyModules,
)
from inspector.engine.messages.module import ListModules, LoadModule, MakeInitial
from inspector.engine.messages.running import RunModule, WriteCode
from inspector.engine.pipe import Pipes
from inspector.errors import EngineError

PACKAGES = ("jax", "jaxlib", "flax", "numpy")
"""Packages whose versions the model tells."""

_LOAD = "inspector.models.service"
_CALLS = "inspector.models.service_calls"
_RUNS = "inspector.models.service_runs"
_INSPECT = "inspector.models.service_inspect"

_TOLD: dict[type, tuple[str, str]] = {
    LoadModule: (_LOAD, "load_module"),
    MakeInitial: (_LOAD, "make_initial"),
    ReadCallForm: (_CALLS, "read_call_form"),
    TryInputs: (_CALLS, "try_inputs"),
    RunModule: (_RUNS, "run_module"),
    WriteCode: (_RUNS, "write_code"),
    RecordModule: (_INSPECT, "record"),
    RunCallModule: (_INSPECT, "run_call"),
    FindBadModule: (_INSPECT, "find_bad"),
    VerifyModules: (_INSPECT, "verify"),
}
"""Request -> module and function that answers it, given a teller of progress."""

_QUICK: dict[type, tuple[str, str]] = {
    ListModules: (_LOAD, "list_modules"),
    AskDevices: (_RUNS, "ask_devices"),
}
"""The same for functions that take the request alone."""


class ImportFlaxError(EngineError):
    """This interpreter cannot import JAX or Flax."""


def serve(pipes: Pipes) -> NoReturn:
    """Runs the model until its owner is gone; called on the main thread.

    Hello goes out at once; ``EngineStatus("model", "ready")`` once jax and flax are
    imported, a second or two later. No backend of JAX is started before a job needs
    it, so a spare costs no accelerator. Jobs that come earlier wait.
    """
    # Two models may share an accelerator for a moment when the spare takes over.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    faulthandler.enable()
    connection = Connection("model", installed_versions(), pipes=pipes)
    dispatcher = SerialDispatcher(_handlers())
    connection.start(dispatcher)
    connection.event(_warm_up())
    dispatcher.run()


def _handlers() -> dict[type, Callable[[Any, Job], object]]:
    """Returns what answers each request; imports nothing before it is asked."""

    def told(place: tuple[str, str]) -> Callable[[Any, Job], object]:
        return lambda body, job: _function(place)(body, _teller(job))

    def quick(place: tuple[str, str]) -> Callable[[Any, Job], object]:
        return lambda body, _: _function(place)(body)

    handlers = {kind: told(place) for kind, place in _TOLD.items()}
    return handlers | {kind: quick(place) for kind, place in _QUICK.items()}


def installed_versions() -> tuple[tuple[str, str], ...]:
    """Returns (package, version) of `PACKAGES` that are there; imports none."""
    found = []
    for name in PACKAGES:
        try:
            found.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            continue
    return tuple(found)


def _teller(job: Job) -> Callable[[str], None]:
    """Returns the function by which a job says what it does."""
    return lambda text: job.progress(0, 0, text)


def _function(place: tuple[str, str]) -> Any:
    """Imports what does the work.

    Raises:
        ImportFlaxError: JAX or Flax is missing or broken in this interpreter.
    """
    name, function = place
    try:
        module: ModuleType = importlib.import_module(name)
    except ImportError as error:
        raise ImportFlaxError(
            message=f"JAX and Flax cannot be imported: {error}.",
            where=sys.executable,
            hint=f"Install them there ({sys.executable} -m pip install jax flax), or"
            " choose the Python environment that your module needs.",
        ) from error
    return getattr(module, function)


def _warm_up() -> EngineStatus:
    """Imports everything that does not start a backend, and says how that went."""
    try:
        for place in (*_QUICK.values(), *_TOLD.values()):
            if importlib.util.find_spec(place[0]):
                _function(place)
    except EngineError as error:
        return EngineStatus("model", "ended", str(error))
    except BaseException as error:
        # A broken package may raise anything; the job that needs it will say it too.
        return EngineStatus("model", "ended", f"{type(error).__name__}: {error}")
    versions = ", ".join(f"{name} {version}" for name, version in installed_versions())
    python = ".".join(str(part) for part in sys.version_info[:3])
    return EngineStatus("model", "ready", f"Python {python}, {versions}")
