from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import (
    QDragLeaveEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
)
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import (
    OpenSource,
)
from inspector.engine.messages.viewing import ApplyPlan, MakePlan
from inspector.ui.actions import ActionId
from inspector.ui.drag_data import DraggedNodes, from_mime
from inspector.ui.main_window import MainWindow
from inspector.ui.models.roles import Role
from tests.ui.fake_store import FakeStore, module_tree, source_tree
from tests.ui.window_driver import (
    ENCODER,
    choose,
    drag_over,
    drop,
    find,
    open_both,
    origin,
    wait_for,
)


def test_exact_drop_is_applied_at_once(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    source = open_both(qtbot, window, store)
    data = DraggedNodes(source, "digits", (("params", "encoder"),)).to_mime()
    view = window.target.view
    position = choose(view, ("params", "backbone"))
    assert drag_over(view, position, data).isAccepted()
    qtbot.waitUntil(lambda: window.status.message.text() == "would fill 2 exact")
    kernel = ("params", "backbone", "conv", "kernel")
    qtbot.waitUntil(
        lambda: find(view, kernel).data(Role.PLAN_MARK) == "exact"  # type: ignore[attr-defined]  # an index
    )
    spoken = Qt.ItemDataRole.AccessibleTextRole
    assert find(view, kernel).data(spoken) == "kernel, initial, would be exact"  # type: ignore[attr-defined]  # an index
    assert store.of(MakePlan) == [
        MakePlan(source, ("params", "encoder"), ("params", "backbone"))
    ]
    drop(view.viewport(), position, data)
    qtbot.waitUntil(lambda: origin(window, kernel) == "exact")
    assert store.of(ApplyPlan) == [ApplyPlan(1)]
    assert len(store.of(MakePlan)) == 1
    assert find(view, kernel).data(Role.PLAN_MARK) == ""  # type: ignore[attr-defined]  # an index
    assert not window.docks.plan.isVisible()
    assert window.target.counts.accessibleName() == (
        "Leaves by origin: 2 exact, 1 initial"
    )


def test_leaving_takes_the_preview_away(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    source = open_both(qtbot, window, store)
    data = DraggedNodes(source, "digits", (("params", "encoder"),)).to_mime()
    view = window.target.view
    drag_over(view, choose(view, ("params", "backbone")), data)
    qtbot.waitUntil(lambda: window.status.message.text() == "would fill 2 exact")
    QApplication.sendEvent(view.viewport(), QDragLeaveEvent())
    qtbot.waitUntil(lambda: window.status.message.text() == "")
    assert store.of(ApplyPlan) == []


def test_old_plans_are_dropped_while_hovering(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    source = open_both(qtbot, window, store)
    data = DraggedNodes(source, "digits", (("params", "encoder"),)).to_mime()
    view = window.target.view
    store.holding.add(MakePlan)
    drag_over(view, choose(view, ("params", "head")), data)
    drag_over(view, choose(view, ("params", "backbone")), data)
    assert [body.target_path for body in store.held] == [("params", "backbone")]
    store.release_all()
    qtbot.waitUntil(lambda: window.status.message.text() == "would fill 2 exact")


def test_drop_on_the_empty_area_means_the_whole_target(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    source = open_both(qtbot, window, store)
    view = window.target.view
    bottom = QPoint(20, view.viewport().height() - 4)
    drop(view.viewport(), bottom, DraggedNodes(source, "digits", ((),)).to_mime())
    qtbot.waitUntil(lambda: bool(store.of(MakePlan)))
    assert store.of(MakePlan) == [MakePlan(source, (), ())]


def test_drop_that_needs_a_choice_opens_the_plan(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    source = store.add_source(source_tree({**ENCODER, "params/head/kernel": (3, 9)}))
    store.set_target(module_tree({**ENCODER, "params/head/kernel": (3, 2)}))
    wait_for(qtbot, window.target.view, ("params", "head", "kernel"))
    window.target.drop(DraggedNodes(source, "digits", ((),)), ())
    qtbot.waitUntil(window.docks.plan.isVisible)
    button = window.plan.apply_button
    assert button.text() == "Apply 2 of 3"
    table = window.plan.table
    qtbot.waitUntil(table.hasFocus)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    kernel = ("params", "encoder", "conv", "kernel")
    qtbot.waitUntil(lambda: origin(window, kernel) == "exact")
    assert origin(window, ("params", "head", "kernel")) == "initial"
    qtbot.waitUntil(lambda: not window.docks.plan.isVisible())


def test_an_open_plan_is_found_again_by_its_keys(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    action = window.actions_[ActionId.FOCUS_PLAN]
    assert not action.isEnabled()
    source = store.add_source(source_tree({"params/w": (3, 9)}))
    store.set_target(module_tree({"params/w": (3, 2)}))
    wait_for(qtbot, window.target.view, ("params", "w"))
    window.target.drop(DraggedNodes(source, "digits", ((),)), ())
    qtbot.waitUntil(window.plan.table.hasFocus)
    window.actions_[ActionId.FOCUS_HISTORY].trigger()
    assert not window.plan.table.hasFocus()
    assert action.isEnabled()
    action.trigger()
    qtbot.waitUntil(window.plan.table.hasFocus)
    QTest.keyClick(window.plan.table, Qt.Key.Key_Escape)
    assert not action.isEnabled()


def test_escape_puts_the_plan_away(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    source = store.add_source(source_tree({"params/w": (3, 9)}))
    store.set_target(module_tree({"params/w": (3, 2)}))
    wait_for(qtbot, window.target.view, ("params", "w"))
    window.target.drop(DraggedNodes(source, "digits", ((),)), ())
    qtbot.waitUntil(window.plan.table.hasFocus)
    assert not window.plan.apply_button.isEnabled()
    QTest.keyClick(window.plan.table, Qt.Key.Key_Escape)
    assert not window.docks.plan.isVisible()
    assert store.of(ApplyPlan) == []


def test_copy_and_paste_is_a_transfer(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    source = open_both(qtbot, window, store)
    window.sources.view.setFocus()
    choose(window.sources.view, ("params", "encoder"))
    QTest.keyClick(
        window.sources.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier
    )
    copied = from_mime(QApplication.clipboard().mimeData())
    assert copied == DraggedNodes(source, "digits", (("params", "encoder"),))
    assert QApplication.clipboard().text() == "params/encoder"
    choose(window.target.view, ("params", "backbone"))
    window.target.view.setFocus()
    QTest.keyClick(
        window.target.view, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier
    )
    kernel = ("params", "backbone", "conv", "kernel")
    qtbot.waitUntil(lambda: origin(window, kernel) == "exact")


def test_files_are_sorted_by_what_they_are(
    qtbot: QtBot, window: MainWindow, store: FakeStore, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "model.msgpack"
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(checkpoint))])
    assert drop(window, QPoint(5, 5), data).isAccepted()
    qtbot.waitUntil(lambda: bool(store.of(OpenSource)))
    assert store.of(OpenSource) == [OpenSource(str(checkpoint))]
    heard: list[str] = []
    window.files.recipe_dropped.connect(heard.append)
    window.files.take([str(tmp_path / "a.recipe.json")])
    assert heard == [str(tmp_path / "a.recipe.json")]
