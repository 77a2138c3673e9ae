"""The page of intermediates: every module call of a run, in call order.

Recording is a run of its own that the person asks for. Choosing a call shows its
outputs in the details; a call can be run alone on its recorded inputs.
"""

from __future__ import annotations

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from inspector.engine.messages.inspecting import CallsReport, Record, RunSubmodule
from inspector.engine.messages.running import RunReport, calls_of
from inspector.engine.messages.viewing import Describe, Details
from inspector.errors import ErrorInfo
from inspector.ui import format as fmt
from inspector.ui.models.calls_model import CallsModel, RecordedCall, whole_name
from inspector.ui.models.run_text import duration
from inspector.ui.panels.run_job import JobStrip
from inspector.ui.panels.run_page import PageParts, ResultPage
from inspector.ui.panels.run_table import ResultTable

_INVITATION = (
    "Record runs the call once more and keeps what every module call was given and"
    " returned."
)
_SOWED = ("sowed",)


class CallsPage(ResultPage):
    """The newest recording."""

    name = "Inside"

    def __init__(self, parts: PageParts, parent: QWidget) -> None:
        """Starts with an invitation."""
        strip = JobStrip(
            parts.client,
            parts.theme,
            parent,
            name="record",
            button="Record",
            accessible="Record every module call of this call",
        )
        super().__init__(parts, parent, strip)
        self.report: CallsReport | None = None
        self.model = CallsModel(parts.client, self)
        self.table = ResultTable(
            self.model,
            parts.theme,
            self,
            name="callTable",
            accessible="Module calls in call order",
        )
        self.table.extend_menu = self._extend_menu
        self.table.set_invitation(_INVITATION)
        self.sowed_button = self._make_button("Sowed values", "sowedButton")
        self.sowed_button.setToolTip("Values that modules sowed during the run")
        self.sowed_button.hide()
        self.alone_button = self._make_button("Run alone", "runAloneButton")
        self.alone_button.setToolTip("Run the chosen call alone on its recorded inputs")
        strip.add_widget(self.sowed_button)
        strip.add_widget(self.alone_button)
        self.column.addWidget(self.table, 1)
        strip.started.connect(self.record)
        strip.busy_changed.connect(self._show_buttons)
        self.alone_button.clicked.connect(self.run_alone)
        self.sowed_button.clicked.connect(lambda: self.show_value(_SOWED))
        self.table.record_chosen.connect(lambda call: self.show_value(call.outputs))
        self.table.selectionModel().selectionChanged.connect(self._show_buttons)
        self._show_buttons()

    def _make_button(self, text: str, name: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setProperty("look", "flat")
        return button

    @property
    def is_busy(self) -> bool:
        """Whether a recording or statistics in sight are on their way."""
        loading = self.isVisible() and self.model.statistics.is_busy
        return super().is_busy or loading or self.table.is_unpainted

    def record(self) -> None:
        """Records the call."""
        call = self.call()
        if call is not None:
            self.strip.run(
                Record(call),
                self._on_recorded,
                activity="Record every module call",
                on_failure=lambda _error: self._say(),
            )

    def run_alone(self) -> None:
        """Runs the chosen call alone on its recorded inputs."""
        call = self._chosen()
        if call is None or self.report is None:
            return

        def on_done(report: RunReport) -> None:
            self._say()
            self.run_arrived.emit(report)

        self.strip.run(
            RunSubmodule(self.report.run, call.call.index),
            on_done,
            activity=f"Run {whole_name(call.call.module)} alone",
            on_failure=lambda _error: self._say(),
        )

    def show_value(self, path: tuple[str | int, ...]) -> None:
        """Shows a recorded value in the details."""
        if self.report is not None:
            self.node_chosen.emit(calls_of(self.report.run), path)

    def clear(self) -> None:
        """Goes back to the invitation."""
        super().clear()
        self.client.drop(self, "sowed")
        self.report = None
        self.model.show_report(None)
        self.sowed_button.hide()
        self._show_buttons()

    def _extend_menu(self, menu: QMenu) -> None:
        """Offers what a call was given and returned, and to run it alone."""
        call = self._chosen()
        if call is None:
            return
        menu.addAction("Show outputs", lambda: self.show_value(call.outputs))
        menu.addAction("Show inputs", lambda: self.show_value(call.inputs))
        menu.addAction("Run alone", self.run_alone)
        menu.addSeparator()

    def _on_recorded(self, report: CallsReport) -> None:
        self.report = report
        self.model.show_report(report)
        self.table.set_invitation("The call called no module.")
        self._say()
        self.show_remarks(report.remarks)
        self._show_buttons()
        self.sowed_button.hide()
        # Whether anything was sowed is found by looking; nothing there is no fault.
        self.client.ask(
            Describe(calls_of(report.run), _SOWED),
            owner=self,
            on_reply=self._on_sowed,
            on_failure=_ignore,
            slot="sowed",
        )

    def _on_sowed(self, details: Details) -> None:
        text = f"Sowed {details.row.leaves:,}"
        self.sowed_button.setText(text)
        self.sowed_button.setAccessibleName(
            f"Show {fmt.plural(details.row.leaves, 'sowed value')}"
        )
        self.sowed_button.show()

    def _say(self) -> None:
        report = self.report
        if report is None:
            self.strip.say("")
            return
        text = f"{fmt.plural(report.total, 'call')} in {duration(report.seconds)}"
        if report.total > len(report.calls):
            text += f"; the first {len(report.calls):,} are listed"
        self.strip.say(f"Run {report.run}: {text}")

    def _chosen(self) -> RecordedCall | None:
        chosen = self.table.chosen_records()
        only = chosen[0] if len(chosen) == 1 else None
        return only if isinstance(only, RecordedCall) else None

    def _show_buttons(self) -> None:
        rows = self.table.chosen_rows()
        self.alone_button.setEnabled(len(rows) == 1 and not self.strip.is_busy)

    # Overrides of Qt.

    def showEvent(self, event: QShowEvent) -> None:
        """Paints what statistics arrived while the page was hidden."""
        super().showEvent(event)
        self.table.viewport().update()


def _ignore(error: ErrorInfo) -> None:
    del error
