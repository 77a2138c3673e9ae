from __future__ import annotations

from dataclasses import dataclass

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from inspector.engine.messages import inspecting
from inspector.engine.messages.calling import Call
from inspector.engine.messages.document import TARGET, Changes
from inspector.engine.messages.inspecting import BadReport, ValueSummary
from inspector.engine.messages.module import ModuleSpec
from inspector.errors import ModuleNotImportedError
from inspector.ui.models.verify_model import bar_share
from inspector.ui.panels.run_results import RunResults
from inspector.ui.panels.run_verify import (
    VerifyInputError,
    read_module,
    read_tolerance,
)
from tests.ui.content_store import ContentStore, light_theme, start_client
from tests.ui.run_driver import button, cell, click_row, column, settle
from tests.ui.run_samples import CALL, REPORT, VERIFIED, run_store, source


@dataclass
class _Left:
    """The left side of the run panel.

    Attributes:
        call: The call as it is filled in.
    """

    call: Call | None = CALL


@pytest.fixture
def left() -> _Left:
    return _Left()


@pytest.fixture
def store() -> ContentStore:
    return run_store()


@pytest.fixture
def results(qtbot: QtBot, store: ContentStore, left: _Left) -> RunResults:
    theme = light_theme()
    theme.apply()
    made = RunResults(start_client(store, qtbot), theme, call_of=lambda: left.call)
    list(made.steps())
    qtbot.addWidget(made)
    made.resize(1100, 300)
    made.show()
    qtbot.waitExposed(made)
    return made


def press(results: RunResults, name: str) -> None:
    QTest.mouseClick(button(results, name), Qt.MouseButton.LeftButton)


# Intermediates.


