"""A store as the window and the command line ask it, for benchmarks without a window.

Wraps the engine client; each reply is checked for its class, so that a benchmark
never measures an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import psutil

from inspector.engine.client import EngineClient
from inspector.engine.messages import document, viewing
from inspector.engine.start import start_store
from inspector.variables.path import TreePath

_LIMIT_S = 600.0

Reply = TypeVar("Reply")


class Store:
    """A store process with a private session.

    Attributes:
        client: The pipe to it.
    """

    def __init__(self, state: Path) -> None:
        """Starts it and begins the session."""
        self.client: EngineClient = start_store(state_dir=str(state), private=True)

    def ask(self, body: object, kind: type[Reply]) -> Reply:
        """Asks and waits.

        Raises:
            TypeError: The reply is of another class.
        """
        reply = self.client.call(body, timeout=_LIMIT_S)
        if not isinstance(reply, kind):
            raise TypeError(type(reply).__name__)
        return reply

    def open(self, path: Path) -> document.SourceInfo:
        """Opens a source."""
        return self.ask(document.OpenSource(str(path)), document.SourceInfo)

    def copy(self, source: str) -> document.Changes:
        """Makes a source the target."""
        return self.ask(document.CopyTarget(source), document.Changes)

    def plan(self, source: str) -> viewing.PlanInfo:
        """Plans a transfer of a whole source onto the whole target."""
        return self.ask(viewing.MakePlan(source, (), ()), viewing.PlanInfo)

    def marks(self, plan: int, paths: tuple[TreePath, ...]) -> viewing.PlanMarks:
        """Asks for the marks of rows on the screen."""
        return self.ask(viewing.AskPlanMarks(plan, paths), viewing.PlanMarks)

    def processes(self) -> list[psutil.Process]:
        """Returns the store and everything that it started."""
        store = psutil.Process(self.client.pid)
        return [store, *store.children(recursive=True)]


@contextmanager
def store(state: Path) -> Iterator[Store]:
    """A store for the body."""
    started = Store(state)
    try:
        yield started
    finally:
        started.client.close()
