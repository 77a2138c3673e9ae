from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSlider
from pytestqt.qtbot import QtBot

from inspector.engine.messages.viewing import ReadPicture
from inspector.ui.panels.details import DetailsPanel
from inspector.ui.viewers.picture import PictureViewer, left_out, ordinal
from tests.ui.content_store import ContentStore, light_theme, start_client

_PATH = ("params", "kernel")


def _shown(qtbot: QtBot, array: np.ndarray) -> tuple[DetailsPanel, ContentStore]:
    store = ContentStore()
    store.put("s1", {_PATH: array})
    panel = DetailsPanel(start_client(store, qtbot), light_theme())
    qtbot.addWidget(panel)
    panel.resize(420, 640)
    panel.show()
    panel.show_node("s1", _PATH)
    qtbot.waitUntil(lambda: not picture(panel).canvas.area().isEmpty())
    return panel, store


def picture(panel: DetailsPanel) -> PictureViewer:
    viewer = panel.viewer("Picture")
    assert isinstance(viewer, PictureViewer)
    return viewer


def test_the_value_under_the_mouse_has_its_exact_index(qtbot: QtBot) -> None:
    array = np.arange(3 * 8 * 8, dtype=np.float32).reshape(3, 8, 8)
    panel, _ = _shown(qtbot, array)
    viewer = picture(panel)
    area = viewer.canvas.area()
    cell = area.width() / 8
    point = area.topLeft() + QPoint(int(5.5 * cell), int(2.5 * cell))
    QTest.mouseMove(viewer.canvas, QPoint(1, 1))
    QTest.mouseMove(viewer.canvas, point.toPoint())
    qtbot.waitUntil(lambda: viewer.readout.text() == f"[0, 2, 5] = {2 * 8 + 5}")


def test_integers_that_float32_cannot_hold_are_read_again(qtbot: QtBot) -> None:
    array = np.array([[2**53 + 1, 0], [1, 2]], np.int64)
    panel, _ = _shown(qtbot, array)
    viewer = picture(panel)
    viewer.canvas.setFocus()
    QTest.keyClick(viewer.canvas, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: viewer.readout.text() == "[0, 0] = 9007199254740993")


def test_what_is_left_out_is_said(qtbot: QtBot) -> None:
    panel, _ = _shown(qtbot, np.ones((600, 4), np.float32))
    viewer = picture(panel)
    assert viewer.note.text() == "every 4th row shown"
    QTest.keyClick(viewer.canvas, Qt.Key.Key_Right)
    QTest.keyClick(viewer.canvas, Qt.Key.Key_Down)
    assert viewer.readout.text() == "[4, 0] = 1"


def test_while_a_slider_moves_the_newest_slice_is_asked_for_last(
    qtbot: QtBot,
) -> None:
    array = np.arange(9 * 16 * 16, dtype=np.float32).reshape(9, 16, 16)
    panel, store = _shown(qtbot, array)
    viewer = picture(panel)
    store.held_types = (ReadPicture,)
    slider = viewer.findChild(QSlider, "pictureSlice.slider0")
    assert slider is not None
    for position in range(1, 9):
        slider.setValue(position)
    assert [body.index[0] for body in store.held(ReadPicture)] == [1]
    store.release()
    qtbot.waitUntil(lambda: bool(store.held(ReadPicture)))
    assert [body.index[0] for body in store.held(ReadPicture)] == [8]
    store.release()
    QTest.keyClick(viewer.canvas, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: viewer.bar.accessibleDescription().endswith("2.3e3"))


def test_zoom_by_keys_and_back(qtbot: QtBot) -> None:
    panel, _ = _shown(qtbot, np.ones((8, 8), np.float32))
    viewer = picture(panel)
    QTest.keyClick(viewer.canvas, Qt.Key.Key_Plus)
    assert viewer.canvas.zoom == pytest.approx(1.5)
    QTest.keyClick(viewer.canvas, Qt.Key.Key_0)
    assert viewer.canvas.zoom == 1


def test_the_histogram_names_the_fullest_bin(qtbot: QtBot) -> None:
    array = np.concatenate([np.zeros(90), np.ones(10)]).astype(np.float32)
    panel, _ = _shown(qtbot, array)
    viewer = picture(panel)
    qtbot.waitUntil(lambda: bool(viewer.histogram.counts))
    assert viewer.histogram.edges == (0.0, 1.0)
    assert viewer.histogram.counts[0] == 90
    assert viewer.histogram.counts[-1] == 10
    assert viewer.histogram.accessibleDescription().endswith("0 … 0.0156: 90 values")


def test_ordinals() -> None:
    assert [ordinal(n) for n in (2, 3, 4, 11, 12, 21, 22, 113)] == [
        "2nd", "3rd", "4th", "11th", "12th", "21st", "22nd", "113th",
    ]  # fmt: skip
    assert left_out(1, 1) == ""
    assert left_out(4, 2) == "every 4th row and 2nd column shown"
