"""Icons: one stroke drawing each, coloured by the theme.

The drawings in ``resources/icons`` use ``currentColor``; here they become pixmaps
in the theme's text colour, sharp at 100 and 200 %. Called on the window's thread.
"""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from inspector import resources
from inspector.ui.theme import Theme

_SIZE = 16
_SCALES = (1, 2)


def icon(name: str, theme: Theme, token: str = "text") -> QIcon:
    """Returns an icon in the theme's colours.

    Args:
        name: Name of the drawing without suffix, e.g. ``"open"``.
        theme: Whose colours; ask again when it changes.
        token: Colour of the strokes; disabled ones take the disabled token.

    Raises:
        FindResourceError: There is no such drawing.
    """
    drawing = resources.path(f"icons/{name}.svg").read_text(encoding="utf-8")
    result = QIcon()
    for mode, color in (
        (QIcon.Mode.Normal, theme.color(token)),
        (QIcon.Mode.Disabled, theme.color("disabled")),
    ):
        colored = drawing.replace("currentColor", color.name())
        renderer = QSvgRenderer(QByteArray(colored.encode()))
        for scale in _SCALES:
            result.addPixmap(_render(renderer, scale), mode)
    return result


def _render(renderer: QSvgRenderer, scale: int) -> QPixmap:
    pixmap = QPixmap(_SIZE * scale, _SIZE * scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, _SIZE * scale, _SIZE * scale))
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    return pixmap
