from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from inspector.engine.messages.reading import StatisticsReply
from inspector.ui.theme import Mode, Theme
from inspector.ui.tokens import DARK, LIGHT
from inspector.ui.viewers.histogram import Histogram
from inspector.ui.viewers.histogram_bars import Bars

_EVEN = (1, 2, 3, 4, 5, 6, 7, 4)


def _statistics(
    counts: tuple[int, ...],
    edges: tuple[float, float] = (-1.0, 1.0),
    *,
    sampled: bool = False,
) -> StatisticsReply:
    count = sum(counts)
    return StatisticsReply(
        count=count, minimum=edges[0], maximum=edges[1], mean=0.0, std=0.0, total=0.0,
        zeros=0, nan=0, inf=0, edges=edges, counts=counts, sampled=sampled,
    )  # fmt: skip


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    column = QVBoxLayout(made)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(QLineEdit(made))
    column.addWidget(Histogram(theme, made))
    made.resize(400, 160)
    made.show()
    qtbot.waitExposed(made)
    return made


@pytest.fixture
def histogram(qtbot: QtBot, panel: QWidget) -> Histogram:
    found = panel.findChild(Histogram)
    assert found is not None
    qtbot.waitUntil(lambda: found.is_ready, timeout=20_000)
    return found


def _columns(image: QImage, colour: str) -> dict[int, int]:
    """Returns, for each column with pixels of a colour, how many there are."""
    wanted = QColor(colour).rgb()
    found: dict[int, int] = {}
    for x in range(image.width()):
        here = sum(image.pixel(x, y) == wanted for y in range(image.height()))
        if here:
            found[x] = here
    return found


def _picture(histogram: Histogram) -> QImage:
    return histogram.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def _bars(qtbot: QtBot, histogram: Histogram, colour: str) -> dict[int, int]:
    qtbot.waitUntil(lambda: bool(_columns(_picture(histogram), colour)))
    return _columns(_picture(histogram), colour)


def test_bars_are_as_high_as_their_counts(qtbot: QtBot, histogram: Histogram) -> None:
    histogram.show_statistics(_statistics((10, 20, 40, 0)))
    bars = _bars(qtbot, histogram, LIGHT.accent)
    left, right = 40, histogram.width() - 12
    width = (right - left) / 4
    centres = [round(left + (number + 0.5) * width) for number in range(4)]
    assert min(bars) == pytest.approx(left, abs=1)
    assert max(bars) == pytest.approx(left + 3 * width, abs=2)
    heights = [bars.get(centre, 0) for centre in centres]
    assert heights[3] == 0
    assert heights[2] > 60
    assert heights[1] == pytest.approx(heights[2] / 2, abs=1.5)
    assert heights[0] == pytest.approx(heights[2] / 4, abs=1.5)


def test_one_value_among_millions_is_seen(qtbot: QtBot, histogram: Histogram) -> None:
    histogram.show_statistics(_statistics((5_000_000, 1, 0, 5_000_000)))
    bars = _bars(qtbot, histogram, LIGHT.accent)
    width = (histogram.width() - 52) / 4
    assert bars[round(40 + 1.5 * width)] == 1
    assert round(40 + 2.5 * width) not in bars


def test_colours_follow_the_theme(
    qtbot: QtBot, histogram: Histogram, theme: Theme
) -> None:
    histogram.show_statistics(_statistics(_EVEN))
    _bars(qtbot, histogram, LIGHT.accent)
    theme.set_mode(Mode.DARK)
    _bars(qtbot, histogram, DARK.accent)
    assert not _columns(_picture(histogram), LIGHT.accent)


def test_without_numbers_it_is_empty_and_as_high(
    qtbot: QtBot, histogram: Histogram
) -> None:
    height = histogram.height()
    histogram.show_statistics(_statistics(_EVEN))
    _bars(qtbot, histogram, LIGHT.accent)
    for nothing in (None, _statistics((0, 0))):
        histogram.show_statistics(nothing)
        assert not _columns(_picture(histogram), LIGHT.accent)
        assert histogram.height() == height
        QTest.keyClick(histogram, Qt.Key.Key_Right)
        assert histogram.pointed is None
    assert histogram.accessibleDescription().startswith("2 bins from −1 to 1")


