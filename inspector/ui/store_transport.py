"""The real transport of the window: a store process whose session has begun.

`EarlyStore.connect` is what `StoreClient.start` needs. Requests made before the
session has begun wait here; ending on purpose says so to the store, so that the
session is not taken for one that a crash left behind. Callbacks come on the engine
client's threads.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from inspector.engine.client import EngineClient
from inspector.engine.messages.document import Begin, End
from inspector.engine.messages.envelope import Progress
from inspector.engine.start import launch_store
from inspector.errors import CancelledError, ErrorInfo, InspectorError
from inspector.ui.store_client import CANCELLED

_LOG = logging.getLogger(__name__)

_END_S = 3.0


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A request that waits for the session to begin."""

    send: Callable[[], None]
    fail: Callable[[ErrorInfo], None]


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
        # Re-entrant: a request to an ended store fails before it returns.
        self._lock = threading.RLock()
        self._ids = itertools.count(1)
        self._open: set[int] = set()
        self._sent: dict[int, int] = {}
        self._waiting: dict[int, _Waiting] | None = {}
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

        def replied(reply: object) -> None:
            self._forget(request_id)
            on_reply(reply)

        def failed(error: ErrorInfo) -> None:
            self._forget(request_id)
            on_failure(error)

        def send() -> None:
            self._open.add(request_id)
            sent = self._client.request(
                body, on_reply=replied, on_failure=failed, on_progress=on_progress
            )
            if request_id in self._open:
                self._sent[request_id] = sent

        with self._lock:
            if self._waiting is not None:
                self._waiting[request_id] = _Waiting(send, failed)
            else:
                send()
        return request_id

    def cancel(self, request_id: int) -> None:
        """Asks to stop a request; one that still waits is never sent."""
        with self._lock:
            waiting = (self._waiting or {}).pop(request_id, None)
            sent = self._sent.get(request_id)
        if waiting is not None:
            waiting.fail(ErrorInfo(CANCELLED, "Cancelled"))
        elif sent is not None:
            self._client.cancel(sent)

    def close(self) -> None:
        """Ends the session by the person's wish, then the process."""
        if self._client.closed is None:
            try:
                self._client.call(End(), timeout=_END_S)
            except (InspectorError, CancelledError, TimeoutError) as error:
                _LOG.info("the session did not end in good order: %s", error)
        self._client.close()

    def _forget(self, request_id: int) -> None:
        with self._lock:
            self._open.discard(request_id)
            self._sent.pop(request_id, None)

    def _on_begun(self, _info: object) -> None:
        # With the lock held, so that what is asked now comes after what waited.
        with self._lock:
            waiting, self._waiting = self._waiting or {}, None
            for request in waiting.values():
                request.send()

    def _on_not_begun(self, error: ErrorInfo) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting or {}, {}
        for request in waiting.values():
            request.fail(error)
        if self._client.closed is None:
            self._on_closed(error)


class EarlyStore:
    """Starts the first store before anybody can listen, while the window is made.

    What comes meanwhile waits for the listeners. `connect` is a `TransportFactory`;
    every later call, after the first store has ended, starts another one.
    """

    def __init__(self, begin: Begin) -> None:
        """Starts the process; what goes wrong is raised by the first `connect`."""
        self._begin = begin
        self._lock = threading.Lock()
        self._early: list[Callable[[], None]] | None = []
        self._on_event: Callable[[object], None] = lambda _body: None
        self._on_closed: Callable[[ErrorInfo], None] = lambda _error: None
        self._transport: StoreTransport | None = None
        self._failure: InspectorError | None = None
        try:
            self._transport = StoreTransport(begin, self._event, self._closed)
        except InspectorError as error:
            self._failure = error

    def connect(
        self,
        on_event: Callable[[object], None],
        on_closed: Callable[[ErrorInfo], None],
    ) -> StoreTransport:
        """Returns the early store the first time, a new one after that.

        Raises:
            EngineError: The process cannot be started.
        """
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        transport, self._transport = self._transport, None
        if transport is None:
            return StoreTransport(self._begin, on_event, on_closed)
        with self._lock:
            self._on_event, self._on_closed = on_event, on_closed
            early, self._early = self._early or [], None
            for deliver in early:
                deliver()
        return transport

    def close(self) -> None:
        """Ends the early store when nobody has taken it."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    def _event(self, body: object) -> None:
        self._deliver(lambda: self._on_event(body))

    def _closed(self, error: ErrorInfo) -> None:
        self._deliver(lambda: self._on_closed(error))

    def _deliver(self, deliver: Callable[[], None]) -> None:
        with self._lock:
            if self._early is not None:
                self._early.append(deliver)
                return
        deliver()


def _on_log(line: str) -> None:
    _LOG.info("store: %s", line)
