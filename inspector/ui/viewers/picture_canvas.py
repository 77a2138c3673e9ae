"""A picture of a 2-D slice that can be zoomed, moved and read cell by cell.

Paints what the picture viewer hands it; knows rows and columns of the picture, not
of the array. Everything the mouse does the keyboard does too: arrows move the
cursor, plus and minus zoom, 0 fits.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from inspector.ui.theme import Theme

_MOST_STRETCH = 8.0
"""Cells stay square up to this ratio of the sides; beyond, they fill the room."""

_LARGEST_CELL = 32.0
_WHEEL_STEP, _KEY_STEP = 1.2, 1.5
_MOST_ZOOM = 64.0

_ARROWS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}


class PictureCanvas(QWidget):
    """Shows an image, one pixel of it as one cell.

    Signals:
        pointed: (row, column) of the picture under the cursor; (-1, -1) for none.
    """

    pointed = Signal(int, int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Starts empty."""
        super().__init__(parent)
        self._theme = theme
        self._image = QImage()
        self._zoom = 1.0
        self._offset = QPointF()
        self._cursor: tuple[int, int] | None = None
        self._dragged_from: QPoint | None = None
        self.setObjectName("picture")
        self.setAccessibleName("Picture of the array")
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    @property
    def zoom(self) -> float:
        """Magnification; 1 fits the picture into the widget."""
        return self._zoom

    def show_image(self, image: QImage) -> None:
        """Shows an image; one of the same size keeps zoom, place and cursor."""
        if image.size() != self._image.size():
            self._zoom = 1.0
            self._offset = QPointF()
            self._set_cursor(None)
        self._image = image
        self.update()

    def clear(self) -> None:
        """Shows nothing."""
        self.show_image(QImage())

    def area(self) -> QRectF:
        """Returns where the whole image lies, in pixels of the widget."""
        if self._image.isNull():
            return QRectF()
        width, height = self._cell_size()
        size = (width * self._image.width(), height * self._image.height())
        centre = QPointF(self.width() / 2, self.height() / 2) + self._offset
        # A picture that fits hangs from the top, where the histogram ends.
        top = 0.0 if size[1] <= self.height() else centre.y() - size[1] / 2
        return QRectF(centre.x() - size[0] / 2, top, *size)

    def _cell_size(self) -> tuple[float, float]:
        across = self.width() / self._image.width()
        down = self.height() / self._image.height()
        if max(across, down) / max(1e-9, min(across, down)) <= _MOST_STRETCH:
            across = down = min(across, down)
        fitted = (min(across, _LARGEST_CELL), min(down, _LARGEST_CELL))
        return fitted[0] * self._zoom, fitted[1] * self._zoom

    def cell_at(self, point: QPointF) -> tuple[int, int] | None:
        """Returns (row, column) of the image at a point of the widget."""
        area = self.area()
        if area.isEmpty() or not area.contains(point):
            return None
        width, height = self._cell_size()
        row = int((point.y() - area.top()) / height)
        column = int((point.x() - area.left()) / width)
        return (
            min(row, self._image.height() - 1),
            min(column, self._image.width() - 1),
        )

    def zoom_by(self, factor: float, around: QPointF) -> None:
        """Zooms so that the point ``around`` stays where it is."""
        before = self._zoom
        self._zoom = min(_MOST_ZOOM, max(1.0, self._zoom * factor))
        grown = self._zoom / before
        centre = QPointF(self.width() / 2, self.height() / 2)
        self._offset = around - centre - (around - centre - self._offset) * grown
        if self._zoom == 1.0:
            self._offset = QPointF()
        self.update()

    def fit(self) -> None:
        """Shows the whole picture."""
        self._zoom = 1.0
        self._offset = QPointF()
        self.update()

    def _set_cursor(self, cell: tuple[int, int] | None) -> None:
        if cell != self._cursor:
            self._cursor = cell
            self.pointed.emit(*(cell or (-1, -1)))
            self.update()

    def _move_cursor(self, step: tuple[int, int]) -> None:
        row, column = self._cursor or (0, 0)
        if self._cursor is not None:
            row, column = row + step[0], column + step[1]
        self._set_cursor(
            (
                min(max(row, 0), self._image.height() - 1),
                min(max(column, 0), self._image.width() - 1),
            )
        )

    # Qt overrides

    def sizeHint(self) -> QSize:
        """Overridden: a square that fits the panel."""
        return QSize(280, 280)

    def minimumSizeHint(self) -> QSize:
        """Overridden: enough to see something."""
        return QSize(96, 96)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Overridden: cells without smoothing, the cursor around one of them."""
        del event
        if self._image.isNull():
            return
        painter = QPainter(self)
        area = self.area()
        cell = self._cell_size()
        # Thinned pictures are averaged on the screen too; enlarged ones show cells.
        smooth = min(cell) < 1
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        painter.drawImage(area, self._image)
        if self._cursor is not None:
            row, column = self._cursor
            outline = QRectF(
                area.left() + column * cell[0], area.top() + row * cell[1], *cell
            )
            painter.setPen(QPen(self._theme.color("text"), 1))
            painter.drawRect(outline.adjusted(-1, -1, 0, 0))
        painter.end()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Overridden: zooms around the mouse."""
        steps = event.angleDelta().y() / 120
        if not self._image.isNull() and steps:
            self.zoom_by(_WHEEL_STEP**steps, event.position())
            event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Overridden: begins to move the picture."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._dragged_from = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Overridden: moves the picture, or the cursor."""
        point = event.position().toPoint()
        if self._dragged_from is not None and self._zoom > 1:
            self._offset += QPointF(point - self._dragged_from)
            self._dragged_from = point
            self.update()
        self._set_cursor(self.cell_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Overridden: ends moving."""
        del event
        self._dragged_from = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Overridden: fits the picture again."""
        del event
        self.fit()

    def leaveEvent(self, event: QEvent) -> None:
        """Overridden: the cursor goes with the mouse."""
        del event
        self._set_cursor(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Overridden: arrows, plus, minus, 0."""
        key = Qt.Key(event.key())
        centre = QPointF(self.width() / 2, self.height() / 2)
        if self._image.isNull():
            super().keyPressEvent(event)
        elif key in _ARROWS:
            self._move_cursor(_ARROWS[key])
        elif key in {Qt.Key.Key_Plus, Qt.Key.Key_Equal}:
            self.zoom_by(_KEY_STEP, centre)
        elif key == Qt.Key.Key_Minus:
            self.zoom_by(1 / _KEY_STEP, centre)
        elif key == Qt.Key.Key_0:
            self.fit()
        else:
            super().keyPressEvent(event)
