"""The store process: owns the document, conducts reader and model, answers.

Plain Python and numpy. One event loop is the state thread: handlers run on it as
coroutines and do no I/O there; reading, tracing and filtering go on beside it. It
parses no foreign file and runs no foreign code, so it does not crash.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NoReturn

from inspector.engine.connection import Connection, Job
from inspector.engine.messages import document
from inspector.engine.pipe import Pipes
from inspector.engine.store_engines import CLEAR_AWAY_S, OnProgress
from inspector.engine.store_session import Session
from inspector.errors import CancelledError, EngineError

Handler = Callable[[Any, OnProgress], Awaitable[object]]
"""Answers one class of message; progress may be reported as often as one likes."""

_log = logging.getLogger(__name__)


class SessionNotBegunError(EngineError):
    """Something was asked before `document.Begin`."""

    def __init__(self, what: str) -> None:
        """Names the request."""
        super().__init__(
            f"{what} was asked before the session began",
            hint="Send Begin first.",
        )


class UnknownRequestError(EngineError):
    """A message that the store does not answer."""

    def __init__(self, what: str) -> None:
        """Names the message."""
        super().__init__(
            f"The store does not answer {what}",
            hint="Use the same version of the program on both sides.",
        )


class StoreService:
    """Takes jobs from the connection and answers them on the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Takes the loop that is the state thread."""
        self._loop = loop
        self._session: Session | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.event: Callable[[object], None] = lambda _: None

    def dispatch(self, job: Job) -> None:
        """Takes a job on the reading thread."""
        self._loop.call_soon_threadsafe(self._begin, job)

    def finish(self) -> None:
        """Brings the session into safety; called when the owner is gone."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()

    async def _close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            # So that each has sent its Cancel before the engines are ended.
            await asyncio.wait(tasks, timeout=CLEAR_AWAY_S)
        if self._session is not None:
            await self._session.close()

    def _begin(self, job: Job) -> None:
        if not job.begin():
            return
        task = self._loop.create_task(self._run(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        job.on_cancel(partial(self._cancel, task))

    def _cancel(self, task: asyncio.Task[None]) -> None:
        """Takes a Cancel on the reading thread."""
        self._loop.call_soon_threadsafe(task.cancel)

    async def _run(self, job: Job) -> None:
        try:
            reply = await self._answer(job)
        except asyncio.CancelledError:
            job.fail(CancelledError())
        except Exception as error:
            job.fail(error)
        else:
            job.reply(reply)

    async def _answer(self, job: Job) -> object:
        if isinstance(job.body, document.Begin) and self._session is None:
            self._session = await Session.begin(job.body, self.event)
        name = type(job.body).__name__
        if self._session is None:
            raise SessionNotBegunError(name)
        handler = self._session.handlers.get(type(job.body))
        if handler is None:
            raise UnknownRequestError(name)
        return await handler(job.body, job.progress)


def serve(pipes: Pipes) -> NoReturn:
    """Runs the store until its owner is gone.

    Args:
        pipes: The private pipes to the owner.
    """
    logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s")
    # Trees of 100,000 leaves are many small long-lived objects; the default
    # threshold walks them over and over while they are built.
    gc.set_threshold(50_000, 20, 50)
    loop = asyncio.new_event_loop()
    service = StoreService(loop)
    connection = Connection("store", pipes=pipes, on_end=service.finish)
    service.event = connection.event
    connection.start(service.dispatch)
    loop.run_forever()
    raise SystemExit
