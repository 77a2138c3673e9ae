from __future__ import annotations

from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import Changes, EngineStatus, Notice
from inspector.errors import ErrorInfo
from inspector.ui.models.log_model import MOST_ENTRIES, LogEntry
from inspector.ui.panels.log import LogPanel
from tests.ui.content_store import ContentStore, light_theme, start_client


def _panel(qtbot: QtBot) -> tuple[LogPanel, ContentStore]:
    store = ContentStore()
    panel = LogPanel(start_client(store, qtbot), light_theme())
    qtbot.addWidget(panel)
    panel.resize(600, 160)
    panel.show()
    return panel, store


def _shown(panel: LogPanel) -> list[str]:
    model = panel.view.model()
    return [str(model.index(row, 2).data()) for row in range(model.rowCount())]


def test_what_the_store_says_is_logged(
    qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    panel, store = _panel(qtbot)
    store.emit(EngineStatus("model", "ended", "killed"))
    store.emit(Notice("error", ErrorInfo("X", "It broke.", "a/b", "Mend it.")))
    store.emit(Changes(text="Cast head", notes=("2 edits no longer fit",)))
    store.emit(EngineStatus("reader", "ready"))
    expected = [
        "model: killed", "a/b: It broke.  Mend it.", "Cast head",
        "2 edits no longer fit",
    ]  # fmt: skip
    qtbot.waitUntil(lambda: _shown(panel) == expected)
    qtmodeltester.check(panel.model)  # type: ignore[no-untyped-call]  # has no stubs
    panel.level.setCurrentIndex(0)
    assert _shown(panel)[-1] == "reader: ready"
    panel.level.setCurrentIndex(3)
    assert _shown(panel) == ["a/b: It broke.  Mend it."]


def test_selected_entries_are_copied_with_their_traceback(qtbot: QtBot) -> None:
    panel, _ = _panel(qtbot)
    panel.add("info", "one")
    panel.add("error", "two", "Traceback: here")
    panel.view.selectRow(1)
    panel.view.setFocus()
    QTest.keySequence(panel.view, QKeySequence(QKeySequence.StandardKey.Copy))
    lines = QGuiApplication.clipboard().text().split("\n")
    assert lines[0].endswith("ERROR two")
    assert lines[1:] == ["Traceback: here"]


def test_the_view_follows_unless_the_person_looks_further_up(qtbot: QtBot) -> None:
    panel, _ = _panel(qtbot)
    for number in range(50):
        panel.add("info", str(number))
    bar = panel.view.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
    bar.setValue(3)
    panel.add("info", "more")
    assert bar.value() == 3


def test_old_entries_fall_off(qtbot: QtBot) -> None:
    panel, _ = _panel(qtbot)
    for number in range(MOST_ENTRIES + 1):
        panel.model.add(LogEntry("info", str(number)))
    assert panel.model.rowCount() == MOST_ENTRIES - MOST_ENTRIES // 10 + 1
    assert panel.model.entry(0).text == str(MOST_ENTRIES // 10)
