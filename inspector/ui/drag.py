"""A transfer by hand: what a hover shows and what a drop does.

The target's view tells where a drag is; here the store is asked for a plan, its
marks are shown on the rows in view, and a drop applies it when everything is exact,
else the plan is opened for the person's choices. Copy and paste take the same way.
On the window's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from inspector.engine.messages.viewing import (
    ApplyPlan,
    AskPlanMarks,
    MakePlan,
    PlanInfo,
    PlanMarks,
)
from inspector.errors import ErrorInfo
from inspector.ui.drag_data import DraggedNodes
from inspector.ui.models.tree_model import TreeModel
from inspector.ui.store_client import StoreClient
from inspector.ui.tokens import VERDICTS
from inspector.variables.path import TreePath

_SLOT = "plan"


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a plan was asked for."""

    source: str
    source_path: TreePath
    target_path: TreePath


class Transfer(QObject):
    """The transfer that is being made.

    Signals:
        said: Text for the status line while something hovers; empty at its end.
        plan_opened: `PlanInfo` that needs the person's choices.
        failed: `ErrorInfo`: a drop could not be planned or applied.
        applied: A plan was applied; `Changes` tells the rest.
    """

    said = Signal(str)
    plan_opened = Signal(object)
    failed = Signal(object)
    applied = Signal()

    def __init__(
        self,
        client: StoreClient,
        model: TreeModel,
        visible_paths: Callable[[], list[TreePath]],
        parent: QObject,
    ) -> None:
        """Works on the target's model.

        Args:
            client: Whom to ask.
            model: Shows the marks.
            visible_paths: Gives the paths of the target's rows in view.
            parent: Owner.
        """
        super().__init__(parent)
        self._client, self._model = client, model
        self._visible_paths = visible_paths
        self._asked: _Asked | None = None
        self._info: PlanInfo | None = None
        self._dropped = False
        self._marked: tuple[TreePath, ...] = ()

    def hover(self, nodes: DraggedNodes, path: TreePath) -> None:
        """Shows what dropping the nodes on a target path would do."""
        asked = _Asked(nodes.source, nodes.paths[0], path)
        if asked != self._asked or self._dropped:
            self._dropped = False
            self._ask(asked)
        elif self._info is not None:
            self.refresh_marks()

    def end_hover(self) -> None:
        """Takes the preview away; a plan already asked for stays for the drop."""
        self._model.set_plan_marks({})
        self._marked = ()
        self._client.drop(self, "marks")
        self.said.emit("")

    def drop(self, nodes: DraggedNodes, path: TreePath) -> None:
        """Makes the transfer, or opens its plan when something is to be chosen."""
        asked = _Asked(nodes.source, nodes.paths[0], path)
        self._dropped = True
        if asked == self._asked and self._info is not None:
            self._decide(self._info)
        elif asked != self._asked or self._info is None:
            self._ask(asked)

    def preview(self, nodes: DraggedNodes, path: TreePath) -> None:
        """Opens the plan of a transfer, whatever it says, without making it."""
        self._client.ask(
            MakePlan(nodes.source, nodes.paths[0], path),
            owner=self,
            on_reply=self.plan_opened.emit,
            on_failure=self.failed.emit,
            slot=_SLOT,
        )

    def apply(self, plan: int, choices: tuple[tuple[int, str], ...] = ()) -> None:
        """Applies a plan with the person's choices."""
        self._client.ask(
            ApplyPlan(plan, choices),
            owner=self,
            on_reply=lambda _changes: self.applied.emit(),
            on_failure=self.failed.emit,
            activity="Applying the plan",
        )

    def refresh_marks(self) -> None:
        """Asks for the marks of rows that came into view."""
        if self._info is None or self._dropped:
            return
        paths = tuple(self._visible_paths())
        if paths == self._marked:
            return
        self._marked = paths

        def on_marks(reply: PlanMarks) -> None:
            if not self._dropped:
                marks = zip(paths, reply.marks, strict=False)
                self._model.set_plan_marks({p: mark for p, mark in marks if mark})

        self._client.ask(
            AskPlanMarks(self._info.plan, paths),
            owner=self,
            on_reply=on_marks,
            on_failure=lambda _error: None,
            slot="marks",
        )

    def _ask(self, asked: _Asked) -> None:
        self._asked, self._info = asked, None
        self._marked = ()
        self._client.ask(
            MakePlan(asked.source, asked.source_path, asked.target_path),
            owner=self,
            on_reply=self._on_plan,
            on_failure=self._on_failure,
            slot=_SLOT,
        )

    def _on_plan(self, info: PlanInfo) -> None:
        self._info = info
        if self._dropped:
            self._decide(info)
            return
        self.said.emit(would_fill(info))
        self.refresh_marks()

    def _on_failure(self, error: ErrorInfo) -> None:
        if self._dropped:
            self._asked = None
            self.failed.emit(error)
        else:
            self.said.emit(error.message)

    def _decide(self, info: PlanInfo) -> None:
        # The store keeps one plan: the next transfer begins with a new one.
        self._asked = self._info = None
        if info.applies:
            self.apply(info.plan)
        else:
            self.plan_opened.emit(info)


def would_fill(info: PlanInfo) -> str:
    """Returns the status line of a hovering plan: ``would fill 148 exact, …``."""
    counts = dict(info.summary)
    filled = [verdict for verdict in VERDICTS[:3] if counts.get(verdict)]
    if not filled:
        return "nothing here would fit"
    said = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in filled)
    unused = counts.get("unused", 0)
    rest = f"; {unused:,} of the source unused" if unused else ""
    return f"would fill {said}{rest}"
