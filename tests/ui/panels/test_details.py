from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QTableView, QTabWidget
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import TARGET, Changes, TargetInfo
from inspector.engine.messages.viewing import (
    Describe,
    ReadNumbers,
    ReadPicture,
    ReadStatistics,
)
from inspector.ui.panels.details import DetailsPanel
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.tree import build
from inspector.variables.value import Initial, Stored
from tests.ui.content_store import (
    ContentStore,
    array_leaf,
    light_theme,
    start_client,
    text_leaf,
)

KERNEL = ("params", "conv", "kernel")
BIAS = ("params", "conv", "bias")
NAME = ("name",)
BROKEN = ("broken",)
RNG = ("rng",)


def _panel(qtbot: QtBot) -> tuple[DetailsPanel, ContentStore]:
    store = ContentStore()
    kernel = np.array([[-1.0, 0.0], [3.0, np.nan]], np.float32)
    bias = np.zeros(4, np.float32)
    stored = array_leaf(kernel, Stored("s1", KERNEL), sharding="NamedSharding(data=8)")
    common = [(KERNEL, stored), (NAME, text_leaf("a net"))]
    store.trees["s1"] = build(
        [
            *common,
            (RNG, Leaf(Kind.KEY, (2,), "key<fry>", Stored("s1", RNG))),
            (BROKEN, Leaf(Kind.ARRAY, (3,), "float32", error="A chunk is missing.")),
        ]
    )
    store.trees[TARGET] = build([*common, (BIAS, array_leaf(bias, Initial(BIAS)))])
    for tree in ("s1", TARGET):
        store.arrays[tree, KERNEL] = kernel
        store.arrays[tree, BIAS] = bias
    store.arrays["s1", RNG] = np.array([[1, 2], [3, 0xFFFFFFFF]], np.uint32)
    panel = DetailsPanel(start_client(store, qtbot), light_theme())
    qtbot.addWidget(panel)
    panel.resize(420, 600)
    panel.show()
    return panel, store


def _statistic(panel: DetailsPanel, name: str) -> QLabel:
    label = panel.findChild(QLabel, f"statistic.{name}")
    assert label is not None
    return label


def _tabs(panel: DetailsPanel) -> list[str]:
    tabs = panel.findChild(QTabWidget, "detailTabs")
    assert tabs is not None
    return [tabs.tabText(i) for i in range(tabs.count())]


def test_a_leaf_shows_what_it_is_and_its_statistics(qtbot: QtBot) -> None:
    panel, _ = _panel(qtbot)
    panel.show_node(TARGET, KERNEL)
    qtbot.waitUntil(lambda: _statistic(panel, "max").text() == "3")
    header = panel.header
    assert header.title.text() == "params / conv / kernel"
    assert header.array.text() == "float32[2,2]"
    assert header.sizes.text() == "4 params · 16 B"
    assert header.origin.text() == "from digits : params/conv/kernel"
    assert header.origin_word.text() == "exact"
    assert header.sharding.text() == "saved with NamedSharding(data=8)"
    assert _statistic(panel, "min").text() == "−1"
    assert _statistic(panel, "zeros").text() == "1"
    assert _statistic(panel, "NaN").text() == "1"
    assert "sum of all: nan" in _statistic(panel, "mean").toolTip()
    assert "1 of 4 elements are NaN (25 %)" in _statistic(panel, "NaN").toolTip()
    assert _tabs(panel) == ["Picture", "Numbers"]


def test_the_title_copies_the_path(qtbot: QtBot) -> None:
    panel, _ = _panel(qtbot)
    panel.show_node("s1", KERNEL)
    panel.header.title.setFocus()
    QTest.keySequence(panel.header.title, QKeySequence(QKeySequence.StandardKey.Copy))
    assert QGuiApplication.clipboard().text() == "params/conv/kernel"


def test_clicking_around_drops_what_earlier_clicks_asked(qtbot: QtBot) -> None:
    panel, store = _panel(qtbot)
    store.held_types = (Describe,)
    panel.show_node(TARGET, KERNEL)
    panel.show_node(TARGET, BIAS)
    panel.show_node("s1", KERNEL)
    assert store.cancelled == [Describe(TARGET, KERNEL), Describe(TARGET, BIAS)]
    store.release()
    qtbot.waitUntil(lambda: panel.details is not None)
    assert panel.details is not None
    assert panel.details.tree == "s1"
    assert {body.path for body in store.of_type(ReadStatistics)} == {KERNEL}


def test_statistics_show_progress_and_can_be_cancelled(qtbot: QtBot) -> None:
    panel, store = _panel(qtbot)
    store.held_types = (ReadStatistics,)
    panel.show_node("s1", KERNEL)
    qtbot.waitUntil(lambda: bool(store.held(ReadStatistics)))
    heights = panel.strip.height()
    store.report(store.held(ReadStatistics)[0], 1, 4)
    qtbot.waitUntil(lambda: panel.strip.progress.share == 0.25)
    cancel = panel.findChild(QPushButton, "statisticsCancel")
    assert cancel is not None
    assert cancel.isVisible()
    QTest.mouseClick(cancel, Qt.MouseButton.LeftButton)
    message = panel.findChild(QLabel, "statisticsMessage")
    assert message is not None
    qtbot.waitUntil(lambda: message.text() == "Stopped before the end.")
    assert panel.strip.progress.share is None
    assert panel.strip.height() == heights


