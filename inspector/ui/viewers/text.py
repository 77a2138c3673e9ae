"""Leaves that are no arrays: text, bytes, Python scalars, random keys, empty nodes."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from inspector.engine.messages.reading import Numbers
from inspector.engine.messages.viewing import Details, ReadNumbers
from inspector.errors import ErrorInfo
from inspector.ui import format as fmt
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE
from inspector.ui.viewers.viewer import Viewer
from inspector.variables.dtypes import words_of
from inspector.variables.leaf import EMPTY_KINDS, SCALAR_KINDS, Kind

MOST_KEYS = 1024
"""Random keys whose words are shown at once."""

_SHORT_TEXT = 60
_SHORT_LINES = 2
# Qt's own QWIDGETSIZE_MAX, which PySide does not export.
_WIDGET_MAX = (1 << 24) - 1

_EXPLANATIONS = {
    Kind.NONE: "None: a node of the pytree that holds nothing.",
    Kind.EMPTY_DICT: "An empty dict.",
    Kind.EMPTY_LIST: "An empty list.",
    Kind.EMPTY_TUPLE: "An empty tuple.",
    Kind.OPAQUE: "An object that only the code which wrote it can read.",
}


class TextViewer(Viewer):
    """The value of a leaf as text; the words of random keys on demand."""

    title = "Value"

    def __init__(
        self, client: StoreClient, theme: Theme, parent: QWidget | None = None
    ) -> None:
        """Makes the widgets, empty."""
        super().__init__(client, theme, parent)
        self._details: Details | None = None
        self.caption = QLabel(self)
        self.caption.setProperty("look", "secondary")
        self.caption.setWordWrap(True)
        self.caption.setObjectName("valueCaption")
        self.caption.setAccessibleDescription("What the value is")
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setFont(theme.mono_font())
        self.text.setObjectName("valueText")
        self.text.setAccessibleName("Value")
        self.button = QPushButton("Show the words", self)
        self.button.setObjectName("showWords")
        self.button.setAccessibleName("Show the words of the random keys")
        self.button.clicked.connect(self._on_show_words)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.caption)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.text, 1)
        column.addStretch(0)

    @staticmethod
    def fitness(details: Details) -> int:
        """Everything that is neither array nor branch."""
        kind = details.row.kind
        return 50 if kind in SCALAR_KINDS | EMPTY_KINDS | {Kind.KEY, Kind.OPAQUE} else 0

    def show_details(self, details: Details) -> None:
        """Overridden: shows the value, or what the leaf is."""
        self._details = details
        kind = Kind(details.row.kind)
        is_key = kind is Kind.KEY
        self.button.setVisible(is_key)
        self.button.setEnabled(details.ready)
        self.text.setVisible(kind in SCALAR_KINDS)
        self.text.setPlainText(details.literal)
        self._fit_text()
        self.caption.setText(self._caption(details, kind))

    def _fit_text(self) -> None:
        """Makes the field as high as a short text; a long one takes the tab."""
        text = self.text.toPlainText()
        is_short = "\n" not in text and len(text) <= _SHORT_TEXT
        lines = self.text.fontMetrics().lineSpacing() * _SHORT_LINES
        self.text.setMaximumHeight(lines + 5 * SPACE if is_short else _WIDGET_MAX)

    @staticmethod
    def _caption(details: Details, kind: Kind) -> str:
        if kind is Kind.KEY:
            keys = fmt.plural(math.prod(details.row.shape), "random key")
            words = fmt.plural(words_of(details.row.dtype), "word")
            return f"{keys} of {words} each."
        if kind in SCALAR_KINDS:
            what = "bytes, in hex" if kind is Kind.BYTES else str(kind)
            cut = ", shortened" if details.literal.endswith("…") else ""
            return f"A Python {what}{cut}."
        return _EXPLANATIONS[kind]

    def clear(self) -> None:
        """Overridden: forgets the leaf."""
        self.client.drop(self, "words")
        self._details = None
        self.text.clear()

    def _on_show_words(self) -> None:
        details = self._details
        if details is None:
            return
        region = _first_keys(details.row.shape)
        self.client.ask(
            ReadNumbers(details.tree, details.path, region),
            owner=self,
            on_reply=self._on_words,
            on_failure=self._on_failure,
            slot="words",
        )

    def _on_words(self, numbers: Numbers) -> None:
        words = np.frombuffer(numbers.data, "<u4").reshape(-1, numbers.shape[-1])
        lines = [
            f"{_index_text(number, numbers.shape[:-1])}"
            + " ".join(f"{int(word):08x}" for word in row)
            for number, row in enumerate(words)
        ]
        total = math.prod(self._details.row.shape) if self._details else len(lines)
        if total > len(lines):
            lines.append(f"… the first {len(lines):,} of {total:,} keys")
        self.text.setPlainText("\n".join(lines))
        self._fit_text()
        self.text.show()

    def _on_failure(self, error: ErrorInfo) -> None:
        self.text.setPlainText(error.text())
        self._fit_text()
        self.text.show()


def _first_keys(shape: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Returns a region of at most `MOST_KEYS` keys from the beginning."""
    room = MOST_KEYS
    spans: list[tuple[int, int]] = []
    for extent in reversed(shape):
        taken = min(extent, max(1, room))
        room //= max(1, taken)
        spans.append((0, taken))
    return tuple(reversed(spans))


def _index_text(number: int, shape: tuple[int, ...]) -> str:
    if not shape:
        return ""
    index = np.unravel_index(number, shape)
    return "[" + ", ".join(str(int(i)) for i in index) + "]  "
