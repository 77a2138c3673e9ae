"""Importing the target's module again: of a recipe, or after its file has changed.

Each starts a request of the store; what comes back is for the caller. Window's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from inspector.engine.messages.document import LoadRecorded, ReloadModule
from inspector.errors import ErrorInfo
from inspector.ui.store_client import StoreClient

OnFailure = Callable[[ErrorInfo], object]


def import_recorded(
    client: StoreClient, *, owner: QObject, name: str, on_failure: OnFailure
) -> int:
    """Imports the module of an opened recipe, after a click that named its file."""
    return client.ask(
        LoadRecorded(),
        owner=owner,
        on_reply=_ignore,
        on_failure=on_failure,
        activity=f"Loading {name}",
    )


def reload_module(
    client: StoreClient,
    *,
    owner: QObject,
    name: str,
    on_done: Callable[[Any], object],
    on_failure: OnFailure,
) -> int:
    """Loads the target's module again; edits that still fit are kept."""
    return client.ask(
        ReloadModule(),
        owner=owner,
        on_reply=on_done,
        on_failure=on_failure,
        activity=f"Loading {name} again",
        slot="reload",
    )


def _ignore(_answer: object) -> None:
    """Every panel hears of it by itself."""
