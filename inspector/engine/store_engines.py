"""An engine process as the store's coroutines see it.

Owned by the store process, on its event loop; an engine's client calls back on
threads of its own and everything is brought to the loop here. What an engine's death
means is decided by `store_reader` and `store_model`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from inspector.engine.client import EngineClient
from inspector.engine.client_process import CLOSED
from inspector.engine.messages.envelope import Progress
from inspector.engine.store_ends import EngineEndedError
from inspector.errors import ErrorInfo, RemoteError

CLEAR_AWAY_S = 1.0
"""Time that cancelled requests have before their engine is ended."""

OnProgress = Callable[[int, int, str], None]
"""Takes (done, total, text)."""

Notify = Callable[[object], None]
"""Sends an event to the window."""


class StartEngine(Protocol):
    """Starts one engine process."""

    def __call__(
        self,
        on_event: Callable[[object], None],
        on_closed: Callable[[ErrorInfo], None],
    ) -> EngineClient:
        """Returns the client of the new process; callbacks come on its thread."""


class AsyncEngine:
    """One engine process; created and used on the event loop alone.

    Attributes:
        ended: How it ended; None while it lives.
    """

    def __init__(
        self,
        start: StartEngine,
        on_event: Notify,
        on_ended: Callable[[ErrorInfo], None] = lambda _: None,
    ) -> None:
        """Starts the process.

        Args:
            start: Starts it.
            on_event: Is given every event's body, on the loop.
            on_ended: Is told on the loop when it ends by itself while nothing is
                asked of it; a request says such an end to whoever asked.
        """
        self._loop = asyncio.get_running_loop()
        self._on_event = on_event
        self._on_ended = on_ended
        self._asked = 0
        self._unanswered = 0
        self._answered = asyncio.Event()
        self._answered.set()
        self.ended: ErrorInfo | None = None
        self._client = start(self._event_came, self._closed_came)

    async def ask(self, body: object, progress: OnProgress | None = None) -> object:
        """Sends a request and waits; cancelling the task cancels the request.

        Raises:
            EngineEndedError: The process ended before it answered.
            RemoteError: The request failed there.
        """
        if self.ended is not None:
            raise EngineEndedError(self.ended)
        future: asyncio.Future[object] = self._loop.create_future()

        def settle(settled: Callable[[], None]) -> None:
            def on_loop() -> None:
                self._count_answer()
                if not future.done():
                    settled()

            self._loop.call_soon_threadsafe(on_loop)

        def report(message: Progress) -> None:
            if progress is not None:
                self._loop.call_soon_threadsafe(
                    progress, message.done, message.total, message.text
                )

        self._unanswered += 1
        self._answered.clear()
        ticket = self._client.request(
            body,
            on_reply=lambda reply: settle(lambda: future.set_result(reply)),
            on_failure=lambda error: settle(
                lambda: future.set_exception(RemoteError(error))
            ),
            on_progress=report,
        )
        self._asked += 1
        try:
            return await future
        except asyncio.CancelledError:
            self._client.cancel(ticket)
            raise
        except RemoteError as error:
            if self._client.closed is None:
                raise
            # Known here before `_closed_came` is: whoever asks again right away
            # must not be given the dead process.
            self.ended = self._client.closed
            raise EngineEndedError(error.error) from None
        finally:
            self._asked -= 1

    def _count_answer(self) -> None:
        self._unanswered -= 1
        if not self._unanswered:
            self._answered.set()

    async def close(self) -> None:
        """Ends the process, gently first; waits beside the loop.

        What was cancelled has a moment to clear away what it began: an export its
        partial file.
        """
        if self.ended is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._answered.wait(), CLEAR_AWAY_S)
        await asyncio.to_thread(self._client.close)

    def kill(self) -> None:
        """Ends the process and its whole group at once."""
        self._client.kill()

    def _event_came(self, body: object) -> None:
        self._loop.call_soon_threadsafe(self._on_event, body)

    def _closed_came(self, error: ErrorInfo) -> None:
        def mark() -> None:
            is_news = self.ended is None and not self._asked
            self.ended = error
            if is_news and error.kind != CLOSED:
                self._on_ended(error)

        self._loop.call_soon_threadsafe(mark)
