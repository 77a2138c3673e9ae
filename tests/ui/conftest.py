"""Fixtures of the window's tests: a store inside the test, and the theme."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.ui.main_window import MainWindow
from inspector.ui.notices import Notices
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Mode, Theme
from tests.ui.fake_store import FakeStore, started_client


def pytest_itemcollected(item: pytest.Item) -> None:
    """Lets windows do what the offscreen platform cannot: it has no manager of them."""
    item.add_marker(
        pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
    )


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def client(qapp: QApplication, store: FakeStore) -> Iterator[StoreClient]:
    del qapp
    made = started_client(store)
    yield made
    made.close()


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    made = Theme(Mode.LIGHT, qapp)
    made.apply()
    return made


@pytest.fixture
def settings(tmp_path_factory: pytest.TempPathFactory, qtbot: QtBot) -> QSettings:
    del qtbot
    file = tmp_path_factory.mktemp("settings") / "settings.ini"
    return QSettings(str(file), QSettings.Format.IniFormat)


@pytest.fixture
def window(
    qtbot: QtBot, client: StoreClient, theme: Theme, settings: QSettings
) -> Iterator[MainWindow]:
    made = MainWindow(client, theme, Notices(client), settings)
    made.resize(1280, 800)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.close()
