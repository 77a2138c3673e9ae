"""Exact statistics of the rows that a table shows, asked a few at a time.

A table asks while Qt paints, so what scrolls out of sight before its turn is
forgotten and asked again when it is seen. On the window's thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QTimer

from inspector.engine.messages.reading import StatisticsReply
from inspector.engine.messages.viewing import (
    AskChildren,
    ChildPage,
    Describe,
    Details,
    ReadStatistics,
)
from inspector.errors import ErrorInfo
from inspector.ui.store_client import StoreClient
from inspector.variables.path import TreePath

_AT_ONCE = 4
"""Requests in the air: enough to keep the reader busy, few enough to change course."""

_MOST_WAITING = 64
"""Rows that wait their turn; about what a tall table shows."""

_MOST_LEAVES = 8
"""Leaves of a branch that its numbers are made of; a branch of more has none."""


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of one row.

    Attributes:
        statistics: Its statistics; None while they are computed, or without numbers.
        why: Why there are none; empty while they are computed.
        is_busy: Whether they are on their way.
    """

    statistics: StatisticsReply | None = None
    why: str = ""
    is_busy: bool = False


class LeafStatistics:
    """Statistics of the leaves, or small branches, of one tree."""

    def __init__(
        self,
        client: StoreClient,
        owner: QObject,
        on_arrived: Callable[[TreePath], object],
    ) -> None:
        """Knows no tree until `show_tree`.

        Args:
            client: The store.
            owner: The model whose rows they are; nothing is asked after its end.
            on_arrived: Gets the path of a row whose `Found` is another one.
        """
        self._client = client
        self._owner = owner
        self._on_arrived = on_arrived
        self._tree = ""
        self._generation = 0
        self._found: dict[TreePath, Found] = {}
        self._waiting: dict[TreePath, bool] = {}
        self._running: set[TreePath] = set()
        self._is_starting = False

    @property
    def is_busy(self) -> bool:
        """Whether statistics are on their way."""
        return bool(self._waiting or self._running)

    def show_tree(self, tree: str) -> None:
        """Turns to another tree and forgets what was known; empty for none."""
        for path in self._running:
            self._client.drop(self._owner, _slot(path))
        self._generation += 1
        self._tree = tree
        self._found.clear()
        self._waiting.clear()
        self._running.clear()

    def look_up(self, path: TreePath, *, is_leaf: bool = True) -> Found:
        """Returns what is known of a row, and asks when that is nothing.

        Args:
            path: The row's path.
            is_leaf: Whether it is surely an array; else the store is asked first.
        """
        known = self._found.get(path)
        if known is not None:
            return known
        if self._tree and path not in self._running:
            self._waiting.pop(path, None)
            self._waiting[path] = is_leaf
            if len(self._waiting) > _MOST_WAITING:
                self._waiting.pop(next(iter(self._waiting)))
            if not self._is_starting:
                self._is_starting = True
                QTimer.singleShot(0, self._owner, self._start)
        return Found(is_busy=bool(self._tree))

    def _start(self) -> None:
        self._is_starting = False
        self._ask_next()

    def _ask_next(self) -> None:
        while self._waiting and len(self._running) < _AT_ONCE:
            path = next(iter(self._waiting))
            is_leaf = self._waiting.pop(path)
            self._running.add(path)
            if is_leaf:
                self._ask_statistics(path, [path])
            else:
                self._ask_kind(path)

    def _ask_kind(self, path: TreePath) -> None:
        def on_reply(details: Details) -> None:
            if details.has_numbers:
                self._ask_statistics(path, [path])
            elif details.row.kind in {"dict", "list", "tuple"}:
                self._ask_leaves(path, [path], [])
            else:
                self._settle(path, Found(why=f"{details.row.kind}: no numbers"))

        self._ask(path, Describe(self._tree, path), on_reply)

    def _ask_leaves(
        self, path: TreePath, branches: list[TreePath], leaves: list[TreePath]
    ) -> None:
        """Finds the leaves below a branch, one level a request."""
        if not branches or len(leaves) > _MOST_LEAVES:
            if 0 < len(leaves) <= _MOST_LEAVES:
                self._ask_statistics(path, leaves)
            else:
                many = "many values: choose one of them to see its numbers"
                self._settle(path, Found(why=many if leaves else "no numbers"))
            return
        branch, rest = branches[0], branches[1:]

        def on_reply(page: ChildPage) -> None:
            below = [((*branch, row.key), row) for row in page.rows]
            self._ask_leaves(
                path,
                rest + [child for child, row in below if row.children],
                leaves + [child for child, row in below if row.kind == "array"],
            )

        body = AskChildren(self._tree, branch, count=_MOST_LEAVES + 1)
        self._ask(path, body, on_reply)

    def _ask_statistics(
        self,
        path: TreePath,
        leaves: list[TreePath],
        made: tuple[StatisticsReply, ...] = (),
    ) -> None:
        def on_reply(reply: StatisticsReply) -> None:
            so_far = (*made, reply)
            if len(leaves) > 1:
                self._ask_statistics(path, leaves[1:], so_far)
            else:
                self._settle(path, Found(merged(so_far)))

        self._ask(path, ReadStatistics(self._tree, leaves[0], bins=0), on_reply)

    def _ask(self, path: TreePath, body: Any, on_reply: Callable[[Any], None]) -> None:
        generation = self._generation

        def on_failure(error: ErrorInfo) -> None:
            if generation == self._generation:
                self._settle(path, Found(why=error.text()))

        def replied(answer: Any) -> None:
            if generation == self._generation:
                on_reply(answer)

        self._client.ask(
            body,
            owner=self._owner,
            on_reply=replied,
            on_failure=on_failure,
            slot=_slot(path),
        )

    def _settle(self, path: TreePath, found: Found) -> None:
        self._running.discard(path)
        self._found[path] = found
        self._ask_next()
        self._on_arrived(path)


def _slot(path: TreePath) -> str:
    return f"statistics {path!r}"


def merged(parts: Sequence[StatisticsReply]) -> StatisticsReply:
    """Returns the statistics of all the elements of one or more leaves.

    The sum of all is left at 0.0 for more than one leaf: their dtypes may differ.
    """
    if len(parts) == 1:
        return parts[0]
    lows = [part.minimum for part in parts if part.minimum is not None]
    highs = [part.maximum for part in parts if part.maximum is not None]
    weighed = [
        (part.count - part.nan - part.inf, part.mean, part.std)
        for part in parts
        if part.mean is not None and part.std is not None
    ]
    finite = sum(count for count, _, _ in weighed)
    mean = std = None
    if finite:
        mean = sum(count * average for count, average, _ in weighed) / finite
        squares = (
            count * (spread**2 + (average - mean) ** 2)
            for count, average, spread in weighed
        )
        std = math.sqrt(sum(squares) / finite)
    return StatisticsReply(
        count=sum(part.count for part in parts),
        minimum=min(lows, default=None),
        maximum=max(highs, default=None),
        mean=mean,
        std=std,
        total=0.0,
        zeros=sum(part.zeros for part in parts),
        nan=sum(part.nan for part in parts),
        inf=sum(part.inf for part in parts),
        sampled=any(part.sampled for part in parts),
    )
