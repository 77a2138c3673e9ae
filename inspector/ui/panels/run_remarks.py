"""The page of remarks: what a person should know of a run, and who drew randomness.

Sentences are wrapped, each with the icon of its weight; the table beside them lists
every draw from an rng stream, silent fallbacks marked.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QScrollArea,
    QSplitter,
    QWidget,
)

from inspector.engine.messages.running import Remark, RunReport
from inspector.ui.icons import icon
from inspector.ui.models.calls_model import whole_name
from inspector.ui.models.record_table import RecordTable
from inspector.ui.models.remarks_model import RNG_COLUMNS, is_fallback
from inspector.ui.models.run_text import seeds
from inspector.ui.panels.run_job import JobStrip
from inspector.ui.panels.run_page import PageParts, ResultPage
from inspector.ui.panels.run_table import ResultTable
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE

_ICON_SIZE = 4 * SPACE

_QUIET = frozenset({"mode", "mutable", "precision", "device"})
"""Kinds of remarks that explain; every other one warns."""

_INVITATION = "What a run says of itself, and its random draws, appear here."


def is_warning(remark: Remark) -> bool:
    """Returns whether a remark is about something that may be wrong."""
    return remark.kind not in _QUIET


class RemarkList(QScrollArea):
    """Sentences below one another, each with an icon."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Starts empty."""
        super().__init__(parent)
        self._theme = theme
        self._remarks: tuple[Remark, ...] = ()
        self._icons: list[QLabel] = []
        self.setObjectName("remarkList")
        self.setAccessibleName("Remarks on the run")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.changed.connect(self._load_icons)
        self.show_remarks((), _INVITATION)

    @property
    def texts(self) -> list[str]:
        """The sentences that are shown."""
        return [remark.text for remark in self._remarks]

    def show_remarks(self, remarks: tuple[Remark, ...], empty: str) -> None:
        """Shows remarks, warnings first; ``empty`` in place of none."""
        self._remarks = tuple(sorted(remarks, key=lambda one: not is_warning(one)))
        content = QWidget()
        grid = QGridLayout(content)
        grid.setContentsMargins(2 * SPACE, SPACE, 2 * SPACE, SPACE)
        grid.setHorizontalSpacing(2 * SPACE)
        grid.setVerticalSpacing(2 * SPACE)
        grid.setColumnStretch(1, 1)
        self._icons = []
        for row, remark in enumerate(self._remarks):
            drawing = QLabel(content)
            drawing.setFixedWidth(_ICON_SIZE)
            self._icons.append(drawing)
            grid.addWidget(drawing, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(self._sentence(remark, content), row, 1)
        if not remarks:
            nothing = QLabel(empty, content)
            nothing.setProperty("look", "secondary")
            nothing.setWordWrap(True)
            grid.addWidget(nothing, 0, 0, 1, 2)
        grid.setRowStretch(len(self._remarks) + 1, 1)
        self.setWidget(content)
        self._load_icons()

    def _sentence(self, remark: Remark, parent: QWidget) -> QLabel:
        label = QLabel(remark.text, parent)
        label.setObjectName(f"remark.{remark.kind}")
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setMinimumWidth(1)
        flags = Qt.TextInteractionFlag
        label.setTextInteractionFlags(
            flags.TextSelectableByMouse | flags.TextSelectableByKeyboard
        )
        if remark.path:
            label.setToolTip(whole_name(remark.path))
        return label

    def _load_icons(self) -> None:
        for label, remark in zip(self._icons, self._remarks, strict=True):
            name = "warning" if is_warning(remark) else "info"
            token = "warning" if is_warning(remark) else "secondary"
            drawing = icon(name, self._theme, token)
            label.setPixmap(drawing.pixmap(_ICON_SIZE, _ICON_SIZE))
            label.setAccessibleName("Warning" if is_warning(remark) else "Note")


class RemarksPage(ResultPage):
    """Remarks and random draws of the run that is shown."""

    name = "Remarks"

    def __init__(self, parts: PageParts, parent: QWidget) -> None:
        """Starts with an invitation."""
        strip = JobStrip(
            parts.client,
            parts.theme,
            parent,
            name="remarks",
            button="",
            accessible="Remarks",
        )
        super().__init__(parts, parent, strip)
        strip.hide()
        self.list = RemarkList(parts.theme, self)
        self.model = RecordTable(RNG_COLUMNS, self, path_of=lambda use: use.path)
        self.table = ResultTable(
            self.model,
            parts.theme,
            self,
            name="rngTable",
            accessible="Random draws by module and stream",
        )
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(2 * SPACE)
        split.addWidget(self.list)
        split.addWidget(self.table)
        split.setSizes([1000, 1000])
        self.column.addWidget(split, 1)

    def show_report(self, report: RunReport) -> None:
        """Shows a run."""
        self.list.show_remarks(report.remarks, "Nothing to remark on this run.")
        self.model.set_records(
            sorted(report.rngs, key=lambda use: not is_fallback(use))
        )
        given = f" Keys given: {seeds(report.seeds)}." if report.seeds else ""
        self.table.set_invitation(f"The run drew no random numbers.{given}")
        self.set_title(
            len(report.remarks), needs_look=any(map(is_warning, report.remarks))
        )

    def clear(self) -> None:
        """Goes back to the invitation."""
        super().clear()
        self.list.show_remarks((), _INVITATION)
        self.model.set_records(())
        self.table.set_invitation("")
        self.set_title()
