"""Saving the document as a recipe and opening one; neither runs any code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.engine.messages.document import Changes, OpenRecipe, SaveRecipe
from inspector.errors import ErrorInfo
from inspector.ui.store_client import StoreClient

SUFFIX = ".recipe.json"
"""Suffix of a recipe file."""

_FILTER = f"Recipes (*{SUFFIX} *.json);;All files (*)"


def ask_where_to_save(
    parent: QWidget, *, suggested: str, on_chosen: Callable[[str], None]
) -> QFileDialog:
    """Opens a file dialog that does not block; ``on_chosen`` gets the path."""
    dialog = QFileDialog(parent, "Save the recipe", suggested, _FILTER)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setObjectName("saveRecipeDialog")
    dialog.fileSelected.connect(lambda path: on_chosen(_with_suffix(path)))
    _open(dialog)
    return dialog


def ask_which_to_open(
    parent: QWidget, *, folder: str, on_chosen: Callable[[str], None]
) -> QFileDialog:
    """Opens a file dialog that does not block; ``on_chosen`` gets the path."""
    dialog = QFileDialog(parent, "Open a recipe", folder, _FILTER)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.setObjectName("openRecipeDialog")
    dialog.fileSelected.connect(on_chosen)
    _open(dialog)
    return dialog


def save(
    client: StoreClient,
    *,
    owner: QObject,
    path: str,
    on_done: Callable[[Any], None],
    on_failure: Callable[[ErrorInfo], None] | None = None,
) -> int:
    """Saves the document to a recipe file; returns the ticket."""
    return client.ask(
        SaveRecipe(path), owner=owner, on_reply=on_done, on_failure=on_failure
    )


def open_recipe(
    client: StoreClient,
    *,
    owner: QObject,
    path: str,
    on_done: Callable[[Changes], None],
    on_failure: Callable[[ErrorInfo], None] | None = None,
) -> int:
    """Opens a recipe as the document; returns the ticket."""
    return client.ask(
        OpenRecipe(path),
        owner=owner,
        on_reply=on_done,
        on_failure=on_failure,
        slot="open recipe",
        activity="Opening the recipe",
    )


def _with_suffix(path: str) -> str:
    return path if path.endswith(".json") else path + SUFFIX


def _open(dialog: QFileDialog) -> None:
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
