from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import AskDocument, Changes, EngineStatus, Undo
from inspector.engine.messages.envelope import Event
from inspector.engine.messages.viewing import AskChildren, ChildPage
from inspector.errors import ErrorInfo
from inspector.ui.store_client import StoreClient
from tests.ui.fake_store import FakeStore, source_tree


def test_reply_comes_later_and_on_the_window_thread(
    qtbot: QtBot, client: StoreClient
) -> None:
    replies: list[Any] = []
    client.ask(AskDocument(), owner=client, on_reply=replies.append)
    assert replies == []
    assert client.open_requests == 1
    qtbot.waitUntil(lambda: len(replies) == 1)
    assert client.open_requests == 0


def test_newer_request_of_a_slot_wins(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    store.add_source(source_tree({"a": (1,), "b": (2,)}))
    store.holding.add(AskChildren)
    pages: list[ChildPage] = []
    for start in (0, 1):
        body = AskChildren("s1", (), start=start)
        client.ask(body, owner=client, on_reply=pages.append, slot="page")
    assert [body.start for body in store.cancelled] == [0]
    store.release_all()
    qtbot.waitUntil(lambda: client.open_requests == 0)
    assert [[row.key for row in page.rows] for page in pages] == [["b"]]


def test_same_slot_of_another_owner_is_another(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    replies: list[Any] = []
    other = QObject()
    store.holding.add(AskDocument)
    client.ask(AskDocument(), owner=client, on_reply=replies.append, slot="x")
    client.ask(AskDocument(), owner=other, on_reply=replies.append, slot="x")
    store.release_all()
    qtbot.waitUntil(lambda: len(replies) == 2)


def test_destroyed_owner_hears_nothing(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    owner = QObject()
    replies: list[Any] = []
    store.holding.add(AskDocument)
    client.ask(AskDocument(), owner=owner, on_reply=replies.append)
    with qtbot.waitSignal(owner.destroyed):
        owner.deleteLater()
    qtbot.waitUntil(lambda: client.open_requests == 0)
    assert store.cancelled == [AskDocument()]
    assert replies == []


def test_cancel_is_no_error(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    store.holding.add(AskDocument)
    told: list[str] = []
    ticket = client.ask(
        AskDocument(),
        owner=client,
        on_reply=lambda _info: told.append("reply"),
        on_failure=lambda _error: told.append("failure"),
        on_cancelled=lambda: told.append("cancelled"),
        activity="Asking",
    )
    assert [activity.text for activity in client.activities] == ["Asking"]
    client.cancel(ticket)
    qtbot.waitUntil(lambda: told == ["cancelled"])
    assert client.activities == ()


def test_failure_without_a_taker_becomes_a_notice(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    store.failing[Undo] = ErrorInfo("EditError", "There is nothing to undo.")
    with qtbot.waitSignal(client.noticed) as noticed:
        client.ask(Undo(), owner=client, on_reply=lambda _changes: None)
    assert noticed.args is not None
    assert noticed.args[0].level == "error"
    assert noticed.args[0].error.message == "There is nothing to undo."


def test_progress_reaches_the_activity(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    store.holding.add(AskDocument)
    client.ask(
        AskDocument(), owner=client, on_reply=lambda _info: None, activity="Reading"
    )
    store.progress(3, 10, "Reading the kernel")
    qtbot.waitUntil(lambda: client.activities[0].done == 3)
    assert client.activities[0].total == 10
    assert client.activities[0].text == "Reading the kernel"
    store.release_all()
    qtbot.waitUntil(lambda: client.activities == ())


@pytest.mark.parametrize("wrapped", [False, True])
def test_events_become_signals(
    qtbot: QtBot, client: StoreClient, store: FakeStore, *, wrapped: bool
) -> None:
    changes, status = Changes(values=True), EngineStatus("model", "ready")
    heard: list[object] = []
    client.changed.connect(heard.append)
    client.engine_changed.connect(heard.append)
    for body in (changes, status):
        store.send(Event(body) if wrapped else body)
    qtbot.waitUntil(lambda: heard == [changes, status])


def test_requests_wait_for_a_store(qtbot: QtBot, store: FakeStore) -> None:
    client = StoreClient()
    replies: list[Any] = []
    client.ask(AskDocument(), owner=client, on_reply=replies.append)
    client.start(store.connect)
    qtbot.waitUntil(lambda: len(replies) == 1)
    client.close()


def test_end_of_the_store_fails_what_is_open(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    store.holding.add(AskDocument)
    errors: list[ErrorInfo] = []
    client.ask(
        AskDocument(),
        owner=client,
        on_reply=lambda _info: None,
        on_failure=errors.append,
    )
    with qtbot.waitSignal(client.closed) as closed:
        store.end("killed by signal 9")
    assert closed.args is not None
    assert closed.args[0].message == "killed by signal 9"
    assert [error.message for error in errors] == ["killed by signal 9"]
    assert not client.is_running


def test_late_answers_of_an_old_store_are_dropped(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    store.holding.add(AskDocument)
    replies: list[Any] = []
    client.ask(AskDocument(), owner=client, on_reply=replies.append)
    client.close()
    store.release_all()
    newer = FakeStore()
    with qtbot.waitSignal(client.started):
        client.start(newer.connect)
    client.ask(AskDocument(), owner=client, on_reply=replies.append)
    qtbot.waitUntil(lambda: client.open_requests == 0)
    assert len(replies) == 1
