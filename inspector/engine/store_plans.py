"""Plans of transfers, made while the mouse hovers and kept until the next ones.

Metadata only. Trees are indexed once and the index is kept as long as its tree, so a
hover over a large model is answered within a few milliseconds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from inspector.engine.messages import viewing
from inspector.engine.store_state import StoreState
from inspector.engine.store_viewing import ViewWorkers
from inspector.errors import TransferError
from inspector.variables.edit import Asked, Transfer
from inspector.variables.path import TreePath, join
from inspector.variables.plan import Plan, PlanRow, decide, make_plan
from inspector.variables.tree import Branch, Node
from inspector.variables.tree_index import TreeIndex

_KEPT = 4
"""Plans that are kept: a hover makes a new one, the open table needs its own."""

_RANK = {"mismatch": 0, "converted": 1, "exact": 2, "missing": 3}
"""Verdict of a target node -> its place among those that a branch could show."""


class PlanGoneError(TransferError):
    """A plan was replaced by newer ones, or the target has changed since."""

    def __init__(self) -> None:
        """Says what to do."""
        super().__init__(
            "This plan is out of date: the target has changed since it was made",
            hint="Drag the part again.",
        )


class _Kept:
    """A plan with what is looked up in it; made on a worker."""

    def __init__(self, plan: Plan, target: Node) -> None:
        self.plan = plan
        self.target = target
        self._wanted: tuple[tuple[str, ...], list[tuple[int, PlanRow]]] | None = None
        self._marks: dict[TreePath, str] = {}
        for row in plan.rows:
            if row.target is not None:
                self._add(row.target, row.verdict.value)

    def mark(self, path: TreePath) -> str:
        """Returns the worst verdict at or below a target path; may be empty."""
        return self._marks.get(path, "")

    def rows(self, verdicts: tuple[str, ...]) -> list[tuple[int, PlanRow]]:
        """Returns (index, row) of these verdicts, of all for none; the last is kept."""
        kept = self._wanted
        if kept is None or kept[0] != verdicts:
            rows = enumerate(self.plan.rows)
            kept = (
                verdicts,
                [r for r in rows if not verdicts or r[1].verdict in verdicts],
            )
            self._wanted = kept
        return kept[1]

    def _add(self, path: TreePath, verdict: str) -> None:
        rank = _RANK[verdict]
        for depth in range(len(path), -1, -1):
            place = path[:depth]
            known = self._marks.get(place)
            # Whatever shows at a node shows at least as badly above it.
            if known is not None and _RANK[known] <= rank:
                return
            self._marks[place] = verdict


class Plans:
    """Makes plans and answers for their rows."""

    def __init__(self, state: StoreState, workers: ViewWorkers) -> None:
        """Takes its collaborators."""
        self._state = state
        self._workers = workers
        self._plans: OrderedDict[int, _Kept] = OrderedDict()
        self._last = 0
        self._indexes: OrderedDict[int, tuple[Node, TreeIndex]] = OrderedDict()

    async def make(self, body: viewing.MakePlan) -> viewing.PlanInfo:
        """Makes a plan; `viewing.PlanInfo` answers."""
        source = self._state.tree(body.source)
        target = self._state.target()
        name = self._state.names().get(body.source, body.source)

        def work() -> _Kept:
            plan = make_plan(
                self._index(source),
                self._index(target),
                source_path=body.source_path,
                target_path=body.target_path,
                only=body.only or None,
                source_id=body.source,
                source_name=name,
            )
            return _Kept(plan, target)

        kept = await self._workers.run(work)
        plan = kept.plan
        self._last += 1
        self._plans[self._last] = kept
        while len(self._plans) > _KEPT:
            self._plans.popitem(last=False)
        return viewing.PlanInfo(
            self._last,
            name,
            _asked_text(plan.asked),
            plan.note,
            tuple(plan.summary.items()),
            len(plan.rows),
            plan.exact,
        )

    async def rows(self, body: viewing.AskPlanRows) -> viewing.PlanPage:
        """Answers a page of rows."""
        kept = self._kept(body.plan)
        wanted = await self._workers.run(lambda: kept.rows(tuple(body.verdicts)))
        page = wanted[body.start : body.start + min(body.count, 500)]
        lines = tuple(_line(index, row) for index, row in page)
        return viewing.PlanPage(lines, len(wanted))

    async def marks(self, body: viewing.AskPlanMarks) -> viewing.PlanMarks:
        """Answers how the plan marks target nodes."""
        kept = self._kept(body.plan)
        return viewing.PlanMarks(tuple(kept.mark(path) for path in body.paths))

    def decision(self, body: viewing.ApplyPlan) -> Callable[[Branch], Transfer]:
        """Returns what turns the present target into the edit of a plan.

        It may run on a worker. It raises `PlanGoneError` when the target has changed
        since the plan was made, and `TransferError` when a choice is not possible or
        nothing would be moved.

        Raises:
            PlanGoneError: The plan was replaced by newer ones.
        """
        kept = self._kept(body.plan)

        def decided(target: Branch) -> Transfer:
            if kept.target is not target:
                raise PlanGoneError
            return decide(kept.plan, dict(body.choices))

        return decided

    def _kept(self, number: int) -> _Kept:
        kept = self._plans.get(number)
        if kept is None:
            raise PlanGoneError
        self._plans.move_to_end(number)
        return kept

    def _index(self, tree: Node) -> TreeIndex:
        known = self._indexes.get(id(tree))
        # An id alone could be that of a tree long gone; the kept pair holds its tree.
        if known is not None and known[0] is tree:
            return known[1]
        index = TreeIndex(tree)
        self._indexes[id(tree)] = (tree, index)
        while len(self._indexes) > _KEPT:
            self._indexes.popitem(last=False)
        return index


def _asked_text(asked: Asked) -> str:
    origin = asked.source_name
    if asked.source_path:
        origin = f"{origin}:{join(asked.source_path)}"
    only = f", {asked.only} only" if asked.only else ""
    return f"{origin} → {join(asked.target_path) or 'the whole target'}{only}"


def _line(index: int, row: PlanRow) -> viewing.PlanLine:
    return viewing.PlanLine(
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
