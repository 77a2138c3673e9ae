from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import TARGET, TypeNumbers
from inspector.engine.messages.reading import Numbers
from inspector.engine.messages.viewing import ReadNumbers
from inspector.errors import InspectorError
from inspector.ui.models.array_model import BLOCK, PAGE, ArrayModel, ArrayPlace
from tests.ui.content_store import ContentStore, start_client

_PATH = ("params", "kernel")


def _text(model: ArrayModel, row: int, column: int) -> str:
    return str(model.index(row, column).data())


def _shown(
    qtbot: QtBot, array: np.ndarray, *, editable: bool = False
) -> tuple[ArrayModel, ContentStore]:
    store = ContentStore()
    store.put(TARGET, {_PATH: array})
    model = ArrayModel(start_client(store, qtbot))
    model.set_array(
        ArrayPlace(TARGET, _PATH, array.shape, str(array.dtype), editable=editable)
    )
    return model, store


def test_numbers_come_by_block(qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    array = np.arange(200 * 100, dtype=np.int64).reshape(200, 100) * 10**12
    model, store = _shown(qtbot, array)
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]  # has no stubs
    assert _text(model, 130, 70) == "…" or _text(model, 130, 70).isdigit()
    qtbot.waitUntil(lambda: _text(model, 130, 70) == str(array[130, 70]))
    asked = store.of_type(ReadNumbers)
    assert ReadNumbers(TARGET, _PATH, ((128, 192), (64, 100))) in asked
    assert all(stop - start <= BLOCK for body in asked for start, stop in body.region)


def test_a_thousand_million_numbers_take_one_page(qtbot: QtBot) -> None:
    store = ContentStore()
    store.answers[ReadNumbers] = lambda body: Numbers(
        (64,), "int32", np.arange(*body.region[0], dtype=np.int32).tobytes()
    )
    model = ArrayModel(start_client(store, qtbot))
    model.set_array(ArrayPlace("s1", _PATH, (10**9,), "int32"))
    assert model.rowCount() == PAGE
    last_page = (10**9 - 1) // PAGE * PAGE
    model.set_slice(model.slice, (last_page, 0))
    assert model.rowCount() == 10**9 - last_page
    row = model.rowCount() - 1
    qtbot.waitUntil(lambda: _text(model, row, 0) == "999999999")
    assert model.headerData(row, Qt.Orientation.Vertical) == "999999999"
    assert len(store.of_type(ReadNumbers)) == 1


def test_a_number_typed_becomes_an_edit_of_one_element(qtbot: QtBot) -> None:
    model, store = _shown(qtbot, np.zeros((2, 3, 4), np.float32), editable=True)
    model.set_slice(model.slice.with_index(0, 1))
    qtbot.waitUntil(lambda: _text(model, 2, 3) == "0")
    assert model.setData(model.index(2, 3), "0.5")
    assert store.of_type(TypeNumbers) == [
        TypeNumbers(_PATH, (1, 2, 3), (1, 1, 1), ("0.5",))
    ]


def test_what_is_no_number_is_refused_and_not_sent(qtbot: QtBot) -> None:
    model, store = _shown(qtbot, np.zeros((2, 2), np.int32), editable=True)
    with qtbot.waitSignal(model.failed) as failed:
        assert not model.setData(model.index(0, 0), "0.5")
    assert failed.args is not None
    assert "no whole number" in failed.args[0].message
    assert store.of_type(TypeNumbers) == []


def test_a_source_cannot_be_typed_into(qtbot: QtBot) -> None:
    model, _ = _shown(qtbot, np.zeros((2, 2), np.int32))
    assert not model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsEditable
    assert not model.setData(model.index(0, 0), "1")


def test_a_block_that_cannot_be_read_says_why_in_its_cells(qtbot: QtBot) -> None:
    def fail(_body: object) -> object:
        raise InspectorError(message="The chunk is gone.", where="c/0")

    model, store = _shown(qtbot, np.zeros((2, 2), np.int32))
    store.answers[ReadNumbers] = fail
    with qtbot.waitSignal(model.failed):
        assert _text(model, 0, 0) == "…"
    assert _text(model, 0, 0) == "▲"
    tip = model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert tip.startswith("c/0: The chunk is gone.")


def test_rereading_keeps_the_old_numbers_until_the_new_ones_come(
    qtbot: QtBot,
) -> None:
    array = np.zeros((2, 2), np.int32)
    model, store = _shown(qtbot, array)
    qtbot.waitUntil(lambda: _text(model, 0, 0) == "0")
    array[0, 0] = 7
    store.held_types = (ReadNumbers,)
    model.reread()
    assert _text(model, 0, 0) == "0"
    qtbot.waitUntil(lambda: bool(store.held(ReadNumbers)))
    assert _text(model, 0, 0) == "0"
    store.release()
    qtbot.waitUntil(lambda: _text(model, 0, 0) == "7")
