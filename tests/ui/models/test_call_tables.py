"""The two tables of a call as Qt sees them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester

from inspector.ui.models.arguments_model import ArgumentColumn, ArgumentsModel
from inspector.ui.models.call_draft import arguments_of
from inspector.ui.models.record_table import ResultRole
from inspector.ui.models.seeds_model import SEED_END, SeedColumn, SeedsModel, Stream
from tests.ui.call_samples import FORM, USES


@pytest.fixture
def arguments(qapp: QApplication, qtmodeltester: ModelTester) -> ArgumentsModel:
    del qapp
    model = ArgumentsModel()
    model.show_rows(arguments_of(FORM, FORM.inputs))
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    return model


@pytest.fixture
def seeds(qapp: QApplication, qtmodeltester: ModelTester) -> SeedsModel:
    del qapp
    model = SeedsModel()
    model.show_streams([Stream("dropout", 3), Stream("noise")])
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]  # pytest-qt has no types
    return model


def test_one_more_input_is_like_the_last(arguments: ArgumentsModel) -> None:
    arguments.setData(arguments.index(0, ArgumentColumn.FILL), "arange")
    arguments.show_rows(arguments.rows[:1])
    arguments.add_row()
    assert [row.whole() for row in arguments.rows] == ["float32[2,5]:arange"] * 2


def test_what_is_wrong_is_red_and_spoken(arguments: ArgumentsModel) -> None:
    cell = arguments.index(0, ArgumentColumn.VALUE)
    arguments.setData(cell, "abc")
    assert cell.data(ResultRole.TOKEN) == "error"
    spoken = cell.data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("abc: “abc” is no input.")
    assert arguments.first_problem()[0] == 0


def test_static_arguments_have_nothing_to_fill(arguments: ArgumentsModel) -> None:
    editable = Qt.ItemFlag.ItemIsEditable
    cells = [arguments.index(row, ArgumentColumn.FILL) for row in range(4)]
    flags = [bool(arguments.flags(cell) & editable) for cell in cells]
    statics = [row.is_static for row in arguments.rows]
    assert flags == [not static for static in statics]


@pytest.mark.parametrize("text", ["-1", "x", "", str(SEED_END), "1.5"])
def test_what_is_no_seed_is_not_taken(seeds: SeedsModel, text: str) -> None:
    assert not seeds.setData(seeds.index(0, SeedColumn.SEED), text)
    assert seeds.seeds == (("dropout", 3),)


def test_a_stream_without_a_seed_of_its_own_says_what_stands_for_it(
    seeds: SeedsModel,
) -> None:
    cell = seeds.index(1, SeedColumn.SEED)
    assert cell.data() == "0"
    seeds.set_unset_text("its own state")
    assert cell.data() == "its own state"
    assert cell.data(ResultRole.TOKEN) == "secondary"


def test_a_stream_that_a_run_found_is_added(seeds: SeedsModel) -> None:
    seeds.show_streams([Stream("params", 1)])
    seeds.show_draws(USES)
    names = [stream.name for stream in seeds.streams]
    draws = [seeds.index(row, SeedColumn.DRAWS).data() for row in range(3)]
    assert names == ["params", "dropout", "noise"]
    assert draws == [
        "nothing",
        "h0/attn, h1/attn, 6 draws",
        "h1, 1 draw, with the keys of params",
    ]
    assert seeds.index(2, SeedColumn.DRAWS).data(ResultRole.MARK) == "open"
    assert seeds.seeds == (("params", 1),)


def test_new_seeds_skip_locked_streams(seeds: SeedsModel) -> None:
    seeds.toggle_lock(0)
    assert seeds.draw_new(lambda end: end - 1) == 1
    assert seeds.seeds == (("dropout", 3), ("noise", SEED_END - 1))
