"""Choosers of a 2-D slice: which axes are shown, and where on the other axes.

Shared by the picture and the table. It knows a shape, no numbers.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from inspector.ui.models.array_slice import ArraySlice
from inspector.ui.theme import Theme
from inspector.ui.viewers.number_field import NumberField

_Row = tuple[QLabel, QSlider, NumberField, QLabel]
"""Name of an axis, its slider, its number, its extent."""

_ONE_AXIS = 1
_PAIR_END = 8
_NUMBER_WIDTH = 72
_NARROW_NUMBER_WIDTH = 48
_NARROW = 360
"""Below this width two axes share a line, without sliders, when they fit; in pixels."""

_SLIDER_LIMIT = 1 << 24
"""Positions a slider can tell apart; a longer axis has the number field alone."""


class SliceChooser(QWidget):
    """Combo boxes for the two shown axes, a slider and a number for each other one.

    Attributes:
        slice: The chosen slice.

    Signals:
        chosen: `ArraySlice`, after the person changed something.
    """

    chosen = Signal(object)

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        """Makes an empty chooser; ``name`` begins the object names inside."""
        super().__init__(parent)
        self._theme = theme
        self._name = name
        self.slice = ArraySlice((), -1, -1, ())
        self._down = self._make_axis_box("Axis that runs down", down=True)
        self._right = self._make_axis_box("Axis that runs to the right", down=False)
        self._axes = QWidget(self)
        line = QHBoxLayout(self._axes)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(4)
        for text, box in (("↓", self._down), ("→", self._right)):
            caption = QLabel(text, self._axes)
            caption.setProperty("look", "secondary")
            caption.setToolTip(box.accessibleName())
            line.addWidget(caption)
            line.addWidget(box)
            line.addSpacing(8)
        line.addStretch(1)
        self._rows: list[_Row] = []
        self._sliders = QWidget(self)
        self._grid = QGridLayout(self._sliders)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._axes)
        column.addWidget(self._sliders)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def _make_axis_box(self, name: str, *, down: bool) -> QComboBox:
        box = QComboBox(self)
        box.setObjectName(f"{self._name}.{'down' if down else 'right'}")
        box.setAccessibleName(name)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        box.activated.connect(partial(self._on_axis, down))
        return box

    def set_slice(self, array_slice: ArraySlice) -> None:
        """Shows a slice without telling; rebuilds the choosers for a new shape."""
        rebuild = (
            array_slice.shape != self.slice.shape
            or array_slice.other_axes != self.slice.other_axes
        )
        self.slice = array_slice
        rank = len(array_slice.shape)
        self.setVisible(rank > _ONE_AXIS)
        for box, axis in (
            (self._down, array_slice.rows_axis),
            (self._right, array_slice.columns_axis),
        ):
            box.clear()
            for number, extent in enumerate(array_slice.shape):
                box.addItem(f"axis {number} ({extent:,})", number)
            box.setCurrentIndex(axis)
        if rebuild:
            self._rebuild_sliders()

    def _rebuild_sliders(self) -> None:
        for parts in self._rows:
            for widget in parts:
                self._grid.removeWidget(widget)
                widget.hide()
                # Nobody may find it in place of the new one until it is deleted.
                widget.setObjectName("")
                widget.deleteLater()
        self._rows = [self._make_row(axis) for axis in self.slice.other_axes]
        self._arrange()
        self._sliders.setVisible(bool(self._rows))

    def _arrange(self) -> None:
        """Places the rows: one to a line with its slider, or two without."""
        paired = self.width() < _NARROW and self._pairs_fit()
        for number, (caption, slider, field, total) in enumerate(self._rows):
            row, first = divmod(number, 2) if paired else (number, 0)
            slider.setVisible(not paired)
            field.setFixedWidth(_NARROW_NUMBER_WIDTH if paired else _NUMBER_WIDTH)
            for column, widget in enumerate((caption, slider, field, total)):
                self._grid.addWidget(widget, row, 4 * first + column)
        self._grid.setColumnStretch(1, 0 if paired else 1)
        # What is left over goes behind the last of a pair.
        self._grid.setColumnStretch(_PAIR_END, 1 if paired else 0)

    def _pairs_fit(self) -> bool:
        widths = [
            caption.sizeHint().width() + total.sizeHint().width()
            for caption, _, _, total in self._rows
        ]
        one = max(widths, default=0) + _NARROW_NUMBER_WIDTH + 3 * 8
        return 2 * one <= self.width()

    def _make_row(self, axis: int) -> _Row:
        extent = self.slice.shape[axis]
        caption = QLabel(f"axis {axis}", self._sliders)
        caption.setProperty("look", "small")
        number = NumberField(
            self._theme,
            self._sliders,
            last=extent - 1,
            number=self.slice.index[axis],
        )
        number.setObjectName(f"{self._name}.index{axis}")
        number.setAccessibleName(f"Index on axis {axis}")
        total = QLabel(f"of {extent:,}", self._sliders)
        total.setProperty("look", "small")
        slider = QSlider(Qt.Orientation.Horizontal, self._sliders)
        slider.setRange(0, min(max(0, extent - 1), _SLIDER_LIMIT))
        slider.setValue(self.slice.index[axis])
        slider.setEnabled(1 < extent <= _SLIDER_LIMIT)
        slider.setObjectName(f"{self._name}.slider{axis}")
        slider.setAccessibleName(f"Index on axis {axis}")
        slider.valueChanged.connect(number.set_number)
        number.number_changed.connect(partial(self._follow, slider))
        number.number_changed.connect(partial(self._on_index, axis))
        return caption, slider, number, total

    @staticmethod
    def _follow(slider: QSlider, position: int) -> None:
        # A long axis has more positions than the slider, which then stays put.
        if slider.isEnabled():
            slider.setValue(position)

    def _on_axis(self, down: bool, axis: int) -> None:
        self.set_slice(self.slice.with_axis(axis, down=down))
        self.chosen.emit(self.slice)

    def _on_index(self, axis: int, position: int) -> None:
        if position != self.slice.index[axis]:
            self.slice = self.slice.with_index(axis, position)
            self.chosen.emit(self.slice)

    # Qt overrides

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Overridden: one axis to a line, or two."""
        super().resizeEvent(event)
        self._arrange()
