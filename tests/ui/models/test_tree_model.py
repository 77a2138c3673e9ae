from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, Qt
from pytestqt.qtbot import QtBot

from inspector.engine.messages.viewing import AskChildren
from inspector.errors import ErrorInfo
from inspector.ui.models.document_trees import SourceTreeModel, TargetTreeModel
from inspector.ui.models.roles import Column, Role
from inspector.ui.models.tree_model import TreeModel
from inspector.ui.store_client import StoreClient
from inspector.variables.tree import Branch, put, without
from tests.ui.fake_store import FakeStore, module_tree, source_tree

NET = {
    "params/encoder/conv/kernel": (3, 3, 1, 8),
    "params/encoder/conv/bias": (8,),
    "params/head/kernel": (8, 10),
    "batch_stats/norm/mean": (8,),
}


def names(model: TreeModel, parent: QModelIndex | None = None) -> list[Any]:
    parent = QModelIndex() if parent is None else parent
    return [model.index(row, 0, parent).data() for row in range(model.rowCount(parent))]


def load(qtbot: QtBot, model: TreeModel, parent: QModelIndex | None = None) -> None:
    """Looks at every row, as a view does, until all are there."""

    def look() -> bool:
        return "…" not in names(model, parent) and not model.is_loading

    qtbot.waitUntil(look)


def at(model: TreeModel, *keys: str) -> QModelIndex:
    index = QModelIndex()
    for key in keys:
        found = names(model, index)
        index = model.index(found.index(key), 0, index)
    return index


@pytest.fixture
def target(qtbot: QtBot, client: StoreClient, store: FakeStore) -> TargetTreeModel:
    store.set_target(module_tree(NET))
    model = TargetTreeModel(client, client)
    model.reload()
    qtbot.waitUntil(lambda: model.rowCount() == 2)
    load(qtbot, model)
    return model


def open_all(qtbot: QtBot, model: TreeModel, parent: QModelIndex | None = None) -> None:
    load(qtbot, model, parent)
    for row in range(model.rowCount(parent or QModelIndex())):
        child = model.index(row, 0, parent or QModelIndex())
        if model.rowCount(child):
            open_all(qtbot, model, child)


def test_structure_is_sound(
    qtbot: QtBot, qtmodeltester: Any, target: TargetTreeModel
) -> None:
    open_all(qtbot, target)
    qtmodeltester.check(target)


def test_sources_are_sound(
    qtbot: QtBot, qtmodeltester: Any, client: StoreClient, store: FakeStore
) -> None:
    store.add_source(source_tree(NET))
    store.add_source(source_tree({"w": (2,)}, "s2"), "other")
    model = SourceTreeModel(client, client)
    model.set_sources(store.info.sources)
    open_all(qtbot, model)
    qtmodeltester.check(model)
    assert names(model) == ["digits", "other"]


def test_cells(qtbot: QtBot, target: TargetTreeModel) -> None:
    assert names(target) == ["batch_stats", "params"]
    open_all(qtbot, target)
    kernel = at(target, "params", "encoder", "conv", "kernel")
    assert kernel.siblingAtColumn(Column.SHAPE).data() == "float32[3,3,1,8]"
    assert kernel.siblingAtColumn(Column.PARAMETERS).data() == "72"
    assert kernel.siblingAtColumn(Column.SIZE).data() == "288 B"
    assert kernel.data(Role.PATH) == ("params", "encoder", "conv", "kernel")
    assert kernel.data(Qt.ItemDataRole.UserRole) == kernel.data(Role.PATH)
    assert kernel.data(Role.TREE) == "target"
    assert kernel.data(Role.MARK) == "initial"
    tip = kernel.data(Qt.ItemDataRole.ToolTipRole)
    assert "72 parameters, 288 bytes" in tip
    assert "initial value" in tip
    assert "○ 3 initial value" in at(target, "params").data(Qt.ItemDataRole.ToolTipRole)


