"""Writes the session's journal from the store's loop.

An operation is recorded before its request is answered. A full disk costs the
recovery after a crash, not the edit: it is said once and the work goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from inspector.document.journal import Journal
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

    async def record(self, operation: Mapping[str, object]) -> None:
        """Writes an operation and waits until the system has it."""
        if self._journal is None:
            return
        try:
            await asyncio.wrap_future(self._journal.append(operation))
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
