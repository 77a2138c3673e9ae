"""A field for one whole number, stepped with the arrow keys or typed."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from inspector.ui.theme import Theme

_STEPS = {
    Qt.Key.Key_Up: 1,
    Qt.Key.Key_Down: -1,
    Qt.Key.Key_PageUp: 10,
    Qt.Key.Key_PageDown: -10,
}


class NumberField(QLineEdit):
    """Holds a number between two ends; what is no number goes back to the last one.

    Signals:
        number_changed: The new number, when typing is done or at each step.
    """

    number_changed = Signal(int)

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, *, last: int, number: int = 0
    ) -> None:
        """Makes a field for a number from 0 to ``last``."""
        super().__init__(str(number), parent)
        self._last = max(0, last)
        self._number = number
        self.setFont(theme.mono_font("small"))
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.editingFinished.connect(self._on_finished)

    @property
    def number(self) -> int:
        """The number."""
        return self._number

    def set_number(self, number: int) -> None:
        """Shows a number, at most the last one, and tells when it is another."""
        number = min(max(0, number), self._last)
        self.setText(str(number))
        if number != self._number:
            self._number = number
            self.number_changed.emit(number)

    def _on_finished(self) -> None:
        text = self.text().replace(",", "").replace("_", "").strip()
        self.set_number(
            int(text) if text.isascii() and text.isdigit() else self._number
        )

    # Qt overrides

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Overridden: arrows and page keys step."""
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self._on_finished()
            self.set_number(self._number + step)
