"""Acts on the window as a person does: chooses nodes, drags, drops."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QTreeView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.ui.main_window import MainWindow
from inspector.ui.models.roles import Role
from inspector.ui.models.tree_model import TreeModel
from inspector.variables.path import TreePath
from tests.ui.fake_store import FakeStore, module_tree, source_tree

ENCODER = {"params/encoder/conv/kernel": (3, 3), "params/encoder/conv/bias": (3,)}
BACKBONE = {"params/backbone/conv/kernel": (3, 3), "params/backbone/conv/bias": (3,)}


def open_both(qtbot: QtBot, window: MainWindow, store: FakeStore) -> str:
    source = store.add_source(source_tree(ENCODER))
    store.set_target(module_tree({**BACKBONE, "params/head/kernel": (3, 2)}))
    wait_for(qtbot, window.target.view, ("params", "head", "kernel"))
    wait_for(qtbot, window.sources.view, ("params", "encoder", "conv", "bias"))
    return source


def find(view: QTreeView, path: TreePath) -> object:
    model = view.model()
    assert isinstance(model, TreeModel)
    for node in model.root.known():
        if node.row is not None and node.tree and node.path == path:
            return model.index_of(node)
    return None


def wait_for(qtbot: QtBot, view: QTreeView, path: TreePath) -> None:
    qtbot.waitUntil(lambda: find(view, path) is not None)


def choose(view: QTreeView, path: TreePath) -> QPoint:
    index = find(view, path)
    assert index is not None
    view.scrollTo(index)  # type: ignore[arg-type]  # found in this very model
    view.setCurrentIndex(index)  # type: ignore[arg-type]  # as above
    return view.visualRect(index).center()  # type: ignore[arg-type]  # as above


def drag_into(widget: QWidget, position: QPoint, data: QMimeData) -> None:
    """Enters a widget; Qt remembers it as the one that a drop is for."""
    flags = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton)
    enter = QDragEnterEvent(position, *flags, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(widget, enter)


def drag_over(view: QTreeView, position: QPoint, data: QMimeData) -> QDragMoveEvent:
    drag_into(view.viewport(), position, data)
    flags = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton)
    move = QDragMoveEvent(position, *flags, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(view.viewport(), move)
    return move


def drop(widget: QWidget, position: QPoint, data: QMimeData) -> QDropEvent:
    drag_into(widget, position, data)
    event = QDropEvent(
        QPointF(position),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(widget, event)
    return event


def origin(window: MainWindow, path: TreePath) -> str:
    index = find(window.target.view, path)
    return "" if index is None else str(index.data(Role.MARK))  # type: ignore[attr-defined]  # an index
