from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import (
    QAction,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLineEdit,
    QPushButton,
    QToolButton,
    QTreeView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import (
    AcceptSource,
    Changes,
    DeleteNodes,
    DiscardSession,
    EngineStatus,
    Export,
    LoadRecorded,
    OpenSource,
    RenameNode,
    RestoreSession,
    SessionInfo,
    Undo,
)
from inspector.engine.messages.viewing import AskChildren
from inspector.errors import ErrorInfo
from inspector.ui.actions import ActionId
from inspector.ui.dialogs.export import ExportDialog
from inspector.ui.main_window import MainWindow
from inspector.ui.notices import Notices
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from tests.ui.fake_store import FakeStore, module_tree, source_tree
from tests.ui.window_driver import (
    BACKBONE,
    choose,
    find,
    open_both,
    wait_for,
)


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
        "This recipe's module has not been imported."
        " Loading it runs the code of /code/net.py."
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
        "An earlier session has edits that were not saved: digits → Classifier,"
        " 3 edits, "
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


def test_notes_of_a_change_are_read_in_the_target_and_the_log(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    open_both(qtbot, window, store)
    notes = tuple(f"Edit {number} no longer fits." for number in range(1, 6))
    store.send(Changes(base=True, text="Load net.py:Net", notes=notes))
    qtbot.waitUntil(lambda: window.target.banners.get("notes") is not None)
    banner = window.target.banners.get("notes")
    assert banner is not None
    assert banner.text == (
        "Edit 1 no longer fits.\nEdit 2 no longer fits.\nEdit 3 no longer fits.\n"
        "… and 2 more notes; the log has them all."
    )
    model = window.log.model
    logged = [model.entry(row).text for row in range(model.rowCount())]
    assert logged[-5:] == list(notes)
    close = banner.findChild(QToolButton, "banner.notesClose")
    assert close is not None
    QTest.mouseClick(close, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.target.banners.get("notes") is None)


def test_warnings_of_a_source_are_all_in_the_log(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    warnings = tuple(f"Chunk {number} is missing." for number in range(5))
    store.add_source(source_tree({"w": (2,)}), warnings=warnings)
    qtbot.waitUntil(lambda: window.sources.banners.get("warnings.s1") is not None)
    banner = window.sources.banners.get("warnings.s1")
    assert banner is not None
    assert banner.text.endswith("… and 2 more warnings; the log has them all.")
    model = window.log.model
    logged = [model.entry(row).text for row in range(model.rowCount())]
    assert [f"digits: {warning}" for warning in warnings] == [
        text for text in logged if text.startswith("digits: ")
    ]


def test_an_export_is_told_with_what_can_be_done_next(
    qtbot: QtBot, window: MainWindow, store: FakeStore, tmp_path: Path
) -> None:
    open_both(qtbot, window, store)
    window.actions_[ActionId.EXPORT].trigger()
    dialog = window.findChild(ExportDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: bool(dialog.path.text()))
    out = str(tmp_path / "net.msgpack")
    dialog.path.setText(out)
    dialog.start()
    qtbot.waitUntil(lambda: window.target.banners.get("exported") is not None)
    assert store.of(Export)[0].out == out
    banner = window.target.banners.get("exported")
    assert banner is not None
    assert banner.text == "Exported 4 leaves, 64 B, to net.msgpack."
    assert not window.isHidden()
    assert QApplication.activeModalWidget() is None
    assert banner.findChild(QPushButton, "showExported") is not None
    copy = banner.findChild(QPushButton, "copyExportedPath")
    assert copy is not None
    QTest.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == out


def test_a_cancelled_export_says_that_nothing_changed(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    open_both(qtbot, window, store)
    store.holding.add(Export)
    window.actions_[ActionId.EXPORT].trigger()
    dialog = window.findChild(ExportDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: bool(dialog.path.text()))
    dialog.start()
    qtbot.waitUntil(lambda: len(window.client.activities) == 1)
    window.client.cancel(window.client.activities[0].ticket)
    said = "Export cancelled; what was there before is unchanged"
    qtbot.waitUntil(lambda: window.status.message.text() == said)
    assert window.target.banners.get("exported") is None
