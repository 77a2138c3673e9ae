"""Imports what the window needs next while nobody waits for it.

The first picture needs neither numpy nor pyqtgraph, nor any dialog. Once the store
has answered they are imported, so that the first click on a leaf finds them there:
numpy and pyqtgraph on a thread; our own modules, whose import makes Qt classes and
takes some milliseconds each, on the window's thread, one in each turn of the event
loop. Made by the composition root.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer

from inspector.ui.importer import Importer
from inspector.ui.store_client import StoreClient
from inspector.ui.turns import Turns
from inspector.ui.viewers.pyqtgraph_loader import PyqtgraphLoader

_NUMBERS = ("numpy", "ml_dtypes")

# Each after what it imports, so that no turn imports two of them.
_VIEWERS = (
    "inspector.ui.models.number_text",
    "inspector.ui.models.array_model",
    "inspector.ui.viewers.colour_maps",
    "inspector.ui.viewers.array_table",
    "inspector.ui.viewers.numbers",
    "inspector.ui.viewers.picture",
    "inspector.ui.viewers.summary",
    "inspector.ui.viewers.text",
    "inspector.ui.viewers.catalogue",
)
_LATER = (
    "inspector.ui.viewers.histogram_plot",
    "inspector.engine.messages.calling",
    "inspector.engine.messages.running",
    "inspector.engine.messages.inspecting",
    "inspector.ui.panels.run_call",
    "inspector.ui.panels.run_outputs",
    "inspector.ui.panels.run_bad",
    "inspector.ui.panels.run_results",
    "inspector.ui.panels.run_desk",
    "inspector.ui.palette",
    "inspector.ui.dialogs.module",
    "inspector.ui.dialogs.export",
    "inspector.ui.dialogs.cast",
    "inspector.ui.dialogs.fill",
)

_CALM_MS = 250
_PATIENCE_MS = 2000


class WarmUp(QObject):
    """Imports once, after the client's store was started.

    All of it waits until what was opened is listed and drawn, which needs the
    processors more: until nothing was asked for a moment, or for two seconds.

    Attributes:
        is_over: Whether everything was imported.
    """

    def __init__(self, client: StoreClient, parent: QObject) -> None:
        """Waits for the store."""
        super().__init__(parent)
        self.is_over = False
        self._client = client
        self._turns = Turns(self)
        self._numbers = Importer(_NUMBERS, self)
        self._numbers.finished.connect(self._on_numbers)
        self._plots = PyqtgraphLoader(self)
        self._plots.ready.connect(self._on_plots)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._patience.timeout.connect(self._on_patience_over)
        self._calm = QTimer(self)
        self._calm.setSingleShot(True)
        self._calm.setInterval(_CALM_MS)
        self._calm.timeout.connect(self._on_calm)
        client.started.connect(self._on_started)

    def _on_started(self) -> None:
        self._client.started.disconnect(self._on_started)
        # Each time the last answer has come, the moment begins anew.
        self._client.idle.connect(self._calm.start)
        self._patience.start()

    def _on_calm(self) -> None:
        if not self._client.open_requests:
            self._on_patience_over()

    def _on_patience_over(self) -> None:
        self._client.idle.disconnect(self._calm.start)
        self._calm.stop()
        self._patience.stop()
        self._numbers.start()

    def _on_numbers(self) -> None:
        self._turns.run(self._import_viewers())

    def _import_viewers(self) -> Iterator[None]:
        yield from _imports(_VIEWERS)
        self._plots.start()

    def _on_plots(self) -> None:
        self._turns.run(self._finish())

    def _finish(self) -> Iterator[None]:
        yield from _imports(_LATER)
        # A full garbage collection looks at every object, 20 ms and more for the
        # modules alone; these stay until the end anyway.
        gc.freeze()
        self.is_over = True


def _imports(names: tuple[str, ...]) -> Iterator[None]:
    for name in names:
        importlib.import_module(name)
        yield
