from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.engine.messages.viewing import Search
from inspector.ui.palette import CommandPalette
from inspector.ui.palette_ranking import score
from tests.ui.content_store import ContentStore, light_theme, start_client

KERNEL = ("params", "head", "kernel")


def _palette(
    qtbot: QtBot,
) -> tuple[CommandPalette, ContentStore, list[str], QWidget]:
    store = ContentStore()
    store.put("s1", {KERNEL: np.zeros(2, np.float32)})
    window = QWidget()
    window.resize(900, 600)
    qtbot.addWidget(window)
    done: list[str] = []
    actions = []
    for name, keys, enabled in (
        ("Export the target", "Ctrl+E", True),
        ("Expand everything", "", True),
        ("Undo", "Ctrl+Z", False),
    ):
        action = QAction(name, window)
        action.setShortcut(keys)
        action.setEnabled(enabled)
        action.setProperty("accessibleName", name)
        action.triggered.connect(lambda _checked=False, text=name: done.append(text))
        actions.append(action)
    palette = CommandPalette(window, actions, start_client(store, qtbot), light_theme())
    palette.set_tree_names({"s1": "digits"})
    palette.set_recent_files(["/data/old.msgpack"])
    window.show()
    palette.open_at()
    return palette, store, done, window


def _rows(palette: CommandPalette) -> list[tuple[str, str]]:
    model = palette.model
    entries = [model.entry(row) for row in range(model.rowCount())]
    return [(entry.text, entry.hint) for entry in entries]


def test_it_lists_what_can_be_done_now(
    qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    palette, _, _, window = _palette(qtbot)
    assert window.isVisible()
    assert _rows(palette) == [
        ("Export the target", "Ctrl+E"),
        ("Expand everything", ""),
        ("Open old.msgpack", "/data"),
    ]
    qtmodeltester.check(palette.model)  # type: ignore[no-untyped-call]  # has no stubs


def test_a_few_letters_and_enter_run_a_command(qtbot: QtBot) -> None:
    palette, _, done, window = _palette(qtbot)
    assert window.isVisible()
    QTest.keyClicks(palette.field, "exp tar")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert done == ["Export the target"]
    assert not palette.isVisible()


def test_a_node_is_found_by_the_store(qtbot: QtBot) -> None:
    palette, store, _, window = _palette(qtbot)
    assert window.isVisible()
    QTest.keyClicks(palette.field, "kern")
    qtbot.waitUntil(lambda: _rows(palette) == [("params/head/kernel", "digits")])
    assert palette.list.currentIndex().row() == 0
    assert [body.query for body in store.of_type(Search)] == ["ke", "ker", "kern"]
    with qtbot.waitSignal(palette.node_chosen) as chosen:
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert chosen.args == ["s1", KERNEL]


def test_what_cannot_be_used_now_is_shown_but_not_run(qtbot: QtBot) -> None:
    palette, _, done, window = _palette(qtbot)
    assert window.isVisible()
    QTest.keyClicks(palette.field, "und")
    assert _rows(palette) == [("Undo", "Ctrl+Z")]
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert done == []


def test_arrows_move_and_a_file_is_opened(qtbot: QtBot) -> None:
    palette, _, _, window = _palette(qtbot)
    assert window.isVisible()
    QTest.keyClick(palette.field, Qt.Key.Key_Up)
    with qtbot.waitSignal(palette.file_chosen) as chosen:
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert chosen.args == ["/data/old.msgpack"]


def test_escape_closes(qtbot: QtBot) -> None:
    palette, _, _, window = _palette(qtbot)
    assert window.isVisible()
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible()


def test_ranking_prefers_starts_of_words() -> None:
    names = ["Collapse both trees", "Copy the path", "Check the sources", "Redo"]
    scored = {name: score("ctp", name) for name in names}
    best = max(names, key=lambda name: scored[name] or -1.0)
    assert best == "Copy the path"
    assert scored["Redo"] is None
    exact, loose = score("undo", "Undo"), score("undo", "Un-decorated ones")
    assert exact is not None
    assert loose is not None
    assert exact > loose
