"""The window's side of the store: asks it, and brings its answers to Qt's thread.

Owned by the composition root and given to every panel. `ask` and everything that it
calls back run on the window's thread; the pipe's reading thread only posts. What a
message means belongs to the panels.
"""

from __future__ import annotations

import itertools
import logging
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import shiboken6
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from inspector.engine.messages.document import (
    Changes,
    EngineStatus,
    ModuleFileChanged,
    Notice,
)
from inspector.engine.messages.envelope import Event, Progress
from inspector.errors import ErrorInfo

_LOG = logging.getLogger(__name__)

CANCELLED = "CancelledError"
"""Kind of the failure that answers a cancelled request; never shown as an error."""


class Transport(Protocol):
    """What carries requests: the engine client, or a store inside a test.

    Its callbacks may come on any thread.
    """

    def request(
        self,
        body: object,
        *,
        on_reply: Callable[[Any], None],
        on_failure: Callable[[ErrorInfo], None],
        on_progress: Callable[[Progress], None] | None = None,
    ) -> int:
        """Sends a request; exactly one of reply and failure answers it."""
        ...

    def cancel(self, request_id: int) -> None:
        """Asks to stop a request; its answer is then a failure."""
        ...

    def close(self) -> None:
        """Ends the other side and waits for it."""
        ...


TransportFactory = Callable[
    [Callable[[object], None], Callable[[ErrorInfo], None]], Transport
]
"""(on_event, on_closed) -> a started transport; both are called on any thread."""


@dataclass(frozen=True, slots=True)
class Activity:
    """A long request, as the status bar shows it.

    Attributes:
        ticket: What `StoreClient.cancel` takes.
        text: What is being done.
        done: Units done.
        total: Units in all; 0 while unknown.
        can_cancel: Whether cancelling makes sense.
    """

    ticket: int
    text: str
    done: int = 0
    total: int = 0
    can_cancel: bool = True


@dataclass(slots=True)
class _Asked:
    """An open request. ``request_id`` is None until it was sent."""

    body: object
    owner: QObject
    on_reply: Callable[[Any], object]
    on_failure: Callable[[ErrorInfo], object] | None
    on_progress: Callable[[Progress], object] | None
    on_cancelled: Callable[[], object] | None
    slot: str
    activity: Activity | None
    request_id: int | None = None
    dropped: bool = False


