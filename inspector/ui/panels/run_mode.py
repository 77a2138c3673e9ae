"""The train/eval switch of a call: two buttons, and what they mean in words."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QWidget

from inspector.engine.messages.calling import Mode
from inspector.ui.tokens import SPACE

TRAIN, EVAL = "train", "eval"

_NO_SWITCH = "This method has no train/eval switch."


class ModeToggle(QWidget):
    """Train or Eval; disabled where there is no switch.

    Signals:
        chosen: The person chose the other mode.
    """

    chosen = Signal()

    def __init__(self, parent: QWidget) -> None:
        """Starts disabled."""
        super().__init__(parent)
        self.setObjectName("modeToggle")
        self.setAccessibleName("Mode of the call")
        self._is_known = False
        self._group = QButtonGroup(self)
        self._buttons: dict[str, QPushButton] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE)
        for mode in (TRAIN, EVAL):
            button = QPushButton(mode.capitalize(), self)
            button.setObjectName(f"modeToggle.{mode}")
            button.setAccessibleName(f"{mode.capitalize()} mode")
            button.setProperty("look", "chip")
            button.setCheckable(True)
            self._group.addButton(button)
            self._buttons[mode] = button
            row.addWidget(button)
            button.clicked.connect(lambda _checked=False: self.chosen.emit())
        self._buttons[EVAL].setChecked(True)
        self.show_mode(Mode())

    @property
    def mode(self) -> str:
        """The mode as a `Call` takes it; empty where there is no switch."""
        if not self._is_known:
            return ""
        return TRAIN if self._buttons[TRAIN].isChecked() else EVAL

    def show_mode(self, mode: Mode) -> None:
        """Shows what the modes of a method mean, and whether they differ."""
        self._is_known = bool(mode.where)
        self.setEnabled(self._is_known)
        text = mode.text or ("" if self._is_known else _NO_SWITCH)
        self.setAccessibleDescription(text)
        self.setToolTip(text)
        for name, value in ((TRAIN, mode.train), (EVAL, mode.eval)):
            meaning = f"{name.capitalize()}: {mode.flag}={_python(value)}"
            if mode.where == "method":
                meaning = f"{name.capitalize()}: module.{name}()"
            tip = f"{meaning}\n{text}" if self._is_known else text
            self._buttons[name].setToolTip(tip)

    def choose(self, mode: str) -> None:
        """Shows a mode as chosen; tells nobody."""
        if mode in self._buttons:
            self._buttons[mode].setChecked(True)


def note_of(mode: Mode) -> str:
    """Returns what a person should know about the switch without asking."""
    if mode.effect == "same" and mode.where:
        return f"{mode.flag} has no effect: both modes are the same program."
    if mode.effect == "unknown" and mode.where:
        return mode.text
    return ""


def _python(value: str) -> str:
    return {"true": "True", "false": "False", "null": "None"}.get(value, value)
