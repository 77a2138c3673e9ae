"""The histogram of a leaf: what it shows, how it is pointed at, what it says.

Window's thread; it asks nothing. pyqtgraph draws it (`histogram_plot`), which is
imported on a thread and put together over turns of the event loop; until then the
place is empty and as high as it will be.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from inspector.engine.messages.reading import StatisticsReply
from inspector.errors import ErrorInfo
from inspector.ui import format as fmt
from inspector.ui.theme import Theme
from inspector.ui.turns import Turns
from inspector.ui.viewers.histogram_bars import Bars
from inspector.ui.viewers.pyqtgraph_loader import PyqtgraphLoader
from inspector.ui.viewers.ticks import tick_text

if TYPE_CHECKING:
    from inspector.ui.viewers.histogram_plot import HistogramPlot

_HEIGHT = 108
_LARGE_SPREAD = 50
"""Between the fullest and the emptiest bin; beyond it logarithms show more."""

_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class Histogram(QWidget):
    """Bars of equal width over the finite values of a leaf.

    Mouse or arrow keys choose a bin, whose range and number of values are written
    above the bars.

    Attributes:
        edges: Low and high end; empty without a histogram.
        counts: Values in each bin.
        pointed: Bin under the cursor; None for none.

    Signals:
        drawn: It became able to draw.
    """

    drawn = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Starts empty, and to make what draws it."""
        super().__init__(parent)
        self._theme = theme
        self._plot: HistogramPlot | None = None
        self._is_built = False
        self._sampled = False
        self.edges: tuple[float, float] | tuple[()] = ()
        self.counts: tuple[int, ...] = ()
        self.pointed: int | None = None
        self.caption = QLabel(self)
        self.log_button = QPushButton("log", self)
        self._column = QVBoxLayout(self)
        self._lay_out()
        self._turns = Turns(self)
        self._loader = PyqtgraphLoader(self)
        self._loader.ready.connect(self._on_ready)
        self._loader.failed.connect(self._on_failed)
        self._loader.start()
        theme.changed.connect(self._on_theme)

    def _lay_out(self) -> None:
        self.setObjectName("histogram")
        self.setAccessibleName("Histogram")
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._column.setContentsMargins(0, 0, 0, 0)
        self.caption.setObjectName("histogramCaption")
        self.caption.setFont(self._theme.mono_font("small"))
        self.caption.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.caption.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.log_button.setObjectName("histogramLog")
        self.log_button.setAccessibleName("Logarithmic counts")
        self.log_button.setToolTip("Show the logarithm of the counts")
        self.log_button.setCheckable(True)
        self.log_button.setProperty("look", "tiny")
        self.log_button.toggled.connect(self._on_log)
        self.log_button.hide()

    @property
    def is_ready(self) -> bool:
        """Whether it draws, or never will; a picture of the window waits for it."""
        return self._is_built

    def show_statistics(self, statistics: StatisticsReply | None) -> None:
        """Shows the histogram of a leaf; None empties it."""
        self.edges = statistics.edges if statistics else ()
        self.counts = statistics.counts if statistics else ()
        self._sampled = statistics.sampled if statistics else False
        filled = [count for count in self.counts if count]
        spread = max(filled) / min(filled) if filled else 1
        self.log_button.setVisible(spread > _LARGE_SPREAD)
        self._point(None)
        self.setAccessibleDescription(self._describe())
        self._draw()

    def bin_text(self, number: int) -> str:
        """Returns the range and the number of values of a bin."""
        low, high = self._bin_range(number)
        about = "~" if self._sampled else ""
        values = fmt.plural(self.counts[number], "value")
        return f"{tick_text(low)} … {tick_text(high)}: {about}{values}"

    def _bin_range(self, number: int) -> tuple[float, float]:
        low, high = self.edges if self.edges else (0.0, 0.0)
        width = (high - low) / len(self.counts)
        return low + number * width, low + (number + 1) * width

    def _describe(self) -> str:
        if not self.edges or not self.counts:
            return ""
        return (
            f"{len(self.counts)} bins from {tick_text(self.edges[0])} to"
            f" {tick_text(self.edges[1])}; most values in"
            f" {self.bin_text(self._fullest())}"
        )

    def _fullest(self) -> int:
        return self.counts.index(max(self.counts))

    def _point(self, number: int | None) -> None:
        """Puts the cursor on a bin and says what is in it."""
        if number == self.pointed:
            return
        self.pointed = number
        self.caption.setText("" if number is None else self.bin_text(number))
        self.setAccessibleDescription(
            self._describe() if number is None else self.bin_text(number)
        )
        if self._plot is not None and self._is_built:
            self._plot.show_cursor(number)

    def _draw(self) -> None:
        plot = self._plot
        if plot is None or not self._is_built:
            return
        drawable = bool(self.edges) and any(self.counts)
        plot.widget.setVisible(drawable)
        if self.edges and drawable:
            is_log = self.log_button.isChecked() and not self.log_button.isHidden()
            plot.show(Bars(*self.edges, self.counts, is_log))

    def _build(self) -> Iterator[None]:
        """Makes the plot, a step a turn."""
        from inspector.ui.viewers.histogram_plot import (  # noqa: PLC0415 - pyqtgraph
            HistogramPlot,
        )

        self._plot = plot = HistogramPlot(self._theme, self)
        plot.widget.hide()
        yield
        yield from plot.build()
        self._column.addWidget(plot.widget)
        plot.widget.lower()
        yield
        self._is_built = True
        self._draw()
        self.drawn.emit()

    def _on_ready(self) -> None:
        self._turns.run(self._build())

    def _on_failed(self, error: ErrorInfo) -> None:
        self._is_built = True
        self.caption.setText(error.message)
        self.caption.setToolTip(error.text())

    def _on_theme(self) -> None:
        self.caption.setFont(self._theme.mono_font("small"))
        if self._plot is not None and self._is_built:
            self._plot.recolour()

    def _on_log(self) -> None:
        self._draw()

    # Qt overrides

    def sizeHint(self) -> QSize:
        """Overridden: as wide as the panel."""
        return QSize(320, _HEIGHT)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Overridden: names the bin under the mouse."""
        if self._plot is not None and self._is_built and any(self.counts):
            self._point(self._plot.bin_at(event.position().x()))

    def leaveEvent(self, event: QEvent) -> None:
        """Overridden: names no bin any more."""
        del event
        self._point(None)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Overridden: the keyboard begins at the fullest bin."""
        super().focusInEvent(event)
        if event.reason() != Qt.FocusReason.MouseFocusReason and any(self.counts):
            self._point(self._fullest())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Overridden: the cursor goes with the keyboard."""
        super().focusOutEvent(event)
        self._point(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Overridden: arrows, Home and End move the cursor, L changes the scale."""
        key, last = Qt.Key(event.key()), len(self.counts) - 1
        if not any(self.counts):
            super().keyPressEvent(event)
        elif key in _STEPS:
            start = self._fullest() if self.pointed is None else self.pointed
            self._point(min(max(start + _STEPS[key], 0), last))
        elif key == Qt.Key.Key_Home:
            self._point(0)
        elif key == Qt.Key.Key_End:
            self._point(last)
        elif key == Qt.Key.Key_L and not self.log_button.isHidden():
            self.log_button.toggle()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Overridden: the scale's button and the caption lie above the bars."""
        super().resizeEvent(event)
        self.log_button.move(0, 0)
        self.log_button.resize(self.log_button.sizeHint())
        self.caption.setGeometry(40, 0, self.width() - 52, 16)
        if self._plot is not None and self._is_built and any(self.counts):
            self._plot.show_ticks()
