"""The marks of origins and verdicts, painted as shapes.

A mark is a shape first: disc, half disc, pencil, arrow, ring, dotted ring, triangle,
dash. Painting them keeps them sharp and equal in size where a font's glyphs are not.
Called by the delegates while Qt paints.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF

from inspector.ui.theme import Theme

MARK_SIZE = 9
"""Side of a mark, in pixels."""

_STROKE = 1.4


def paint_mark(
    painter: QPainter, center: QPointF, name: str, theme: Theme, *, outline: bool
) -> None:
    """Paints the mark of an origin or verdict.

    Args:
        painter: Where to; its state is restored.
        center: Middle of the mark.
        name: Origin or verdict; an unknown one paints nothing.
        theme: Gives the colour.
        outline: Paint the edge only: what would be, not what is.
    """
    shape = _SHAPES.get(name)
    if shape is None:
        return
    color = theme.mark_color(name)
    half = MARK_SIZE / 2 - _STROKE / 2
    rect = QRectF(center.x() - half, center.y() - half, 2 * half, 2 * half)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, _STROKE))
    painter.setBrush(Qt.BrushStyle.NoBrush if outline else color)
    shape(painter, rect, color)
    painter.restore()


def mark_icon(name: str, theme: Theme) -> QIcon:
    """Returns a mark as an icon, sharp at 100 and 200 %."""
    result = QIcon()
    for scale in (1, 2):
        side = MARK_SIZE + 3
        pixmap = QPixmap(side * scale, side * scale)
        pixmap.setDevicePixelRatio(scale)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        paint_mark(painter, QPointF(side / 2, side / 2), name, theme, outline=False)
        painter.end()
        result.addPixmap(pixmap)
    return result


def _disc(painter: QPainter, rect: QRectF, _color: QColor) -> None:
    painter.drawEllipse(rect)


def _half_disc(painter: QPainter, rect: QRectF, _color: QColor) -> None:
    # Qt counts angles in sixteenths of a degree from three o'clock.
    filled = painter.brush()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(rect)
    painter.setBrush(filled)
    painter.drawChord(rect, 90 * 16, 180 * 16)


def _pencil(painter: QPainter, rect: QRectF, _color: QColor) -> None:
    tip = QPointF(rect.left(), rect.bottom())
    third = rect.width() / 3
    painter.drawPolygon(
        QPolygonF(
            [
                tip,
                QPointF(rect.left() + third * 0.4, rect.bottom() - third * 1.3),
                QPointF(rect.right() - third * 0.9, rect.top()),
                QPointF(rect.right(), rect.top() + third * 0.9),
                QPointF(rect.left() + third * 1.3, rect.bottom() - third * 0.4),
            ]
        )
    )


def _turn(painter: QPainter, rect: QRectF, _color: QColor) -> None:
    filled = painter.brush()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawArc(rect, 30 * 16, 285 * 16)
    painter.setBrush(filled)
    tip = QPointF(rect.right() + 0.6, rect.top() + rect.height() * 0.12)
    painter.drawPolygon(
        QPolygonF([tip, tip + QPointF(0, 3.2), tip + QPointF(-3.4, 2.6)])
    )


def _ring(painter: QPainter, rect: QRectF, _color: QColor) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(rect)


def _dotted_ring(painter: QPainter, rect: QRectF, color: QColor) -> None:
    pen = QPen(color, _STROKE)
    pen.setDashPattern([1.2, 1.4])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(rect)


def _triangle(painter: QPainter, rect: QRectF, _color: QColor) -> None:
    painter.drawPolygon(
        QPolygonF(
            [
                QPointF(rect.center().x(), rect.top()),
                QPointF(rect.right() + 0.4, rect.bottom()),
                QPointF(rect.left() - 0.4, rect.bottom()),
            ]
        )
    )


def _dash(painter: QPainter, rect: QRectF, _color: QColor) -> None:
    middle = rect.center().y()
    painter.drawLine(QPointF(rect.left(), middle), QPointF(rect.right(), middle))


_SHAPES: dict[str, Callable[[QPainter, QRectF, QColor], None]] = {
    "exact": _disc,
    "converted": _half_disc,
    "edited": _pencil,
    "run": _turn,
    "initial": _ring,
    "unset": _dotted_ring,
    "open": _triangle,
    "mismatch": _triangle,
    "missing": _dotted_ring,
    "unused": _dash,
}
