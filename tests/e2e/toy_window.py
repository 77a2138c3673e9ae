"""A small window for the test of the harness itself; run as a program."""

from __future__ import annotations

import sys

from PySide6.QtCore import QMimeData, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLabel,
    QLineEdit,
    QMainWindow,
    QSplitter,
    QTreeView,
)


class Model(QStandardItemModel):
    """Two levels of rows; a drop is told to the label and changes nothing."""

    def __init__(self, label: QLabel) -> None:
        super().__init__()
        self._label = label
        self.setHorizontalHeaderLabels(["name", "size"])
        for name in ("first", "second"):
            row = QStandardItem(name)
            row.appendRow([QStandardItem("below"), QStandardItem("7")])
            self.appendRow([row, QStandardItem("8")])

    def canDropMimeData(
        self,
        data: QMimeData,
        action: Qt.DropAction,
        row: int,
        column: int,
        parent: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        self._label.setText(f"over {parent.data()}")
        return super().canDropMimeData(data, action, row, column, parent)

    def dropMimeData(
        self,
        data: QMimeData,
        action: Qt.DropAction,
        row: int,
        column: int,
        parent: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        del data, action, row, column
        self._label.setText(f"dropped on {parent.data()}")
        return False


def main() -> int:
    """Shows the window until it is closed."""
    application = QApplication(sys.argv)
    window = QMainWindow()
    window.setObjectName("mainWindow")
    label = QLabel("nothing was dropped")
    label.setObjectName("label")
    models = [Model(label), Model(label)]
    splitter = QSplitter()
    for name, model in zip(("sourceTree", "targetTree"), models, strict=True):
        tree = QTreeView()
        tree.setObjectName(name)
        tree.setModel(model)
        tree.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        splitter.addWidget(tree)
    field = QLineEdit()
    field.setObjectName("field")
    window.setCentralWidget(splitter)
    window.statusBar().addWidget(label)
    window.statusBar().addWidget(field)
    window.resize(800, 500)
    window.show()
    return application.exec()


if __name__ == "__main__":
    sys.exit(main())
