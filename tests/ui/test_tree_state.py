from __future__ import annotations

from typing import cast

from PySide6.QtCore import QModelIndex
from pytestqt.qtbot import QtBot

from inspector.ui.main_window import MainWindow
from tests.ui.fake_store import FakeStore, source_tree
from tests.ui.window_driver import find, wait_for


def test_a_small_tree_opens_whole_but_for_the_optimizer(
    qtbot: QtBot, window: MainWindow, store: FakeStore
) -> None:
    shapes = {
        "opt_state/0/mu/enc/kernel": (2, 3),
        "optimizer/state/step": (),
        "params/enc/kernel": (2, 3),
        "batch_stats/enc/mean": (3,),
    }
    store.add_source(source_tree(shapes))
    window.mirror.refresh()
    view = window.sources.tree_view
    wait_for(qtbot, view, ("params", "enc", "kernel"))
    wait_for(qtbot, view, ("batch_stats", "enc", "mean"))
    for name, is_open in (
        ("params", True),
        ("batch_stats", True),
        ("opt_state", False),
        ("optimizer", False),
    ):
        index = cast("QModelIndex", find(view, (name,)))
        assert view.isExpanded(index) is is_open, name
