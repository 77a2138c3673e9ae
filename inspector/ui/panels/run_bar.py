"""The foot of the call: run, stop, run again on change, copy as Python."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from inspector.ui.theme import Theme
from inspector.ui.tokens import MARKS, SPACE
from inspector.ui.viewers.hairline import HairlineProgress


class RunBar(QWidget):
    """Buttons of a call; they stay in sight while the call scrolls.

    Attributes:
        run_button: Runs the call.
        stop_button: Ends the run, wherever it is.
        automatic: Whether a change runs it again.
        copy_button: Copies the call as a program.
        stale: Says that the result is of another call or of other values.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Starts with nothing to run."""
        super().__init__(parent)
        self.progress = HairlineProgress(theme, self)
        self.run_button = QPushButton("Run", self)
        self.run_button.setObjectName("runButton")
        self.run_button.setAccessibleName("Run the call")
        self.run_button.setToolTip("Run the call (Ctrl+R)")
        self.run_button.setProperty("look", "primary")
        self.stop_button = QPushButton("Stop", self)
        self.stop_button.setObjectName("stopButton")
        self.stop_button.setAccessibleName("Stop the run")
        self.stop_button.setToolTip("Stop the run wherever it is (Ctrl+.)")
        self.automatic = QCheckBox("On change", self)
        self.automatic.setObjectName("runOnChange")
        self.automatic.setAccessibleName("Run again on change")
        self.automatic.setToolTip("Run again on a change of mode, seed or input")
        self.copy_button = QPushButton("Copy as Python", self)
        self.copy_button.setObjectName("copyCallCode")
        self.copy_button.setAccessibleName("Copy the call as Python")
        self.copy_button.setProperty("look", "flat")
        self.stale = QLabel(self)
        self.stale.setObjectName("runStale")
        self.stale.setProperty("look", "warning")
        self.stale.setTextFormat(Qt.TextFormat.PlainText)
        self.stale.setWordWrap(True)
        self.stale.setMinimumWidth(1)
        self.stale.hide()
        row = QHBoxLayout()
        row.setSpacing(2 * SPACE)
        for widget in (self.run_button, self.stop_button, self.automatic):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.copy_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * SPACE, 0, 2 * SPACE, 2 * SPACE)
        column.setSpacing(SPACE)
        line = QFrame(self)
        line.setProperty("look", "line")
        line.setFixedHeight(1)
        column.addWidget(line)
        column.addWidget(self.progress)
        column.addWidget(self.stale)
        column.addLayout(row)
        self.show_state(can_run=False, is_running=False)

    def show_state(self, *, can_run: bool, is_running: bool) -> None:
        """Enables what can be used now."""
        self.run_button.setEnabled(can_run and not is_running)
        self.copy_button.setEnabled(can_run)
        self.stop_button.setEnabled(is_running)
        if is_running and self.progress.share is None:
            self.progress.start()
        elif not is_running:
            self.progress.stop()

    def show_stale(self, text: str) -> None:
        """Says why the result is not of what stands there; empty when it is."""
        self.stale.setText(f"{MARKS['open'].glyph} {text}" if text else "")
        self.stale.setVisible(bool(text))
