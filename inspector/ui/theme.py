"""Every colour, font and distance of the window, light and dark.

`Tokens` are plain data that a test measures for contrast; `Theme` is the live
choice between them, which every widget that paints by itself asks. Widgets get a
`Theme` in their constructor and repaint on `Theme.changed`. The style sheet text
is in `stylesheet`; nothing else in the window may name a colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from inspector.ui.stylesheet import stylesheet
from inspector.ui.tokens import DARK, LIGHT, MARKS, Mark, Tokens

_SANS = ("Inter", "Noto Sans", "Segoe UI", "SF Pro Text", "DejaVu Sans")
_MONO = (
    "JetBrains Mono", "Noto Sans Mono", "Cascadia Mono", "SF Mono", "DejaVu Sans Mono",
)  # fmt: skip


class Mode(StrEnum):
    """Which theme the person chose."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class _Families:
    sans: str
    mono: str


class Theme(QObject):
    """The theme in force.

    Attributes:
        tokens: Its colours and measures.

    Signals:
        changed: The tokens are others; repaint.
    """

    changed = Signal()

    def __init__(self, mode: Mode = Mode.SYSTEM, parent: QObject | None = None) -> None:
        """Chooses tokens; needs a QGuiApplication. `apply` styles the program."""
        super().__init__(parent)
        self._mode = mode
        self._families = _Families(
            _installed(_SANS, QFontDatabase.SystemFont.GeneralFont),
            _installed(_MONO, QFontDatabase.SystemFont.FixedFont),
        )
        self.tokens = self._choose()
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._on_scheme_changed)

    @property
    def mode(self) -> Mode:
        """What the person chose; the system's scheme decides under `Mode.SYSTEM`."""
        return self._mode

    def set_mode(self, mode: Mode) -> None:
        """Changes the choice and restyles the program."""
        self._mode = mode
        self._refresh()

    def apply(self) -> None:
        """Gives style, palette, font and style sheet to the application."""
        app = QApplication.instance()
        if not isinstance(app, QApplication):
            return
        if app.style().objectName().lower() != "fusion":
            app.setStyle(QStyleFactory.create("Fusion"))
        app.setFont(self.font())
        app.setPalette(self.palette())
        app.setStyleSheet(
            stylesheet(self.tokens, self._families.sans, self._families.mono)
        )

    def color(self, name: str) -> QColor:
        """Returns the token of that name as a colour.

        Raises:
            AttributeError: There is no such token.
        """
        return QColor(getattr(self.tokens, name))

    def mark(self, name: str) -> Mark:
        """Returns the mark of an origin or a verdict; an empty name has a blank one."""
        return MARKS.get(name, MARKS[""])

    def mark_color(self, name: str) -> QColor:
        """Returns the colour of the mark of an origin or a verdict."""
        return self.color(self.mark(name).token)

    def font(self, size: str = "body", *, bold: bool = False) -> QFont:
        """Returns the text font in a size: ``"small"``, ``"body"``, ``"title"``."""
        font = QFont(self._families.sans)
        font.setPointSizeF(self._points(size))
        font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        return font

    def mono_font(self, size: str = "body") -> QFont:
        """Returns the font of shapes, dtypes, paths and numbers."""
        font = QFont(self._families.mono)
        font.setStyleHint(QFont.StyleHint.Monospace)
        # Monospaced faces look a size larger than the text beside them.
        font.setPointSizeF(max(8.0, self._points(size) - 0.5))
        return font

    def palette(self) -> QPalette:
        """Returns Qt's palette for these tokens, for what no style sheet reaches."""
        tokens = self.tokens
        role = QPalette.ColorRole
        palette = QPalette()
        for target, token in (
            (role.Window, tokens.window),
            (role.WindowText, tokens.text),
            (role.Base, tokens.panel),
            (role.AlternateBase, tokens.field),
            (role.Text, tokens.text),
            (role.Button, tokens.panel),
            (role.ButtonText, tokens.text),
            (role.ToolTipBase, tokens.panel),
            (role.ToolTipText, tokens.text),
            (role.PlaceholderText, tokens.secondary),
            (role.Highlight, tokens.selection),
            (role.HighlightedText, tokens.text),
            (role.Accent, tokens.accent),
            (role.Link, tokens.accent),
            (role.Mid, tokens.hairline),
        ):
            palette.setColor(target, QColor(token))
        for target in (role.WindowText, role.Text, role.ButtonText):
            palette.setColor(
                QPalette.ColorGroup.Disabled, target, QColor(tokens.disabled)
            )
        return palette

    def _points(self, size: str) -> float:
        return float(getattr(self.tokens, f"{size}_pt"))

    def _choose(self) -> Tokens:
        if self._mode is Mode.SYSTEM:
            scheme = QGuiApplication.styleHints().colorScheme()
            return DARK if scheme == Qt.ColorScheme.Dark else LIGHT
        return DARK if self._mode is Mode.DARK else LIGHT

    def _refresh(self) -> None:
        tokens = self._choose()
        if tokens is not self.tokens:
            self.tokens = tokens
            self.apply()
            self.changed.emit()

    def _on_scheme_changed(self) -> None:
        self._refresh()


def _installed(families: tuple[str, ...], fallback: QFontDatabase.SystemFont) -> str:
    for family in families:
        if QFontDatabase.hasFamily(family):
            return family
    return QFontDatabase.systemFont(fallback).family()
