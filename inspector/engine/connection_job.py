"""One request inside an engine: its answer, its progress, its cancellation.

Made by the connection on its reading thread; used by the handler on whatever thread
that runs. What a request means does not belong here.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable

from inspector.engine.messages.envelope import Done, Failure, Progress, Reply
from inspector.errors import (
    CancelledError,
    EngineError,
    ErrorInfo,
    InspectorError,
)

PROGRESS_PERIOD_S = 0.1
"""Least time between two progress messages of one request."""

CANCELLED = ErrorInfo("CancelledError", "The request was cancelled.")
"""What answers a request that was cancelled."""


def describe(error: BaseException) -> ErrorInfo:
    """Returns any exception as data, its traceback included.

    A cancellation keeps the kind ``"CancelledError"``, by which the owner knows it.
    """
    if isinstance(error, CancelledError):
        return CANCELLED
    text = "".join(traceback.format_exception(error))
    if isinstance(error, InspectorError):
        return error.info(text)
    kind = type(error).__name__
    if isinstance(error, MemoryError):
        return ErrorInfo(
            kind,
            "There was not enough memory for this request.",
            hint="Close other programs, or ask for a smaller part.",
            traceback=text,
        )
    return ErrorInfo(kind, str(error) or f"{kind} was raised.", traceback=text)


class Job:
    """One request that an engine has been asked; answered exactly once.

    A second answer is dropped: a request that was cancelled while it waited has its
    answer already when its turn comes.

    Attributes:
        id: Number that the owner gave it.
        body: The message that says what is wanted.
    """

    def __init__(self, number: int, body: object, send: Callable[..., None]) -> None:
        """Takes the function that sends.

        Args:
            number: Its id.
            body: What is wanted.
            send: Called with a message and ``wait``; with ``wait=False`` it must
                not block.
        """
        self.id = number
        self.body = body
        self._send = send
        self._lock = threading.Lock()
        self._begun = False
        self._answered = False
        self._cancelled = False
        self._callbacks: list[Callable[[], None]] = []
        self._sent_at = float("-inf")
        self._held: Progress | None = None

    @property
    def cancelled(self) -> bool:
        """Whether the owner asked to stop; handlers look at it at every block."""
        return self._cancelled

    def is_cancelled(self) -> bool:
        """`cancelled` as a function, for those who take a check."""
        return self._cancelled

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Calls back once when the owner cancels, on the reading thread.

        The callback must not block; it is called at once when the request is
        cancelled already, and never after the answer.
        """
        with self._lock:
            if self._answered:
                return
            if not self._cancelled:
                self._callbacks.append(callback)
                return
        callback()

    def begin(self) -> bool:
        """Marks the job as running; False when it was cancelled while it waited."""
        with self._lock:
            self._begun = True
            return not (self._answered or self._cancelled)

    def cancel(self) -> None:
        """Takes the owner's Cancel; a job that only waits is answered at once."""
        with self._lock:
            if self._answered or self._cancelled:
                return
            self._cancelled = True
            callbacks, self._callbacks = self._callbacks, []
            waiting = not self._begun
        if waiting:
            self._answer(Failure(self.id, CANCELLED), wait=False)
        for callback in callbacks:
            callback()

    def reply(self, body: object = None) -> None:
        """Answers with a message; None stands for `Done`.

        Waits while the owner has too much unread. A message that cannot be written
        becomes a failure.
        """
        message = Reply(self.id, Done() if body is None else body)
        with self._lock:
            held, self._held = self._held, None
        if held is not None:
            self._send(held, wait=True)
        try:
            self._answer(message, wait=True)
        except EngineError as error:
            self._send(Failure(self.id, describe(error)), wait=True)

    def fail(self, error: BaseException) -> None:
        """Answers with an error."""
        self._answer(Failure(self.id, describe(error)), wait=True)

    def progress(self, done: int, total: int, text: str = "") -> None:
        """Says how far it is, as often as one likes.

        At most ten a second are sent; the first always, and the last before the
        answer.

        Args:
            done: Units done.
            total: Units in all; 0 when unknown.
            text: What is being done, for a person.
        """
        now = time.monotonic()
        message = Progress(self.id, int(done), int(total), text)
        with self._lock:
            if self._answered:
                return
            if now - self._sent_at < PROGRESS_PERIOD_S:
                self._held = message
                return
            self._sent_at = now
            self._held = None
        self._send(message, wait=True)

    def _answer(self, message: Reply | Failure, *, wait: bool) -> None:
        with self._lock:
            if self._answered:
                return
            self._answered = True
            self._callbacks.clear()
        self._send(message, wait=wait)
