"""Imports what the window needs next while nobody waits for it.

The first picture needs neither numpy nor pyqtgraph, nor any dialog. Once the store
is on its way they are imported on a thread, so that the first click on a leaf finds
them there. On the window's thread; made by the composition root.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

from inspector.ui.importer import Importer
from inspector.ui.store_client import StoreClient

_FIRST = ("inspector.ui.viewers.catalogue",)
_LATER = (
    "inspector.ui.viewers.histogram_plot",
    "inspector.ui.palette",
    "inspector.ui.dialogs.module",
    "inspector.ui.dialogs.export",
    "inspector.ui.dialogs.cast",
    "inspector.ui.dialogs.fill",
)
"""What waits until the store has listed what was opened, which needs the processor."""

_PATIENCE_MS = 1000


class WarmUp(QObject):
    """Imports in two helpings, after the client's store was started."""

    def __init__(self, client: StoreClient, parent: QObject) -> None:
        """Waits for the store."""
        super().__init__(parent)
        self._client = client
        self._first = Importer(_FIRST, self)
        self._later = Importer(_LATER, self)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._patience.timeout.connect(self._go_on)
        self._first.finished.connect(self._wait)
        self._later.finished.connect(_settle)
        client.started.connect(self._begin)

    def _begin(self) -> None:
        self._client.started.disconnect(self._begin)
        self._first.start()

    def _wait(self) -> None:
        self._client.idle.connect(self._go_on)
        self._patience.start()
        if not self._client.open_requests:
            self._go_on()

    def _go_on(self) -> None:
        self._client.idle.disconnect(self._go_on)
        self._patience.stop()
        self._later.start()


def _settle() -> None:
    """Spares later garbage collections what stays until the end anyway.

    A full collection looks at every object: 20 ms and more for the modules alone.
    """
    gc.freeze()
