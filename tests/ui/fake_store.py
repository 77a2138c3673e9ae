"""A store inside the test: real trees, plans and edits, without a process.

For the tests of the frame: trees, drag and drop, plan, window. Built over the same
pure functions as the real store. Requests of a class can be held back and let go,
so that a test decides what is answered first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from inspector.engine import store_view
from inspector.engine.messages import document, reading, viewing
from inspector.engine.messages.envelope import Done, Progress
from inspector.engine.store_query import find
from inspector.errors import EngineError, ErrorInfo, InspectorError
from inspector.ui.store_client import CANCELLED, StoreClient
from inspector.variables.apply import apply_edit
from inspector.variables.edit import Delete, Edit, Rename, describe
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath, parse
from inspector.variables.plan import Plan, decide, make_plan
from inspector.variables.tree import EMPTY, Branch, Node, build, totals_of
from inspector.variables.value import Initial, Stored
from tests.ui.call_samples import call_answers

OnEvent = Callable[[object], None]
OnClosed = Callable[[ErrorInfo], None]


def source_tree(shapes: Mapping[str, tuple[int, ...]], source: str = "s1") -> Branch:
    """Makes the tree of a source from path text -> shape, all float32."""
    return _tree(shapes, lambda path: Stored(source, path))


def module_tree(shapes: Mapping[str, tuple[int, ...]]) -> Branch:
    """Makes the tree of a module whose leaves have their initial values."""
    return _tree(shapes, Initial)


def _tree(
    shapes: Mapping[str, tuple[int, ...]], value: Callable[[TreePath], Any]
) -> Branch:
    leaves = [
        (path, Leaf(Kind.ARRAY, shape, "float32", value(path)))
        for path, shape in ((parse(text), shape) for text, shape in shapes.items())
    ]
    tree = build(leaves)
    assert isinstance(tree, Branch)
    return tree


@dataclass
class _Held:
    request_id: int
    body: Any
    on_reply: Callable[[Any], None]
    on_failure: Callable[[ErrorInfo], None]
    on_progress: Callable[[Progress], None] | None


@dataclass
class FakeStore:
    """Answers like the store; also the transport of the window's client.

    Attributes:
        asked: Every body that was asked, in order.
        cancelled: Bodies that were cancelled.
        holding: Classes of bodies that are held back.
        sessions: What `AskSessions` finds.
        failing: Class of a body -> the failure that answers it.
        answers: Answers of a test, in place of the usual ones.
    """

    asked: list[Any] = field(default_factory=list)
    cancelled: list[Any] = field(default_factory=list)
    holding: set[type] = field(default_factory=set)
    sessions: list[document.SessionInfo] = field(default_factory=list)
    failing: dict[type, ErrorInfo] = field(default_factory=dict)
    answers: dict[type, Callable[[Any], object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._sources: dict[str, tuple[document.SourceInfo, Node]] = {}
        self._states: list[Node] = [EMPTY]
        self._texts: list[str] = []
        self._position = 0
        self._target = document.TargetInfo()
        self._plans: dict[int, Plan] = {}
        self._ids = itertools.count(1)
        self._held: dict[int, _Held] = {}
        self._on_event: OnEvent = lambda _event: None
        self._on_closed: OnClosed = lambda _error: None
        self._handlers: dict[type, Callable[[Any], object]] = {
            document.AskDocument: lambda _body: self.info,
            document.AskSessions: lambda _b: document.Sessions(tuple(self.sessions)),
            document.DiscardSession: lambda _body: Done(),
            document.RestoreSession: self._restore,
            document.OpenRecipe: lambda _b: self._changed(base=True),
            document.OpenSource: self._open,
            document.CloseSource: self._close,
            document.RecheckSources: lambda _body: self.info,
            document.AcceptSource: self._accept,
            document.CopyTarget: self._copy,
            document.LoadRecorded: self._load_recorded,
            document.Export: lambda b: reading.Exported(b.out, b.format, 4, 64),
            document.RenameNode: lambda b: self._edit(Rename(b.path, b.name)),
            document.DeleteNodes: lambda b: self._edit(Delete(b.paths)),
            document.Undo: lambda _b: self._go_to(self._position - 1),
            document.Redo: lambda _b: self._go_to(self._position + 1),
            **call_answers(),
            viewing.AskChildren: self._children,
            viewing.Locate: self._locate,
            viewing.Describe: self._describe,
            viewing.Search: self._search,
            viewing.MakePlan: self._make_plan,
            viewing.AskPlanRows: self._plan_rows,
            viewing.AskPlanMarks: self._plan_marks,
            viewing.ApplyPlan: self._apply_plan,
        }

    @property
    def tree(self) -> Node:
        """The target as it is."""
        return self._states[self._position]

    @property
    def history(self) -> document.HistoryState:
        return document.HistoryState(
            self._position,
            len(self._texts),
            tuple(self._texts),
            0,
            self._position > 0,
            self._position < len(self._texts),
        )

    @property
    def info(self) -> document.DocumentInfo:
        totals = totals_of(self.tree)
        target = self._target
        if target.kind != "none":
            target = replace(
                target,
                leaves=totals.leaves,
                origins=store_view.origin_counts(self.tree),
            )
        infos = tuple(info for info, _tree in self._sources.values())
        return document.DocumentInfo(infos, target, self.history)

    def add_source(self, tree: Node, name: str = "digits", **facts: Any) -> str:
        """Opens a source; returns its id."""
        source = f"s{len(self._sources) + 1}"
        totals = totals_of(tree)
        info = document.SourceInfo(
            source,
            name,
            f"/data/{name}",
            f"/data/{name}",
            "orbax",
            totals.leaves,
            totals.parameters,
            totals.nbytes,
            **facts,
        )
        self._sources[source] = (info, tree)
        self.send(document.Changes(sources=True, text=f"open {name}"))
        return source

    def change_source(self, source: str, **facts: Any) -> None:
        self.change_quietly(source, **facts)
        self.send(document.Changes(sources=True))

    def change_quietly(self, source: str, **facts: Any) -> None:
        """Changes what is known of a source; whoever asks again hears of it."""
        info, tree = self._sources[source]
        self._sources[source] = (replace(info, **facts), tree)

    def set_target(self, tree: Node, name: str = "net.py:Net", **facts: Any) -> None:
        """Makes a module's tree the target."""
        facts = {"loaded": True, "spec": "/code/net.py:Net", **facts}
        self._target = document.TargetInfo("module", name, **facts)
        self._states, self._texts, self._position = [tree], [], 0
        self.send(document.Changes(base=True, text=f"make {name} the target"))

    def replace_tree(self, tree: Node, **flags: Any) -> None:
        """Changes the target behind everybody's back, and tells."""
        self._states[self._position] = tree
        self.send(document.Changes(**flags))

    def send(self, event: object) -> None:
        self._on_event(event)

    def end(self, message: str = "the store was killed") -> None:
        """Ends as a killed process does: open requests fail, then it is closed."""
        error = EngineError(message, hint="It is started anew.").info()
        held, self._held = self._held, {}
        for one in held.values():
            one.on_failure(error)
        self._on_closed(error)

    def connect(self, on_event: OnEvent, on_closed: OnClosed) -> FakeStore:
        """The factory that `StoreClient.start` takes."""
        self._on_event, self._on_closed = on_event, on_closed
        return self

    def release(self, index: int = 0) -> None:
        """Answers one held request."""
        one = self._held.pop(list(self._held)[index])
        self._answer(one)

    def release_all(self) -> None:
        """Answers what is held and holds nothing from now on."""
        self.holding.clear()
        while self._held:
            self.release()

    @property
    def held(self) -> list[Any]:
        """Bodies that wait, oldest first."""
        return [one.body for one in self._held.values()]

    def progress(self, done: int, total: int, text: str = "") -> None:
        """Reports progress of every held request."""
        for one in self._held.values():
            if one.on_progress is not None:
                one.on_progress(Progress(one.request_id, done, total, text))

    def of(self, kind: type) -> list[Any]:
        """Returns what was asked of one class."""
        return [body for body in self.asked if isinstance(body, kind)]

    # The transport.

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
        one = _Held(request_id, body, on_reply, on_failure, on_progress)
        if type(body) in self.holding:
            self._held[request_id] = one
        else:
            self._answer(one)
        return request_id

    def cancel(self, request_id: int) -> None:
        one = self._held.pop(request_id, None)
        if one is not None:
            self.cancelled.append(one.body)
            one.on_failure(ErrorInfo(CANCELLED, "Cancelled"))

    def close(self) -> None:
        self._held.clear()

    def _answer(self, one: _Held) -> None:
        failure = self.failing.get(type(one.body))
        if failure is not None:
            one.on_failure(failure)
            return
        try:
            kind = type(one.body)
            handler = self.answers.get(kind) or self._handlers[kind]
            one.on_reply(handler(one.body))
        except InspectorError as error:
            one.on_failure(error.info())

    # The handlers.

    def _node(self, tree: str) -> Node:
        return self.tree if tree == document.TARGET else self._sources[tree][1]

    def _names(self) -> dict[str, str]:
        return {key: info.name for key, (info, _tree) in self._sources.items()}

    def _children(self, body: viewing.AskChildren) -> object:
        filtered = store_view.FilteredTree(self._node(body.tree), body.query)
        with_origin = body.tree == document.TARGET
        return store_view.children_page(
            filtered, body, self._names(), with_origin=with_origin
        )

    def _locate(self, body: viewing.Locate) -> object:
        filtered = store_view.FilteredTree(self._node(body.tree), body.query)
        return viewing.Located(filtered.locate(body.path))

    def _describe(self, body: viewing.Describe) -> object:
        node = store_view.node_at(self._node(body.tree), body.path)
        with_origin = body.tree == document.TARGET
        key = body.path[-1] if body.path else "/"
        row = store_view.make_row(key, node, self._names(), with_origin=with_origin)
        return viewing.Details(body.tree, body.path, row)

    def _search(self, body: viewing.Search) -> object:
        paths, total = find(self.tree, body.query, body.limit)
        return viewing.Hits(tuple((document.TARGET, path) for path in paths), total)

    def _make_plan(self, body: viewing.MakePlan) -> object:
        plan = make_plan(
            self._node(body.source),
            self.tree,
            source_path=body.source_path,
            target_path=body.target_path,
            source_id=body.source,
            source_name=self._names()[body.source],
        )
        number = len(self._plans) + 1
        self._plans[number] = plan
        summary = tuple((str(v), n) for v, n in plan.summary.items())
        return viewing.PlanInfo(
            number, body.source, "asked", plan.note, summary, len(plan.rows), plan.exact
        )

    def _plan_rows(self, body: viewing.AskPlanRows) -> object:
        rows = [
            viewing.PlanLine(
                index,
                str(row.verdict),
                row.source,
                row.target,
                row.rule,
                row.why,
                row.source_shape,
                row.target_shape,
                row.source_dtype,
                row.target_dtype,
                row.choices,
            )
            for index, row in enumerate(self._plans[body.plan].rows)
            if not body.verdicts or str(row.verdict) in body.verdicts
        ]
        page = rows[body.start : body.start + body.count]
        return viewing.PlanPage(tuple(page), len(rows))

    def _plan_marks(self, body: viewing.AskPlanMarks) -> object:
        rows = self._plans[body.plan].rows
        return viewing.PlanMarks(tuple(_mark(rows, path) for path in body.paths))

    def _apply_plan(self, body: viewing.ApplyPlan) -> object:
        return self._edit(decide(self._plans[body.plan], dict(body.choices)))

    def _edit(self, edit: Edit) -> object:
        assert isinstance(self.tree, Branch)
        tree = apply_edit(self.tree, edit)
        del self._states[self._position + 1 :]
        del self._texts[self._position :]
        self._states.append(tree)
        self._texts.append(describe(edit))
        self._position += 1
        structure = isinstance(edit, Rename | Delete)
        return self._changed(structure=structure, values=True, text=describe(edit))

    def _go_to(self, position: int) -> object:
        self._position = position
        return self._changed(structure=True, values=True, text="go")

    def _changed(self, **facts: Any) -> document.Changes:
        changes = document.Changes(history=self.history, **facts)
        self.send(changes)
        return changes

    def _open(self, body: document.OpenSource) -> object:
        name = body.locator.rpartition("/")[2]
        source = self.add_source(source_tree({"params/w": (2, 3)}), name)
        return self._sources[source][0]

    def _close(self, body: document.CloseSource) -> object:
        del self._sources[body.source]
        return self._changed(sources=True)

    def _accept(self, body: document.AcceptSource) -> object:
        self.change_source(body.source, changed="")
        return document.Changes(sources=True)

    def _copy(self, body: document.CopyTarget) -> object:
        info, tree = self._sources[body.source]
        self._target = document.TargetInfo("checkpoint", info.name, loaded=True)
        self._states, self._texts, self._position = [tree], [], 0
        return self._changed(base=True)

    def _load_recorded(self, _body: document.LoadRecorded) -> object:
        self._target = replace(self._target, loaded=True)
        return self._changed(values=True)

    def _restore(self, _body: document.RestoreSession) -> object:
        self.sessions.clear()
        return self._changed(sources=True, base=True)


def _mark(rows: Iterable[Any], path: TreePath) -> str:
    order = ("mismatch", "converted", "exact", "missing")
    found = {
        str(row.verdict)
        for row in rows
        if row.target is not None and row.target[: len(path)] == path
    }
    return next((verdict for verdict in order if verdict in found), "")


def started_client(store: FakeStore) -> StoreClient:
    """Returns a client that asks a store inside the test."""
    client = StoreClient()
    client.start(store.connect)
    return client
