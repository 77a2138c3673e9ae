from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import CastNodes, FillNodes
from inspector.errors import EditError
from inspector.ui.dialogs.cast import CastDialog
from inspector.ui.dialogs.fill import FillDialog, problem_of
from tests.ui.content_store import ContentStore, light_theme, start_client

BIAS = ("params", "bias")


def test_fill_checks_the_number_and_fills(qtbot: QtBot) -> None:
    store = ContentStore()
    client = start_client(store, qtbot)
    dialog = FillDialog(client, light_theme(), (BIAS,), dtype="uint8")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.number.selectAll()
    QTest.keyClicks(dialog.number, "300")
    assert dialog.note.text() == "‘300’ does not fit uint8 (0 to 255)."
    assert not dialog.apply_button.isEnabled()
    QTest.keyClick(dialog.number, Qt.Key.Key_Backspace)
    QTest.keyClick(dialog.number, Qt.Key.Key_Return)
    assert store.of_type(FillNodes) == [FillNodes((BIAS,), "30")]
    qtbot.waitUntil(lambda: not dialog.isVisible())


def test_cast_offers_other_dtypes_and_shows_a_refusal(qtbot: QtBot) -> None:
    store = ContentStore()

    def refuse(_body: object) -> object:
        raise EditError(message="No.", where="params/bias")

    store.answers[CastNodes] = refuse
    client = start_client(store, qtbot)
    dialog = CastDialog(client, light_theme(), (BIAS,), dtype="float32")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.dtype.findText("float32") == -1
    dialog.dtype.setCurrentText("bfloat16")
    dialog.apply()
    qtbot.waitUntil(dialog.banner.isVisible)
    assert store.of_type(CastNodes) == [CastNodes((BIAS,), "bfloat16")]
    assert dialog.banner.message.text() == "No."
    assert dialog.isVisible()


@pytest.mark.parametrize("text", ["0", "nan", "1+2j", "true", "-1e-3"])
def test_any_number_fills_several_arrays(text: str) -> None:
    assert problem_of(text, "") == ""


def test_a_word_fills_none() -> None:
    assert problem_of("zero", "") == "‘zero’ is no number."
