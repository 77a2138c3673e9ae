"""The recorded module calls of a run, in call order, with numbers on demand.

Owned by the page of intermediates. Statistics of the outputs are asked for the rows
that are painted.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QObject

from inspector.engine.messages.inspecting import CallsReport, ModuleCall
from inspector.engine.messages.running import calls_of
from inspector.ui.models.leaf_statistics import Found, LeafStatistics
from inspector.ui.models.record_table import Column, Index, RecordTable
from inspector.ui.models.statistics_columns import statistics_columns
from inspector.ui.store_client import StoreClient
from inspector.variables.path import TreePath, join

_ROOT = QModelIndex()


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call.

    Attributes:
        call: The call.
        found: Statistics of its outputs.
    """

    call: ModuleCall
    found: Found

    @property
    def outputs(self) -> TreePath:
        """Where its outputs are in the tree of the recording."""
        return (self.call.index, "outputs")

    @property
    def inputs(self) -> TreePath:
        """Where its inputs are in the tree of the recording."""
        return (self.call.index, "inputs")


def module_name(path: TreePath) -> str:
    """Returns the last key of a module's path; the root has a name of its own."""
    return str(path[-1]) if path else "(root)"


def whole_name(path: TreePath) -> str:
    """Returns a module's path; the root has a name of its own."""
    return join(path) or "(root)"


COLUMNS = (
    Column(
        "module",
        lambda one: module_name(one.call.module),
        lambda one: whole_name(one.call.module),
        indent=lambda one: len(one.call.module),
    ),
    Column("call", lambda one: str(one.call.index), width=48, look="number", rank=9),
    Column("kind", lambda one: one.call.kind, width=108, rank=6),
    Column(
        "method", lambda one: one.call.method or "__call__", width=80, look="mono",
        rank=10,
    ),
    Column("inputs", lambda one: one.call.inputs, width=152, look="mono", rank=7),
    Column("outputs", lambda one: one.call.outputs, width=152, look="mono", rank=3),
    *statistics_columns(
        lambda one: one.found, titles=frozenset({"min", "max", "mean", "std", "NaN"})
    ),
    Column("note", lambda one: one.call.note, width=96, rank=8),
)  # fmt: skip
"""Columns of the table of calls."""


class CallsModel(RecordTable):
    """Calls of one recording."""

    def __init__(self, client: StoreClient, parent: QObject) -> None:
        """Shows nothing until `show_report`."""
        super().__init__(COLUMNS, parent, path_of=lambda one: one.outputs)
        self._calls: tuple[ModuleCall, ...] = ()
        self._row_of: dict[int, int] = {}
        self.statistics = LeafStatistics(client, self, self._on_statistics)

    def show_report(self, report: CallsReport | None) -> None:
        """Shows a recording; None shows nothing."""
        self.statistics.show_tree(calls_of(report.run) if report is not None else "")
        self.beginResetModel()
        self._calls = report.calls if report is not None else ()
        self._row_of = {call.index: row for row, call in enumerate(self._calls)}
        self.endResetModel()

    def record(self, row: int) -> RecordedCall | None:
        """Returns a call; the numbers of its outputs are asked for."""
        if not 0 <= row < len(self._calls):
            return None
        call = self._calls[row]
        found = self.statistics.look_up((call.index, "outputs"), is_leaf=False)
        return RecordedCall(call, found)

    def _on_statistics(self, path: TreePath) -> None:
        row = self._row_of.get(int(path[0]))
        if row is not None:
            self.tell_row(row)

    # Overrides of Qt.

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Counts the calls."""
        return 0 if parent.isValid() else len(self._calls)
