"""Edits of the target: each starts the request that the store turns into an edit.

The store answers with `Changes`, which it also sends to every panel; ``on_done`` is
for what only the caller wants to do. Window's thread.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from inspector.engine.messages.document import (
    CastNodes,
    Changes,
    CopyTarget,
    DeleteNodes,
    FillNodes,
    GoTo,
    Redo,
    RenameNode,
    SetSeed,
    Undo,
)
from inspector.errors import ErrorInfo
from inspector.ui.store_client import StoreClient
from inspector.variables.path import TreePath

OnDone = Callable[[Changes], None]
OnFailure = Callable[[ErrorInfo], None]


def _ignore(changes: Changes) -> None:
    """What an edit needs no more than: every panel hears of it by itself."""
    del changes


def rename(
    client: StoreClient,
    *,
    owner: QObject,
    path: TreePath,
    name: str,
    on_done: OnDone = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Gives the node at ``path`` another last key; returns the ticket."""
    return client.ask(
        RenameNode(path, name), owner=owner, on_reply=on_done, on_failure=on_failure
    )


def delete(
    client: StoreClient,
    *,
    owner: QObject,
    paths: tuple[TreePath, ...],
    on_done: OnDone = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Removes nodes; returns the ticket."""
    return client.ask(
        DeleteNodes(paths), owner=owner, on_reply=on_done, on_failure=on_failure
    )


def cast(
    client: StoreClient,
    *,
    owner: QObject,
    paths: tuple[TreePath, ...],
    dtype: str,
    on_done: OnDone = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Casts every array at or below the paths; returns the ticket."""
    return client.ask(
        CastNodes(paths, dtype), owner=owner, on_reply=on_done, on_failure=on_failure
    )


def fill(
    client: StoreClient,
    *,
    owner: QObject,
    paths: tuple[TreePath, ...],
    number: str,
    on_done: OnDone = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Sets every element at or below the paths to one number; returns the ticket."""
    return client.ask(
        FillNodes(paths, number), owner=owner, on_reply=on_done, on_failure=on_failure
    )


def set_seed(
    client: StoreClient,
    *,
    owner: QObject,
    stream: str,
    seed: int,
    on_done: OnDone = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Sets the seed of an rng stream of ``init``; returns the ticket."""
    return client.ask(
        SetSeed(stream, seed), owner=owner, on_reply=on_done, on_failure=on_failure
    )


def make_editable_copy(
    client: StoreClient,
    *,
    owner: QObject,
    source: str,
    on_done: OnDone = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Makes an editable copy of a source the target; returns the ticket."""
    return client.ask(
        CopyTarget(source), owner=owner, on_reply=on_done, on_failure=on_failure
    )


def undo(
    client: StoreClient,
    *,
    owner: QObject,
    on_done: OnDone = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Takes the last edit back; returns the ticket."""
    return client.ask(Undo(), owner=owner, on_reply=on_done, on_failure=on_failure)


def redo(
    client: StoreClient,
    *,
    owner: QObject,
    on_done: OnDone = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Does the last undone edit again; returns the ticket."""
    return client.ask(Redo(), owner=owner, on_reply=on_done, on_failure=on_failure)


def go_to(
    client: StoreClient,
    *,
    owner: QObject,
    position: int,
    on_done: OnDone = _ignore,
    on_failure: OnFailure | None = None,
) -> int:
    """Goes to the state after ``position`` edits; returns the ticket."""
    return client.ask(
        GoTo(position),
        owner=owner,
        on_reply=on_done,
        on_failure=on_failure,
        slot="go to",
    )
