from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import (
    QAction,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLineEdit,
    QPushButton,
    QTreeView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import (
    AcceptSource,
    DeleteNodes,
    DiscardSession,
    EngineStatus,
    LoadRecorded,
    OpenSource,
    RenameNode,
    RestoreSession,
    SessionInfo,
    Undo,
)
from inspector.engine.messages.viewing import ApplyPlan, AskChildren, MakePlan
from inspector.errors import ErrorInfo
from inspector.ui.actions import ActionId
from inspector.ui.drag_data import DraggedNodes, from_mime
from inspector.ui.main_window import MainWindow
from inspector.ui.models.roles import Role
from inspector.ui.models.tree_model import TreeModel
from inspector.ui.notices import Notices
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.variables.path import TreePath
from tests.ui.fake_store import FakeStore, module_tree, source_tree

ENCODER = {"params/encoder/conv/kernel": (3, 3), "params/encoder/conv/bias": (3,)}
BACKBONE = {"params/backbone/conv/kernel": (3, 3), "params/backbone/conv/bias": (3,)}


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


def open_both(qtbot: QtBot, window: MainWindow, store: FakeStore) -> str:
    source = store.add_source(source_tree(ENCODER))
    store.set_target(module_tree({**BACKBONE, "params/head/kernel": (3, 2)}))
    wait_for(qtbot, window.target.view, ("params", "head", "kernel"))
    wait_for(qtbot, window.sources.view, ("params", "encoder", "conv", "bias"))
    return source


def find(view: QTreeView, path: TreePath) -> object:
    model = view.model()
    assert isinstance(model, TreeModel)
    for node in model.root.known():
        if node.row is not None and node.tree and node.path == path:
            return model.index_of(node)
    return None


def wait_for(qtbot: QtBot, view: QTreeView, path: TreePath) -> None:
    qtbot.waitUntil(lambda: find(view, path) is not None)


def choose(view: QTreeView, path: TreePath) -> QPoint:
    index = find(view, path)
    assert index is not None
    view.scrollTo(index)  # type: ignore[arg-type]  # found in this very model
    view.setCurrentIndex(index)  # type: ignore[arg-type]  # as above
    return view.visualRect(index).center()  # type: ignore[arg-type]  # as above


def drag_into(widget: QWidget, position: QPoint, data: QMimeData) -> None:
    """Enters a widget; Qt remembers it as the one that a drop is for."""
    flags = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton)
    enter = QDragEnterEvent(position, *flags, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(widget, enter)


def drag_over(view: QTreeView, position: QPoint, data: QMimeData) -> QDragMoveEvent:
    drag_into(view.viewport(), position, data)
    flags = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton)
    move = QDragMoveEvent(position, *flags, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(view.viewport(), move)
    return move


def drop(widget: QWidget, position: QPoint, data: QMimeData) -> QDropEvent:
    drag_into(widget, position, data)
    event = QDropEvent(
        QPointF(position),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(widget, event)
    return event


def origin(window: MainWindow, path: TreePath) -> str:
    index = find(window.target.view, path)
    return "" if index is None else str(index.data(Role.MARK))  # type: ignore[attr-defined]  # an index


def test_every_action_has_a_handler(window: MainWindow) -> None:
    assert window.actions_.bound == frozenset(ActionId)


def test_widgets_that_checks_rely_on(window: MainWindow) -> None:
    for name in (
        "sourceTree", "targetTree", "sourceFilter", "targetFilter", "planTable",
        "planApply", "detailTabs", "historyList", "logView", "progressBar",
        "cancelButton",
    ):  # fmt: skip
        widget = window.findChild(QWidget, name)
        assert widget is not None, name
        assert widget.accessibleName(), name
    assert window.findChild(QAction, "action.commandPalette") is not None


def test_everything_that_takes_the_focus_has_a_name(window: MainWindow) -> None:
    nameless = [
        f"{type(widget).__name__} {widget.objectName()}"
        for widget in window.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and isinstance(widget, QAbstractButton | QLineEdit | QTreeView)
        and not widget.accessibleName()
        and not widget.objectName().startswith("qt_")
        and widget.isVisible()
    ]
    assert nameless == []


def test_empty_window_invites(window: MainWindow) -> None:
    for name, text in (("sourcesEmpty", "Drop a checkpoint here, or open the sample."),
                       ("targetEmpty", "Load a module to see where these variables"
                        " could go.")):  # fmt: skip
        invitation = window.findChild(QWidget, name)
        assert invitation is not None
        assert invitation.isVisible()
        assert invitation.accessibleName() == text


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


def test_undo_from_the_keyboard(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    open_both(qtbot, window, store)
    choose(window.target.view, ("params", "head"))
    window.target.view.setFocus()
    QTest.keyClick(window.target.view, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: find(window.target.view, ("params", "head")) is None)
    assert store.of(DeleteNodes) == [DeleteNodes((("params", "head"),))]
    qtbot.waitUntil(window.actions_[ActionId.UNDO].isEnabled)
    assert "head" in window.actions_[ActionId.UNDO].text()
    QTest.keyClick(
        window.target.view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier
    )
    wait_for(qtbot, window.target.view, ("params", "head"))
    assert len(store.of(Undo)) == 1


def test_rename_in_the_row(qtbot: QtBot, window: MainWindow, store: FakeStore) -> None:
    open_both(qtbot, window, store)
    view = window.target.view
    choose(view, ("params", "head"))
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_F2)
    field = view.findChild(QLineEdit, "renameField")
    assert field is not None
    QTest.keyClicks(field, "classifier")
    QTest.keyClick(field, Qt.Key.Key_Return)
    wait_for(qtbot, view, ("params", "classifier"))
    assert store.of(RenameNode) == [RenameNode(("params", "head"), "classifier")]


def test_refused_edit_is_said_in_the_panel(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    open_both(qtbot, window, store)
    store.failing[DeleteNodes] = ErrorInfo(
        "EditError", "It is used.", "params/head", "Undo the transfer first."
    )
    choose(window.target.view, ("params", "head"))
    window.target.delete()
    qtbot.waitUntil(lambda: window.target.banners.get("edit") is not None)
    banner = window.target.banners.get("edit")
    assert banner is not None
    assert banner.text == "params/head: It is used.\nUndo the transfer first."


def test_expansion_and_choice_survive_a_change(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    open_both(qtbot, window, store)
    view = window.target.view
    head = find(view, ("params", "head"))
    view.collapse(head)  # type: ignore[arg-type]  # found in this very model
    choose(view, ("params", "backbone", "conv", "bias"))
    asked = len(store.of(AskChildren))
    store.replace_tree(
        source_tree(BACKBONE | {"params/head/kernel": (3, 2)}), base=True
    )
    qtbot.waitUntil(lambda: len(store.of(AskChildren)) > asked)
    qtbot.waitUntil(
        lambda: view.current() == ("target", ("params", "backbone", "conv", "bias"))
    )
    qtbot.waitUntil(lambda: not window.target.is_dirty)
    assert not view.isExpanded(find(view, ("params", "head")))  # type: ignore[arg-type]  # as above


def test_filter_asks_the_store_and_expands(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    open_both(qtbot, window, store)
    field = window.target.filter
    QTest.keyClicks(field, "bias")
    view = window.target.view
    qtbot.waitUntil(lambda: find(view, ("params", "head")) is None)
    bias = ("params", "backbone", "conv", "bias")
    wait_for(qtbot, view, bias)
    assert view.visualRect(find(view, bias)).isValid()  # type: ignore[arg-type]  # an index
    QTest.keyClick(field, Qt.Key.Key_Escape)
    wait_for(qtbot, view, ("params", "head"))
    assert field.text() == ""


def test_choosing_a_node_shows_its_details(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    open_both(qtbot, window, store)
    choose(window.target.view, ("params", "head", "kernel"))
    assert window.details.place == ("target", ("params", "head", "kernel"))


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


def test_file_that_cannot_be_opened_says_why(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    store.failing[OpenSource] = ErrorInfo(
        "ReadFileError", "It is a git-lfs pointer.", "w.npz", "Run git lfs pull."
    )
    window.sources.open_source("w.npz")
    qtbot.waitUntil(lambda: bool(window.sources.banners.reasons()))
    banner = window.sources.banners.get("open.w.npz")
    assert banner is not None
    assert banner.text == "w.npz: It is a git-lfs pointer.\nRun git lfs pull."


def test_changed_source_offers_the_next_step(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    source = open_both(qtbot, window, store)
    store.change_source(source, changed="the file is 3 bytes longer")
    qtbot.waitUntil(lambda: window.findChild(QPushButton, "acceptSource") is not None)
    button = window.findChild(QPushButton, "acceptSource")
    assert button is not None
    button.click()
    qtbot.waitUntil(lambda: store.of(AcceptSource) == [AcceptSource(source)])
    qtbot.waitUntil(lambda: window.sources.banners.reasons() == [])


def test_recorded_module_is_imported_only_after_a_click(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    store.set_target(module_tree(BACKBONE), loaded=False, file="/code/net.py")
    qtbot.waitUntil(lambda: window.target.banners.get("unloaded") is not None)
    banner = window.target.banners.get("unloaded")
    assert banner is not None
    assert banner.text == (
        "This recipe's module has not been imported. It will run /code/net.py."
    )
    assert store.of(LoadRecorded) == []
    button = window.findChild(QPushButton, "loadRecordedModule")
    assert button is not None
    button.click()
    qtbot.waitUntil(lambda: len(store.of(LoadRecorded)) == 1)
    qtbot.waitUntil(lambda: window.target.banners.get("unloaded") is None)


def test_sessions_are_offered_one_after_the_other(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    store.sessions = [
        SessionInfo("a", "digits → Classifier", 3, 0.0),
        SessionInfo("b", "resnet", 1, 0.0),
    ]
    window.sessions.ask()
    qtbot.waitUntil(lambda: window.banners.get("session") is not None)
    banner = window.banners.get("session")
    assert banner is not None
    assert banner.text.startswith(
        "An earlier session ended unexpectedly: digits → Classifier, 3 edits, "
    )
    banner.findChild(QPushButton, "discardSession").click()  # type: ignore[union-attr]  # it is there
    assert store.of(DiscardSession) == [DiscardSession("a")]
    banner = window.banners.get("session")
    assert banner is not None
    assert "resnet, 1 edit, " in banner.text
    banner.findChild(QPushButton, "restoreSession").click()  # type: ignore[union-attr]  # it is there
    qtbot.waitUntil(lambda: store.of(RestoreSession) == [RestoreSession("b")])


def test_engines_are_named_in_the_status_line(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    store.send(EngineStatus("model", "busy", "Tracing init"))
    store.send(EngineStatus("store", "ready"))
    qtbot.waitUntil(lambda: window.status.engines.text() == "store ready · model busy")
    assert "model: Tracing init" in window.status.engines.toolTip()
    assert window.actions_[ActionId.STOP].isEnabled()


def test_long_job_shows_progress_and_can_be_cancelled(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    store.holding.add(OpenSource)
    window.sources.open_source("/data/large")
    assert not window.status.progress.isVisible()
    store.progress(25, 100, "Reading large")
    qtbot.waitUntil(window.status.progress.isVisible)
    assert window.status.activity.text() == "Reading large"
    assert window.status.progress.value() == window.status.progress.maximum() // 4
    QTest.mouseClick(window.status.cancel, Qt.MouseButton.LeftButton)
    assert store.cancelled == [OpenSource("/data/large")]
    qtbot.waitUntil(lambda: not window.status.progress.isVisible())
    assert window.sources.banners.reasons() == []


def test_layout_is_remembered(
    qtbot: QtBot,
    window: MainWindow,
    client: StoreClient,
    theme: Theme,
    settings: QSettings,
) -> None:
    window.docks.details.close()
    window.close()
    again = MainWindow(client, theme, Notices(client), settings)
    qtbot.addWidget(again)
    again.show()
    assert not again.docks.details.isVisible()
    again.actions_[ActionId.RESET_LAYOUT].trigger()
    assert again.docks.details.isVisible()


@pytest.mark.parametrize("size", [(1024, 700), (1600, 1000)])
def test_window_fits(
    qtbot: QtBot, window: MainWindow, store: FakeStore, size: tuple[int, int]
) -> None:
    open_both(qtbot, window, store)
    window.docks.plan.show()
    window.resize(*size)
    qtbot.waitUntil(lambda: (window.width(), window.height()) == size)


def test_expand_below_reaches_what_is_not_there_yet(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    shapes = {f"params/block_{n}/dense/kernel": (2, 2) for n in range(80)}
    store.set_target(module_tree(shapes))
    view = window.target.view
    wait_for(qtbot, view, ("params",))
    assert find(view, ("params", "block_3")) is None
    choose(view, ("params",))
    view.setFocus()
    window.actions_[ActionId.EXPAND_BELOW].trigger()
    wait_for(qtbot, view, ("params", "block_79", "dense", "kernel"))


def test_reveal_loads_what_leads_to_a_leaf(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    shapes = {f"params/block_{n}/dense/kernel": (2, 2) for n in range(450)}
    store.set_target(module_tree(shapes))
    wait_for(qtbot, window.target.view, ("params",))
    path = ("params", "block_444", "dense", "kernel")
    window.handlers.reveal("target", path)
    qtbot.waitUntil(lambda: window.target.view.current() == ("target", path))
