from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QPushButton
from pytestqt.qtbot import QtBot

from inspector.engine.messages.viewing import MakePlan, PlanInfo
from inspector.ui.models.roles import PlanColumn
from inspector.ui.panels.plan import PlanPanel
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from tests.ui.fake_store import FakeStore, module_tree, source_tree


@pytest.fixture
def panel(
    qtbot: QtBot, client: StoreClient, theme: Theme, store: FakeStore
) -> Iterator[PlanPanel]:
    shapes = {"params/a/kernel": (2, 2), "params/b/kernel": (2, 2)}
    source = store.add_source(source_tree({**shapes, "params/head/kernel": (2, 5)}))
    store.set_target(module_tree({**shapes, "params/head/kernel": (2, 3)}))
    infos: list[PlanInfo] = []
    client.ask(MakePlan(source, (), ()), owner=client, on_reply=infos.append)
    qtbot.waitUntil(lambda: bool(infos))
    made = PlanPanel(client, theme, None)  # type: ignore[arg-type]  # a window here
    made.resize(1100, 400)
    qtbot.addWidget(made)
    made.show()
    made.show_plan(infos[0])
    qtbot.waitUntil(lambda: not made.is_dirty and made.model.line(0) is not None)
    yield made
    made.close()


def chip(panel: PlanPanel, verdict: str) -> QPushButton:
    found = panel.findChild(QPushButton, f"planFilter.{verdict}")
    assert found is not None
    return found


def test_chips_count_and_filter(qtbot: QtBot, panel: PlanPanel) -> None:
    assert chip(panel, "exact").text() == "2 exact"
    assert chip(panel, "mismatch").text() == "1 mismatch"
    assert not chip(panel, "converted").isVisible()
    chip(panel, "mismatch").click()
    assert panel.model.rowCount() == 1
    chip(panel, "mismatch").click()
    assert panel.model.rowCount() == 3


def test_a_choice_is_made_with_keys_alone(qtbot: QtBot, panel: PlanPanel) -> None:
    assert panel.apply_button.text() == "Apply 2 of 3"
    table = panel.table
    table.setFocus()
    table.selectRow(0)
    QTest.keyClick(table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.findChild(QComboBox, "planChoice") is not None)
    box = panel.findChild(QComboBox, "planChoice")
    assert box is not None
    assert [box.itemText(row) for row in range(box.count())] == ["take", "skip"]
    qtbot.waitUntil(lambda: box.view().isVisible())
    QTest.keyClick(box.view(), Qt.Key.Key_Down)
    QTest.keyClick(box.view(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.apply_button.text() == "Apply 1 of 3")
    assert panel.model.index(0, PlanColumn.CHOICE).data() == "skip"
    with qtbot.waitSignal(panel.apply_wanted) as applied:
        panel.apply_button.click()
    line = panel.model.line(0)
    assert line is not None
    assert applied.args is not None
    assert list(applied.args[1]) == [(line.index, "skip")]
    assert not panel.apply_button.isEnabled()


def test_nothing_left_cannot_be_applied(panel: PlanPanel) -> None:
    panel.model.choose([0, 1, 2], "skip")
    assert panel.apply_button.text() == "Apply 0 of 3"
    assert not panel.apply_button.isEnabled()


def test_escape_closes(qtbot: QtBot, panel: PlanPanel) -> None:
    with qtbot.waitSignal(panel.closed):
        QTest.keyClick(panel.table, Qt.Key.Key_Escape)
    assert panel.model.rowCount() == 0
