"""The call of the run panel, as a person writes it in the window."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector.engine.messages import document
from inspector.engine.messages.calling import (
    AskCallForm,
    AskDevices,
    Call,
    Proposals,
    ProposeInputs,
)
from inspector.engine.messages.document import ModuleFileChanged, ReloadModule
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.messages.running import AskCode, Run
from inspector.errors import ErrorInfo
from inspector.ui.actions import ActionId
from inspector.ui.main_window import MainWindow
from inspector.ui.models.arguments_model import ArgumentColumn
from inspector.ui.models.seeds_model import SeedColumn
from inspector.ui.panels.run import RunPanel
from tests.ui.call_samples import ENCODE, FORM, MODE
from tests.ui.fake_store import FakeStore, module_tree, source_tree
from tests.ui.fitting import faults

TREE = {"params/head/kernel": (5, 3), "batch_stats/norm/mean": (3,)}
EVAL = Call(inputs=("float32[2,5]",), mode="eval")


@pytest.fixture
def panel(qtbot: QtBot, window: MainWindow, store: FakeStore) -> RunPanel:
    store.set_target(module_tree(TREE))
    window.show_panel("run")
    qtbot.waitUntil(lambda: window.run.call_side.form is not None)
    qtbot.waitUntil(lambda: window.is_settled)
    return window.run


def cells(panel: RunPanel) -> list[tuple[str, str, str]]:
    model = panel.call_side.arguments
    return [
        tuple(str(model.index(row, column).data() or "") for column in ArgumentColumn)  # type: ignore[misc]  # three columns
        for row in range(model.rowCount())
    ]


def value(panel: RunPanel, row: int) -> QModelIndex:
    return panel.call_side.arguments.index(row, ArgumentColumn.VALUE)


def write(panel: RunPanel, row: int, text: str) -> None:
    panel.call_side.arguments.setData(value(panel, row), text)


def seed(panel: RunPanel, row: int, column: SeedColumn) -> QModelIndex:
    return panel.call_side.seeds.index(row, column)


def click(panel: RunPanel, name: str) -> None:
    button = panel.findChild(QPushButton, name)
    assert button is not None
    assert button.isEnabled()
    button.click()


def run(qtbot: QtBot, panel: RunPanel) -> None:
    click(panel, "runButton")
    qtbot.waitUntil(lambda: not panel.is_running)


def test_nothing_is_asked_before_the_panel_is_looked_at(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    store.set_target(module_tree(TREE))
    qtbot.waitUntil(lambda: window.run.has_module)
    qtbot.waitUntil(lambda: window.is_settled)
    window.actions_[ActionId.RESET_LAYOUT].trigger()
    # What waits for the next turn of the event loop is over when a later one is.
    turns: list[int] = []
    QTimer.singleShot(0, window, lambda: turns.append(1))
    qtbot.waitUntil(lambda: bool(turns))
    qtbot.waitUntil(lambda: window.is_settled)
    assert store.of(AskDevices) == store.of(AskCallForm) == []
    window.show_panel("run")
    qtbot.waitUntil(lambda: len(store.of(AskDevices)) == 1)
    assert store.of(AskCallForm) == [AskCallForm("")]


def test_an_empty_window_invites_to_load_a_module(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.show_panel("run")
    panel = window.run
    assert panel.invitation.sentence.text() == "Load a module to run it here"
    with qtbot.waitSignal(panel.module_wanted):
        panel.invitation.button.click()
    assert not window.actions_[ActionId.RUN].isEnabled()


def test_a_recorded_module_is_imported_after_a_click_that_names_its_file(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    store.set_target(module_tree(TREE), loaded=False, file="/code/net.py")
    window.show_panel("run")
    panel = window.run
    qtbot.waitUntil(lambda: panel.invitation.button.text() == "Run net.py")
    assert store.of(AskCallForm) == []
    panel.invitation.button.click()
    qtbot.waitUntil(lambda: panel.call_side.form is not None)
    assert store.of(document.LoadRecorded) == [document.LoadRecorded()]


def test_the_form_becomes_rows_and_the_call(panel: RunPanel, store: FakeStore) -> None:
    assert cells(panel) == [
        ("x", "float32[2,5]", "ones"),
        ("mask", "None (default)", ""),
        ("causal", "true (default)", ""),
        ("pool", "'mean' (default)", ""),
    ]
    assert panel.call_side.call() == EVAL
    assert panel.code.text.toPlainText() == f"# {EVAL}"
    assert store.of(AskCode)[-1] == AskCode(EVAL)


def test_what_is_written_is_run(
    qtbot: QtBot, panel: RunPanel, store: FakeStore
) -> None:
    write(panel, 0, "float32[8, 5]:normal(3)")
    write(panel, 1, "mask.npy")
    write(panel, 3, "max")
    panel.call_side.input_table.turn_over(value(panel, 2))
    panel.findChild(QPushButton, "modeToggle.train").click()  # type: ignore[union-attr]  # it is there
    panel.call_side.device_box.setCurrentIndex(2)
    panel.call_side.precision_box.setCurrentIndex(3)
    panel.call_side.seeds.setData(seed(panel, 0, SeedColumn.SEED), "7")
    run(qtbot, panel)
    assert store.of(Run) == [
        Run(
            Call(
                inputs=("float32[8,5]:normal(3)", "mask=mask.npy"),
                statics=(("causal", "false"), ("pool", '"max"')),
                mode="train",
                seeds=(("dropout", 7),),
                device="cpu:0",
                precision="highest",
            )
        )
    ]
    assert cells(panel)[0] == ("x", "float32[8,5]", "normal(3)")


def test_what_cannot_be_meant_is_said_and_not_run(
    panel: RunPanel, store: FakeStore
) -> None:
    write(panel, 0, "flat32[2]")
    side = panel.call_side
    assert side.problem.text() == (
        "“flat32” of x is no dtype; one is float32, another int32."
    )
    assert side.call() is None
    click(panel, "runButton")
    assert store.of(Run) == []
    assert side.input_table.currentIndex().row() == 0


def test_a_field_is_typed_with_the_keyboard_alone(
    qtbot: QtBot, panel: RunPanel
) -> None:
    table = panel.call_side.input_table
    table.setCurrentIndex(value(panel, 0))
    QTest.keyClick(table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: table.findChild(QLineEdit, "argumentField") is not None)
    field = table.findChild(QLineEdit, "argumentField")
    assert field is not None
    field.selectAll()
    QTest.keyClicks(field, "float32[4,5]")
    QTest.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: cells(panel)[0][1] == "float32[4,5]")
    table.setCurrentIndex(value(panel, 2))
    QTest.keyClick(table, Qt.Key.Key_Space)
    assert cells(panel)[2][1] == "false"


def test_a_mode_without_effect_says_so(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    same = replace(MODE, effect="same")
    store.answers[AskCallForm] = lambda _body: replace(FORM, mode=same)
    store.set_target(module_tree(TREE))
    window.show_panel("run")
    note = window.run.call_side.note
    qtbot.waitUntil(note.isVisible)
    assert note.text() == "train has no effect: both modes are the same program."


def test_another_method_has_its_own_form(
    qtbot: QtBot, panel: RunPanel, store: FakeStore
) -> None:
    box = panel.call_side.method_box
    box.setCurrentIndex(1)
    box.activated.emit(1)
    qtbot.waitUntil(lambda: panel.call_side.form == ENCODE)
    assert not panel.call_side.mode.isEnabled()
    assert panel.call_side.mode.toolTip() == "The module has no train/eval switch."
    run(qtbot, panel)
    assert store.of(Run)[-1] == Run(Call("encode", ("float32[2,5]",)))


def test_a_run_tells_who_drew(qtbot: QtBot, panel: RunPanel) -> None:
    run(qtbot, panel)
    draws = [seed(panel, row, SeedColumn.DRAWS).data() for row in range(2)]
    assert draws == [
        "h0/attn, h1/attn, 6 draws",
        "h1, 1 draw, with the keys of params",
    ]


def test_new_seeds_leave_a_locked_stream_alone(qtbot: QtBot, panel: RunPanel) -> None:
    seeds = panel.call_side.seeds
    seeds.setData(seed(panel, 0, SeedColumn.SEED), "5")
    panel.call_side.seed_table.turn_over(seed(panel, 0, SeedColumn.LOCK))
    click(panel, "newSeeds")
    found = dict(seeds.seeds)
    assert found["dropout"] == 5
    assert 0 <= found["noise"] < 1 << 32


def test_a_run_can_be_stopped(qtbot: QtBot, panel: RunPanel, store: FakeStore) -> None:
    store.holding.add(Run)
    click(panel, "runButton")
    assert panel.is_running
    assert not panel.bar.run_button.isEnabled()
    click(panel, "stopButton")
    qtbot.waitUntil(lambda: not panel.is_running)
    assert store.cancelled == [Run(EVAL)]
    assert panel.bar.run_button.isEnabled()


def test_the_stop_action_ends_the_run_alone(
    qtbot: QtBot, panel: RunPanel, window: MainWindow, store: FakeStore
) -> None:
    store.holding.add(Run)
    window.actions_[ActionId.RUN].trigger()
    qtbot.waitUntil(window.actions_[ActionId.STOP].isEnabled)
    window.actions_[ActionId.STOP].trigger()
    qtbot.waitUntil(lambda: not panel.is_running)
    assert store.of(document.StopModel) == []


def test_a_change_runs_again_when_asked_to(
    qtbot: QtBot, panel: RunPanel, store: FakeStore
) -> None:
    run(qtbot, panel)
    write(panel, 0, "float32[3,5]")
    assert panel.bar.stale.text() == "▲ The call changed since this run."
    panel.bar.automatic.setChecked(True)
    qtbot.waitUntil(lambda: len(store.of(Run)) == 2)
    assert panel.bar.stale.isHidden()
    store.holding.add(Run)
    write(panel, 0, "float32[4,5]")
    qtbot.waitUntil(lambda: len(store.of(Run)) == 3)
    # A change while it runs waits for its end; the model is not ended for it.
    write(panel, 0, "float32[5,5]")
    store.release_all()
    qtbot.waitUntil(lambda: len(store.of(Run)) == 4)
    assert store.cancelled == []
    assert store.of(Run)[-1].call.inputs == ("float32[5,5]",)


def test_an_edit_makes_the_result_stale(
    qtbot: QtBot, panel: RunPanel, store: FakeStore
) -> None:
    run(qtbot, panel)
    assert panel.bar.stale.isHidden()
    store.replace_tree(module_tree(TREE), values=True)
    qtbot.waitUntil(lambda: not panel.bar.stale.isHidden())
    assert panel.bar.stale.text() == "▲ Values changed since this run."


def test_a_module_of_a_recipe_runs_after_its_file_was_named(
    qtbot: QtBot, panel: RunPanel, store: FakeStore
) -> None:
    store.failing[Run] = ErrorInfo(
        "ModuleNotImportedError", "This runs the module's file", "/code/net.py"
    )
    run(qtbot, panel)
    button = panel.results.findChild(QPushButton, "errorAction")
    assert button is not None
    assert button.text() == "Run net.py"
    store.failing.clear()
    button.click()
    assert store.of(Run)[-1] == Run(EVAL, fresh=True)


def test_inputs_are_proposed_from_an_open_source(
    qtbot: QtBot, panel: RunPanel, store: FakeStore
) -> None:
    assert not panel.call_side.propose_button.isVisible()
    source = store.add_source(source_tree({"params/w": (2,)}))
    qtbot.waitUntil(panel.call_side.propose_button.isVisible)
    click(panel, "proposeInputs")
    qtbot.waitUntil(lambda: cells(panel)[0][1] == "float32[1,8,8,1]")
    assert store.of(ProposeInputs) == [ProposeInputs(ModuleSpec(""), source)]
    store.answers[ProposeInputs] = lambda _body: Proposals((), 40)
    click(panel, "proposeInputs")
    qtbot.waitUntil(lambda: panel.banners.get("proposals") is not None)
    banner = panel.banners.get("proposals")
    assert banner is not None
    assert banner.text == "No input was found that fits; 40 candidates were tried."


def test_the_call_is_copied_as_python(qtbot: QtBot, panel: RunPanel) -> None:
    click(panel, "copyCallCode")
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() == f"# {EVAL}")


def test_a_call_is_remembered_for_its_module(
    qtbot: QtBot, panel: RunPanel, store: FakeStore
) -> None:
    write(panel, 0, "float32[9,5]:arange")
    panel.call_side.seeds.setData(seed(panel, 1, SeedColumn.SEED), "11")
    panel.call_side.seed_table.turn_over(seed(panel, 1, SeedColumn.LOCK))
    before = panel.call_side.call()
    store.set_target(module_tree(TREE), "other.py:Net", spec="/code/other.py:Net")
    qtbot.waitUntil(lambda: panel.call_side.call() == EVAL)
    store.set_target(module_tree(TREE))
    qtbot.waitUntil(lambda: panel.call_side.call() == before)
    assert cells(panel)[0] == ("x", "float32[9,5]", "arange")
    assert panel.call_side.locked == ("noise",)


def test_collections_of_the_target_can_be_mutable(panel: RunPanel) -> None:
    button = panel.call_side.mutable
    assert button.text() == "Mutable: those it updates"
    texts = [action.text() for action in button.menu().actions()]
    assert texts == ["Those it updates", "batch_stats", "params"]
    button.menu().actions()[1].trigger()
    button.menu().actions()[0].trigger()
    call = panel.call_side.call()
    assert call is not None
    assert call.mutable == ("batch_stats",)


def test_a_changed_file_is_reloaded_with_one_click(
    qtbot: QtBot, panel: RunPanel, window: MainWindow, store: FakeStore
) -> None:
    note = "The edit of params/old no longer fits: it is gone."
    store.answers[ReloadModule] = lambda _body: document.Changes(
        base=True, notes=(note,)
    )
    store.send(ModuleFileChanged("/code/net.py"))
    qtbot.waitUntil(lambda: window.banners.get("moduleFile") is not None)
    banner = window.banners.get("moduleFile")
    assert banner is not None
    assert banner.text.startswith("net.py has changed on disk.")
    click_in = banner.findChild(QPushButton, "reloadModule")
    assert click_in is not None
    click_in.click()
    qtbot.waitUntil(lambda: window.banners.get("moduleNotes") is not None)
    assert store.of(ReloadModule) == [ReloadModule()]
    assert window.banners.get("moduleNotes").text == note  # type: ignore[union-attr]  # waited for
    assert window.banners.get("moduleFile") is None
    assert panel.call_side.call() == EVAL


def test_a_reload_that_is_put_off_asks_nothing(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    store.send(ModuleFileChanged("/code/net.py"))
    qtbot.waitUntil(lambda: window.banners.get("moduleFile") is not None)
    window.banners.get("moduleFile").findChild(QPushButton, "reloadLater").click()  # type: ignore[union-attr]  # waited for
    assert window.banners.get("moduleFile") is None
    assert store.of(ReloadModule) == []


@pytest.mark.parametrize("size", [(1024, 700), (1600, 1000)])
def test_nothing_of_the_call_is_cut(
    qtbot: QtBot, panel: RunPanel, window: MainWindow, size: tuple[int, int]
) -> None:
    window.resize(*size)
    window.actions_[ActionId.RESET_LAYOUT].trigger()
    qtbot.waitUntil(lambda: not panel.is_in_sight)
    window.show_panel("run")
    left = panel.body.widget(0)
    assert left is not None
    qtbot.waitUntil(lambda: faults(left) == [])
    qtbot.waitUntil(lambda: panel.height() >= 0.36 * size[1])
    assert (window.width(), window.height()) == size


def test_the_palette_finds_runs_to_compare(panel: RunPanel, window: MainWindow) -> None:
    window.actions_[ActionId.COMPARE].trigger()
    assert panel.results.tabs.currentWidget() is panel.results.runs
