"""Context menus as a person uses them: by mouse and by the menu key."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import DeleteNodes, OpenSource
from inspector.engine.messages.reading import StepInfo
from inspector.ui.drag_data import DraggedNodes
from inspector.ui.main_window import MainWindow
from inspector.ui.models.roles import PlanColumn
from inspector.ui.tree_view import TreeView
from tests.ui.fake_store import FakeStore, module_tree, source_tree
from tests.ui.window_driver import ENCODER, choose, find, open_both, wait_for


def _menu(view: TreeView, position: QPoint) -> QMenu:
    """Opens a context menu at a place of the viewport, as the right button does."""
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse,
        position,
        view.viewport().mapToGlobal(position),
    )
    QApplication.sendEvent(view.viewport(), event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def _click(menu: QMenu, action: QAction) -> None:
    QTest.mouseClick(
        menu,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        menu.actionGeometry(action).center(),
    )


def _entry(menu: QMenu, text: str) -> QAction:
    return next(a for a in menu.actions() if a.text().replace("&", "") == text)


def test_a_click_in_the_menu_of_the_target_deletes(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    open_both(qtbot, window, store)
    view = window.target.view
    menu = _menu(view, choose(view, ("params", "head")))
    assert menu.objectName() == "targetTreeMenu"
    _click(menu, _entry(menu, "Delete"))
    qtbot.waitUntil(lambda: find(view, ("params", "head")) is None)
    assert store.of(DeleteNodes) == [DeleteNodes((("params", "head"),))]


def test_the_menu_of_a_source_copies_a_path(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    open_both(qtbot, window, store)
    view = window.sources.view
    menu = _menu(view, choose(view, ("params", "encoder")))
    view.setFocus()
    _click(menu, _entry(menu, "Copy Path"))
    assert QGuiApplication.clipboard().text() == "params/encoder"


def test_another_step_is_opened_from_the_menu(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    steps = (StepInfo("2", 2), StepInfo("10", 10), StepInfo("11", 11, "not finished"))
    store.add_source(source_tree(ENCODER), "run", step="10", steps=steps)
    view = window.sources.view
    wait_for(qtbot, view, ("params", "encoder", "conv", "bias"))
    menu = _menu(view, choose(view, ("params", "encoder")))
    entry = _entry(menu, "Open Another Step")
    QTest.mouseMove(menu, menu.actionGeometry(entry).center())
    _click(menu, entry)
    submenu = menu.findChild(QMenu, "stepsMenu")
    assert submenu is not None
    qtbot.waitUntil(submenu.isVisible)
    texts = [(a.text(), a.isEnabled(), a.isChecked()) for a in submenu.actions()]
    assert texts == [
        ("Step 2", True, False), ("Step 10", False, True), ("Step 11", False, False),
    ]  # fmt: skip
    _click(submenu, submenu.actions()[0])
    qtbot.waitUntil(lambda: store.of(OpenSource) == [OpenSource("/data/run@2")])


def test_the_menu_key_opens_the_menu_of_the_current_row(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    open_both(qtbot, window, store)
    view = window.target.view
    position = choose(view, ("params", "head"))
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Keyboard, position, view.mapToGlobal(position)
    )
    QApplication.sendEvent(view, event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    QTest.keyClick(menu, Qt.Key.Key_N)
    qtbot.waitUntil(lambda: view.findChild(QLineEdit, "renameField") is not None)


def test_one_choice_is_made_for_many_rows_of_a_plan(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    source = store.add_source(source_tree({"params/a": (2,), "params/b": (3,)}))
    store.set_target(module_tree({"params/a": (2,), "params/b": (3,)}))
    wait_for(qtbot, window.target.view, ("params", "b"))
    nodes = DraggedNodes(source, "digits", ((),))
    window.target.transfer.preview(nodes, ())
    table = window.plan.table
    qtbot.waitUntil(lambda: table.model().rowCount() == 2)
    qtbot.waitUntil(lambda: not window.plan.is_dirty)
    table.selectAll()
    table.customContextMenuRequested.emit(QPoint(1, 1))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    _click(menu, _entry(menu, "Choose “skip” for the selected rows"))
    cells = [table.model().index(row, PlanColumn.CHOICE).data() for row in range(2)]
    assert cells == ["skip", "skip"]
    assert window.plan.apply_button.text() == "Apply 0 of 2"
    assert window.findChild(QComboBox, "planChoice") is None
