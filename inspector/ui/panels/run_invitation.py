"""What the run panel shows while there is no module to run: what to do next."""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from inspector.engine.messages.document import TargetInfo
from inspector.ui.tokens import SPACE

_NO_MODULE = "Load a module to run it here"
_NO_CODE = "A checkpoint cannot be run. Load a module to run it here"


class RunInvitation(QWidget):
    """A sentence, and a button for the next step.

    Attributes:
        sentence: What is missing.
        button: What remedies it.

    Signals:
        wanted: The button was pressed.
    """

    wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        """Invites to load a module."""
        super().__init__(parent)
        self.sentence = QLabel(self)
        self.sentence.setObjectName("runInvitation")
        self.sentence.setProperty("look", "secondary")
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sentence.setWordWrap(True)
        self.button = QPushButton(self)
        self.button.setObjectName("runLoadModule")
        self.button.clicked.connect(self.wanted)
        column = QVBoxLayout(self)
        column.setSpacing(2 * SPACE)
        column.addStretch(1)
        column.addWidget(self.sentence)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        self.show_target(TargetInfo())

    def show_target(self, target: TargetInfo) -> None:
        """Says what a target lacks: a module, or the click that names its file."""
        recorded = target.kind == "module"
        text = _NO_CODE if target.kind == "checkpoint" else _NO_MODULE
        if recorded:
            text = f"{target.name} comes from a recipe and has not been imported yet"
        self.sentence.setText(text)
        name = PurePath(target.file).name or target.name
        button = f"Run {name}" if recorded else "Load Module…"
        self.button.setText(button)
        self.button.setAccessibleName(button)
        self.button.setToolTip(target.file if recorded else "")
