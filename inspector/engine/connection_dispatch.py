"""Who runs the requests of an engine: a few threads, or the main thread alone.

A dispatcher is called with each job on the connection's reading thread and returns
at once. Handlers are plain functions of a message and its job; what they return is
the reply, what they raise is the failure.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping
from typing import Any, NoReturn

from inspector.engine.connection_job import Job
from inspector.errors import EngineError

Handler = Callable[[Any, Job], Any]
"""Answers one class of message; returns the reply's body, None for `Done`."""

Handlers = Mapping[type, Handler]
"""Class of message -> who answers it."""


def run_job(handlers: Handlers, job: Job) -> None:
    """Runs one job to its answer; never raises."""
    if not job.begin():
        return
    try:
        handler = handlers.get(type(job.body))
        if handler is None:
            job.fail(_unknown(job.body))
        else:
            job.reply(handler(job.body, job))
    except BaseException as error:
        job.fail(error)


def _unknown(body: object) -> EngineError:
    return EngineError(
        message=f"This engine does not answer {type(body).__name__}.",
        hint="Use the same version of the program on both sides.",
    )


class PoolDispatcher:
    """Runs jobs on a few threads; one of them is always free for quick jobs."""

    def __init__(
        self, handlers: Handlers, workers: int, slow: Collection[type] = ()
    ) -> None:
        """Starts the threads.

        Args:
            handlers: Who answers what.
            workers: Number of threads.
            slow: Classes of which at most ``workers - 1`` run at a time, so that a
                quick one never waits for them.
        """
        self._handlers = handlers
        self._slow_classes = frozenset(slow)
        self._slow_limit = max(1, workers - 1)
        self._quick: deque[Job] = deque()
        self._slow: deque[Job] = deque()
        self._slow_running = 0
        self._closed = False
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._work, name=f"worker {number}", daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def __call__(self, job: Job) -> None:
        """Queues a job."""
        with self._changed:
            slow = type(job.body) in self._slow_classes
            (self._slow if slow else self._quick).append(job)
            self._changed.notify()

    def close(self) -> None:
        """Drops waiting jobs and waits for the running ones; an engine just ends."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._has_work())
                if self._closed:
                    return
                slow = not self._quick
                job = (self._slow if slow else self._quick).popleft()
                self._slow_running += slow
            run_job(self._handlers, job)
            with self._changed:
                self._slow_running -= slow
                self._changed.notify()

    def _has_work(self) -> bool:
        free = self._slow_running < self._slow_limit
        return bool(self._quick) or (bool(self._slow) and free)


class SerialDispatcher:
    """Runs jobs one by one on the thread that calls `run`, the main thread.

    JAX and user code may care which thread they run on: signal handlers, event
    loops and GUI toolkits want the main one.
    """

    def __init__(self, handlers: Handlers) -> None:
        """Starts nothing."""
        self._handlers = handlers
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()

    def __call__(self, job: Job) -> None:
        """Queues a job."""
        self._jobs.put(job)

    def run(self) -> NoReturn:
        """Runs jobs until the process ends."""
        while True:
            run_job(self._handlers, self._jobs.get())
