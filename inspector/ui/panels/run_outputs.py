"""The page of a run's outputs: what ran, how long it took, and every output leaf.

Choosing a row shows its numbers in the details; Save writes all of them to a file.
"""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.engine.messages.reading import Exported
from inspector.engine.messages.running import RunReport, SaveRun, outputs_of
from inspector.ui import format as fmt
from inspector.ui.models import run_text
from inspector.ui.models.outputs_model import Output, OutputsModel
from inspector.ui.operations.exports import show_in_folder
from inspector.ui.panels.run_job import JobStrip
from inspector.ui.panels.run_page import PageParts, ResultPage
from inspector.ui.panels.run_table import ResultTable

_INVITATION = "Run the call to see its outputs here."


class OutputsPage(ResultPage):
    """Outputs of the run that is shown."""

    name = "Outputs"

    def __init__(self, parts: PageParts, parent: QWidget) -> None:
        """Starts with an invitation."""
        strip = JobStrip(
            parts.client,
            parts.theme,
            parent,
            name="save",
            button="Save…",
            accessible="Save the outputs to a file",
        )
        super().__init__(parts, parent, strip)
        self.report: RunReport | None = None
        self._is_running = False
        self.model = OutputsModel(parts.client, self)
        self.table = ResultTable(
            self.model,
            parts.theme,
            self,
            name="outputTable",
            accessible="Outputs of the run",
        )
        self.table.set_invitation(_INVITATION)
        self.column.addWidget(self.table, 1)
        strip.set_can_start(can_start=False)
        strip.started.connect(self._on_save)
        self.model.failed.connect(strip.show_error)
        self.table.record_chosen.connect(self._on_chosen)

    @property
    def is_busy(self) -> bool:
        """Whether rows, statistics or a file are on their way."""
        loading = self.isVisible() and self.model.is_loading
        return super().is_busy or self._is_running or loading or self.table.is_unpainted

    def show_report(self, report: RunReport) -> None:
        """Shows a run."""
        self.report = report
        self.strip.banners.remove("saved")
        self.strip.banners.remove("error")
        self.show_head()
        self.strip.set_can_start(can_start=report.outputs > 0)
        self.table.set_invitation("The call returned nothing.")
        self.model.show_tree(outputs_of(report.run), report.outputs)

    def show_head(self) -> None:
        """Shows in a line what ran and how long it took."""
        self._is_running = False
        self.strip.progress.stop()
        if self.report is None:
            self.strip.say("")
        else:
            self.strip.say(
                run_text.head(self.report), tool_tip=run_text.details(self.report)
            )

    def show_running(self, text: str) -> None:
        """Says that a run is on; the outputs of the last one stay in sight."""
        self._is_running = True
        self.strip.progress.start()
        self.strip.say(text, look="secondary")

    def clear(self) -> None:
        """Goes back to the invitation."""
        super().clear()
        self._is_running = False
        self.report = None
        self.model.show_tree("", 0)
        self.table.set_invitation(_INVITATION)
        self.strip.set_can_start(can_start=False)

    def save(self, path: str) -> None:
        """Writes the outputs to a file; its suffix says the format."""
        if self.report is None:
            return
        self.strip.run(
            SaveRun(self.report.run, path),
            self._on_saved,
            activity=f"Save outputs to {PurePath(path).name}",
            on_failure=lambda _error: self.show_head(),
        )

    def _on_save(self) -> None:
        if self.report is None:
            return
        path, _ = QFileDialog.getSaveFileName(
            self,
            "Save Outputs",
            f"run{self.report.run}.npz",
            "NumPy npz (*.npz)",
        )
        if path:
            self.save(path if PurePath(path).suffix else f"{path}.npz")

    def _on_saved(self, exported: Exported) -> None:
        self.show_head()
        count = fmt.plural(exported.leaves, "output")
        text = f"Saved {count}, {fmt.size(exported.nbytes)}, to {exported.out}"
        lines = [text, *exported.warnings]
        banner = self.strip.banners.show_message("saved", "\n".join(lines))
        banner.add_button(
            "Show in folder", lambda: show_in_folder(exported.out), name="savedShow"
        )

    def _on_chosen(self, output: Output) -> None:
        if self.report is not None:
            self.node_chosen.emit(outputs_of(self.report.run), output.leaf.path)
