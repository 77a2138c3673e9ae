"""The page of runs: all runs of this session, and how the outputs of two differ.

Return or a double click shows a run again; two selected rows are compared, a single
one with the run before it. On the window's thread.
"""

from __future__ import annotations

import time

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QMenu, QSplitter, QWidget

from inspector.engine.messages.running import (
    AskRuns,
    CompareRuns,
    DifferenceRow,
    RunDifference,
    RunReport,
    Runs,
    outputs_of,
)
from inspector.errors import ErrorInfo
from inspector.ui.models.difference_model import difference_columns
from inspector.ui.models.record_table import RecordTable
from inspector.ui.models.runs_model import runs_columns
from inspector.ui.panels.run_job import JobStrip
from inspector.ui.panels.run_page import PageParts, ResultPage
from inspector.ui.panels.run_table import ResultTable
from inspector.ui.tokens import SPACE

_INVITATION = "Every run is listed here; select two to compare their outputs."
_PAIR = 2


class RunsPage(ResultPage):
    """The runs of this session, newest first."""

    name = "Runs"

    def __init__(self, parts: PageParts, parent: QWidget) -> None:
        """Asks for the runs when it is looked at."""
        strip = JobStrip(
            parts.client,
            parts.theme,
            parent,
            name="compareRuns",
            button="Compare",
            accessible="Compare the outputs of two runs",
        )
        super().__init__(parts, parent, strip)
        self._moments: dict[int, float] = {}
        self._is_dirty = True
        self._compared: tuple[int, int] | None = None
        self.model = RecordTable(runs_columns(self._moments.get), self)
        self.table = ResultTable(
            self.model, parts.theme, self, name="runTable", accessible="Runs"
        )
        self.table.set_invitation(_INVITATION)
        self.differences = RecordTable(
            difference_columns("output"), self, path_of=lambda row: row.path
        )
        self.difference_table = ResultTable(
            self.differences,
            parts.theme,
            self,
            name="runDifferenceTable",
            accessible="Differences of the outputs of two runs",
        )
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(2 * SPACE)
        split.addWidget(self.table)
        split.addWidget(self.difference_table)
        split.setSizes([1200, 1000])
        self.difference_table.hide()
        self.column.addWidget(split, 1)
        self.table.extend_menu = self._extend_menu
        strip.started.connect(self.compare)
        self.table.record_activated.connect(self.run_arrived)
        self.table.selectionModel().selectionChanged.connect(self._show_button)
        self.difference_table.record_chosen.connect(self._on_chosen)
        parts.client.started.connect(self._on_started)
        self._show_button()

    def show_report(self, report: RunReport) -> None:
        """Hears of a run; the list is asked again when it is looked at."""
        rows = range(self.model.rowCount())
        if report.run not in {self.model.record(row).run for row in rows}:
            self._moments.setdefault(report.run, time.time())
        self._is_dirty = True
        if self.isVisible():
            self.refresh()

    def refresh(self) -> None:
        """Asks for the runs of this session."""
        self._is_dirty = False
        self.client.ask(
            AskRuns(),
            owner=self,
            on_reply=self._on_runs,
            on_failure=self._on_failure,
            slot="runs",
        )

    def compare(self) -> None:
        """Compares two runs: the older one is what the newer one is compared with."""
        pair = self._pair()
        if pair is None:
            return
        newer, older = pair
        self.strip.run(
            CompareRuns(newer, older),
            lambda found: self._on_compared((newer, older), found),
            activity=f"Compare runs {newer} and {older}",
        )

    def clear(self) -> None:
        """Forgets the comparison; the runs are asked for again."""
        super().clear()
        self._compared = None
        self.differences.set_records(())
        self.difference_table.hide()
        self.model.set_records(())
        self._is_dirty = True
        self._show_button()
        if self.isVisible():
            self.refresh()

    def _pair(self) -> tuple[int, int] | None:
        """Returns (newer, older) of the runs that Compare is about."""
        rows = self.table.chosen_rows()
        if len(rows) == 1 and rows[0] + 1 < self.model.rowCount():
            rows = [rows[0], rows[0] + 1]
        if len(rows) != _PAIR:
            return None
        first, second = (self.model.record(row).run for row in rows)
        return max(first, second), min(first, second)

    def _show_button(self) -> None:
        pair = self._pair()
        text = f"Compare {pair[0]} with {pair[1]}" if pair else "Compare"
        self.strip.start_button.setText(text)
        self.strip.start_button.setAccessibleName(
            f"{text}: the outputs of two selected runs"
        )
        self.strip.set_can_start(can_start=pair is not None)

    def _extend_menu(self, menu: QMenu) -> None:
        """Offers to show a run again."""
        chosen = self.table.chosen_records()
        if len(chosen) == 1:
            menu.addAction("Show this run", lambda: self.run_arrived.emit(chosen[0]))
            menu.addSeparator()

    def _on_runs(self, runs: Runs) -> None:
        chosen = {run.run for run in self.table.chosen_records()
                  if isinstance(run, RunReport)}  # fmt: skip
        self.model.set_records(runs.runs)
        for row, run in enumerate(runs.runs):
            if run.run in chosen:
                self._select(row)
        self._show_button()

    def _select(self, row: int) -> None:
        selection = self.table.selectionModel()
        flag = selection.SelectionFlag
        selection.select(self.model.index(row, 0), flag.Select | flag.Rows)

    def _on_compared(self, pair: tuple[int, int], found: RunDifference) -> None:
        self._compared = pair
        self.differences.set_records(found.rows)
        self.difference_table.set_invitation("Neither run has an output.")
        self.difference_table.show()
        self.strip.say(found.text)

    def _on_failure(self, error: ErrorInfo) -> None:
        self._is_dirty = True
        self.strip.show_error(error)

    def _on_chosen(self, row: DifferenceRow) -> None:
        if self._compared is not None:
            self.node_chosen.emit(outputs_of(self._compared[0]), row.path)

    def _on_started(self) -> None:
        self._is_dirty = True
        if self.isVisible():
            self.refresh()

    # Overrides of Qt.

    def showEvent(self, event: QShowEvent) -> None:
        """Asks for the runs when the page is looked at."""
        super().showEvent(event)
        if self._is_dirty:
            self.refresh()