def test_calls_are_recorded_with_numbers(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    results.tabs.setCurrentWidget(results.calls)
    assert not button(results, "runAloneButton").isEnabled()
    press(results, "recordButton")
    table = results.calls.table
    qtbot.waitUntil(lambda: cell(table, 2, "NaN") == "1")
    settle(qtbot, results)
    assert store.of_type(inspecting.Record) == [inspecting.Record(CALL)]
    assert column(table, "module") == ["(root)", "h0", "attn"]
    assert column(table, "kind") == ["Net", "Block", "Attention"]
    # The second call returned two values: its numbers are those of both.
    assert column(table, "min") == ["0.5", "1", "2"]
    assert column(table, "max") == ["0.5", "7", "2"]
    assert cell(table, 1, "mean") == "3.67"
    assert results.calls.strip.label.text() == "Run 5: 3 calls in 3.20 ms"


def test_a_call_shows_its_values(qtbot: QtBot, results: RunResults) -> None:
    results.tabs.setCurrentWidget(results.calls)
    press(results, "recordButton")
    table = results.calls.table
    qtbot.waitUntil(lambda: table.table.rowCount() == 3)
    with qtbot.waitSignal(results.node_chosen) as chosen:
        click_row(table, 2)
    assert chosen.args == ["run5.calls", (2, "outputs")]
    table.customContextMenuRequested.emit(table.rect().center())
    menu = table.findChild(QMenu, "callTableMenu")
    assert menu is not None
    actions = {action.text(): action for action in menu.actions()}
    with qtbot.waitSignal(results.node_chosen) as chosen:
        actions["Show inputs"].trigger()
    assert chosen.args == ["run5.calls", (2, "inputs")]
    menu.close()
    sowed = button(results, "sowedButton")
    qtbot.waitUntil(sowed.isVisible)
    assert sowed.text() == "Sowed 1"
    with qtbot.waitSignal(results.node_chosen) as chosen:
        press(results, "sowedButton")
    assert chosen.args == ["run5.calls", ("sowed",)]


def test_a_call_runs_alone(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    results.tabs.setCurrentWidget(results.calls)
    press(results, "recordButton")
    table = results.calls.table
    qtbot.waitUntil(lambda: table.table.rowCount() == 3)
    click_row(table, 1)
    with qtbot.waitSignal(results.report_shown):
        press(results, "runAloneButton")
    assert store.of_type(inspecting.RunSubmodule) == [inspecting.RunSubmodule(5, 1)]
    assert results.report is not None
    assert results.report.run == 6
    assert results.tabs.currentWidget() is results.outputs


def test_a_recording_can_be_cancelled(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    store.held_types = (inspecting.Record,)
    results.tabs.setCurrentWidget(results.calls)
    press(results, "recordButton")
    cancel = button(results, "recordCancel")
    qtbot.waitUntil(cancel.isVisible)
    assert not button(results, "recordButton").isEnabled()
    assert not results.is_settled
    store.report(store.held(inspecting.Record)[0], 1, 4)
    qtbot.waitUntil(lambda: results.calls.strip.progress.share == 0.25)
    QTest.mouseClick(cancel, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: results.calls.strip.label.text() == "Stopped.")
    assert store.cancelled == [inspecting.Record(CALL)]
    assert button(results, "recordButton").isEnabled()
    assert not cancel.isVisible()


def test_a_file_that_would_run_is_named_first(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    def refuse(body: inspecting.Record) -> object:
        if not body.fresh:
            raise ModuleNotImportedError("nets/classifier.py", 4)
        return store.answers[inspecting.RunSubmodule](body)

    store.answers[inspecting.Record] = refuse
    results.tabs.setCurrentWidget(results.calls)
    press(results, "recordButton")
    banners = results.calls.strip.banners
    qtbot.waitUntil(lambda: banners.get("error") is not None)
    banner = banners.get("error")
    assert banner is not None
    run = banner.findChild(QPushButton, "errorAction")
    assert run is not None
    assert run.text() == "Run classifier.py"
    store.held_types = (inspecting.Record,)
    QTest.mouseClick(run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(store.held(inspecting.Record)) == 1)
    assert store.held(inspecting.Record) == [inspecting.Record(CALL, fresh=True)]
    assert banners.get("error") is None


def test_without_a_call_the_page_says_what_is_missing(
    results: RunResults, left: _Left
) -> None:
    left.call = None
    results.tabs.setCurrentWidget(results.bad)
    press(results, "findBadButton")
    banner = results.bad.strip.banners.get("error")
    assert banner is not None
    assert banner.hint.text() == "Load a module and fill in its inputs first."


# The first bad value.


def test_the_first_bad_value_is_named_with_its_line(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    results.tabs.setCurrentWidget(results.bad)
    box = results.findChild(QCheckBox, "findBadGradient")
    assert box is not None
    box.click()
    press(results, "findBadButton")
    table = results.bad.table
    qtbot.waitUntil(lambda: table.table.rowCount() == 2)
    assert store.of_type(inspecting.FindBad) == [
        inspecting.FindBad(CALL, gradient=True)
    ]
    assert "h0/attn made the first NaN" in results.bad.sentence.text()
    assert results.bad.line.text() == "y = jnp.log(scores - 1.0)"
    assert results.bad.others.text() == "NaN in the outputs of h0/attn → h0 → (root)"
    assert column(table, "NaN") == ["0", "9"]
    assert column(table, "min") == ["−1", "−0.7"]
    assert results.tabs.tabText(4) == "First NaN ▲"
    press(results, "badSource")
    assert QGuiApplication.clipboard().text() == "net.py:42"


def test_a_bad_weight_is_shown_in_the_details(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    path = ("params", "head", "kernel")
    store.answers[inspecting.FindBad] = lambda _body: BadReport(
        "weight",
        "The weight params/head/kernel holds 2 NaNs.",
        variable=path,
        outputs=(ValueSummary("params/head/kernel", "float32[4]", 0, 1, 2, 0, 4),),
    )
    results.tabs.setCurrentWidget(results.bad)
    press(results, "findBadButton")
    qtbot.waitUntil(lambda: results.bad.table.table.rowCount() == 1)
    with qtbot.waitSignal(results.node_chosen) as chosen:
        click_row(results.bad.table, 0)
    assert chosen.args == [TARGET, path]


def test_nothing_bad_is_good_news(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    store.answers[inspecting.FindBad] = lambda _body: BadReport(
        "none", "No NaN and no Inf in the outputs."
    )
    results.tabs.setCurrentWidget(results.bad)
    press(results, "findBadButton")
    qtbot.waitUntil(lambda: results.bad.report is not None)
    assert results.bad.sentence.text() == "No NaN and no Inf in the outputs."
    assert not results.bad.source.isVisible()
    assert results.tabs.tabText(4) == "First NaN"


# Verify.


def _box(results: RunResults, name: str) -> QComboBox:
    found = results.findChild(QComboBox, name)
    assert found is not None
    return found


def _field(results: RunResults, name: str) -> QLineEdit:
    found = results.findChild(QLineEdit, name)
    assert found is not None
    return found


def test_the_target_is_verified_against_the_newest_source(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    store.sources = (source("old", 1), source("new", 2))
    results.tabs.setCurrentWidget(results.verify)
    qtbot.waitUntil(lambda: _box(results, "verifyB").count() == 3)
    assert _box(results, "verifyA").currentText() == "Target"
    assert _box(results, "verifyB").currentText() == "new"
    press(results, "verifyButton")
    table = results.verify.table
    qtbot.waitUntil(lambda: table.table.rowCount() == 5)
    assert store.of_type(inspecting.Verify) == [
        inspecting.Verify(TARGET, "s2", CALL, tolerance=1e-5)
    ]
    assert results.verify.strip.label.text() == VERIFIED.text
    assert "3 of 5 calls above the tolerance" in results.verify.strip.label.toolTip()
    spoken = [
        table.table.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole)
        for row in range(5)
    ]
    assert spoken == [
        "mismatch, (root)",
        "exact, h0",
        "mismatch, attn",
        "exact, h1",
        "mismatch, head",
    ]
    assert cell(table, 4, "relative") == "∞"
    # The first module that differs is brought into view.
    assert table.chosen_rows() == [2]
    table.copy_all()
    lines = QGuiApplication.clipboard().text().split("\n")
    assert lines[0] == "module\tmethod\tlargest |a − b|\trelative\tnote"
    assert lines[3] == "h0/attn\t__call__\t0.5\t0.25\t"


def test_a_choice_stays_when_sources_come_and_go(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    store.sources = (source("old", 1), source("new", 2))
    results.tabs.setCurrentWidget(results.verify)
    box = _box(results, "verifyB")
    qtbot.waitUntil(lambda: box.count() == 3)
    box.setCurrentIndex(1)
    store.emit(Changes(sources=True))
    qtbot.waitUntil(lambda: results.is_settled and box.currentText() == "old")
    store.sources = (*store.sources, source("newest", 3))
    store.emit(Changes(sources=True))
    qtbot.waitUntil(lambda: box.currentText() == "newest")
    store.sources = ()
    store.emit(Changes(sources=True))
    qtbot.waitUntil(lambda: box.currentText() == "Target")


def test_tolerance_and_module_are_checked_where_they_are_typed(
    qtbot: QtBot, results: RunResults, store: ContentStore
) -> None:
    store.sources = (source("old", 1),)
    results.tabs.setCurrentWidget(results.verify)
    field = _field(results, "verifyTolerance")
    field.setText("small")
    QTest.keyClick(field, Qt.Key.Key_Return)
    banners = results.verify.strip.banners
    banner = banners.get("error")
    assert banner is not None
    assert banner.message.text() == "‘small’ is no tolerance."
    field.setText("1e-3")
    other = _field(results, "verifyModuleB")
    other.setText('old.py:Net {"width": 64}')
    QTest.keyClick(other, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: results.verify.report is not None)
    asked = store.of_type(inspecting.Verify)[0]
    assert asked.tolerance == 1e-3
    assert asked.module_b is not None
    assert asked.module_b.spec == "old.py:Net"
    assert asked.module_b.kwargs == '{"width": 64}'
    assert asked.module_b.inputs == CALL.inputs
    assert banners.get("error") is None


@pytest.mark.parametrize("text", ["", "x", "-1", "nan", "inf"])
def test_what_is_no_tolerance(text: str) -> None:
    with pytest.raises(VerifyInputError) as caught:
        read_tolerance(text)
    assert "1e-5" in caught.value.hint


@pytest.mark.parametrize("text", ["old.py", "old.py:", "a.py:Net {x}", "a.py:Net {1}"])
def test_what_is_no_module(text: str) -> None:
    with pytest.raises(VerifyInputError):
        read_module(text, CALL)


def test_an_empty_module_is_that_of_a() -> None:
    assert read_module("  ", CALL) is None
    made = read_module("pkg.nets:Net", CALL)
    assert isinstance(made, ModuleSpec)
    assert (made.spec, made.kwargs) == ("pkg.nets:Net", "{}")


def test_bars_are_on_a_scale_of_powers_of_ten() -> None:
    assert bar_share(0.0, 1e-5) == 0.0
    assert bar_share(1e-5, 1e-5) == 0.5
    assert 0 < bar_share(1e-7, 1e-5) < 0.5 < bar_share(1e-3, 1e-5) < 1
    assert bar_share(float("inf"), 1e-5) == bar_share(float("nan"), 1e-5) == 1.0


def test_after_a_run_its_call_is_looked_into(qtbot: QtBot, store: ContentStore) -> None:
    theme = light_theme()
    made = RunResults(start_client(store, qtbot), theme)
    list(made.steps())
    qtbot.addWidget(made)
    made.show_report(REPORT)
    made.calls.record()
    qtbot.waitUntil(lambda: made.calls.report is not None)
    assert store.of_type(inspecting.Record) == [inspecting.Record(REPORT.call)]
