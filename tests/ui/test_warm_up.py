from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from inspector.ui.store_client import StoreClient
from inspector.ui.warm_up import WarmUp
from tests.ui.fake_store import FakeStore, started_client


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_everything_is_there_after_the_store_was_started(
    qtbot: QtBot, theme: object
) -> None:
    del theme
    client = StoreClient()
    warm = WarmUp(client, client)
    client.start(FakeStore().connect)
    qtbot.waitUntil(lambda: warm.is_over, timeout=20_000)
    for module in (
        "numpy",
        "pyqtgraph",
        "inspector.ui.viewers.catalogue",
        "inspector.ui.viewers.histogram_plot",
        "inspector.ui.dialogs.export",
        "inspector.ui.palette",
    ):
        assert module in sys.modules
    client.close()


def test_a_store_that_is_started_again_changes_nothing(
    qtbot: QtBot, theme: object
) -> None:
    del theme
    owner = QObject()
    store = FakeStore()
    client = started_client(store)
    warm = WarmUp(client, owner)
    client.start(store.connect)
    client.start(store.connect)
    qtbot.waitUntil(lambda: warm.is_over, timeout=20_000)
    client.close()
