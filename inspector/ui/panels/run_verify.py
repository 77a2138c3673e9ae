"""The page of verify: the same inputs through two sets of variables, call by call.

A and B are the target or an open source; B may be run by another module, e.g. an
older version of the file. The first call that differs is named and shown.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QWidget,
)

from inspector.engine.messages.calling import Call
from inspector.engine.messages.document import (
    TARGET,
    AskDocument,
    Changes,
    DocumentInfo,
)
from inspector.engine.messages.inspecting import (
    Verify,
    VerifyReport,
)
from inspector.engine.messages.module import ModuleSpec
from inspector.errors import InspectorError
from inspector.ui import format as fmt
from inspector.ui.models.record_table import RecordTable
from inspector.ui.models.run_text import difference, duration
from inspector.ui.models.verify_model import is_above, verify_columns
from inspector.ui.panels.run_job import JobStrip
from inspector.ui.panels.run_page import PageParts, ResultPage
from inspector.ui.panels.run_table import ResultTable

DEFAULT_TOLERANCE = "1e-5"
"""Largest relative difference that counts as equal, as typed."""

_INVITATION = (
    "Verify runs the same inputs through A and B and names the first module whose"
    " outputs differ."
)
_NO_SOURCE = "Open a checkpoint to compare the target with, then verify."
_CHOICE_WIDTH = 112
_TOLERANCE_WIDTH = 64


class VerifyInputError(InspectorError):
    """What was typed for a verification cannot be used."""

    @classmethod
    def tolerance(cls, text: str) -> VerifyInputError:
        """The tolerance is no number."""
        return cls(
            f"‘{text}’ is no tolerance.",
            hint="Type a number that is not negative, for example 1e-5.",
        )

    @classmethod
    def module(cls, text: str) -> VerifyInputError:
        """The other module is no module."""
        return cls(
            f"‘{text}’ names no module.",
            hint="Type file.py:Name, and after it the constructor's arguments as"
            ' JSON where there are any: old.py:Net {"width": 64}',
        )


def read_tolerance(text: str) -> float:
    """Returns a tolerance as typed.

    Raises:
        VerifyInputError: It is no number, negative, or not finite.
    """
    try:
        number = float(text)
    except ValueError:
        raise VerifyInputError.tolerance(text) from None
    if not (math.isfinite(number) and number >= 0):
        raise VerifyInputError.tolerance(text)
    return number


def read_module(text: str, call: Call) -> ModuleSpec | None:
    """Returns the module of B as typed; None for that of A.

    Args:
        text: ``file.py:Name``, and a JSON object of constructor arguments after it.
        call: The call; its inputs make the module's variables.

    Raises:
        VerifyInputError: It has no name, or its arguments are no JSON object.
    """
    text = text.strip()
    if not text:
        return None
    spec, brace, rest = text.partition("{")
    kwargs = brace + rest or "{}"
    _, colon, name = spec.strip().rpartition(":")
    try:
        is_object = isinstance(json.loads(kwargs), dict)
    except ValueError:
        is_object = False
    if not (colon and name.isidentifier() and is_object):
        raise VerifyInputError.module(text)
    return ModuleSpec(
        spec.strip(),
        kwargs,
        call.inputs,
        call.method,
        call.statics,
        cwd=str(Path.cwd()),
    )


class VerifyPage(ResultPage):
    """The newest verification."""

    name = "Verify"

    def __init__(self, parts: PageParts, parent: QWidget) -> None:
        """Asks for the sources when it is looked at."""
        strip = JobStrip(
            parts.client,
            parts.theme,
            parent,
            name="verify",
            button="Verify",
            accessible="Verify: compare A and B call by call",
            is_wide=True,
        )
        super().__init__(parts, parent, strip)
        self.report: VerifyReport | None = None
        self._shown_tolerance = float(DEFAULT_TOLERANCE)
        self._has_asked = False
        self._make_choices()
        self._make_module_field()
        self.model = RecordTable(
            verify_columns(lambda: self._shown_tolerance),
            self,
            path_of=lambda call: call.module,
        )
        self.table = ResultTable(
            self.model,
            parts.theme,
            self,
            name="verifyTable",
            accessible="Differences of A and B by module call",
        )
        self.table.set_invitation(_INVITATION)
        self.column.addWidget(self.table, 1)
        strip.started.connect(self.verify)
        parts.client.changed.connect(self._on_changed)
        parts.client.started.connect(self._on_started)

    def _make_choices(self) -> None:
        self.box_a = self._make_box("A", "verifyA")
        self.box_b = self._make_box("B", "verifyB")
        self.tolerance = QLineEdit(DEFAULT_TOLERANCE, self)
        self.tolerance.setObjectName("verifyTolerance")
        self.tolerance.setAccessibleName("Largest relative difference that is equal")
        self.tolerance.setToolTip("Largest relative difference that counts as equal")
        self.tolerance.setFixedWidth(_TOLERANCE_WIDTH)
        self.tolerance.setFont(self.theme.mono_font("small"))
        self.tolerance.returnPressed.connect(self.verify)
        for caption, widget in (
            ("A", self.box_a), ("B", self.box_b), ("within", self.tolerance),
        ):  # fmt: skip
            label = QLabel(caption, self)
            label.setProperty("look", "secondary")
            label.setBuddy(widget)
            self.strip.add_widget(label)
            self.strip.add_widget(widget)

    def _make_box(self, side: str, name: str) -> QComboBox:
        box = QComboBox(self)
        box.setObjectName(name)
        box.setAccessibleName(f"Variables of {side}")
        box.setMinimumContentsLength(1)
        box.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        box.setFixedWidth(_CHOICE_WIDTH)
        box.addItem("Target", TARGET)
        box.currentIndexChanged.connect(self._show_tips)
        return box

    def _make_module_field(self) -> None:
        self.other_module = QLineEdit(self)
        self.other_module.setObjectName("verifyModuleB")
        self.other_module.setAccessibleName("Module of B; empty for that of A")
        self.other_module.setPlaceholderText("B: the same module")
        self.other_module.setToolTip(
            "Another module for B, for example an older version of the file:"
            ' old.py:Net {"width": 64}'
        )
        self.other_module.returnPressed.connect(self.verify)
        self.strip.add_below(self.other_module)

    def verify(self) -> None:
        """Runs A and B on the inputs of the call and compares every module call."""
        call = self.call()
        if call is None or self.strip.is_busy:
            return
        try:
            tolerance = read_tolerance(self.tolerance.text())
            module_b = read_module(self.other_module.text(), call)
        except VerifyInputError as error:
            self.strip.show_error(error.info())
            return
        a, b = str(self.box_a.currentData()), str(self.box_b.currentData())
        names = f"{self.box_a.currentText()} and {self.box_b.currentText()}"
        self.strip.run(
            Verify(a, b, call, module_b=module_b, tolerance=tolerance),
            lambda report: self._on_verified(report, tolerance),
            activity=f"Verify {names}",
            on_failure=lambda _error: self._say(),
        )

    def clear(self) -> None:
        """Goes back to the invitation."""
        super().clear()
        self.report = None
        self.model.set_records(())
        self.table.set_invitation(_INVITATION)
        self.set_title()

    def _on_verified(self, report: VerifyReport, tolerance: float) -> None:
        self.report = report
        self._shown_tolerance = tolerance
        self.model.set_records(report.calls)
        self.table.set_invitation("Neither called a module.")
        self._say()
        self.show_remarks(report.remarks)
        self.set_title(needs_look=report.first is not None)
        self._go_to_first(report)

    def _go_to_first(self, report: VerifyReport) -> None:
        """Brings the first call that differs into view."""
        for row, call in enumerate(report.calls):
            if call.module == report.first and is_above(call, self._shown_tolerance):
                self.table.selectRow(row)
                self.table.scrollTo(self.model.index(row, 0))
                return

    def _say(self) -> None:
        report = self.report
        if report is None:
            self.strip.say("")
            return
        above = sum(is_above(call, self._shown_tolerance) for call in report.calls)
        counts = (
            f"{above:,} of {fmt.plural(len(report.calls), 'call')} above the tolerance,"
            f" worst {difference(report.worst)}, in {duration(report.seconds)}"
        )
        self.strip.say(report.text, tool_tip=f"{report.text}\n{counts}")

    def _refresh(self) -> None:
        self._has_asked = True
        self.client.ask(
            AskDocument(), owner=self, on_reply=self._on_document, slot="document"
        )

    def _on_document(self, info: DocumentInfo) -> None:
        choices = [("Target", TARGET)] if info.target.kind != "none" else []
        choices += [(source.name, source.id) for source in info.sources]
        known = {self.box_b.itemData(row) for row in range(self.box_b.count())}
        self._fill(self.box_a, choices, default=0)
        newest = choices[-1][1] if choices else TARGET
        # A source that was just opened is what B most likely is.
        if newest not in known:
            self.box_b.setCurrentIndex(-1)
        self._fill(self.box_b, choices, default=len(choices) - 1)
        self.strip.set_can_start(can_start=bool(choices))
        if self.report is None:
            self.table.set_invitation(_INVITATION if info.sources else _NO_SOURCE)

    def _fill(
        self, box: QComboBox, choices: list[tuple[str, str]], *, default: int
    ) -> None:
        chosen = box.currentData()
        box.blockSignals(True)
        box.clear()
        for name, tree in choices:
            box.addItem(name, tree)
        at = box.findData(chosen) if chosen is not None else -1
        box.setCurrentIndex(at if at >= 0 else default)
        box.blockSignals(False)
        self._show_tips()

    def _show_tips(self) -> None:
        for box, side in ((self.box_a, "A"), (self.box_b, "B")):
            box.setToolTip(f"Variables of {side}: {box.currentText()}")

    def _on_changed(self, changes: Changes) -> None:
        if changes.sources or changes.base:
            self._has_asked = False
            if self.isVisible():
                self._refresh()

    def _on_started(self) -> None:
        self._has_asked = False
        if self.isVisible():
            self._refresh()

    # Overrides of Qt.

    def showEvent(self, event: QShowEvent) -> None:
        """Asks what can be compared when the page is looked at."""
        super().showEvent(event)
        if not self._has_asked:
            self._refresh()
