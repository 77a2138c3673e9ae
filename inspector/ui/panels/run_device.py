"""Where a call runs, how exactly, and which collections it may update.

Three small choosers of the run panel. Devices are told by the panel, which asks for
them when it is first looked at. On the window's thread.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QMenu, QPushButton, QWidget

from inspector.engine.messages.calling import FOUND, Devices
from inspector.ui import format as fmt

_DEFAULT_DEVICE = "Default device"

_PRECISIONS = (
    ("", "JAX's precision", "What jax_default_matmul_precision says"),
    ("default", "Default precision", "The fastest products of the device"),
    ("high", "High precision", "Three passes where the device has them"),
    ("highest", "Highest precision", "Full float32 products"),
)

_ADJUST = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
_FOUND_TEXT = "Those it updates"


class DeviceBox(QComboBox):
    """The devices that JAX sees."""

    def __init__(self, parent: QWidget) -> None:
        """Starts with the default device alone."""
        super().__init__(parent)
        self.setObjectName("deviceBox")
        self.setAccessibleName("Device")
        self.addItem(_DEFAULT_DEVICE, "")
        self._problem = ""
        self.setSizeAdjustPolicy(_ADJUST)
        self.setMinimumContentsLength(12)

    @property
    def device(self) -> str:
        """The device as a `Call` takes it."""
        return str(self.currentData() or "")

    @property
    def problem(self) -> str:
        """Why there is no accelerator although one is to be expected."""
        return self._problem

    def show_devices(self, devices: Devices) -> None:
        """Lists devices; the chosen one stays chosen."""
        chosen = self.device
        self._problem = devices.problem
        self.blockSignals(True)
        self.clear()
        first = devices.devices[0].id if devices.devices else ""
        self.addItem(f"{_DEFAULT_DEVICE} ({first})" if first else _DEFAULT_DEVICE, "")
        for device in devices.devices:
            kind = "" if device.kind == device.id.partition(":")[0] else device.kind
            memory = fmt.size(device.memory) if device.memory else ""
            facts = ", ".join(filter(None, (kind, memory)))
            self.addItem(f"{device.id} ({facts})" if facts else device.id, device.id)
        self.choose(chosen)
        self.blockSignals(False)
        self.setToolTip(devices.problem or "Where the call runs")

    def choose(self, device: str) -> None:
        """Shows a device as chosen; one that is not there is listed all the same."""
        row = self.findData(device)
        if row < 0:
            self.addItem(device, device)
            row = self.count() - 1
        self.setCurrentIndex(row)


class PrecisionBox(QComboBox):
    """Precision of matrix products."""

    def __init__(self, parent: QWidget) -> None:
        """Starts with JAX's own setting."""
        super().__init__(parent)
        self.setObjectName("precisionBox")
        self.setAccessibleName("Precision of matrix products")
        for name, text, tip in _PRECISIONS:
            self.addItem(text, name)
            self.setItemData(self.count() - 1, tip, 3)
        self.setToolTip("Precision of matrix products")
        self.setSizeAdjustPolicy(_ADJUST)
        self.setMinimumContentsLength(12)

    @property
    def precision(self) -> str:
        """The precision as a `Call` takes it."""
        return str(self.currentData() or "")

    def choose(self, precision: str) -> None:
        """Shows a precision as chosen."""
        self.setCurrentIndex(max(0, self.findData(precision)))


class MutableButton(QPushButton):
    """Which collections the method may update.

    Signals:
        chosen: The person chose others.
    """

    chosen = Signal()

    def __init__(self, parent: QWidget) -> None:
        """Starts with those that the method turns out to update."""
        super().__init__(parent)
        self.setObjectName("mutableButton")
        self.setProperty("look", "flat")
        self._menu = QMenu(self)
        self._menu.setObjectName("mutableMenu")
        self.setMenu(self._menu)
        self._chosen: tuple[str, ...] = (FOUND,)
        self._known: list[str] = []
        self._fill()

    @property
    def mutable(self) -> tuple[str, ...]:
        """The collections as a `Call` takes them."""
        return self._chosen

    def add_known(self, names: Iterable[str]) -> None:
        """Offers collections."""
        new = [name for name in names if name not in self._known]
        if new:
            self._known += new
            self._fill()

    def show_call(self, mutable: tuple[str, ...], known: Iterable[str]) -> None:
        """Shows the choice of a call, and offers the collections of its module."""
        self._chosen = mutable
        names = [*known, *(name for name in mutable if name != FOUND)]
        self._known = list(dict.fromkeys(names))
        self._fill()

    def _fill(self) -> None:
        self._menu.clear()
        for name in (FOUND, *self._known):
            action = QAction(_FOUND_TEXT if name == FOUND else name, self._menu)
            action.setObjectName(f"mutable.{name}")
            action.setCheckable(True)
            action.setChecked(name in self._chosen)
            action.toggled.connect(
                lambda checked, name=name: self._on_toggled(name, checked=checked)
            )
            self._menu.addAction(action)
        self._show_text()

    def _show_text(self) -> None:
        names = [name for name in self._chosen if name != FOUND]
        words = [*names, *(["those it updates"] if FOUND in self._chosen else [])]
        text = f"Mutable: {', '.join(words) or 'nothing'}"
        self.setText(text)
        self.setAccessibleName(text)
        self.setToolTip("Collections that the method may update")

    def _on_toggled(self, name: str, *, checked: bool) -> None:
        chosen = [*self._chosen, name] if checked else list(self._chosen)
        order = (FOUND, *self._known)
        wanted = set(chosen) if checked else set(chosen) - {name}
        self._chosen = tuple(one for one in order if one in wanted)
        self._show_text()
        self.chosen.emit()
