from __future__ import annotations

import numpy as np
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from inspector.engine import store_view
from inspector.engine.messages.document import TARGET, TypeNumbers
from inspector.engine.messages.reading import Numbers
from inspector.engine.messages.viewing import ReadNumbers
from inspector.ui.models.array_model import PAGE, ArrayPlace
from inspector.ui.viewers.numbers import NumbersViewer
from tests.ui.content_store import ContentStore, light_theme, start_client

_PATH = ("params", "kernel")


def _shown(
    qtbot: QtBot, array: np.ndarray, tree: str = TARGET
) -> tuple[NumbersViewer, ContentStore]:
    store = ContentStore()
    store.put(tree, {_PATH: array})
    viewer = NumbersViewer(start_client(store, qtbot), light_theme())
    qtbot.addWidget(viewer)
    viewer.resize(600, 400)
    viewer.show()
    viewer.show_details(
        store_view.make_details(
            tree, store.trees[tree], _PATH, store.names, is_target=tree == TARGET
        )
    )
    qtbot.waitUntil(lambda: viewer.model.cached(0, 0) is not None)
    return viewer, store


def test_a_block_is_copied_as_tab_separated_text(qtbot: QtBot) -> None:
    array = np.arange(40, dtype=np.float32).reshape(5, 8) / 8
    viewer, _ = _shown(qtbot, array)
    table, model = viewer.table, viewer.model
    table.setCurrentIndex(model.index(1, 2))
    for row in (1, 2):
        for column in (2, 3):
            table.selectionModel().select(
                model.index(row, column), QItemSelectionModel.SelectionFlag.Select
            )
    QTest.keySequence(table, QKeySequence(QKeySequence.StandardKey.Copy))
    clipboard = QGuiApplication.clipboard()
    qtbot.waitUntil(lambda: clipboard.text() == "1.25\t1.375\n2.25\t2.375")
    assert viewer.foot.text() == "Copied 4 numbers"


def test_a_pasted_block_is_one_edit(qtbot: QtBot) -> None:
    viewer, store = _shown(qtbot, np.zeros((2, 4, 5), np.float32))
    QGuiApplication.clipboard().setText("1\t2\n3\t4")
    viewer.table.setCurrentIndex(viewer.model.index(1, 3))
    QTest.keySequence(viewer.table, QKeySequence(QKeySequence.StandardKey.Paste))
    assert store.of_type(TypeNumbers) == [
        TypeNumbers(_PATH, (0, 1, 3), (1, 2, 2), ("1", "2", "3", "4"))
    ]


def test_a_cell_that_is_no_number_is_named(qtbot: QtBot) -> None:
    viewer, store = _shown(qtbot, np.zeros((3, 3), np.int32))
    QGuiApplication.clipboard().setText("1\t2\n3\tfour")
    viewer.table.setCurrentIndex(viewer.model.index(0, 0))
    QTest.keySequence(viewer.table, QKeySequence(QKeySequence.StandardKey.Paste))
    assert viewer.banner.error is not None
    assert viewer.banner.error.message.startswith("Row 2, column 2: ‘four’")
    assert viewer.banner.error.where == "params/kernel"
    assert store.of_type(TypeNumbers) == []


def test_a_source_is_not_pasted_into(qtbot: QtBot) -> None:
    viewer, store = _shown(qtbot, np.zeros((3, 3), np.int32), tree="s1")
    QGuiApplication.clipboard().setText("1")
    viewer.table.setCurrentIndex(viewer.model.index(0, 0))
    QTest.keySequence(viewer.table, QKeySequence(QKeySequence.StandardKey.Paste))
    assert viewer.banner.error is not None
    assert viewer.banner.error.message == "Numbers of a source are never changed."
    assert store.of_type(TypeNumbers) == []


def test_typing_into_a_cell_sends_its_number(qtbot: QtBot) -> None:
    viewer, store = _shown(qtbot, np.zeros((3, 3), np.float32))
    viewer.table.setFocus()
    viewer.table.setCurrentIndex(viewer.model.index(2, 1))
    QTest.keyClick(viewer.table, Qt.Key.Key_F2)
    editor = viewer.table.viewport().findChild(QLineEdit)
    assert editor is not None
    editor.selectAll()
    QTest.keyClicks(editor, "0.25")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(
        lambda: (
            store.of_type(TypeNumbers)
            == [TypeNumbers(_PATH, (2, 1), (1, 1), ("0.25",))]
        )
    )


def test_go_to_an_index_on_another_slice(qtbot: QtBot) -> None:
    viewer, _ = _shown(qtbot, np.zeros((4, 300, 300), np.float32))
    viewer.go_to.setFocus()
    QTest.keyClicks(viewer.go_to, "3, 250, 120")
    QTest.keyClick(viewer.go_to, Qt.Key.Key_Return)
    assert viewer.model.slice.index[0] == 3
    current = viewer.table.currentIndex()
    assert (current.row(), current.column()) == (250, 120)
    viewer.go_to.clear()
    QTest.keyClicks(viewer.go_to, "4, 0, 0")
    QTest.keyClick(viewer.go_to, Qt.Key.Key_Return)
    assert viewer.banner.error is not None
    assert viewer.banner.error.message == "‘4, 0, 0’ is no index of this array."
    assert "at most 3, 299, 299" in viewer.banner.error.hint


def test_the_cursor_walks_from_page_to_page(qtbot: QtBot) -> None:
    store = ContentStore()
    store.answers[ReadNumbers] = lambda body: Numbers(
        (), "int32", np.arange(*body.region[0], dtype=np.int32).tobytes()
    )
    viewer = NumbersViewer(start_client(store, qtbot), light_theme())
    qtbot.addWidget(viewer)
    viewer.show()
    viewer.model.set_array(ArrayPlace("s1", _PATH, (10**9,), "int32"))
    viewer.show_index((PAGE - 1,))
    QTest.keyClick(viewer.table, Qt.Key.Key_Down)
    assert viewer.model.first == (PAGE, 0)
    qtbot.waitUntil(lambda: viewer.model.index(0, 0).data() == str(PAGE), timeout=5000)
    QTest.keyClick(viewer.table, Qt.Key.Key_Up)
    assert viewer.model.first == (0, 0)
    assert viewer.table.currentIndex().row() == PAGE - 1
