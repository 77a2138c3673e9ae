"""The page of the first bad value: what first made a NaN or an Inf.

Names the module, the operation, the person's own line and the values around it, or
the weight that already was bad. On the window's thread.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.document import TARGET
from inspector.engine.messages.inspecting import BadReport, FindBad
from inspector.ui.icons import icon
from inspector.ui.models.bad_model import COLUMNS, Side, sides
from inspector.ui.models.calls_model import whole_name
from inspector.ui.models.record_table import RecordTable
from inspector.ui.models.run_text import duration
from inspector.ui.panels.run_job import JobStrip
from inspector.ui.panels.run_page import PageParts, ResultPage
from inspector.ui.panels.run_table import ResultTable
from inspector.ui.tokens import SPACE
from inspector.ui.viewers.elided_label import ElidedLabel

_INVITATION = (
    "Find runs the call operation by operation and names the first one that made a"
    " NaN or an Inf."
)


class BadPage(ResultPage):
    """The newest search."""

    name = "First NaN"

    def __init__(self, parts: PageParts, parent: QWidget) -> None:
        """Starts with an invitation."""
        strip = JobStrip(
            parts.client,
            parts.theme,
            parent,
            name="findBad",
            button="Find",
            accessible="Find what first made a NaN or an Inf",
        )
        super().__init__(parts, parent, strip)
        self.report: BadReport | None = None
        self.gradient = QCheckBox("gradient too", self)
        self.gradient.setObjectName("findBadGradient")
        self.gradient.setAccessibleName("Look at the gradient too")
        self.gradient.setToolTip(
            "When the outputs are fine, look at the gradient of their mean with respect"
            " to the variables"
        )
        strip.add_widget(self.gradient)
        self._make_finding()
        self.model = RecordTable(COLUMNS, self)
        self.table = ResultTable(
            self.model,
            parts.theme,
            self,
            name="badTable",
            accessible="Values of the operation that made the first bad value",
        )
        self.table.set_invitation(_INVITATION)
        self.column.addWidget(self.finding)
        self.column.addWidget(self.table, 1)
        strip.started.connect(self.find_bad)
        self.table.record_chosen.connect(self._on_chosen)

    def _make_finding(self) -> None:
        self.finding = QWidget(self)
        self.finding.setObjectName("badFinding")
        self.sentence = QLabel(self.finding)
        self.sentence.setObjectName("badText")
        self.sentence.setAccessibleDescription("What was found")
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setWordWrap(True)
        self.sentence.setMinimumWidth(1)
        flags = Qt.TextInteractionFlag
        self.sentence.setTextInteractionFlags(
            flags.TextSelectableByMouse | flags.TextSelectableByKeyboard
        )
        self.source = QPushButton(self.finding)
        self.source.setObjectName("badSource")
        self.source.setAccessibleName("Copy the place")
        self.source.setProperty("look", "tiny")
        self.source.setFont(self.theme.mono_font("small"))
        self.source.setToolTip("Copy the place, to go there in an editor")
        self.source.setIconSize(QSize(3 * SPACE, 3 * SPACE))
        self._load_icons()
        self.theme.changed.connect(self._load_icons)
        self.source.clicked.connect(self._on_source)
        self.line = ElidedLabel(
            self.finding, mode=Qt.TextElideMode.ElideRight, copy_name="the line"
        )
        self.line.setObjectName("badLine")
        self.line.setAccessibleDescription("Line of code")
        self.line.setProperty("look", "mono")
        self.line.setFont(self.theme.mono_font("small"))
        self.others = ElidedLabel(self.finding, copy_name="the modules")
        self.others.setObjectName("badModules")
        self.others.setAccessibleDescription("Modules whose outputs hold a NaN")
        self.others.setProperty("look", "secondary")
        place = QHBoxLayout()
        place.setSpacing(SPACE)
        place.addWidget(self.source)
        place.addWidget(self.line, 1)
        column = QVBoxLayout(self.finding)
        column.setContentsMargins(2 * SPACE, 0, 2 * SPACE, 0)
        column.setSpacing(2)
        column.addWidget(self.sentence)
        column.addLayout(place)
        column.addWidget(self.others)
        self.finding.hide()

    def _load_icons(self) -> None:
        self.source.setIcon(icon("copy", self.theme, "secondary"))

    def find_bad(self) -> None:
        """Looks for the first bad value of the call."""
        call = self.call()
        if call is not None:
            self.strip.run(
                FindBad(call, gradient=self.gradient.isChecked()),
                self._on_found,
                activity="Look for the first bad value",
                on_failure=lambda _error: self._say(),
            )

    def clear(self) -> None:
        """Goes back to the invitation."""
        super().clear()
        self.report = None
        self.finding.hide()
        self.model.set_records(())
        self.table.set_invitation(_INVITATION)
        self.set_title()

    def _on_found(self, report: BadReport) -> None:
        self.report = report
        self._say()
        self.sentence.setText(report.text)
        self.source.setText(report.source)
        self.source.setAccessibleName(f"Copy the place {report.source}")
        self.source.setVisible(bool(report.source))
        self.line.show_text(report.line.strip())
        self.line.setVisible(bool(report.line))
        self._show_modules(report)
        self.finding.show()
        self.model.set_records(sides(report))
        is_fine = report.kind == "none"
        self.table.set_invitation("" if is_fine else "No values were kept.")
        self.show_remarks(report.remarks)
        self.set_title(needs_look=not is_fine)

    def _show_modules(self, report: BadReport) -> None:
        names = [whole_name(path) for path in report.bad_modules]
        text = f"NaN in the outputs of {' → '.join(names)}" if names else ""
        lines = "\n".join(names)
        self.others.show_text(text, copy_text=lines, tool_tip=lines)
        self.others.setVisible(bool(names))

    def _say(self) -> None:
        report = self.report
        if report is None:
            self.strip.say("")
            return
        parts = [report.primitive, report.steps, f"found in {duration(report.seconds)}"]
        if report.kind not in {"none", "input"}:
            place = report.variable if report.kind == "weight" else report.module
            parts.insert(0, whole_name(place))
        self.strip.say(" · ".join(part for part in parts if part), look="secondary")

    def _on_source(self) -> None:
        if self.report is not None:
            QGuiApplication.clipboard().setText(self.report.source)
            self.strip.say(f"Copied {self.report.source}", look="secondary")

    def _on_chosen(self, side: Side) -> None:
        """Shows a bad weight in the details; other values are not kept."""
        report = self.report
        if report is not None and report.kind == "weight" and side.side == "variable":
            self.node_chosen.emit(TARGET, report.variable)
