"""The page of updates: variables that a run changed, before against after.

They can be taken into the target, all or the selected ones, as an edit that can be
undone; a row that was taken says so for as long as the edit is in force.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QMenu, QWidget

from inspector.engine.messages.document import TARGET, Changes, HistoryState
from inspector.engine.messages.running import (
    CompareUpdates,
    DifferenceRow,
    RunDifference,
    RunReport,
    TakeUpdates,
    updates_of,
)
from inspector.ui.models.difference_model import difference_columns
from inspector.ui.models.record_table import RecordTable
from inspector.ui.panels.run_job import JobStrip
from inspector.ui.panels.run_page import PageParts, ResultPage
from inspector.ui.panels.run_table import ResultTable
from inspector.variables.path import TreePath

_INVITATION = "Variables that a run updates, batch statistics for one, appear here."
_NO_UPDATES = "This run updated no variables."


@dataclass(frozen=True, slots=True)
class _Taken:
    """Updates that became an edit.

    Attributes:
        run: The run.
        paths: Which; empty for all.
        edit: The history after it: where the edit stands and what it says.
    """

    run: int
    paths: tuple[TreePath, ...]
    edit: HistoryState

    def is_in_force(self, now: HistoryState) -> bool:
        """Returns whether the edit is still there and not undone."""
        at = self.edit.position
        return now.position >= at and _text_at(now, at) == _text_at(self.edit, at)


def _text_at(history: HistoryState, position: int) -> str | None:
    row = position - 1 - history.first
    return history.texts[row] if 0 <= row < len(history.texts) else None


class UpdatesPage(ResultPage):
    """Updates of the run that is shown."""

    name = "Updates"

    def __init__(self, parts: PageParts, parent: QWidget) -> None:
        """Starts with an invitation."""
        strip = JobStrip(
            parts.client,
            parts.theme,
            parent,
            name="take",
            button="Take into target",
            accessible="Take the updates into the target",
        )
        super().__init__(parts, parent, strip)
        self.report: RunReport | None = None
        self.difference: RunDifference | None = None
        self._taken: list[_Taken] = []
        self._history = HistoryState()
        self.model = RecordTable(
            difference_columns("variable", is_taken=self._is_taken),
            self,
            path_of=lambda row: row.path,
        )
        self.table = ResultTable(
            self.model,
            parts.theme,
            self,
            name="updateTable",
            accessible="Variables that the run updated, before and after",
        )
        self.table.set_invitation(_INVITATION)
        self.column.addWidget(self.table, 1)
        self.table.extend_menu = self._extend_menu
        strip.set_can_start(can_start=False)
        strip.started.connect(self._on_take)
        self.table.selectionModel().selectionChanged.connect(self._show_button)
        self.table.record_chosen.connect(self._on_chosen)
        parts.client.changed.connect(self._on_changed)

    def show_report(self, report: RunReport) -> None:
        """Shows a run; what differs is asked when the page is looked at."""
        self.strip.drop()
        self.report = report
        self.difference = None
        self.model.set_records(())
        self.table.set_invitation("" if report.updates else _NO_UPDATES)
        self.set_title(report.updates)
        self._show_button()
        if self.isVisible():
            self._compare()

    def clear(self) -> None:
        """Goes back to the invitation."""
        super().clear()
        self.report = self.difference = None
        self._taken = []
        self.model.set_records(())
        self.table.set_invitation(_INVITATION)
        self._show_button()
        self.set_title()

    def _compare(self) -> None:
        report = self.report
        if report is None or not report.updates or self.difference is not None:
            return
        self.strip.run(
            CompareUpdates(report.run),
            self._on_difference,
            activity="Compare the updates",
        )

    def _on_difference(self, difference: RunDifference) -> None:
        self.difference = difference
        self.model.set_records(difference.rows)
        self._say_difference()
        self._show_button()

    def _say_difference(self) -> None:
        if self.difference is None:
            return
        text = self.difference.text
        if self.difference.total > len(self.difference.rows):
            shown = len(self.difference.rows)
            text += f" The {shown} largest of {self.difference.total:,} are listed."
        self.strip.say(text)

    def _is_taken(self, row: DifferenceRow) -> bool:
        report = self.report
        if report is None:
            return False
        mine = [taken for taken in self._taken if taken.run == report.run]
        if report.taken and not mine:
            return True
        return any(
            (not taken.paths or row.path in taken.paths)
            and taken.is_in_force(self._history)
            for taken in mine
        )

    def _show_button(self) -> None:
        report = self.report
        rows = len(self.table.chosen_rows())
        is_some = 0 < rows < self.model.rowCount()
        text = f"Take {rows:,} into target" if is_some else "Take into target"
        self.strip.start_button.setText(text)
        self.strip.start_button.setAccessibleName(f"{text}: an edit that can be undone")
        chosen = self._chosen()
        everything = bool(chosen) and all(self._is_taken(row) for row in chosen)
        self.strip.set_can_start(
            can_start=report is not None and report.updates > 0 and not everything
        )

    def _chosen(self) -> list[DifferenceRow]:
        """Returns the rows that the button is about; all when none is selected."""
        rows = self.table.chosen_rows() or range(self.model.rowCount())
        return [self.model.record(row) for row in rows]

    def _on_take(self) -> None:
        report = self.report
        if report is None:
            return
        rows = self.table.chosen_rows()
        paths: tuple[TreePath, ...] = ()
        if 0 < len(rows) < self.model.rowCount():
            paths = tuple(self.model.record(row).path for row in rows)

        def on_taken(changes: Changes) -> None:
            self._taken.append(_Taken(report.run, paths, changes.history))
            self._history = changes.history
            self._say_difference()
            self.strip.banners.remove("taken")
            self.model.tell_all()
            self._show_button()

        self.strip.run(
            TakeUpdates(report.run, paths),
            on_taken,
            activity="Take the updates into the target",
            on_failure=lambda _error: self._say_difference(),
        )

    def _on_changed(self, changes: Changes) -> None:
        self._history = changes.history
        if self._taken:
            self.model.tell_all()
            self._show_button()

    def _extend_menu(self, menu: QMenu) -> None:
        """Offers the variable as it was and as the run left it."""
        rows = self.table.chosen_records()
        if len(rows) != 1 or not isinstance(rows[0], DifferenceRow):
            return
        row = rows[0]
        menu.addAction("Show after the run", lambda: self._on_chosen(row))
        menu.addAction(
            "Show in the target", lambda: self.node_chosen.emit(TARGET, row.path)
        )
        menu.addSeparator()

    def _on_chosen(self, row: DifferenceRow) -> None:
        if self.report is not None:
            self.node_chosen.emit(updates_of(self.report.run), row.path)

    # Overrides of Qt.

    def showEvent(self, event: QShowEvent) -> None:
        """Asks for the difference when the page is looked at."""
        super().showEvent(event)
        if not self.strip.is_busy:
            self._compare()
