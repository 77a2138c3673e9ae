"""Opening checkpoints as sources, closing them, and noticing changes on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QFileInfo, QObject
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialogButtonBox,
    QFileDialog,
    QFileSystemModel,
    QLineEdit,
    QListView,
    QPushButton,
    QTreeView,
    QWidget,
)

from inspector.engine.messages.document import (
    AcceptSource,
    CloseSource,
    OpenSource,
    RecheckSources,
    SourceInfo,
)
from inspector.errors import ErrorInfo
from inspector.ui.store_client import StoreClient

_PATH_ROLE = QFileSystemModel.Roles.FilePathRole

OnFailure = Callable[[ErrorInfo], None]


def _ignore(answer: Any) -> None:
    """What needs no more than the change that every panel hears of."""
    del answer


def open_source(
    client: StoreClient,
    *,
    owner: QObject,
    locator: str,
    cwd: str = "",
    on_done: Callable[[SourceInfo], None] = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Opens a checkpoint as a source; returns the ticket."""
    return client.ask(
        OpenSource(locator, cwd),
        owner=owner,
        on_reply=on_done,
        on_failure=on_failure,
        activity=f"Opening {Path(locator).name or locator}",
    )


def close_source(
    client: StoreClient,
    *,
    owner: QObject,
    source: str,
    on_done: Callable[[Any], None] = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Closes a source; returns the ticket."""
    return client.ask(
        CloseSource(source), owner=owner, on_reply=on_done, on_failure=on_failure
    )


def recheck_sources(
    client: StoreClient,
    *,
    owner: QObject,
    on_done: Callable[[Any], None] = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Compares the sources with what is on disk; returns the ticket."""
    return client.ask(
        RecheckSources(),
        owner=owner,
        on_reply=on_done,
        on_failure=on_failure,
        slot="recheck",
    )


def accept_source(
    client: StoreClient,
    *,
    owner: QObject,
    source: str,
    on_done: Callable[[Any], None] = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Reads a changed source anew; returns the ticket."""
    return client.ask(
        AcceptSource(source), owner=owner, on_reply=on_done, on_failure=on_failure
    )


class CheckpointDialog(QFileDialog):
    """A file dialog in which a folder can be chosen as well as files.

    Native dialogs choose either files or folders. Here "Open" takes what is
    selected, folders included; a double click on a folder still enters it.
    """

    def __init__(self, parent: QWidget, folder: str = "") -> None:
        """Begins in a folder; empty for where the person was last."""
        super().__init__(parent, "Open checkpoints", folder)
        self.setObjectName("openDialog")
        self.setAccessibleName("Open checkpoints")
        self.setOption(QFileDialog.Option.DontUseNativeDialog)
        self.setFileMode(QFileDialog.FileMode.ExistingFiles)
        self.setNameFilters(
            [
                "All files and folders (*)",
                "Flax msgpack (*.msgpack)",
                "safetensors (*.safetensors *.index.json)",
                "NumPy (*.npz)",
            ]
        )
        for view in self.findChildren(QAbstractItemView):
            if isinstance(view, QListView | QTreeView):
                view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._button = self._open_button()
        if self._button is not None:
            # Qt's own handler would enter a folder instead of taking it.
            self._button.clicked.disconnect()
            self._button.clicked.connect(self._on_take)

    def _open_button(self) -> QPushButton | None:
        box = self.findChild(QDialogButtonBox)
        return None if box is None else box.button(QDialogButtonBox.StandardButton.Open)

    def chosen(self) -> list[str]:
        """Returns what is selected or typed; the shown folder when nothing is."""
        paths = [*self._selected(), *self._typed()]
        folder = self.directory().absolutePath()
        return list(dict.fromkeys(paths)) or [folder]

    def _selected(self) -> list[str]:
        """Files and folders selected in the list; the name field has files only."""
        for view in self.findChildren(QAbstractItemView):
            visible = isinstance(view, QListView | QTreeView) and view.isVisible()
            if visible and view.objectName() in {"listView", "treeView"}:
                rows = view.selectionModel().selectedRows(0)
                return [str(row.data(_PATH_ROLE)) for row in rows]
        return []

    def _typed(self) -> list[str]:
        line = self.findChild(QLineEdit)
        text = line.text().strip() if line is not None else ""
        folder = Path(self.directory().absolutePath())
        names = [part for part in text.split('"') if part.strip()]
        # Path.expanduser raises where nobody has the name; a shell lets it be.
        expanded = map(os.path.expanduser, names)
        paths = [str(folder / name) for name in expanded]
        return [path for path in paths if QFileInfo.exists(path)]

    def _on_take(self) -> None:
        paths = self.chosen()
        self.filesSelected.emit(paths)
        self.done(int(QFileDialog.DialogCode.Accepted))


def ask_which_to_open(
    parent: QWidget, *, folder: str, on_chosen: Callable[[list[str]], None]
) -> CheckpointDialog:
    """Opens the dialog without blocking; ``on_chosen`` gets files and folders."""
    dialog = CheckpointDialog(parent, folder)
    dialog.filesSelected.connect(on_chosen)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog
