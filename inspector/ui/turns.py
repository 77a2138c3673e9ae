"""Spreads work over turns of the event loop, so that none of them takes long.

For work on the window's thread that can be cut into steps; between two of them Qt
paints and the person's clicks are handled.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer


class Turns(QObject):
    """Runs the steps of an iterator, one in each turn of the event loop."""

    def __init__(self, parent: QObject) -> None:
        """Has nothing to do."""
        super().__init__(parent)
        self._steps: Iterator[object] = iter(())
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_turn)

    @property
    def is_busy(self) -> bool:
        """Whether there are steps left."""
        return self._timer.isActive()

    def run(self, steps: Iterator[object]) -> None:
        """Begins with new steps; what is left of older ones is dropped.

        Args:
            steps: Each `next` of it is one step; what it yields does not matter.
        """
        self._steps = steps
        self._timer.start()

    def stop(self) -> None:
        """Drops what is left."""
        self._timer.stop()
        self._steps = iter(())

    def _on_turn(self) -> None:
        steps = self._steps
        try:
            next(steps)
        except StopIteration:
            # The last step may have begun with new ones.
            if steps is self._steps:
                self.stop()
