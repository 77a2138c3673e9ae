from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import (
    AskSessions,
    LoadTarget,
    OpenRecipe,
    OpenSource,
    SessionInfo,
)
from inspector.engine.messages.module import ModuleSpec
from inspector.errors import EngineError, ErrorInfo
from inspector.ui.main_window import MainWindow
from inspector.ui.notices import Notices
from inspector.ui.startup import Startup, Wanted
from inspector.ui.store_client import StoreClient, Transport
from inspector.ui.theme import Theme
from tests.ui.fake_store import FakeStore, OnClosed, OnEvent


@pytest.fixture
def window(qtbot: QtBot, theme: Theme, settings: QSettings) -> Iterator[MainWindow]:
    client = StoreClient()
    made = MainWindow(client, theme, Notices(client), settings)
    qtbot.addWidget(made)
    made.show()
    yield made
    client.close()


def test_everything_wanted_is_asked_in_order(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    module = ModuleSpec("/code/net.py:Net")
    store.failing[LoadTarget] = ErrorInfo(
        "LoadModuleError", "Net takes no argument 'width'.", "net.py, line 3"
    )
    wanted = Wanted(("a.npz", "b@3"), module, "r.recipe.json", "/data")
    startup = Startup(window, store.connect, wanted)
    assert not startup.is_done
    startup.begin()
    qtbot.waitUntil(lambda: startup.is_done and window.is_settled)
    kinds = (AskSessions, OpenRecipe, OpenSource, LoadTarget)
    asked = [body for body in store.asked if isinstance(body, kinds)]
    assert asked == [
        AskSessions(),
        OpenRecipe("r.recipe.json"),
        OpenSource("a.npz", "/data"),
        OpenSource("b@3", "/data"),
        LoadTarget(module),
    ]
    assert [error.where for error in startup.errors] == ["net.py, line 3"]
    assert window.target.banners.get("load") is not None
    assert window.findChild(QPushButton, "changeModule") is not None


def test_store_that_dies_is_followed_by_a_new_one(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    startup = Startup(window, store.connect, Wanted(("a.npz",)))
    startup.begin()
    qtbot.waitUntil(lambda: bool(window.mirror.info.sources))
    store.sessions = [SessionInfo("x", "a → Net", 2, 0.0)]
    with qtbot.waitSignal(window.client.started):
        store.end("killed by signal 9")
    banner = window.banners.get("store")
    assert banner is not None
    assert "started anew" in banner.text
    assert "killed by signal 9" in banner.text
    qtbot.waitUntil(lambda: window.banners.get("session") is not None)


def test_store_that_keeps_dying_is_not_started_for_ever(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    starts: list[int] = []

    def connect(on_event: OnEvent, on_closed: OnClosed) -> Transport:
        starts.append(1)
        return store.connect(on_event, on_closed)

    startup = Startup(window, connect, Wanted())
    startup.begin()
    for _end in range(2):
        with qtbot.waitSignal(window.client.started):
            store.end()
    store.end("dead on arrival")
    qtbot.waitUntil(lambda: window.findChild(QPushButton, "restartStore") is not None)
    assert len(starts) == 3
    button = window.findChild(QPushButton, "restartStore")
    assert button is not None
    button.click()
    assert len(starts) == 4


def test_store_that_cannot_be_started_says_why(
    qtbot: QtBot, window: MainWindow
) -> None:
    def connect(_on_event: OnEvent, _on_closed: OnClosed) -> Transport:
        message = "The store cannot be started: no such file"
        raise EngineError(message, hint="Install the program again.")

    startup = Startup(window, connect, Wanted(("a.npz",)))
    startup.begin()
    banner = window.banners.get("store")
    assert banner is not None
    assert "no such file" in banner.text
    assert [error.kind for error in startup.errors] == ["EngineError"]
