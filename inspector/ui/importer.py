"""Imports heavy modules on a thread, so that the window stays alive meanwhile.

Made on the window's thread by whatever needs a module that takes longer to import
than the window may be held. Python imports a module once, however many ask.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.errors import ErrorInfo

_LOOK_MS = 10


class Importer(QObject):
    """Imports modules, one after the other.

    Signals:
        finished: All of them are there.
        failed: `ErrorInfo`: one could not be imported.
    """

    finished = Signal()
    failed = Signal(object)

    def __init__(self, modules: tuple[str, ...], parent: QObject) -> None:
        """Imports nothing yet.

        Args:
            modules: Full names; what they import is imported along.
            parent: Whose life it shares; a running import ends on its own.
        """
        super().__init__(parent)
        self._modules = modules
        self._outcome: SimpleQueue[ErrorInfo | None] = SimpleQueue()
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self._look)

    def start(self) -> None:
        """Begins; one of the signals comes from a later turn of the event loop."""
        # No daemon: one that is stopped inside an extension's initialisation may
        # crash Python's exit. And it knows nothing of this object, which may be
        # gone before it is done.
        threading.Thread(
            target=_import,
            args=(self._modules, self._outcome.put),
            name=f"import {self._modules[0]}",
        ).start()
        self._timer.start()

    def _look(self) -> None:
        try:
            error = self._outcome.get_nowait()
        except Empty:
            return
        self._timer.stop()
        if error is None:
            self.finished.emit()
        else:
            self.failed.emit(error)


def _import(modules: tuple[str, ...], tell: Callable[[ErrorInfo | None], None]) -> None:
    """Runs on the thread; tells None or what went wrong."""
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as error:
            tell(
                ErrorInfo(
                    type(error).__name__,
                    f"{name} could not be imported: {error}",
                    hint="Install the program anew, with all that it depends on.",
                )
            )
            return
    tell(None)
