"""An engine's side of its pipe: says hello, reads requests, ends with its owner.

One thread only reads. It takes Cancel at once, hands every request to the engine's
dispatcher, and ends the process with its group when the pipe ends; so no engine
outlives its owner, not even inside a compile. Events and answers may be sent from
any thread. What the requests mean belongs to the services.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

from inspector.engine import codec
from inspector.engine.connection_dispatch import PoolDispatcher, SerialDispatcher
from inspector.engine.connection_job import Job, describe
from inspector.engine.messages.envelope import (
    PROTOCOL,
    Cancel,
    Event,
    Failure,
    Hello,
    Progress,
    Reply,
    Request,
)
from inspector.engine.pipe import GREETING, Pipes, Writer, frames
from inspector.engine.pipe_guard import end_group
from inspector.errors import EngineError

__all__ = ["Connection", "Job", "PoolDispatcher", "SerialDispatcher", "describe"]

Dispatch = Callable[[Job], None]
"""Takes a job on the reading thread; must return at once."""

_log = logging.getLogger(__name__)


class Connection:
    """The pipe between an engine and its owner, as the engine sees it."""

    def __init__(
        self,
        name: str,
        versions: tuple[tuple[str, str], ...] = (),
        *,
        pipes: Pipes,
        on_end: Callable[[], None] | None = None,
        end_limit_s: float = 5.0,
    ) -> None:
        """Sends Hello; requests are read from `start` on.

        Args:
            name: ``"store"``, ``"reader"`` or ``"model"``.
            versions: (package, version) for Hello.
            pipes: What `take_pipes` gave.
            on_end: Called on the reading thread when the owner is gone, to bring
                things into safety before the process ends.
            end_limit_s: Seconds that it may take; then the process ends anyway.
        """
        self.name = name
        self._pipes = pipes
        self._on_end = on_end
        self._end_limit_s = end_limit_s
        self._jobs: dict[int, Job] = {}
        self._lock = threading.Lock()
        self._writer = Writer(pipes.write, f"{name} writer", GREETING)
        python = ".".join(str(part) for part in sys.version_info[:3])
        self.event(Hello(PROTOCOL, name, os.getpid(), python, versions))

    def event(self, body: object) -> None:
        """Sends a message that nobody asked for; waits while too much is unread."""
        self._writer.send(codec.encode(Event(body)))

    def start(self, dispatch: Dispatch) -> None:
        """Starts to read; returns at once.

        Args:
            dispatch: Is given every job, see `Dispatch`.
        """
        threading.Thread(
            target=self._read, args=(dispatch,), name=f"{self.name} pipe", daemon=True
        ).start()

    def run(self, dispatch: Dispatch) -> NoReturn:
        """Reads and dispatches until the owner is gone; ends the process.

        The calling thread waits, except for a `SerialDispatcher`, whose jobs it runs.
        """
        self.start(dispatch)
        if isinstance(dispatch, SerialDispatcher):
            dispatch.run()
        self.wait()

    def wait(self) -> NoReturn:
        """Waits until the process ends, which is when the owner is gone."""
        while True:
            threading.Event().wait()

    def _read(self, dispatch: Dispatch) -> None:
        try:
            for frame in frames(self._pipes.read):
                self._take(codec.decode(frame), dispatch)
        except EngineError as error:
            _log.error("%s: %s", self.name, error)
        except BaseException:
            _log.exception("%s: the reading thread failed", self.name)
        finally:
            self._finish()

    def _take(self, message: object, dispatch: Dispatch) -> None:
        if isinstance(message, Request):
            job = Job(message.id, message.body, self._send)
            with self._lock:
                self._jobs[message.id] = job
            try:
                dispatch(job)
            except Exception as error:  # a fault of the service ends one request only
                job.fail(error)
        elif isinstance(message, Cancel):
            with self._lock:
                cancelled = self._jobs.get(message.id)
            if cancelled is not None:
                self._cancel(cancelled)
        else:
            _log.warning("%s: unexpected %s", self.name, type(message).__name__)

    def _cancel(self, job: Job) -> None:
        try:
            job.cancel()
        except Exception:
            _log.exception("%s: a request could not be cancelled", self.name)

    def _send(self, message: Reply | Failure | Progress, *, wait: bool) -> None:
        data = codec.encode(message)
        if not isinstance(message, Progress):
            with self._lock:
                self._jobs.pop(message.id, None)
        if wait:
            self._writer.send(data)
        else:
            self._writer.post(data)

    def _finish(self) -> NoReturn:
        """Ends the process, after ``on_end`` when there is one."""
        if self._on_end is not None:
            limit = threading.Timer(self._end_limit_s, end_group)
            limit.daemon = True
            limit.start()
            try:
                self._on_end()
            except BaseException:
                _log.exception("%s: could not finish cleanly", self.name)
        end_group()
