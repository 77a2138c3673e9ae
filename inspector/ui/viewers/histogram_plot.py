"""The histogram's picture, drawn by pyqtgraph.

Imports pyqtgraph, which takes up to half a second: only `histogram.Histogram` uses
this module, after an `importer.Importer` has imported it on a thread. The plot is
put together from pyqtgraph's parts in steps, since all of them in one go, or its
`PlotItem` with the menus that nobody needs here, hold the window for over 50 ms. It
draws what it is told; mouse and keyboard belong to the histogram.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QWidget

from inspector.ui import format as fmt
from inspector.ui.theme import Theme
from inspector.ui.viewers.ticks import tick_text, ticks

LEFT, RIGHT, TOP, BOTTOM = 40, 12, 16, 20
"""Room around the bars in pixels, the same whatever they show."""

_PIXELS_PER_TICK = 72
_MOST_COUNT_TICKS = 3
_LOG_BASE = 0.5
"""Where bars begin on a logarithmic scale, so that one value is seen."""

# pyqtgraph's own hook at Python's exit is for programs that keep no order of their
# own; ours deletes its window before the application.
pg.setConfigOptions(antialias=False, exitCleanup=False)


@dataclass(frozen=True, slots=True)
class Bars:
    """What is drawn.

    Attributes:
        low: Low end of the first bin.
        high: High end of the last bin.
        counts: Values in each bin, at least one of them not 0.
        logarithmic: Whether heights are logarithms.
    """

    low: float
    high: float
    counts: tuple[int, ...]
    logarithmic: bool = False

    def height_of(self, count: float) -> float:
        """Returns where a count lies on the vertical scale, which begins at 0."""
        if not self.logarithmic:
            return count
        return math.log10(max(count, _LOG_BASE) / _LOG_BASE)

    @property
    def top(self) -> float:
        """End of the vertical scale."""
        return self.height_of(max(self.counts))

    def count_ticks(self) -> tuple[float, ...]:
        """Returns the counts that are written at the vertical scale."""
        most = max(self.counts)
        if not self.logarithmic:
            return ticks(0, most, _MOST_COUNT_TICKS)[1:]
        decades = math.floor(math.log10(most))
        step = math.ceil((decades + 1) / _MOST_COUNT_TICKS)
        return tuple(10.0**decade for decade in range(0, decades + 1, step))


class HistogramPlot:
    """A plot of pyqtgraph: bars, a value axis, a count axis with a grid, a cursor.

    The horizontal scale counts bins and not values: that is exact for every range,
    and neither 1e300 nor a range of one ulp meets the limits of a transformation.

    Attributes:
        widget: The plot; it lets the mouse through.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Makes the empty surface; `build` makes the rest.

        Args:
            theme: Whose colours and fonts; `recolour` when it changes.
            parent: What the plot lies in.
        """
        self._theme = theme
        self._bars = Bars(0.0, 1.0, (0,))
        self._surface: Any = pg.GraphicsView(parent, background=None)
        self.widget: QWidget = self._surface
        self.widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.widget.setStyleSheet("background: transparent")
        self.widget.setObjectName("histogramPlot")

    def build(self) -> Iterator[None]:
        """Makes the parts, a step each; `show` may be called when it is over."""
        self._box: Any = pg.ViewBox(
            enableMenu=False, enableMouse=False, defaultPadding=0
        )
        yield
        self._values: Any = pg.AxisItem("bottom", linkView=self._box, maxTickLength=3)
        yield
        self._counts: Any = pg.AxisItem("left", linkView=self._box, maxTickLength=0)
        self._cursor: Any = pg.InfiniteLine(angle=90)
        yield
        self._rectangles: Any = pg.BarGraphItem(
            x0=np.zeros(1), width=1.0, y0=0.0, height=np.zeros(1), pen=None
        )
        yield
        self._put_together()
        yield
        self.recolour()

    def _put_together(self) -> None:
        for axis in (self._values, self._counts):
            axis.setStyle(hideOverlappingLabels=False, autoExpandTextSpace=False)
        self._values.setHeight(BOTTOM)
        self._values.setStyle(tickTextOffset=2)
        self._counts.setWidth(LEFT)
        self._counts.setStyle(tickTextOffset=6, tickAlpha=255)
        # A grid is drawn by the axis, whose ticks then cross the whole plot.
        self._counts.setGrid(255)
        self._cursor.hide()
        self._box.addItem(self._rectangles)
        self._box.addItem(self._cursor)
        layout = pg.GraphicsLayout()
        layout.layout.setContentsMargins(0, TOP, RIGHT, 0)
        layout.layout.setSpacing(0)
        layout.addItem(self._counts, 0, 0)
        layout.addItem(self._box, 0, 1)
        layout.addItem(self._values, 1, 1)
        self._surface.setCentralItem(layout)

    def recolour(self) -> None:
        """Takes over the theme's colours and fonts."""
        theme = self._theme
        nothing = pg.mkPen(None)
        for axis in (self._values, self._counts):
            axis.setStyle(tickFont=theme.mono_font("small"))
            axis.setTextPen(pg.mkPen(theme.color("secondary")))
        self._values.setPen(pg.mkPen(theme.color("border")))
        self._values.setTickPen(pg.mkPen(theme.color("border")))
        self._counts.setPen(nothing)
        self._counts.setTickPen(pg.mkPen(theme.color("hairline")))
        self._cursor.setPen(pg.mkPen(theme.color("text")))
        self._rectangles.setOpts(brush=pg.mkBrush(theme.color("accent")), pen=nothing)

    def show(self, bars: Bars) -> None:
        """Draws bars over their axes."""
        self._bars = bars
        heights = np.array([bars.height_of(count) for count in bars.counts])
        # A single value among millions is still seen: a pixel at least.
        least = bars.top / max(1.0, self.widget.height() - TOP - BOTTOM)
        heights[(heights > 0) & (heights < least)] = least
        self._rectangles.setOpts(x0=np.arange(len(heights)), height=heights)
        self._box.setRange(
            xRange=(0, len(heights)), yRange=(0, bars.top), padding=0,
            disableAutoRange=True,
        )  # fmt: skip
        self.show_ticks()

    def show_ticks(self) -> None:
        """Writes as many numbers at the axes as there is room for."""
        bars = self._bars
        width = self.widget.width() - LEFT - RIGHT
        most = max(2, int(width / _PIXELS_PER_TICK))
        span = bars.high - bars.low
        bins = len(bars.counts)
        self._values.setTicks(
            [
                [
                    ((value - bars.low) / span * bins if span else bins / 2, text)
                    for value in ticks(bars.low, bars.high, most)
                    for text in (tick_text(value),)
                ]
            ]
        )
        self._counts.setTicks(
            [[(bars.height_of(n), fmt.count(round(n))) for n in bars.count_ticks()]]
        )

    def show_cursor(self, number: int | None) -> None:
        """Marks a bin with a line; None marks none."""
        self._cursor.setVisible(number is not None)
        if number is not None:
            self._cursor.setValue(number + 0.5)

    def bin_at(self, x: float) -> int | None:
        """Returns the bin at a distance from the widget's left edge, if any."""
        place = self._box.mapSceneToView(QPointF(x, TOP + 1.0)).x()
        return int(place) if 0 <= place < len(self._bars.counts) else None
