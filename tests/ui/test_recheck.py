from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import RecheckSources
from inspector.ui.main_window import MainWindow
from inspector.ui.recheck import RecheckOnReturn
from tests.ui.fake_store import FakeStore
from tests.ui.window_driver import open_both


def _leave(window: QWidget) -> None:
    QApplication.sendEvent(window, QEvent(QEvent.Type.WindowDeactivate))


def _return(window: QWidget) -> None:
    QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))


def test_the_first_activation_looks_at_nothing(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    looks: list[int] = []
    RecheckOnReturn(window, lambda: looks.append(1))
    _return(window)
    assert looks == []
    _leave(window)
    _return(window)
    assert looks == [1]


def test_returns_in_a_row_give_one_look_more(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    looks: list[int] = []
    RecheckOnReturn(window, lambda: looks.append(1), rest_ms=50)
    for _ in range(4):
        _leave(window)
        _return(window)
    assert looks == [1]
    qtbot.waitUntil(lambda: looks == [1, 1])


def test_coming_back_marks_a_source_that_changed(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    source = open_both(qtbot, window, store)
    _leave(window)
    store.change_quietly(source, changed="params/w is gone")
    assert window.sources.banners.get(f"changed.{source}") is None
    _return(window)
    qtbot.waitUntil(lambda: window.sources.banners.get(f"changed.{source}") is not None)
    banner = window.sources.banners.get(f"changed.{source}")
    assert banner is not None
    assert banner.text == "digits was changed by somebody else: params/w is gone"
    assert len(store.of(RecheckSources)) == 1


def test_without_sources_nothing_is_asked(window: MainWindow, store: FakeStore) -> None:
    _leave(window)
    _return(window)
    assert store.of(RecheckSources) == []