class StoreClient(QObject):
    """Asks the store without waiting.

    Signals:
        changed: `Changes` after every edit and change of the sources.
        engine_changed: `EngineStatus` of an engine.
        module_file_changed: `ModuleFileChanged`: the target's module changed on disk.
        noticed: `Notice` that a person should read, failures nobody handled too.
        closed: `ErrorInfo`, when the store ended without being asked to.
        started: A store was started or started anew; panels ask again.
        activity_changed: The list of running long requests changed.
        idle: The last open request was answered.
    """

    changed = Signal(object)
    engine_changed = Signal(object)
    module_file_changed = Signal(object)
    noticed = Signal(object)
    closed = Signal(object)
    started = Signal()
    activity_changed = Signal()
    idle = Signal()
    _arrived = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Starts without a transport; what is asked until `start` waits for it."""
        super().__init__(parent)
        self._transport: Transport | None = None
        self._generation = 0
        self._tickets = itertools.count(1)
        self._asked: dict[int, _Asked] = {}
        self._slots: dict[tuple[int, str], int] = {}
        self._watched: weakref.WeakSet[QObject] = weakref.WeakSet()
        self._arrived.connect(self._on_arrived, Qt.ConnectionType.QueuedConnection)

    @property
    def open_requests(self) -> int:
        """Requests whose answer is still wanted."""
        return sum(not asked.dropped for asked in self._asked.values())

    @property
    def activities(self) -> tuple[Activity, ...]:
        """Running long requests, oldest first."""
        return tuple(
            asked.activity
            for asked in self._asked.values()
            if asked.activity is not None and not asked.dropped
        )

    @property
    def is_running(self) -> bool:
        """Whether a store is there to answer."""
        return self._transport is not None

    def start(self, factory: TransportFactory) -> None:
        """Starts a store, in place of one that has ended, and sends what waits."""
        self._generation += 1
        generation = self._generation

        def on_event(event: object) -> None:
            self._post(lambda: self._on_event(generation, event))

        def on_closed(error: ErrorInfo) -> None:
            self._post(lambda: self._on_closed(generation, error))

        self._transport = factory(on_event, on_closed)
        for ticket, asked in list(self._asked.items()):
            if asked.request_id is None:
                self._send(ticket, asked)
        self.started.emit()

    def close(self) -> None:
        """Ends the store on purpose; nothing that is still open calls back."""
        transport, self._transport = self._transport, None
        self._generation += 1
        self._asked.clear()
        self._slots.clear()
        if transport is not None:
            transport.close()

    def ask(  # noqa: PLR0913 - the one door of every panel; all but two by keyword
        self,
        body: object,
        *,
        owner: QObject,
        on_reply: Callable[[Any], object],
        on_failure: Callable[[ErrorInfo], object] | None = None,
        on_progress: Callable[[Progress], object] | None = None,
        on_cancelled: Callable[[], object] | None = None,
        slot: str = "",
        activity: str = "",
    ) -> int:
        """Asks the store; returns a ticket at once.

        Args:
            body: A message of `engine.messages.document`, `viewing` or `module`.
            owner: Whose request it is; when it is destroyed, nothing calls back.
            on_reply: Gets the body of the reply.
            on_failure: Gets the error; without it the error becomes a notice.
            on_progress: Gets progress, at most ten times a second.
            on_cancelled: Called when the request was cancelled by `cancel`; a
                request that a newer one of its slot replaced just goes quiet.
            slot: A newer request of the same owner and slot cancels this one.
            activity: Text for the status bar's progress; empty for quick requests.
        """
        ticket = next(self._tickets)
        if slot:
            self._replace(owner, slot, ticket)
        shown = Activity(ticket, activity) if activity else None
        asked = _Asked(
            body, owner, on_reply, on_failure, on_progress, on_cancelled, slot, shown
        )
        self._asked[ticket] = asked
        self._watch(owner)
        if self._transport is not None:
            self._send(ticket, asked)
        if shown is not None:
            self.activity_changed.emit()
        return ticket

    def cancel(self, ticket: int) -> None:
        """Asks the store to stop a request; unknown tickets are ignored."""
        asked = self._asked.get(ticket)
        if asked is None:
            return
        if asked.request_id is None or self._transport is None:
            self._finish(ticket)
            if asked.on_cancelled is not None:
                asked.on_cancelled()
        else:
            self._transport.cancel(asked.request_id)

    def drop(self, owner: QObject, slot: str) -> None:
        """Cancels the request of a slot, if one is open, and forgets its reply."""
        ticket = self._slots.pop((id(owner), slot), None)
        if ticket is not None:
            self._drop(ticket)

    def _replace(self, owner: QObject, slot: str, ticket: int) -> None:
        older = self._slots.get((id(owner), slot))
        if older is not None:
            self._drop(older)
        self._slots[(id(owner), slot)] = ticket

    def _drop(self, ticket: int) -> None:
        asked = self._asked.get(ticket)
        if asked is None:
            return
        asked.dropped = True
        if asked.request_id is None or self._transport is None:
            self._finish(ticket)
        else:
            self._transport.cancel(asked.request_id)
            if asked.activity is not None:
                self.activity_changed.emit()

    def _watch(self, owner: QObject) -> None:
        if owner not in self._watched:
            self._watched.add(owner)
            owner.destroyed.connect(self._on_owner_destroyed)

    def _send(self, ticket: int, asked: _Asked) -> None:
        assert self._transport is not None  # both callers have looked
        generation = self._generation

        def on_reply(body: object) -> None:
            self._post(lambda: self._on_reply(generation, ticket, body))

        def on_failure(error: ErrorInfo) -> None:
            self._post(lambda: self._on_failure(generation, ticket, error))

        def on_progress(progress: Progress) -> None:
            self._post(lambda: self._on_progress(ticket, progress))

        asked.request_id = self._transport.request(
            asked.body,
            on_reply=on_reply,
            on_failure=on_failure,
            on_progress=on_progress if asked.activity or asked.on_progress else None,
        )

    def _post(self, action: Callable[[], None]) -> None:
        # The pipe's thread may outlive the window's objects by a moment.
        if shiboken6.isValid(self):
            self._arrived.emit(action)

    def _finish(self, ticket: int) -> _Asked | None:
        asked = self._asked.pop(ticket, None)
        if asked is None:
            return None
        key = (id(asked.owner), asked.slot)
        if self._slots.get(key) == ticket:
            del self._slots[key]
        if asked.activity is not None:
            self.activity_changed.emit()
        if not self.open_requests:
            QTimer.singleShot(0, self, self._tell_idle)
        return asked

    def _take(self, generation: int, ticket: int) -> _Asked | None:
        """Ends a request; None when nobody wants its answer any more."""
        if generation != self._generation:
            return None
        asked = self._finish(ticket)
        if asked is None or asked.dropped or not shiboken6.isValid(asked.owner):
            return None
        return asked

    def _tell_idle(self) -> None:
        if not self.open_requests:
            self.idle.emit()

    def _on_arrived(self, action: Callable[[], None]) -> None:
        action()

    def _on_reply(self, generation: int, ticket: int, body: object) -> None:
        asked = self._take(generation, ticket)
        if asked is not None:
            asked.on_reply(body)

    def _on_failure(self, generation: int, ticket: int, error: ErrorInfo) -> None:
        asked = self._take(generation, ticket)
        if asked is None:
            return
        if error.kind == CANCELLED:
            if asked.on_cancelled is not None:
                asked.on_cancelled()
        elif asked.on_failure is not None:
            asked.on_failure(error)
        else:
            self.noticed.emit(Notice("error", error))

    def _on_progress(self, ticket: int, progress: Progress) -> None:
        asked = self._asked.get(ticket)
        if asked is None or asked.dropped or not shiboken6.isValid(asked.owner):
            return
        if asked.activity is not None:
            asked.activity = replace(
                asked.activity,
                text=progress.text or asked.activity.text,
                done=progress.done,
                total=progress.total,
            )
            self.activity_changed.emit()
        if asked.on_progress is not None:
            asked.on_progress(progress)

    def _on_event(self, generation: int, event: object) -> None:
        if generation != self._generation:
            return
        body = event.body if isinstance(event, Event) else event
        if isinstance(body, Changes):
            self.changed.emit(body)
        elif isinstance(body, EngineStatus):
            self.engine_changed.emit(body)
        elif isinstance(body, Notice):
            self.noticed.emit(body)
        elif isinstance(body, ModuleFileChanged):
            self.module_file_changed.emit(body)
        else:
            _LOG.debug("event of no concern to the window: %s", type(body).__name__)

    def _on_closed(self, generation: int, error: ErrorInfo) -> None:
        if generation != self._generation:
            return
        self._transport = None
        # What had been sent died with the store; what was not waits for the next.
        for ticket, asked in list(self._asked.items()):
            if asked.request_id is not None:
                self._on_failure(generation, ticket, error)
        self.closed.emit(error)

    def _on_owner_destroyed(self) -> None:
        for ticket, asked in list(self._asked.items()):
            if not shiboken6.isValid(asked.owner):
                self._drop(ticket)
