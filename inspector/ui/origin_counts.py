"""Counts of the target's leaves by origin, each behind its mark.

Shown in the target's header; a screen reader gets the words.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from inspector.ui import format as fmt
from inspector.ui.marks import MARK_SIZE, paint_mark
from inspector.ui.theme import Theme
from inspector.ui.tokens import MARKS, ORIGINS, SPACE


class OriginCounts(QWidget):
    """Marks with counts in one line."""

    def __init__(self, theme: Theme, parent: QWidget, name: str) -> None:
        """Shows nothing until it is given counts."""
        super().__init__(parent)
        self.setObjectName(name)
        self._theme = theme
        self._counts: list[tuple[str, int]] = []
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        theme.changed.connect(self.update)
        self.set_counts(())

    def set_counts(
        self, counts: tuple[tuple[str, int], ...], order: tuple[str, ...] = ORIGINS
    ) -> None:
        """Shows the counts that are not zero, in a fixed order."""
        known = dict(counts)
        self._counts = [(name, known[name]) for name in order if known.get(name)]
        words = [f"{number:,} {MARKS[name].word}" for name, number in self._counts]
        self.setAccessibleName("Leaves by origin: " + (", ".join(words) or "none"))
        lines = [
            f"{MARKS[name].glyph} {number:,} {MARKS[name].meaning}"
            for name, number in self._counts
        ]
        self.setToolTip("\n".join(lines))
        self.updateGeometry()
        self.update()

    def _metrics(self) -> QFontMetrics:
        return QFontMetrics(self._theme.font())

    def _parts(self) -> list[tuple[str, str, int]]:
        metrics = self._metrics()
        parts = []
        for name, number in self._counts:
            text = fmt.count(number) if number >= 10_000 else f"{number:,}"  # noqa: PLR2004 - five digits no longer fit the header
            parts.append((name, text, metrics.horizontalAdvance(text)))
        return parts

    # Overrides of Qt.

    def sizeHint(self) -> QSize:
        """Asks for the room that all counts take."""
        each = MARK_SIZE + SPACE + 3 * SPACE
        width = sum(text_width + each for _name, _text, text_width in self._parts())
        return QSize(max(width - 2 * SPACE, 0), self._metrics().height() + SPACE)

    def minimumSizeHint(self) -> QSize:
        """May be cut when the panel is narrow."""
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints mark and number, one after the other."""
        del event
        painter = QPainter(self)
        painter.setFont(self._theme.font())
        middle = self.height() / 2
        left = 0
        for name, text, width in self._parts():
            center = QPointF(left + MARK_SIZE / 2, middle)
            paint_mark(painter, center, name, self._theme, outline=False)
            left += MARK_SIZE + SPACE
            painter.setPen(self._theme.color("text"))
            painter.drawText(
                QRect(left, 0, width + 1, self.height()),
                int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft),
                text,
            )
            left += width + 3 * SPACE
        painter.end()