def test_an_initial_value_is_made_when_asked_for(qtbot: QtBot) -> None:
    panel, store = _panel(qtbot)
    store.target = TargetInfo(kind="module", seeds=(("params", 3),))
    panel.show_node(TARGET, BIAS)
    button = panel.findChild(QPushButton, "statisticsButton")
    assert button is not None
    qtbot.waitUntil(button.isVisible)
    assert button.text() == "Make it now"
    message = panel.findChild(QLabel, "statisticsMessage")
    assert message is not None
    qtbot.waitUntil(
        lambda: message.text() == "Initial value of seed 3 — made when needed."
    )
    assert store.of_type(ReadStatistics) == []
    assert store.of_type(ReadPicture) == []
    made = array_leaf(np.zeros(4, np.float32), Stored("s1", BIAS))
    store.trees[TARGET] = build([(BIAS, made)])
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: _statistic(panel, "zeros").text() == "4")
    assert store.of_type(ReadNumbers)[0] == ReadNumbers(TARGET, BIAS, ((0, 1),))


def test_a_change_of_the_shown_leaf_is_read_again(qtbot: QtBot) -> None:
    panel, store = _panel(qtbot)
    panel.show_node(TARGET, KERNEL)
    qtbot.waitUntil(lambda: _statistic(panel, "max").text() == "3")
    store.arrays[TARGET, KERNEL] = np.full((2, 2), 9, np.float32)
    store.emit(Changes(values=True, paths=(("opt_state",),)))
    store.emit(Changes(values=True, paths=(KERNEL,)))
    qtbot.waitUntil(lambda: _statistic(panel, "max").text() == "9")
    assert len(store.of_type(Describe)) == 2


def test_a_hidden_panel_catches_up_when_it_is_seen(qtbot: QtBot) -> None:
    panel, store = _panel(qtbot)
    panel.show_node(TARGET, KERNEL)
    qtbot.waitUntil(lambda: panel.details is not None)
    panel.hide()
    store.emit(Changes(base=True))
    qtbot.waitUntil(lambda: panel.viewer("Picture") is not None)
    assert len(store.of_type(Describe)) == 1
    panel.show()
    qtbot.waitUntil(lambda: len(store.of_type(Describe)) == 2)


def test_a_leaf_that_cannot_be_read_says_why(qtbot: QtBot) -> None:
    panel, _ = _panel(qtbot)
    panel.show_node("s1", BROKEN)
    qtbot.waitUntil(panel.header.banner.isVisible)
    assert panel.header.banner.message.text() == "A chunk is missing."
    assert not panel.tabs.isVisible()


def test_a_node_that_is_gone_says_so(qtbot: QtBot) -> None:
    panel, _ = _panel(qtbot)
    panel.show_node(TARGET, ("params", "gone"))
    qtbot.waitUntil(panel.header.banner.isVisible)
    assert "nothing at this path" in panel.header.banner.message.text()


def test_text_and_keys_have_their_own_view(qtbot: QtBot) -> None:
    panel, _ = _panel(qtbot)
    panel.show_node("s1", NAME)
    qtbot.waitUntil(lambda: _tabs(panel) == ["Value"])
    viewer = panel.viewer("Value")
    assert viewer is not None
    assert viewer.property("accessibleName") is None or viewer.accessibleName()
    panel.show_node("s1", RNG)
    button = panel.findChild(QPushButton, "showWords")
    assert button is not None
    qtbot.waitUntil(button.isVisible)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    text = viewer.findChildren(QLabel, "valueCaption")
    assert text[0].text() == "2 random keys of 2 words each."
    qtbot.waitUntil(
        lambda: "[1]  00000003 ffffffff" in viewer.text.toPlainText()  # type: ignore[attr-defined]  # of TextViewer
    )


def test_a_branch_shows_dtypes_and_children(qtbot: QtBot) -> None:
    panel, _ = _panel(qtbot)
    panel.show_node(TARGET, ("params", "conv"))
    qtbot.waitUntil(lambda: _tabs(panel) == ["Summary"])
    table = panel.findChild(QTableView, "dtypeTable")
    children = panel.findChild(QTableView, "childTable")
    assert table is not None
    assert children is not None
    cells = [table.model().index(0, column).data() for column in range(5)]
    assert cells == ["float32", "2", "8", "32 B", "100.0 %"]
    qtbot.waitUntil(lambda: children.model().rowCount() == 2)
    assert panel.header.origin.text() == "1 exact, 1 initial"
    with qtbot.waitSignal(panel.node_chosen) as chosen:
        children.setCurrentIndex(children.model().index(0, 0))
        children.setFocus()
        QTest.keyClick(children, Qt.Key.Key_Return)
    assert chosen.args == [TARGET, BIAS]


def test_the_chosen_tab_stays_for_the_next_leaf(qtbot: QtBot) -> None:
    panel, _ = _panel(qtbot)
    panel.show_node(TARGET, KERNEL)
    qtbot.waitUntil(lambda: _tabs(panel) == ["Picture", "Numbers"])
    panel.tabs.setCurrentIndex(1)
    panel.show_node("s1", NAME)
    qtbot.waitUntil(lambda: _tabs(panel) == ["Value"])
    panel.show_node("s1", KERNEL)
    qtbot.waitUntil(lambda: _tabs(panel) == ["Picture", "Numbers"])
    assert panel.tabs.tabText(panel.tabs.currentIndex()) == "Numbers"
