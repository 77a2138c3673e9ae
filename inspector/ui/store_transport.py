"""The real transport of the window: a store process whose session has begun.

`connect_store` gives `StoreClient.start` what it needs. Requests made before the
session has begun wait here; ending on purpose says so to the store, so that the
session is not taken for one that a crash left behind. Callbacks come on the engine
client's threads.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable
from typing import Any

from inspector.engine.client import EngineClient
from inspector.engine.messages.document import Begin, End
from inspector.engine.messages.envelope import Progress
from inspector.engine.start import launch_store
from inspector.errors import CancelledError, ErrorInfo, InspectorError
from inspector.ui.store_client import CANCELLED, TransportFactory

_LOG = logging.getLogger(__name__)

_END_S = 3.0


class StoreTransport:
    """A started store; see `store_client.Transport`."""

    def __init__(
        self,
        begin: Begin,
        on_event: Callable[[object], None],
        on_closed: Callable[[ErrorInfo], None],
    ) -> None:
        """Starts the process and begins its session.

        Args:
            begin: The session.
            on_event: Is given every event's body.
            on_closed: Is given how the store ended, or why its session cannot begin.

        Raises:
            EngineError: The process cannot be started.
        """
        self._on_closed = on_closed
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._sent: dict[int, int] = {}
        self._waiting: dict[int, Callable[[], None]] | None = {}
        self._dropped: dict[int, Callable[[ErrorInfo], None]] = {}
        self._client: EngineClient = launch_store(
            on_event=on_event, on_closed=on_closed, on_log=_on_log
        )
        self._client.request(
            begin, on_reply=self._on_begun, on_failure=self._on_not_begun
        )

    def request(
        self,
        body: object,
        *,
        on_reply: Callable[[Any], None],
        on_failure: Callable[[ErrorInfo], None],
        on_progress: Callable[[Progress], None] | None = None,
    ) -> int:
        """Sends a request, or keeps it until the session has begun."""
        request_id = next(self._ids)

        def send() -> None:
            self._sent[request_id] = self._client.request(
                body,
                on_reply=lambda reply: (self._forget(request_id), on_reply(reply))[1],
                on_failure=lambda e: (self._forget(request_id), on_failure(e))[1],
                on_progress=on_progress,
            )

        with self._lock:
            if self._waiting is not None:
                self._waiting[request_id] = send
                self._dropped[request_id] = on_failure
                return request_id
        send()
        return request_id

    def cancel(self, request_id: int) -> None:
        """Asks to stop a request; one that still waits is never sent."""
        with self._lock:
            if self._waiting is not None and self._waiting.pop(request_id, None):
                on_failure = self._dropped.pop(request_id)
            else:
                on_failure = None
        if on_failure is not None:
            on_failure(ErrorInfo(CANCELLED, "Cancelled"))
        elif request_id in self._sent:
            self._client.cancel(self._sent[request_id])

    def close(self) -> None:
        """Ends the session by the person's wish, then the process."""
        if self._client.closed is None:
            try:
                self._client.call(End(), timeout=_END_S)
            except (InspectorError, CancelledError, TimeoutError) as error:
                _LOG.info("the session did not end in good order: %s", error)
        self._client.close()

    def _forget(self, request_id: int) -> None:
        self._sent.pop(request_id, None)

    def _on_begun(self, _info: object) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting or {}, None
            self._dropped.clear()
        for send in waiting.values():
            send()

    def _on_not_begun(self, error: ErrorInfo) -> None:
        with self._lock:
            dropped = list(self._dropped.values())
            self._dropped.clear()
        for on_failure in dropped:
            on_failure(error)
        if self._client.closed is None:
            self._on_closed(error)


def connect_store(begin: Begin) -> TransportFactory:
    """Returns what starts a store with a session of its own."""

    def factory(
        on_event: Callable[[object], None], on_closed: Callable[[ErrorInfo], None]
    ) -> StoreTransport:
        return StoreTransport(begin, on_event, on_closed)

    return factory


def _on_log(line: str) -> None:
    _LOG.info("store: %s", line)
