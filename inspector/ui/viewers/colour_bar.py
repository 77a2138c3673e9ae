"""The colours of a picture with their numbers, and what NaN and Inf look like."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from inspector.ui.theme import Theme
from inspector.ui.viewers.colour_maps import INF_COLOUR, NAN_COLOUR, Scale, colourise
from inspector.ui.viewers.ticks import statistic_text

_BAR_WIDTH = 12
_WIDTH = 84
_LINE = 16
_SAMPLES = 255


class ColourBar(QWidget):
    """A vertical bar: the scale's ends, and zero or the middle between them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Starts empty."""
        super().__init__(parent)
        self._theme = theme
        self._scale: Scale | None = None
        self._special: tuple[tuple[str, tuple[int, int, int]], ...] = ()
        self.setObjectName("colourBar")
        self.setAccessibleName("Colour scale")
        self.setFixedWidth(_WIDTH)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def show_scale(
        self, scale: Scale | None, *, has_nan: bool = False, has_inf: bool = False
    ) -> None:
        """Shows a scale, and the colours of NaN and Inf where they occur."""
        self._scale = scale
        special = []
        if has_nan:
            special.append(("NaN", NAN_COLOUR))
        if has_inf:
            special.append(("Inf", INF_COLOUR))
        self._special = tuple(special)
        if scale is not None:
            self.setAccessibleDescription(
                f"from {statistic_text(scale.low)} to {statistic_text(scale.high)}"
            )
        self.update()

    # Qt overrides

    def sizeHint(self) -> QSize:
        """Overridden: as high as the picture."""
        return QSize(_WIDTH, 160)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Overridden: the bar, three numbers, the legend."""
        del event
        if self._scale is None:
            return
        painter = QPainter(self)
        painter.setFont(self._theme.mono_font("small"))
        height = self.height() - _LINE - _LINE * len(self._special)
        bar = QRectF(0, _LINE / 2, _BAR_WIDTH, max(8, height))
        self._paint_bar(painter, bar, self._scale)
        painter.setPen(self._theme.color("secondary"))
        low, high = self._scale.low, self._scale.high
        for share, value in ((0.0, low), (0.5, (low + high) / 2), (1.0, high)):
            y = bar.bottom() - share * bar.height()
            painter.drawLine(QPointF(_BAR_WIDTH, y), QPointF(_BAR_WIDTH + 3, y))
            painter.drawText(
                QRectF(_BAR_WIDTH + 6, y - 8, _WIDTH - _BAR_WIDTH - 6, 16),
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
                statistic_text(value),
            )
        self._paint_special(painter, bar.bottom() + _LINE / 2)
        painter.end()

    @staticmethod
    def _paint_bar(painter: QPainter, bar: QRectF, scale: Scale) -> None:
        values = np.linspace(scale.high, scale.low, _SAMPLES, dtype=np.float32)
        pixels = colourise(values[:, None], scale)
        image = QImage(pixels.tobytes(), 1, _SAMPLES, 4, QImage.Format.Format_RGBX8888)
        painter.drawImage(bar, image)

    def _paint_special(self, painter: QPainter, top: float) -> None:
        for number, (name, colour) in enumerate(self._special):
            y = top + number * _LINE
            painter.fillRect(QRectF(0, y + 2, _BAR_WIDTH, 12), QColor(*colour))
            painter.drawText(
                QRectF(_BAR_WIDTH + 6, y, _WIDTH, 16),
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
                name,
            )
