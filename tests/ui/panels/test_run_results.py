from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from inspector.engine.messages import running, viewing
from inspector.engine.messages.document import TARGET, Changes
from inspector.errors import ErrorInfo, InspectorError
from inspector.ui.panels.run_results import RunResults
from inspector.ui.panels.run_table import ResultTable
from tests.ui.content_store import ContentStore, light_theme, start_client
from tests.ui.fitting import faults
from tests.ui.run_driver import button, cell, click_row, column, settle
from tests.ui.run_samples import CALL, REPORT, earlier, run_store


@pytest.fixture
def store() -> ContentStore:
    return run_store()


@pytest.fixture
def results(qtbot: QtBot, store: ContentStore) -> RunResults:
    theme = light_theme()
    theme.apply()
    made = RunResults(start_client(store, qtbot), theme, call_of=lambda: CALL)
    list(made.steps())
    qtbot.addWidget(made)
    made.resize(900, 260)
    made.show()
    qtbot.waitExposed(made)
    return made


def test_before_any_run_the_tables_invite(results: RunResults) -> None:
    assert results.report is None
    assert results.is_settled
    table = results.outputs.table
    assert table.accessibleDescription() == "Run the call to see its outputs here."
    assert not button(results, "saveButton").isEnabled()


def test_outputs_show_exact_statistics(qtbot: QtBot, results: RunResults) -> None:
    results.show_report(REPORT)
    table = results.outputs.table
    assert not results.is_settled
    settle(qtbot, results)
    assert column(table, "output") == ["aux/tokens", "logits", "loss"]
    assert column(table, "shape") == ["[6]", "[2,3]", "[]"]
    assert column(table, "dtype") == ["int32", "float32", "float32"]
    assert column(table, "min") == ["0", "−1.5", "0.693"]
    assert column(table, "mean") == ["2.5", "0.45", "0.693"]
    assert column(table, "NaN") == ["0", "1", "0"]
    head = results.outputs.strip.label
    assert head.text() == (
        "Run 3 · cpu:0 · 1.24 ms · compile 0.62 s · transfer 10.0 ms · peak 412 MiB"
        " · 63.6 GFLOP · __call__(float32[2,5], train=True) · revision 4"
    )
    assert "compile (XLA): 0.430000 s" in head.toolTip()


