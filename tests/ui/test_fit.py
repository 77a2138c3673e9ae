"""The window and its parts at the smallest promised size, and at a large one."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QTableView
from pytestqt.qtbot import QtBot

from inspector.errors import ErrorInfo
from inspector.ui.actions import ActionId
from inspector.ui.drag_data import DraggedNodes
from inspector.ui.main_window import MainWindow
from inspector.ui.models.roles import Column
from inspector.ui.panels.details import DetailsPanel
from inspector.ui.tree_columns import fitting_widths
from inspector.ui.viewers.slice_chooser import SliceChooser
from inspector.ui.window_layout import lower_height
from tests.ui.content_store import ContentStore, light_theme, start_client
from tests.ui.fake_store import FakeStore
from tests.ui.fitting import faults, overlaps
from tests.ui.window_driver import choose, open_both

SIZES = [(1024, 700), (1600, 1000)]
WIDTHS = {Column.SHAPE: 152, Column.PARAMETERS: 68, Column.SIZE: 76}
KERNEL = ("params", "encoder", "conv", "kernel")


def _filled(
    qtbot: QtBot, window: MainWindow, store: FakeStore, size: tuple[int, int]
) -> str:
    window.resize(*size)
    window.actions_[ActionId.RESET_LAYOUT].trigger()
    source = open_both(qtbot, window, store)
    choose(window.sources.view, KERNEL[:-1])
    qtbot.waitUntil(lambda: window.details.details is not None)
    qtbot.waitUntil(lambda: window.is_settled)
    return source


@pytest.mark.parametrize("size", SIZES)
def test_nothing_is_cut_and_nothing_overlaps(
    qtbot: QtBot, window: MainWindow, store: FakeStore, size: tuple[int, int]
) -> None:
    _filled(qtbot, window, store, size)
    qtbot.waitUntil(lambda: faults(window) == [])
    parts = [window.sources, window.target, window.details, window.history]
    assert overlaps([*parts, window.status], window) == []
    assert (window.width(), window.height()) == size


@pytest.mark.parametrize("size", SIZES)
def test_shapes_are_shown_in_both_trees(
    qtbot: QtBot, window: MainWindow, store: FakeStore, size: tuple[int, int]
) -> None:
    _filled(qtbot, window, store, size)
    for panel in (window.sources, window.target):
        view = panel.tree_view
        assert not view.isColumnHidden(Column.SHAPE)
        assert view.columnWidth(Column.NAME) >= 170
        hidden = view.isColumnHidden(Column.SIZE)
        assert hidden == (size == (1024, 700))


def test_the_width_that_a_person_gave_a_column_is_kept(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    _filled(qtbot, window, store, (1600, 1000))
    view = window.target.tree_view
    view.header().resizeSection(Column.SHAPE, 190)
    window.resize(1024, 700)
    qtbot.waitUntil(lambda: view.columnWidth(Column.SHAPE) < 190)
    window.resize(1600, 1000)
    qtbot.waitUntil(lambda: view.columnWidth(Column.SHAPE) == 190)


@pytest.mark.parametrize("size", SIZES)
def test_an_open_plan_shows_every_column(
    qtbot: QtBot, window: MainWindow, store: FakeStore, size: tuple[int, int]
) -> None:
    source = _filled(qtbot, window, store, size)
    nodes = DraggedNodes(source, "digits", (("params",),))
    window.target.transfer.preview(nodes, ("params",))
    qtbot.waitUntil(window.docks.plan.isVisible)
    qtbot.waitUntil(lambda: not window.plan.is_dirty)
    qtbot.waitUntil(lambda: faults(window.plan) == [])
    header = window.plan.table.horizontalHeader()
    assert header.length() <= window.plan.table.viewport().width()
    assert all(header.sectionSize(section) >= 70 for section in range(header.count()))


def test_many_errors_scroll_and_the_newest_is_in_view(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    _filled(qtbot, window, store, (1024, 700))
    stack = window.sources.banners
    for number in range(4):
        stack.show_error(
            f"open.{number}",
            ErrorInfo("ReadFileError", f"The file {number} is no checkpoint " * 3,
                      "/data/a/long/path/that/has/no/blank", "Choose another one."),
        )  # fmt: skip
    newest = stack.get("open.3")
    assert newest is not None
    bar = stack.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 0)
    assert not newest.visibleRegion().isEmpty()
    qtbot.waitUntil(lambda: faults(window.sources) == [])
    assert stack.height() <= window.sources.height() // 2
    assert window.sources.view.isVisible()


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (480, WIDTHS),
        (400, {Column.SHAPE: 152, Column.SIZE: 76}),
        (330, {Column.SHAPE: 152}),
        (297, {Column.SHAPE: 125}),
        (240, {Column.SHAPE: 124}),
        (200, {}),
    ],
)
def test_columns_give_way_to_names(room: int, shown: dict[Column, int]) -> None:
    assert fitting_widths(room, WIDTHS) == shown


def test_lower_panels_give_way_in_a_low_window() -> None:
    assert [lower_height(height) for height in (600, 700, 750, 900, 2000)] == [
        128, 128, 178, 210, 210,
    ]  # fmt: skip


def _details(qtbot: QtBot, width: int) -> tuple[DetailsPanel, ContentStore]:
    store = ContentStore()
    store.put("s1", {KERNEL: np.full((3, 4, 5, 6), -8.125e-05, np.float32)})
    panel = DetailsPanel(
        start_client(store, qtbot), light_theme(), name_of={"s1": "digits"}.__getitem__
    )
    qtbot.addWidget(panel)
    panel.resize(width, 440)
    panel.show()
    return panel, store


@pytest.mark.parametrize("width", [300, 480])
def test_statistics_keep_their_digits(qtbot: QtBot, width: int) -> None:
    panel, _ = _details(qtbot, width)
    panel.show_node("s1", KERNEL)
    mean = panel.findChild(QLabel, "statistic.mean")
    zeros = panel.findChild(QLabel, "statistic.zeros")
    assert mean is not None
    assert zeros is not None
    qtbot.waitUntil(lambda: mean.text() == "−8.1e−5")
    assert mean.fontMetrics().horizontalAdvance(mean.text()) <= mean.width()
    # In a narrow panel the counts have a line of their own.
    assert (zeros.y() > mean.y()) == (width == 300)
    qtbot.waitUntil(lambda: faults(panel) == [])


def test_two_axes_share_a_line_in_a_narrow_panel(qtbot: QtBot) -> None:
    panel, _ = _details(qtbot, 300)
    panel.show_node("s1", KERNEL)
    qtbot.waitUntil(lambda: panel.findChild(SliceChooser) is not None)
    chooser = panel.findChild(SliceChooser)
    assert chooser is not None
    qtbot.waitUntil(lambda: len(chooser.slice.other_axes) == 2)
    narrow = chooser.sizeHint().height()
    panel.resize(600, 440)
    qtbot.waitUntil(lambda: chooser.sizeHint().height() > narrow)


def test_the_root_of_a_source_has_its_name(qtbot: QtBot) -> None:
    panel, _ = _details(qtbot, 300)
    panel.show_node("s1", ())
    assert panel.header.title.text() == "digits"
    qtbot.waitUntil(lambda: panel.header.array.text() == "dict of 1 key")
    assert panel.header.sizes.text() == "1 leaf · 360 params · 1.41 KiB"
    metrics = panel.header.array.fontMetrics()
    assert metrics.horizontalAdvance("dict of 1 key") <= panel.header.array.width()


@pytest.mark.parametrize(
    ("width", "shown"),
    [(300, ["dtype", "params", "bytes"]),
     (600, ["dtype", "arrays", "params", "bytes", "share"])],
)  # fmt: skip
def test_tables_hide_columns_rather_than_scroll(
    qtbot: QtBot, width: int, shown: list[str]
) -> None:
    panel, _ = _details(qtbot, width)
    panel.show_node("s1", ())
    qtbot.waitUntil(lambda: panel.findChild(QTableView, "dtypeTable") is not None)
    table = panel.findChild(QTableView, "dtypeTable")
    assert table is not None
    header = table.horizontalHeader()

    def visible() -> list[str]:
        return [
            str(table.model().headerData(section, header.orientation()))
            for section in range(header.count())
            if not header.isSectionHidden(section)
        ]

    qtbot.waitUntil(lambda: visible() == shown)
    qtbot.waitUntil(lambda: faults(panel) == [])
