"""Writes the session's journal from the store's loop.

An operation is recorded before its request is answered. A full disk costs the
recovery after a crash, not the edit: it is said once and the work goes on. What is
recorded has been done to the document, so a cancel that comes meanwhile is too late.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from inspector.document.journal import Journal, Recorded
from inspector.engine.messages.document import Notice
from inspector.engine.store_engines import Notify
from inspector.errors import InspectorError


class SessionJournal:
    """The journal of this session; a private session has none."""

    def __init__(self, journal: Journal | None, notify: Notify) -> None:
        """Takes an open journal, or None for a private session."""
        self._journal = journal
        self._notify = notify
        self._failed = False

    async def record(self, operation: Recorded) -> None:
        """Writes an operation and waits until the system has it, cancelled or not.

        Args:
            operation: The operation, or what makes it on the journal's thread: the
                JSON of a large module or transfer would hold up the loop.
        """
        if self._journal is None:
            return
        try:
            await _to_the_end(asyncio.wrap_future(self._journal.append(operation)))
        except InspectorError as error:
            if not self._failed:
                self._failed = True
                self._notify(Notice("warning", error.info()))

    def replace(self, journal: Journal) -> None:
        """Goes on in the journal of a restored session; drops the present one."""
        if self._journal is not None:
            self._journal.close()
        self._journal = journal

    def close(self, *, keep: bool) -> None:
        """Ends the journal.

        Args:
            keep: Leave it, so that the next start offers the session.
        """
        if self._journal is not None:
            self._journal.close(keep=keep)
            self._journal = None


async def _to_the_end(future: asyncio.Future[None]) -> None:
    """Waits for a future and lets no cancel cut that short.

    The document has changed already. A request that gave up here would be answered
    as cancelled, and nobody would be told of the change.
    """
    while not future.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(future)
    future.result()
