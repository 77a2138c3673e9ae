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
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from inspector.engine.connection import Connection, Job, SerialDispatcher
from inspector.engine.messages.document import EngineStatus
from inspector.engine.messages.module import ListModules, LoadModule, MakeInitial
from inspector.engine.pipe import Pipes
from inspector.errors import EngineError

PACKAGES = ("jax", "jaxlib", "flax", "numpy")
"""Packages whose versions the model tells."""

_SERVICE = "inspector.models.service"


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
    dispatcher = SerialDispatcher(
        {
            ListModules: lambda body, _: _service().list_modules(body),
            LoadModule: lambda body, job: _service().load_module(body, _teller(job)),
            MakeInitial: lambda body, job: _service().make_initial(body, _teller(job)),
        }
    )
    connection.start(dispatcher)
    connection.event(_warm_up())
    dispatcher.run()


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


def _service() -> Any:
    """Imports what does the work.

    Raises:
        ImportFlaxError: JAX or Flax is missing or broken in this interpreter.
    """
    try:
        module: ModuleType = importlib.import_module(_SERVICE)
    except ImportError as error:
        raise ImportFlaxError(
            message=f"JAX and Flax cannot be imported: {error}.",
            where=sys.executable,
            hint=f"Install them there ({sys.executable} -m pip install jax flax), or"
            " choose the Python environment that your module needs.",
        ) from error
    return module


def _warm_up() -> EngineStatus:
    """Imports everything that does not start a backend, and says how that went."""
    try:
        _service()
    except EngineError as error:
        return EngineStatus("model", "ended", str(error))
    except BaseException as error:
        # A broken package may raise anything; the job that needs it will say it too.
        return EngineStatus("model", "ended", f"{type(error).__name__}: {error}")
    versions = ", ".join(f"{name} {version}" for name, version in installed_versions())
    python = ".".join(str(part) for part in sys.version_info[:3])
    return EngineStatus("model", "ready", f"Python {python}, {versions}")
