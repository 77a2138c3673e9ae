"""A store inside the test: real trees and real numbers, answered like the real one.

Made for the tests of the panels, viewers and dialogs that show and ask; edits answer
with `Changes` and are kept for the test to look at. Requests can be held, so that a
test decides what is answered first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector.engine import store_view
from inspector.engine.messages import document, module, reading, viewing
from inspector.engine.messages.envelope import Event, Progress
from inspector.engine.store_query import find
from inspector.errors import ErrorInfo, InspectorError
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Mode, Theme
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath, join
from inspector.variables.statistics import StatisticsBuilder, histogram
from inspector.variables.tree import EMPTY, Node, build, get
from inspector.variables.value import Literal, Stored, Value

Array = NDArray[Any]
Answer = Callable[[Any], object]


def array_leaf(array: Array, value: Value, **facts: Any) -> Leaf:
    """Makes the leaf of an array."""
    return Leaf(Kind.ARRAY, array.shape, str(array.dtype.name), value, **facts)


def tree_of(arrays: Mapping[TreePath, Array], source: str = "s1") -> Node:
    """Makes a tree whose leaves are stored in a source."""
    return build(
        [(path, array_leaf(a, Stored(source, path))) for path, a in arrays.items()]
    )


def text_leaf(text: str) -> Leaf:
    return Leaf(Kind.STR, value=Literal(text))


@dataclass
class _Held:
    request_id: int
    body: Any
    on_reply: Callable[[Any], None]
    on_failure: Callable[[ErrorInfo], None]
    on_progress: Callable[[Progress], None] | None


@dataclass
class ContentStore:
    """A `Transport`.

    Attributes:
        trees: Tree of the target and of each source.
        arrays: (tree, path) -> numbers.
        asked: Every request in the order it came.
        cancelled: Requests that were cancelled.
        held_types: Requests of these types wait for `release`.
        answers: Answers for other types, or in place of the usual ones.
    """

    trees: dict[str, Node] = field(default_factory=dict)
    arrays: dict[tuple[str, TreePath], Array] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=lambda: {"s1": "digits"})
    asked: list[Any] = field(default_factory=list)
    cancelled: list[Any] = field(default_factory=list)
    held_types: tuple[type, ...] = ()
    answers: dict[type, Answer] = field(default_factory=dict)
    history: document.HistoryState = field(default_factory=document.HistoryState)
    target: document.TargetInfo = field(default_factory=document.TargetInfo)
    sources: tuple[document.SourceInfo, ...] = ()

    def __post_init__(self) -> None:
        self._ids = itertools.count(1)
        self._held: list[_Held] = []
        self._on_event: Callable[[object], None] = lambda _event: None

    def start(self, client: StoreClient) -> None:
        def factory(
            on_event: Callable[[object], None], on_closed: Callable[[ErrorInfo], None]
        ) -> ContentStore:
            del on_closed
            self._on_event = on_event
            return self

        client.start(factory)

    def put(self, tree: str, arrays: Mapping[TreePath, Array]) -> None:
        """Makes a tree of arrays."""
        self.trees[tree] = tree_of(arrays)
        for path, array in arrays.items():
            self.arrays[tree, path] = array

    def emit(self, body: object) -> None:
        """Sends an event to the window."""
        self._on_event(Event(body))

    def of_type(self, kind: type) -> list[Any]:
        return [body for body in self.asked if isinstance(body, kind)]

    def held(self, kind: type) -> list[Any]:
        return [held.body for held in self._held if isinstance(held.body, kind)]

    def report(self, body: object, done: int, total: int) -> None:
        """Reports progress of a held request."""
        for held in self._held:
            if held.body == body and held.on_progress is not None:
                held.on_progress(Progress(held.request_id, done, total, ""))

    def release(self, body: object | None = None) -> None:
        """Answers held requests: all, or the one with this body."""
        waiting, self._held = self._held, []
        for held in waiting:
            if body is None or held.body == body:
                self._answer(held)
            else:
                self._held.append(held)

    # Transport

    def request(
        self,
        body: object,
        *,
        on_reply: Callable[[Any], None],
        on_failure: Callable[[ErrorInfo], None],
        on_progress: Callable[[Progress], None] | None = None,
    ) -> int:
        request_id = next(self._ids)
        self.asked.append(body)
        held = _Held(request_id, body, on_reply, on_failure, on_progress)
        if isinstance(body, self.held_types):
            self._held.append(held)
        else:
            self._answer(held)
        return request_id

    def cancel(self, request_id: int) -> None:
        for held in list(self._held):
            if held.request_id == request_id:
                self._held.remove(held)
                self.cancelled.append(held.body)
                held.on_failure(ErrorInfo("CancelledError", "cancelled"))

    def close(self) -> None:
        self._held.clear()

    def _answer(self, held: _Held) -> None:
        try:
            held.on_reply(self._reply(held.body))
        except InspectorError as error:
            held.on_failure(error.info("Traceback (most recent call last): …"))

    def _reply(self, body: Any) -> object:
        if type(body) in self.answers:
            return self.answers[type(body)](body)
        if type(body) in _ANSWERS:
            return _ANSWERS[type(body)](self, body)
        return self._edit(body)

    def _edit(self, body: Any) -> document.Changes:
        changes = document.Changes(
            values=True, text=type(body).__name__, history=self.history
        )
        self.emit(changes)
        return changes


def _describe(store: ContentStore, body: viewing.Describe) -> object:
    tree = store.trees.get(body.tree, EMPTY)
    is_target = body.tree == document.TARGET
    return store_view.make_details(
        body.tree, tree, body.path, store.names, is_target=is_target
    )


def _children(store: ContentStore, body: viewing.AskChildren) -> object:
    filtered = store_view.FilteredTree(store.trees[body.tree], body.query)
    return store_view.children_page(
        filtered, body, store.names, with_origin=body.tree == document.TARGET
    )


def _search(store: ContentStore, body: viewing.Search) -> object:
    hits: list[tuple[str, TreePath]] = []
    total = 0
    for name, tree in store.trees.items():
        found, count = find(tree, body.query, body.limit)
        hits += [(name, path) for path in found]
        total += count
    return viewing.Hits(tuple(hits[: body.limit]), total)


def _array(store: ContentStore, tree: str, path: TreePath) -> Array:
    leaf = get(store.trees[tree], path)
    assert isinstance(leaf, Leaf)
    if leaf.error:
        raise InspectorError(leaf.error, where=join(path), hint="Get the whole file.")
    return store.arrays[tree, path]


def _statistics(store: ContentStore, body: viewing.ReadStatistics) -> object:
    array = _array(store, body.tree, body.path)
    builder = StatisticsBuilder(str(array.dtype.name))
    builder.add(array.reshape(-1))
    found = builder.result()
    edges: tuple[float, float] | tuple[()] = ()
    counts: tuple[int, ...] = ()
    if body.bins and found.min is not None and found.max is not None:
        finite = np.asarray(array).astype(np.float64).reshape(-1)
        finite = finite[np.isfinite(finite)]
        edges = (float(found.min), float(found.max))
        counts = tuple(int(n) for n in histogram([finite], *edges, body.bins))
    return reading.StatisticsReply(
        array.size,
        found.min,
        found.max,
        found.mean,
        found.std,
        _as_pair(found.sum),
        found.zeros,
        found.nan,
        found.inf,
        edges,
        counts,
    )


def _as_pair(total: int | float | complex) -> int | float | tuple[float, float]:
    return (total.real, total.imag) if isinstance(total, complex) else total


def _numbers(store: ContentStore, body: viewing.ReadNumbers) -> object:
    array = _array(store, body.tree, body.path)
    block = array[tuple(slice(start, stop) for start, stop in body.region)]
    return reading.Numbers(
        block.shape, str(array.dtype.name), np.ascontiguousarray(block).tobytes()
    )


def _picture(store: ContentStore, body: viewing.ReadPicture) -> object:
    array = _array(store, body.tree, body.path)
    axes = (body.rows_axis, body.columns_axis)
    limits = (body.max_rows, body.max_columns)
    steps = [
        1 if axis < 0 else max(1, -(-array.shape[axis] // most))
        for axis, most in zip(axes, limits, strict=True)
    ]
    chosen = array[
        tuple(
            slice(None, None, steps[axes.index(axis)]) if axis in axes else index
            for axis, index in enumerate(body.index)
        )
    ]
    table = np.atleast_2d(np.abs(chosen) if np.iscomplexobj(chosen) else chosen)
    if axes[0] > axes[1] >= 0:
        table = table.T
    with np.errstate(over="ignore"):
        data = np.ascontiguousarray(table.astype(np.float32))
    finite = data[np.isfinite(data)]
    ends = (float(finite.min()), float(finite.max())) if finite.size else (None, None)
    rows, columns = data.shape
    return reading.Picture(
        rows, columns, data.tobytes(), steps[0], steps[1], ends[0], ends[1]
    )


def _document(store: ContentStore, body: document.AskDocument) -> object:
    del body
    return document.DocumentInfo(store.sources, store.target, store.history)


def _no_offers(store: ContentStore, body: module.ListModules) -> object:
    del store
    return module.ModuleOffers(body.spec, ())


_ANSWERS: dict[type, Callable[[ContentStore, Any], object]] = {
    viewing.Describe: _describe,
    viewing.AskChildren: _children,
    viewing.Search: _search,
    viewing.ReadStatistics: _statistics,
    viewing.ReadNumbers: _numbers,
    viewing.ReadPicture: _picture,
    document.AskDocument: _document,
    module.ListModules: _no_offers,
}


def start_client(store: ContentStore, qtbot: QtBot) -> StoreClient:
    """Starts a client on the store; it ends with the test."""
    client = StoreClient()
    store.start(client)
    qtbot.addWidget(_Ender(client))
    return client


class _Ender(QWidget):
    """Closes the client when pytest-qt closes the test's widgets."""

    def __init__(self, client: StoreClient) -> None:
        super().__init__()
        self._client = client

    def closeEvent(self, event: QCloseEvent) -> None:
        self._client.close()
        super().closeEvent(event)


def light_theme() -> Theme:
    return Theme(Mode.LIGHT)


def weights(shape: tuple[int, ...], dtype: str) -> Array:
    """Numbers that look like weights, the same in every test."""
    generator = np.random.default_rng(7)
    return generator.normal(0, 0.12, shape).astype(dtypes.to_numpy(dtype))
