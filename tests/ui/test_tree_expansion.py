from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector.engine.messages.viewing import AskChildren
from inspector.ui.models.document_trees import TargetTreeModel
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tree_view import TreeView
from tests.ui.fake_store import FakeStore, module_tree

_BLOCKS = 300
_EVERYTHING = 100_000


@pytest.fixture
def view(
    qtbot: QtBot, client: StoreClient, store: FakeStore, theme: Theme
) -> Iterator[TreeView]:
    store.set_target(
        module_tree(
            {
                f"params/block_{number}/{layer}/kernel": (2, 3)
                for number in range(_BLOCKS)
                for layer in ("first", "second")
            }
        )
    )
    panel = QWidget()
    qtbot.addWidget(panel)
    model = TargetTreeModel(client, panel)
    made = TreeView(model, theme, panel)
    made.resize(400, 300)
    panel.show()
    model.reload()
    qtbot.waitUntil(lambda: model.rowCount() == 1 and not model.is_loading)
    # The panel lives as long as the test.
    yield made
    del panel


def _rows(view: TreeView, parent: QModelIndex | None = None) -> int:
    """Rows on the screen or above or below it: those of expanded nodes."""
    model = view.tree_model
    parent = QModelIndex() if parent is None else parent
    children = [model.index(row, 0, parent) for row in range(model.rowCount(parent))]
    below = (_rows(view, child) for child in children if view.isExpanded(child))
    return len(children) + sum(below)


_ALL = 1 + _BLOCKS + 2 * _BLOCKS + 2 * _BLOCKS


def _params(view: TreeView) -> QModelIndex:
    return view.tree_model.index(0, 0)


def test_everything_below_is_expanded_as_it_arrives(
    qtbot: QtBot, view: TreeView
) -> None:
    view.expand_below(_params(view), _EVERYTHING)
    qtbot.waitUntil(lambda: _rows(view) == _ALL, timeout=20_000)


def test_what_is_known_is_expanded_again_over_several_turns(
    qtbot: QtBot, view: TreeView, store: FakeStore
) -> None:
    view.expand_below(_params(view), _EVERYTHING)
    qtbot.waitUntil(lambda: _rows(view) == _ALL, timeout=20_000)
    qtbot.waitUntil(lambda: not view.tree_model.is_loading)
    asked = len(store.of(AskChildren))
    view.state_keeper.collapse_all()
    assert _rows(view) == 1
    view.expand_below(_params(view), _EVERYTHING)
    qtbot.waitUntil(lambda: _rows(view) == _ALL, timeout=20_000)
    assert len(store.of(AskChildren)) == asked


def test_at_most_as_many_branches_as_allowed(qtbot: QtBot, view: TreeView) -> None:
    view.expand_below(_params(view), 11)
    model = view.tree_model
    qtbot.waitUntil(lambda: _rows(view) > 1 + _BLOCKS)
    qtbot.waitUntil(lambda: not model.is_loading)
    # The node itself and ten of those below it.
    expanded = _expanded(view)
    assert expanded == 11


def _expanded(view: TreeView, parent: QModelIndex | None = None) -> int:
    model = view.tree_model
    parent = QModelIndex() if parent is None else parent
    children = [model.index(row, 0, parent) for row in range(model.rowCount(parent))]
    return sum(1 + _expanded(view, one) for one in children if view.isExpanded(one))


def test_collapsed_nodes_stay_so_when_rows_are_read_again(
    qtbot: QtBot, view: TreeView
) -> None:
    model = view.tree_model
    view.expand(_params(view))
    qtbot.waitUntil(lambda: _rows(view) > _BLOCKS and not model.is_loading)
    view.state_keeper.collapse_all()
    model.refresh(structure=True)
    qtbot.waitUntil(lambda: not model.is_loading)
    assert _rows(view) == 1
    view.expand(_params(view))
    assert _rows(view) == 1 + _BLOCKS
