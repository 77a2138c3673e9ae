"""Imports pyqtgraph without holding the window, and without a race.

PySide makes its classes when they are touched for the first time, and pyqtgraph
touches all of them while it is imported. Nothing keeps two threads from making the
same class at once, so they are touched here first, on the window's thread, a few
milliseconds a turn; what is left of the import then runs on a thread. Used by
`warm_up` before anybody waits for a plot, and by each widget that needs one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QObject, Signal

from inspector.ui.importer import Importer
from inspector.ui.turns import Turns

_SLICE_S = 0.004
"""How long classes are made in one turn of the event loop."""


class PyqtgraphLoader(QObject):
    """Imports pyqtgraph; at once when it was imported before.

    Signals:
        ready: It can be imported from now on.
        failed: `ErrorInfo`: it cannot.
    """

    ready = Signal()
    failed = Signal(object)

    def __init__(self, parent: QObject) -> None:
        """Imports nothing yet."""
        super().__init__(parent)
        self._turns = Turns(self)
        self._importer = Importer(("pyqtgraph",), self)
        self._importer.finished.connect(self.ready)
        self._importer.failed.connect(self.failed)

    def start(self) -> None:
        """Begins; one of the signals comes from a later turn of the event loop."""
        self._turns.run(self._load())

    def _load(self) -> Iterator[None]:
        yield from make_classes()
        self._importer.start()


def make_classes() -> Iterator[None]:
    """Makes every class of the Qt modules that the program uses, a slice a turn."""
    end = time.perf_counter() + _SLICE_S
    for module in (QtCore, QtGui, QtWidgets):
        for name in dir(module):
            getattr(module, name)
            if time.perf_counter() > end:
                yield
                end = time.perf_counter() + _SLICE_S
