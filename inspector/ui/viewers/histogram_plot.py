"""The histogram's picture, drawn by pyqtgraph.

Imports pyqtgraph, which takes up to half a second: only `histogram.Histogram` uses
this module, after a `pyqtgraph_loader.PyqtgraphLoader` has seen to that. The plot is
put together from pyqtgraph's parts in steps, since all of them in one go, or its
`PlotItem` with the menus that nobody needs here, hold the window for over 50 ms. It
draws what it is told; mouse and keyboard belong to the histogram.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QWidget

from inspector.ui import format as fmt
from inspector.ui.theme import Theme
from inspector.ui.viewers.histogram_bars import MOST_COUNT_TICKS, Bars
from inspector.ui.viewers.ticks import tick_texts, ticks

LEFT, RIGHT, TOP, BOTTOM = 40, 12, 16, 20
"""Room around the bars in pixels, the same whatever they show."""

_PIXELS_PER_TICK = 72


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
        # A grid of the axis itself would hide numbers near the ends of the axis.
        self._grid: list[Any] = [
            pg.InfiniteLine(angle=0) for _ in range(MOST_COUNT_TICKS)
        ]
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
        self._counts.setStyle(tickTextOffset=6)
        self._cursor.hide()
        for item in (*self._grid, self._rectangles, self._cursor):
            self._box.addItem(item)
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
        for line in self._grid:
            line.setPen(pg.mkPen(theme.color("hairline")))
            line.setZValue(-1)
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
        values = ticks(bars.low, bars.high, most)
        places = ((v - bars.low) / span * bins if span else bins / 2 for v in values)
        self._values.setTicks([list(zip(places, tick_texts(values), strict=True))])
        counts = bars.count_ticks()
        heights = [bars.height_of(count) for count in counts]
        texts = [fmt.count(round(count)) for count in counts]
        self._counts.setTicks([list(zip(heights, texts, strict=True))])
        for line, height in zip_longest(self._grid, heights):
            line.setVisible(height is not None)
            line.setValue(height or 0.0)

    def show_cursor(self, number: int | None) -> None:
        """Marks a bin with a line; None marks none."""
        self._cursor.setVisible(number is not None)
        if number is not None:
            self._cursor.setValue(number + 0.5)

    def bin_at(self, x: float) -> int | None:
        """Returns the bin at a distance from the widget's left edge, if any."""
        place = self._box.mapSceneToView(QPointF(x, TOP + 1.0)).x()
        return int(place) if 0 <= place < len(self._bars.counts) else None
