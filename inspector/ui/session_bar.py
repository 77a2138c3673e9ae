"""Offers back the sessions that hold edits of which nothing was saved, at the start.

Asks the store once it is there; restoring runs no code. On the window's thread.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from inspector.engine.messages.document import (
    AskSessions,
    DiscardSession,
    RestoreSession,
    SessionInfo,
    Sessions,
)
from inspector.ui import format as fmt
from inspector.ui.banner_stack import BannerStack
from inspector.ui.store_client import StoreClient

_REASON = "session"


class SessionOffer(QObject):
    """The newest session with edits that were not saved, then the next, as a banner.

    Signals:
        restored: A session was taken up.
    """

    restored = Signal()

    def __init__(self, client: StoreClient, banners: BannerStack) -> None:
        """Makes the offer in a stack of banners when `ask` finds a session."""
        super().__init__(banners)
        self._client, self._banners = client, banners
        self._waiting: list[SessionInfo] = []

    def ask(self) -> None:
        """Asks the store for sessions."""
        self._client.ask(
            AskSessions(),
            owner=self,
            on_reply=self._on_sessions,
            slot="sessions",
        )

    def _on_sessions(self, reply: Sessions) -> None:
        self._waiting = list(reply.sessions)
        self._offer()

    def _offer(self) -> None:
        self._banners.remove(_REASON)
        if not self._waiting:
            return
        session = self._waiting[0]
        banner = self._banners.show_message(_REASON, describe(session))
        banner.add_button(
            "Restore",
            lambda: self._restore(session),
            name="restoreSession",
            primary=True,
        )
        banner.add_button(
            "Discard", lambda: self._discard(session), name="discardSession"
        )

    def _restore(self, session: SessionInfo) -> None:
        # The others stay for the next start: a window has one document.
        self._waiting.clear()
        self._banners.remove(_REASON)
        self._client.ask(
            RestoreSession(session.id),
            owner=self,
            on_reply=lambda _changes: self.restored.emit(),
            on_failure=lambda error: self._banners.show_error("restore", error),
            activity="Restoring the session",
        )

    def _discard(self, session: SessionInfo) -> None:
        self._waiting.remove(session)
        self._client.ask(
            DiscardSession(session.id), owner=self, on_reply=lambda _done: None
        )
        self._offer()


def describe(session: SessionInfo, now: float | None = None) -> str:
    """Returns the offer's sentence.

    Args:
        session: What was left behind.
        now: Seconds since the epoch, for tests; None asks the clock.
    """
    edits = fmt.plural(session.edits, "edit")
    return (
        f"An earlier session has edits that were not saved: {session.title}, {edits},"
        f" {fmt.ago(session.ended, now)}."
    )
