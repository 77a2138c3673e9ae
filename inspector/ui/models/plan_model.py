"""The rows of a plan, page by page, and the choices made so far.

Owned by the plan panel. The store keeps the plan; only what differs from its
defaults is kept here and sent with the apply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
)

from inspector.engine.messages.viewing import AskPlanRows, PlanInfo, PlanLine, PlanPage
from inspector.errors import ErrorInfo
from inspector.ui import format as fmt
from inspector.ui.models.roles import PLAN_HEADERS, PlanColumn, PlanRole
from inspector.ui.store_client import StoreClient
from inspector.ui.tokens import MARKS
from inspector.variables.path import join

Index = QModelIndex | QPersistentModelIndex

SKIP = "skip"
"""The choice that leaves a target leaf as it is."""

_ROOT = QModelIndex()
_PAGE = 200
_FILLING = ("exact", "converted")


class PlanModel(QAbstractTableModel):
    """One plan under a filter of verdicts.

    Signals:
        choices_changed: The person chose otherwise.
        failed: `ErrorInfo`: rows could not be had, e.g. the plan is outdated.
    """

    choices_changed = Signal()
    failed = Signal(object)

    def __init__(self, client: StoreClient, parent: QObject) -> None:
        """Shows nothing until `show_plan`."""
        super().__init__(parent)
        self._client = client
        self.info: PlanInfo | None = None
        self._verdicts: tuple[str, ...] = ()
        self._lines: list[PlanLine | None] = []
        self._asked: set[int] = set()
        self._wanted: set[int] = set()
        self._chosen: dict[int, tuple[str, str]] = {}
        self._generation = 0
        self._fetch = QTimer(self)
        self._fetch.setSingleShot(True)
        self._fetch.setInterval(0)
        self._fetch.timeout.connect(self._ask_wanted)

    def show_plan(self, info: PlanInfo | None) -> None:
        """Shows another plan without any choice made; None shows nothing."""
        self.info = info
        self._chosen = {}
        self._verdicts = ()
        self._restart(info.rows if info is not None else 0)
        self.choices_changed.emit()

    def set_verdicts(self, verdicts: tuple[str, ...]) -> None:
        """Shows only rows of these verdicts; none given shows all."""
        if self.info is None or verdicts == self._verdicts:
            return
        self._verdicts = verdicts
        counts = dict(self.info.summary)
        total = sum(counts.get(verdict, 0) for verdict in verdicts)
        self._restart(total if verdicts else self.info.rows)

    @property
    def is_loading(self) -> bool:
        """Whether rows are on their way."""
        return bool(self._asked or self._wanted)

    @property
    def choices(self) -> tuple[tuple[int, str], ...]:
        """What `ApplyPlan` takes: (row index, choice), defaults left out."""
        return tuple((index, made[0]) for index, made in sorted(self._chosen.items()))

    @property
    def applied(self) -> tuple[int, int]:
        """(rows that would be filled, rows that could be)."""
        if self.info is None:
            return 0, 0
        counts = Counter(dict(self.info.summary))
        filled = sum(counts[verdict] for verdict in _FILLING)
        for choice, verdict in self._chosen.values():
            if verdict in _FILLING and choice == SKIP:
                filled -= 1
            elif verdict not in _FILLING and choice != SKIP:
                filled += 1
        return filled, sum(counts[verdict] for verdict in (*_FILLING, "mismatch"))

    def line(self, row: int) -> PlanLine | None:
        """Returns a row of the plan; None while it is on its way."""
        return self._lines[row] if 0 <= row < len(self._lines) else None

    def choice(self, line: PlanLine) -> str:
        """Returns what is chosen for a row; empty when there is nothing to choose."""
        made = self._chosen.get(line.index)
        if made is not None:
            return made[0]
        return line.choices[0] if line.choices else ""

    def choose(self, rows: list[int], choice: str) -> None:
        """Makes one choice for every row that offers it."""
        for row in rows:
            line = self.line(row)
            if line is None or choice not in line.choices:
                continue
            if choice == line.choices[0]:
                self._chosen.pop(line.index, None)
            else:
                self._chosen[line.index] = (choice, line.verdict)
            cell = self.index(row, PlanColumn.CHOICE)
            self.dataChanged.emit(cell, cell)
        self.choices_changed.emit()

    def _restart(self, total: int) -> None:
        self._generation += 1
        self._asked.clear()
        self._wanted.clear()
        self.beginResetModel()
        self._lines = [None] * total
        self.endResetModel()

    def _want(self, page: int) -> None:
        if page not in self._asked:
            self._wanted.add(page)
            if not self._fetch.isActive():
                self._fetch.start()

    def _ask_wanted(self) -> None:
        if self.info is None:
            return
        generation = self._generation
        for page in sorted(self._wanted):
            self._asked.add(page)

            def on_reply(reply: PlanPage, page: int = page) -> None:
                if generation == self._generation:
                    self._fill(page, reply)

            def on_failure(error: ErrorInfo) -> None:
                if generation == self._generation:
                    self.failed.emit(error)

            body = AskPlanRows(self.info.plan, self._verdicts, page * _PAGE, _PAGE)
            self._client.ask(body, owner=self, on_reply=on_reply, on_failure=on_failure)
        self._wanted.clear()

    def _fill(self, page: int, reply: PlanPage) -> None:
        self._asked.discard(page)
        start = page * _PAGE
        for offset, line in enumerate(reply.rows):
            if start + offset < len(self._lines):
                self._lines[start + offset] = line
        last = min(start + len(reply.rows), len(self._lines)) - 1
        if last >= start:
            end = self.index(last, len(PlanColumn) - 1)
            self.dataChanged.emit(self.index(start, 0), end)

    # Overrides of Qt.

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Counts the rows of the chosen verdicts."""
        return 0 if parent.isValid() else len(self._lines)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Counts the columns."""
        return 0 if parent.isValid() else len(PlanColumn)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Says what a cell shows; rows not there yet are asked for."""
        if not index.isValid() or index.row() >= len(self._lines):
            return None
        line = self._lines[index.row()]
        if line is None:
            self._want(index.row() // _PAGE)
            loading = role == Qt.ItemDataRole.DisplayRole and index.column() == 0
            return "…" if loading else None
        return self._cell(line, PlanColumn(index.column()), role)

    def _cell(self, line: PlanLine, column: PlanColumn, role: int) -> Any:
        match role:
            case PlanRole.LINE:
                return line
            case PlanRole.CHOICES:
                return line.choices
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
                chosen = column is PlanColumn.CHOICE
                return self.choice(line) if chosen else _TEXTS[column](line)
            case Qt.ItemDataRole.ToolTipRole:
                return _tooltip(line, column)
            case _:
                return None

    def setData(
        self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        """Takes a choice."""
        line = self.line(index.row())
        if role != Qt.ItemDataRole.EditRole or line is None:
            return False
        if str(value) not in line.choices:
            return False
        self.choose([index.row()], str(value))
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Lets a choice be edited where there is one."""
        flag = Qt.ItemFlag
        if not index.isValid():
            return flag.NoItemFlags
        flags = flag.ItemIsEnabled | flag.ItemIsSelectable | flag.ItemNeverHasChildren
        line = self.line(index.row())
        if (
            index.column() == PlanColumn.CHOICE
            and line is not None
            and len(line.choices) > 1
        ):
            flags |= flag.ItemIsEditable
        return flags

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """Names the columns."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole and section < len(PlanColumn):
            return PLAN_HEADERS[PlanColumn(section)]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None


def _array(dtype: str, shape: tuple[int, ...] | None) -> str:
    return "" if shape is None else fmt.array(dtype, shape)


_TEXTS: dict[PlanColumn, Callable[[PlanLine], str]] = {
    PlanColumn.VERDICT: lambda line: MARKS[line.verdict].word,
    PlanColumn.SOURCE: lambda line: "" if line.source is None else join(line.source),
    PlanColumn.SOURCE_ARRAY: lambda line: _array(line.source_dtype, line.source_shape),
    PlanColumn.TARGET: lambda line: "" if line.target is None else join(line.target),
    PlanColumn.TARGET_ARRAY: lambda line: _array(line.target_dtype, line.target_shape),
    PlanColumn.CHOICE: lambda line: line.choices[0] if line.choices else "",
    PlanColumn.WHY: lambda line: line.why,
}


def _tooltip(line: PlanLine, column: PlanColumn) -> str:
    if column is PlanColumn.VERDICT:
        return line.why or MARKS[line.verdict].meaning
    return _TEXTS[column](line)
