"""The histogram of a leaf, painted here.

Painted by itself rather than with pyqtgraph: one plot widget and one image of
pyqtgraph took 58 to 82 ms to make and paint first (its import, on a thread, stalled
the window 13 ms at most), and the first click on a leaf has 50 ms for everything.
With this widget the longest step of the whole click took 10 to 27 ms, on a busier
machine. Window's thread; it asks nothing.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from inspector.engine.messages.reading import StatisticsReply
from inspector.ui import format as fmt
from inspector.ui.theme import Theme
from inspector.ui.viewers.ticks import tick_text, ticks

_HEIGHT = 104
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 12, 14, 20
_PIXELS_PER_TICK = 72


class Histogram(QWidget):
    """Bars of equal width over the finite values of a leaf.

    Attributes:
        edges: Low and high end; empty without a histogram.
        counts: Values in each bin.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Starts empty, already as high as it will be."""
        super().__init__(parent)
        self._theme = theme
        self._hovered: int | None = None
        self._sampled = False
        self.edges: tuple[float, float] | tuple[()] = ()
        self.counts: tuple[int, ...] = ()
        self.setObjectName("histogram")
        self.setAccessibleName("Histogram")
        self.setMouseTracking(True)
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_statistics(self, statistics: StatisticsReply | None) -> None:
        """Shows the histogram of a leaf; None empties it."""
        self.edges = statistics.edges if statistics else ()
        self.counts = statistics.counts if statistics else ()
        self._sampled = statistics.sampled if statistics else False
        self._hovered = None
        self.setAccessibleDescription(self._describe())
        self.update()

    def _describe(self) -> str:
        if not self.edges or not self.counts:
            return ""
        fullest = self.counts.index(max(self.counts))
        return (
            f"{len(self.counts)} bins from {tick_text(self.edges[0])} to"
            f" {tick_text(self.edges[1])}; most values in {self.bin_text(fullest)}"
        )

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

    def _plot(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_LEFT, _TOP, -_RIGHT, -_BOTTOM)

    # Qt overrides

    def sizeHint(self) -> QSize:
        """Overridden: as wide as the panel."""
        return QSize(320, _HEIGHT)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Overridden: names the bin under the mouse."""
        plot = self._plot()
        share = (event.position().x() - plot.left()) / max(1.0, plot.width())
        inside = bool(self.counts) and 0 <= share < 1
        hovered = int(share * len(self.counts)) if inside else None
        if hovered != self._hovered:
            self._hovered = hovered
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Overridden: names no bin any more."""
        del event
        self._hovered = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Overridden: grid, bars, axis, and the bin under the mouse."""
        del event
        painter = QPainter(self)
        painter.setFont(self._theme.mono_font("small"))
        plot = self._plot()
        if self.edges and any(self.counts):
            self._paint_grid(painter, plot)
            self._paint_bars(painter, plot)
            self._paint_axis(painter, plot, self.edges[0], self.edges[1])
        painter.end()

    def _paint_grid(self, painter: QPainter, plot: QRectF) -> None:
        most = max(self.counts)
        for value in ticks(0, most, 3)[1:]:
            y = plot.bottom() - plot.height() * value / most
            painter.setPen(self._theme.color("hairline"))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            painter.setPen(self._theme.color("secondary"))
            painter.drawText(
                QRectF(0, y - 8, _LEFT - 6, 16),
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                fmt.count(round(value)),
            )

    def _paint_bars(self, painter: QPainter, plot: QRectF) -> None:
        most = max(self.counts)
        width = plot.width() / len(self.counts)
        accent = self._theme.color("accent")
        for number, count in enumerate(self.counts):
            height = plot.height() * count / most
            if count:
                # A single value among millions is still seen.
                height = max(height, 1.0)
            # Whole pixels, so that neighbours neither overlap nor leave a gap.
            left, right = round(number * width), round((number + 1) * width)
            bar = QRectF(
                plot.left() + left, plot.bottom() - height, right - left, height
            )
            painter.fillRect(bar, accent)
        if self._hovered is not None:
            self._paint_hovered(painter, plot, self._hovered)

    def _paint_hovered(self, painter: QPainter, plot: QRectF, number: int) -> None:
        width = plot.width() / len(self.counts)
        painter.setPen(QPen(self._theme.color("text"), 1))
        x = plot.left() + (number + 0.5) * width
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
        painter.drawText(
            QRectF(plot.left(), 0, plot.width(), _TOP),
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
            self.bin_text(number),
        )

    def _paint_axis(
        self, painter: QPainter, plot: QRectF, low: float, high: float
    ) -> None:
        painter.setPen(self._theme.color("border"))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        painter.setPen(self._theme.color("secondary"))
        most = max(2, int(plot.width() / _PIXELS_PER_TICK))
        for value in ticks(low, high, most):
            share = (value - low) / (high - low) if high > low else 0.5
            x = plot.left() + share * plot.width()
            painter.drawLine(QPointF(x, plot.bottom()), QPointF(x, plot.bottom() + 3))
            painter.drawText(
                QRectF(x - 36, plot.bottom() + 4, 72, 14),
                Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter,
                tick_text(value),
            )
