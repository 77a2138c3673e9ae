"""The runs of a session: their reports, and the trees of what they gave.

Lives on the store's loop and reads no numbers. The newest reports are kept; of the
values only those of the newest few runs, for they fill the scratch folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from inspector.engine.messages.inspecting import CallsReport
from inspector.engine.messages.running import RunModule, RunReport
from inspector.errors import EditError
from inspector.variables.edit import Edit
from inspector.variables.plain import PlainTree
from inspector.variables.tree import Node

REPORTS_KEPT = 50
"""Reports that are kept, the newest."""

VALUES_KEPT = 10
"""Runs whose values are kept, the newest."""

VALUES_BYTES = 4 << 30
"""Most bytes of kept values; those of the newest run are kept in any case."""

_NAME = re.compile(r"run(\d+)\.(outputs|updates|calls)")


class RunUnknownError(EditError):
    """A request names a run that there has not been, or that is long forgotten."""

    def __init__(self, run: int, known: Iterable[int]) -> None:
        """Names it and the runs there are."""
        numbers = ", ".join(str(number) for number in known)
        super().__init__(
            f"There is no run {run} in this session",
            hint=f"Runs that are remembered: {numbers or 'none'}.",
        )


class RunValuesGoneError(EditError):
    """The values of a run are no longer kept."""

    def __init__(self, run: int, part: str) -> None:
        """Names the run and what was asked of it."""
        super().__init__(
            f"Run {run} has no {part} any more: the values of the newest"
            f" {VALUES_KEPT} runs are kept",
            where=f"run {run}",
            hint="Run it again.",
        )


class RunPartMissingError(EditError):
    """A run never gave what is asked for."""

    def __init__(self, run: int, part: str) -> None:
        """Names the run and what was asked of it."""
        hint = {
            "updates": "Only a run with mutable collections updates anything.",
            "calls": "Record the module calls first.",
        }.get(part, "Choose another run.")
        super().__init__(f"Run {run} has no {part}", where=f"run {run}", hint=hint)


@dataclass(slots=True)
class Kept:
    """One run as it is remembered.

    Attributes:
        number: Its number.
        file: File that holds its values.
        trees: Part of a tree's name (``"outputs"``, …) -> tree.
        report: What is told of a forward pass; None for a recording.
        calls: What is told of a recording; None for a forward pass.
        request: What was asked of the model, for running a part of it again.
        before: The leaves of the target that it updated, as they were.
        revision: Revision of the document whose values were used.
        edits: Edits of the target that its updates have become.
        nbytes: Size of its file.
        gone: Whether its values have been let go of.
    """

    number: int
    file: Path
    trees: dict[str, Node] = field(default_factory=dict)
    report: RunReport | None = None
    calls: CallsReport | None = None
    request: RunModule | None = None
    before: PlainTree = field(default_factory=PlainTree)
    revision: int = 0
    edits: list[Edit] = field(default_factory=list)
    nbytes: int = 0
    gone: bool = False

    def tree(self, part: str) -> Node:
        """Returns one of its trees.

        Raises:
            RunValuesGoneError: Its values are no longer kept.
            RunPartMissingError: It never had any such.
        """
        if self.gone:
            raise RunValuesGoneError(self.number, part)
        if part not in self.trees:
            raise RunPartMissingError(self.number, part)
        return self.trees[part]


class RunRecords:
    """The runs of one session, newest last."""

    def __init__(self, scratch: Path) -> None:
        """Takes the folder that the values lie in."""
        self._scratch = scratch
        self._runs: dict[int, Kept] = {}
        self._last = 0
        self._begun = 0

    def new_file(self) -> Path:
        """Returns a file for the values of a run that is about to begin."""
        self._begun += 1
        return self._scratch / f"run-{self._begun}.bin"

    def next_number(self) -> int:
        """Returns the number of the next run; those that failed have none."""
        self._last += 1
        return self._last

    def add(self, kept: Kept) -> None:
        """Remembers a finished run and forgets what is too old."""
        self._runs[kept.number] = kept
        while len(self._runs) > REPORTS_KEPT:
            self._drop(self._runs.pop(min(self._runs)))
        room = VALUES_BYTES
        holders = [one for one in self.newest() if not one.gone]
        for rank, one in enumerate(holders):
            room -= one.nbytes
            if rank and (rank >= VALUES_KEPT or room < 0):
                self._drop(one)

    def _drop(self, kept: Kept) -> None:
        kept.file.unlink(missing_ok=True)
        kept.trees.clear()
        kept.request = None
        kept.before = PlainTree()
        kept.gone = True

    def newest(self) -> list[Kept]:
        """Returns the remembered runs, newest first."""
        return [self._runs[number] for number in sorted(self._runs, reverse=True)]

    def get(self, run: int) -> Kept:
        """Returns a run.

        Raises:
            RunUnknownError: There is none of this number.
        """
        if run not in self._runs:
            raise RunUnknownError(run, sorted(self._runs))
        return self._runs[run]

    def take(self, run: int, edit: Edit) -> None:
        """Notes the edit that the updates of a run have become."""
        self.get(run).edits.append(edit)

    def look_at(self, edits: Iterable[Edit]) -> None:
        """Marks as taken the runs whose updates are in the target now.

        Args:
            edits: The edits in force; one that was undone is none of them.
        """
        present = {id(edit) for edit in edits}
        for kept in self._runs.values():
            if kept.report is not None:
                taken = any(id(edit) in present for edit in kept.edits)
                kept.report = replace(kept.report, taken=taken)

    def tree(self, name: str) -> Node | None:
        """Returns the tree of a name such as ``run3.outputs``; None for others.

        Raises:
            RunUnknownError: There is no such run.
            RunValuesGoneError: Its values are no longer kept.
            RunPartMissingError: It never had any such.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        return self.get(int(match[1])).tree(match[2])

    def pinned(self) -> set[str]:
        """Returns the stamps of the variables that runs may be asked for again."""
        requests = [one.request for one in self._runs.values() if one.request]
        return {request.stamp for request in requests}