def test_only_rows_in_sight_are_computed(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    results.tabs.setCurrentWidget(results.verify)
    results.show_report(REPORT)
    settle(qtbot, results)
    assert store.of_type(viewing.ReadStatistics) == []
    results.tabs.setCurrentWidget(results.outputs)
    qtbot.waitUntil(lambda: len(store.of_type(viewing.ReadStatistics)) == 3)


def test_a_number_on_its_way_is_a_line_and_then_a_number(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    store.held_types = (viewing.ReadStatistics,)
    results.show_report(REPORT)
    qtbot.waitUntil(lambda: len(store.held(viewing.ReadStatistics)) == 3)
    table = results.outputs.table
    assert column(table, "min") == ["", "", ""]
    assert not results.is_settled
    store.release()
    settle(qtbot, results)
    assert cell(table, 2, "min") == "0.693"


def test_choosing_a_row_names_the_node(qtbot: QtBot, results: RunResults) -> None:
    results.show_report(REPORT)
    table = results.outputs.table
    qtbot.waitUntil(lambda: cell(table, 1, "output") == "logits")
    with qtbot.waitSignal(results.node_chosen) as chosen:
        click_row(table, 1)
    assert chosen.args == ["run3.outputs", ("logits",)]
    with qtbot.waitSignal(results.node_chosen) as chosen:
        QTest.keyClick(table, Qt.Key.Key_Down)
    assert chosen.args == ["run3.outputs", ("loss",)]
    with qtbot.waitSignal(results.node_chosen) as chosen:
        click_row(table, 2)
    assert chosen.args == ["run3.outputs", ("loss",)]


def test_rows_are_copied_with_exact_values(qtbot: QtBot, results: RunResults) -> None:
    results.show_report(REPORT)
    table = results.outputs.table
    qtbot.waitUntil(lambda: cell(table, 2, "max") == "0.693")
    table.setFocus()
    table.selectRow(2)
    QTest.keySequence(table, QKeySequence(QKeySequence.StandardKey.Copy))
    lines = QGuiApplication.clipboard().text().split("\n")
    assert lines[0] == "output\tshape\tdtype\tmin\tmax\tmean\tstd\tNaN"
    assert lines[1].split("\t")[:4] == ["loss", "[]", "float32", "0.6930000185966492"]
    table.copy_all()
    assert len(QGuiApplication.clipboard().text().split("\n")) == 4


def test_outputs_are_saved_and_the_place_is_named(
    qtbot: QtBot,
    results: RunResults,
    store: ContentStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results.show_report(REPORT)
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *_args, **_kwargs: ("out/first", "")
    )
    QTest.mouseClick(button(results, "saveButton"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: results.outputs.strip.banners.get("saved") is not None)
    assert store.of_type(running.SaveRun) == [running.SaveRun(3, "out/first.npz")]
    banner = results.outputs.strip.banners.get("saved")
    assert banner is not None
    assert banner.text == "Saved 3 outputs, 52 B, to out/first.npz"


def test_a_run_that_is_gone_says_so_once(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    def gone(_body: object) -> object:
        message = "The outputs of run 3 are no longer kept."
        raise InspectorError(message, hint="Run it again.")

    store.answers[viewing.AskListing] = gone
    results.show_report(REPORT)
    banners = results.outputs.strip.banners
    qtbot.waitUntil(lambda: banners.get("error") is not None)
    banner = banners.get("error")
    assert banner is not None
    assert "no longer kept" in banner.text
    assert len(store.of_type(viewing.AskListing)) == 1


def test_a_failed_run_keeps_the_last_one_in_sight(
    qtbot: QtBot, results: RunResults
) -> None:
    results.show_report(REPORT)
    results.show_running("Run 4 compiles…")
    assert results.outputs.strip.label.text() == "Run 4 compiles…"
    assert not results.is_settled
    results.show_error(ErrorInfo("CallError", "The shapes do not fit.", "net.py:3"))
    settle(qtbot, results)
    assert results.outputs.strip.label.text().startswith("Run 3 ·")
    banner = results.banners.get("run")
    assert banner is not None
    assert banner.text == "net.py:3: The shapes do not fit."
    results.show_report(replace(REPORT, run=4))
    assert results.banners.get("run") is None


def test_clear_forgets_everything(qtbot: QtBot, results: RunResults) -> None:
    results.show_report(REPORT)
    settle(qtbot, results)
    results.clear()
    assert results.report is None
    assert results.outputs.model.rowCount() == 0
    assert results.updates.model.rowCount() == 0
    assert results.tabs.tabText(1) == "Updates"
    assert results.tabs.tabText(2) == "Remarks"


# Updates.


def test_updates_are_a_difference_asked_when_looked_at(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    results.show_report(REPORT)
    assert results.tabs.tabText(1) == "Updates 2"
    settle(qtbot, results)
    assert store.of_type(running.CompareUpdates) == []
    results.tabs.setCurrentWidget(results.updates)
    table = results.updates.table
    qtbot.waitUntil(lambda: table.table.rowCount() == 2)
    assert store.of_type(running.CompareUpdates) == [running.CompareUpdates(3)]
    assert column(table, "largest |Δ|") == ["0.25", "0"]
    assert column(table, "mean |Δ|") == ["0.125", "0"]
    assert column(table, "note") == ["", "equal"]
    assert results.updates.strip.label.text() == "1 of 2 variables changed."
    with qtbot.waitSignal(results.node_chosen) as chosen:
        click_row(table, 0)
    assert chosen.args == ["run3.updates", ("batch_stats", "norm", "mean")]


def test_an_update_is_shown_before_and_after(qtbot: QtBot, results: RunResults) -> None:
    results.show_report(REPORT)
    results.tabs.setCurrentWidget(results.updates)
    table = results.updates.table
    qtbot.waitUntil(lambda: table.table.rowCount() == 2)
    click_row(table, 1)
    table.customContextMenuRequested.emit(table.rect().center())
    menu = table.findChild(QMenu, "updateTableMenu")
    assert menu is not None
    actions = {action.text(): action for action in menu.actions()}
    for text, tree in (("Show after the run", "run3.updates"),
                       ("Show in the target", TARGET)):  # fmt: skip
        with qtbot.waitSignal(results.node_chosen) as chosen:
            actions[text].trigger()
        assert chosen.args == [tree, ("batch_stats", "norm", "var")]
    menu.close()


def test_updates_are_taken_and_undone(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    results.show_report(REPORT)
    results.tabs.setCurrentWidget(results.updates)
    table = results.updates.table
    qtbot.waitUntil(lambda: table.table.rowCount() == 2)
    click_row(table, 0)
    take = button(results, "takeButton")
    assert take.text() == "Take 1 into target"
    taken = store.history.__class__(1, 1, ("take updates",), 0, True, False)
    undone = replace(taken, position=0, can_undo=False, can_redo=True)
    store.history = taken
    QTest.mouseClick(take, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: column(table, "note") == ["taken", "equal"])
    assert store.of_type(running.TakeUpdates) == [
        running.TakeUpdates(3, (("batch_stats", "norm", "mean"),))
    ]
    assert not take.isEnabled()
    store.emit(Changes(values=True, history=undone))
    qtbot.waitUntil(lambda: column(table, "note") == ["", "equal"])
    assert take.isEnabled()
    store.emit(Changes(values=True, history=taken))
    qtbot.waitUntil(lambda: column(table, "note") == ["taken", "equal"])
    # Another edit in its place is not the one that took them.
    store.emit(Changes(values=True, history=replace(taken, texts=("rename",))))
    qtbot.waitUntil(lambda: column(table, "note") == ["", "equal"])


def test_all_updates_are_taken_when_none_is_selected(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    results.show_report(REPORT)
    results.tabs.setCurrentWidget(results.updates)
    qtbot.waitUntil(lambda: results.updates.table.table.rowCount() == 2)
    results.updates.table.clearSelection()
    store.history = store.history.__class__(1, 1, ("take updates",), 0, True, False)
    QTest.mouseClick(button(results, "takeButton"), Qt.MouseButton.LeftButton)
    table = results.updates.table
    qtbot.waitUntil(lambda: column(table, "note") == ["taken", "taken"])
    assert store.of_type(running.TakeUpdates) == [running.TakeUpdates(3, ())]


def test_a_run_without_updates_says_so(results: RunResults) -> None:
    results.show_report(earlier(2))
    table = results.updates.table
    assert table.accessibleDescription() == "This run updated no variables."
    assert not button(results, "takeButton").isEnabled()


# Remarks.


def test_remarks_and_draws(qtbot: QtBot, results: RunResults) -> None:
    results.show_report(REPORT)
    assert results.tabs.tabText(2) == "Remarks 2 ▲"
    results.tabs.setCurrentWidget(results.remarks)
    settle(qtbot, results)
    texts = results.remarks.list.texts
    assert texts[0].startswith("h1/noise asks for “noise”")
    assert texts[1] == "Train mode sets train=True."
    table = results.remarks.table
    assert column(table, "module") == ["h1/noise", "h0/attn"]
    assert column(table, "key of") == ["params", "dropout"]
    assert column(table, "draws") == ["1", "2"]
    assert cell(table, 0, "note") == "no key for “noise”: it drew from “params”"


# Runs.


def test_two_runs_are_compared(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    results.show_report(REPORT)
    results.tabs.setCurrentWidget(results.runs)
    table = results.runs.table
    qtbot.waitUntil(lambda: column(table, "run") == ["3", "2", "1"])
    assert cell(table, 0, "when") != "–"
    assert cell(table, 1, "when") == "–"
    compare = button(results, "compareRunsButton")
    assert not compare.isEnabled()
    click_row(table, 0)
    assert compare.text() == "Compare 3 with 2"
    place = table.visualRect(table.table.index(2, 0)).center()
    control = Qt.KeyboardModifier.ControlModifier
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, control, place)
    assert compare.text() == "Compare 3 with 1"
    QTest.mouseClick(compare, Qt.MouseButton.LeftButton)
    difference = results.runs.difference_table
    qtbot.waitUntil(lambda: column(difference, "output") == ["logits"])
    assert store.of_type(running.CompareRuns) == [running.CompareRuns(3, 1)]
    assert results.runs.strip.label.text() == "Runs 3 and 1 are equal within float32."
    assert cell(difference, 0, "largest |Δ|") == "3.0e−7"


def test_return_shows_an_earlier_run(qtbot: QtBot, results: RunResults) -> None:
    results.show_report(REPORT)
    results.tabs.setCurrentWidget(results.runs)
    table = results.runs.table
    qtbot.waitUntil(lambda: table.table.rowCount() == 3)
    table.setFocus()
    table.selectRow(1)
    with qtbot.waitSignal(results.report_shown):
        QTest.keyClick(table, Qt.Key.Key_Return)
    assert results.report is not None
    assert results.report.run == 2
    assert results.tabs.currentWidget() is results.outputs
    assert results.outputs.strip.label.text().startswith("Run 2 ·")


@pytest.mark.parametrize("width", [500, 1000])
def test_nothing_is_cut(qtbot: QtBot, results: RunResults, width: int) -> None:
    results.resize(width, 230)
    results.show_report(REPORT)
    for number in range(results.tabs.count()):
        results.tabs.setCurrentIndex(number)
        settle(qtbot, results)
        assert faults(results) == []


def test_every_part_has_a_name(results: RunResults) -> None:
    nameless = [
        widget.objectName() or type(widget).__name__
        for kind in (QPushButton, ResultTable)
        for widget in results.findChildren(kind)
        if not widget.accessibleName()
    ]
    assert nameless == []