def test_a_source_path_begins_inside_the_source(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    source = store.add_source(source_tree(NET))
    model = SourceTreeModel(client, client)
    model.set_sources(store.info.sources)
    open_all(qtbot, model)
    assert at(model, "digits").data(Role.PATH) == ()
    head = at(model, "digits", "params", "head")
    assert head.data(Role.PATH) == ("params", "head")
    assert head.data(Role.TREE) == source
    assert head.data(Role.MARK) == ""


def test_pages_are_asked_for_when_painted(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    store.set_target(module_tree({f"w{n}": (1,) for n in range(1000)}))
    model = TargetTreeModel(client, client)
    model.reload()
    qtbot.waitUntil(lambda: model.rowCount() == 1000)
    assert [body.start for body in store.of(AskChildren)] == [0]
    assert model.index(999, 0).data() == "…"
    qtbot.waitUntil(lambda: model.index(999, 0).data() == "w999")
    assert [body.start for body in store.of(AskChildren)] == [0, 800]
    assert model.index(500, 0).data(Role.PATH) is None


def test_filter_is_the_stores(qtbot: QtBot, target: TargetTreeModel) -> None:
    target.set_query("kernel")
    qtbot.waitUntil(lambda: names(target) == ["params"])
    open_all(qtbot, target)
    assert names(target, at(target, "params", "encoder", "conv")) == ["kernel"]
    target.set_query("")
    qtbot.waitUntil(lambda: names(target) == ["batch_stats", "params"])


def test_changed_values_change_rows_in_place(
    qtbot: QtBot, target: TargetTreeModel, store: FakeStore
) -> None:
    open_all(qtbot, target)
    kernel = at(target, "params", "head", "kernel")
    node = target.node(kernel)
    tree = source_tree(NET)
    store.replace_tree(tree)
    target.refresh()
    removed: list[object] = []
    target.rowsRemoved.connect(lambda *args: removed.append(args))
    qtbot.waitUntil(lambda: kernel.data(Role.MARK) == "exact")
    assert target.node(kernel) is node
    assert removed == []


@pytest.mark.parametrize("grows", [False, True])
def test_rows_come_and_go(
    qtbot: QtBot,
    qtmodeltester: Any,
    target: TargetTreeModel,
    store: FakeStore,
    *,
    grows: bool,
) -> None:
    open_all(qtbot, target)
    head = target.node(at(target, "params", "head"))
    tree = store.tree
    assert isinstance(tree, Branch)
    if grows:
        changed = put(tree, ("params", "neck"), module_tree({"w": (2,)}))
    else:
        changed = without(tree, ("params", "encoder"))
    expected = ["encoder", "head", "neck"] if grows else ["head"]
    store.replace_tree(changed, structure=True)
    target.refresh(structure=True)
    qtbot.waitUntil(lambda: names(target, at(target, "params")) == expected)
    assert target.node(at(target, "params", "head")) is head
    open_all(qtbot, target)
    qtmodeltester.check(target)


def test_other_base_forgets_everything(
    qtbot: QtBot, qtmodeltester: Any, target: TargetTreeModel, store: FakeStore
) -> None:
    open_all(qtbot, target)
    store.set_target(module_tree({"a/b": (1,), "c": (2,)}))
    target.reload()
    qtbot.waitUntil(lambda: names(target) == ["a", "c"])
    open_all(qtbot, target)
    qtmodeltester.check(target)


def test_closed_source_goes_and_the_others_stay(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    store.add_source(source_tree(NET))
    store.add_source(source_tree({"w": (2,)}, "s2"), "other")
    model = SourceTreeModel(client, client)
    model.set_sources(store.info.sources)
    open_all(qtbot, model)
    other = model.node(at(model, "other"))
    model.set_sources(store.info.sources[1:])
    assert names(model) == ["other"]
    assert model.node(at(model, "other")) is other
    assert names(model, at(model, "other")) == ["w"]


def test_a_page_that_fails_says_why(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    store.set_target(module_tree(NET))
    store.failing[AskChildren] = ErrorInfo("EngineError", "The store is full.")
    model = TargetTreeModel(client, client)
    model.reload()
    qtbot.waitUntil(lambda: model.rowCount() == 1)
    row = model.index(0, 0)
    assert row.data() == "could not be read"
    assert row.data(Qt.ItemDataRole.ToolTipRole) == "The store is full."


def test_only_a_name_of_the_target_is_changed_by_typing(
    qtbot: QtBot, target: TargetTreeModel
) -> None:
    params = at(target, "params")
    with qtbot.assertNotEmitted(target.renamed):
        assert not target.setData(params.siblingAtColumn(1), "weights")
        assert not target.setData(params, "params")
    with qtbot.waitSignal(target.renamed) as renamed:
        assert not target.setData(params, " weights ")
    assert renamed.args == [("params",), "weights"]


def test_hundred_thousand_rows_are_laid_out_at_once(
    qtbot: QtBot, client: StoreClient, store: FakeStore
) -> None:
    store.set_target(module_tree({f"w{n}": (1,) for n in range(100_000)}))
    model = TargetTreeModel(client, client)
    model.reload()
    qtbot.waitUntil(lambda: model.rowCount() == 100_000)
    asked = len(store.of(AskChildren))
    # A view that walks the whole structure asks for nothing.
    for row in range(0, 100_000, 997):
        index = model.index(row, 0)
        assert index.isValid()
        assert not model.hasChildren(index)
    assert len(store.of(AskChildren)) == asked