def test_the_mouse_reads_a_bin(qtbot: QtBot, histogram: Histogram) -> None:
    histogram.show_statistics(_statistics(_EVEN, (0.0, 8.0)))
    _bars(qtbot, histogram, LIGHT.accent)
    bin_width = (histogram.width() - 52) / 8
    QTest.mouseMove(histogram, QPoint(1, 1))
    QTest.mouseMove(histogram, QPoint(round(40 + 5.5 * bin_width), 60))
    assert histogram.caption.text() == "5 … 6: 6 values"
    assert histogram.accessibleDescription() == "5 … 6: 6 values"
    QTest.mouseMove(histogram, QPoint(5, 60))
    assert histogram.caption.text() == ""


def test_the_keyboard_reads_bins(
    qtbot: QtBot, panel: QWidget, histogram: Histogram
) -> None:
    histogram.show_statistics(_statistics(_EVEN, (0.0, 8.0), sampled=True))
    field = panel.findChild(QLineEdit)
    assert field is not None
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_Tab)
    qtbot.waitUntil(histogram.hasFocus)
    # The fullest one first.
    assert histogram.caption.text() == "6 … 7: ~7 values"
    QTest.keyClick(histogram, Qt.Key.Key_Right)
    assert histogram.pointed == 7
    QTest.keyClick(histogram, Qt.Key.Key_Right)
    assert histogram.pointed == 7
    QTest.keyClick(histogram, Qt.Key.Key_Home)
    assert histogram.caption.text() == "0 … 1: ~1 value"
    QTest.keyClick(histogram, Qt.Key.Key_Tab)
    assert histogram.pointed is None


def test_a_wide_spread_can_be_seen_on_a_logarithmic_scale(
    qtbot: QtBot, histogram: Histogram
) -> None:
    histogram.show_statistics(_statistics((1, 100, 10_000, 0)))
    assert histogram.log_button.isVisible()
    histogram.setFocus()
    QTest.keyClick(histogram, Qt.Key.Key_L)
    assert histogram.log_button.isChecked()
    width = (histogram.width() - 52) / 4
    x = [round(40 + (number + 0.5) * width) for number in range(4)]
    qtbot.waitUntil(lambda: _columns(_picture(histogram), LIGHT.accent)[x[1]] > 20)
    bars = _columns(_picture(histogram), LIGHT.accent)
    assert bars[x[1]] - bars[x[0]] == pytest.approx(bars[x[2]] - bars[x[1]], abs=2)
    assert x[3] not in bars
    histogram.show_statistics(_statistics(_EVEN))
    assert not histogram.log_button.isVisible()


def test_what_cannot_be_drawn_is_said(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyqtgraph", None)
    histogram = Histogram(theme)
    qtbot.addWidget(histogram)
    histogram.show_statistics(_statistics(_EVEN))
    qtbot.waitUntil(lambda: histogram.is_ready)
    assert histogram.caption.text().startswith("pyqtgraph could not be imported")
    assert "Install the program anew" in histogram.caption.toolTip()
    QTest.mouseMove(histogram, QPoint(60, 60))


def test_ranges_beyond_what_pixels_can_hold(qtbot: QtBot, histogram: Histogram) -> None:
    one = 1.0
    for edges in ((-1e300, 1e300), (one, float(np.nextafter(one, 2))), (3.0, 3.0)):
        histogram.show_statistics(_statistics(_EVEN, edges))
        bars = _bars(qtbot, histogram, LIGHT.accent)
        assert max(bars) == pytest.approx(histogram.width() - 12, abs=1)


def test_count_ticks_and_heights() -> None:
    linear = Bars(0.0, 1.0, (0, 5000))
    assert linear.count_ticks() == (2000, 4000)
    assert linear.top == 5000
    logarithmic = dataclasses.replace(linear, logarithmic=True)
    assert logarithmic.count_ticks() == (1, 100)
    assert logarithmic.height_of(0) == 0
    assert 0 < logarithmic.height_of(1) < logarithmic.height_of(2)
    assert Bars(0.0, 1.0, (1,)).count_ticks() == (1,)


def test_no_menu_of_pyqtgraph_opens(qtbot: QtBot, histogram: Histogram) -> None:
    histogram.show_statistics(_statistics(_EVEN))
    before = _bars(qtbot, histogram, LIGHT.accent)
    middle = QRect(0, 0, histogram.width(), histogram.height()).center()
    assert histogram.childAt(middle) is None
    QTest.mouseClick(histogram, Qt.MouseButton.RightButton, pos=middle)
    QTest.mouseMove(histogram, QPoint(1, 1))
    assert _bars(qtbot, histogram, LIGHT.accent) == before
