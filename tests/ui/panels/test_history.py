from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import (
    Changes,
    GoTo,
    HistoryState,
    TargetInfo,
)
from inspector.ui.panels.history import HistoryPanel
from tests.ui.content_store import ContentStore, light_theme, start_client

STATE = HistoryState(1, 2, ("Cast head", "Fill bias"), 0, can_undo=True, can_redo=True)


def _panel(qtbot: QtBot, state: HistoryState) -> tuple[HistoryPanel, ContentStore]:
    store = ContentStore(history=state, target=TargetInfo("module", "Net"))
    panel = HistoryPanel(start_client(store, qtbot), light_theme())
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitUntil(lambda: panel.model.state == state)
    return panel, store


def _texts(panel: HistoryPanel) -> list[str]:
    model = panel.model
    return [str(model.index(row).data()) for row in range(model.rowCount())]


def test_the_list_shows_the_base_and_every_edit(
    qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    panel, _ = _panel(qtbot, STATE)
    assert _texts(panel) == ["As loaded", "Cast head", "Fill bias"]
    qtmodeltester.check(panel.model)  # type: ignore[no-untyped-call]  # has no stubs
    spoken = Qt.ItemDataRole.AccessibleTextRole
    assert panel.model.index(1).data(spoken) == "Cast head, present"
    assert panel.model.index(2).data(spoken) == "Fill bias, undone"
    assert panel.list.currentIndex().row() == 1


def test_a_click_goes_to_that_state(qtbot: QtBot) -> None:
    panel, store = _panel(qtbot, STATE)
    place = panel.list.visualRect(panel.model.index(2)).center()
    QTest.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert store.of_type(GoTo) == [GoTo(2)]


def test_a_long_history_says_how_many_came_before(qtbot: QtBot) -> None:
    texts = tuple(f"Edit {n}" for n in range(40, 540))
    state = HistoryState(540, 540, texts, 40, can_undo=True)
    panel, store = _panel(qtbot, state)
    assert _texts(panel)[:2] == ["40 earlier edits", "Edit 40"]
    panel.list.setCurrentIndex(panel.model.index(0))
    QTest.keyClick(panel.list, Qt.Key.Key_Return)
    assert store.of_type(GoTo) == [GoTo(40)]


def test_changes_bring_the_new_history(qtbot: QtBot) -> None:
    panel, store = _panel(qtbot, STATE)
    newer = HistoryState(3, 3, (*STATE.texts, "Delete step"), 0, can_undo=True)
    store.emit(Changes(structure=True, history=newer))
    qtbot.waitUntil(lambda: _texts(panel)[-1] == "Delete step")
    assert panel.list.currentIndex().row() == 3


def test_without_a_target_the_list_says_what_it_is_for(qtbot: QtBot) -> None:
    store = ContentStore()
    panel = HistoryPanel(start_client(store, qtbot), light_theme())
    qtbot.addWidget(panel)
    invitation = "Edits of the target appear here"
    assert _texts(panel) == [invitation]
    spoken = Qt.ItemDataRole.AccessibleTextRole
    assert panel.model.index(0).data(spoken) == invitation
    store.target = TargetInfo("module", "Net")
    store.emit(Changes(base=True, structure=True))
    qtbot.waitUntil(lambda: _texts(panel) == ["As loaded"])
    assert panel.model.index(0).data(spoken) == "As loaded, present"
