"""The call of ``init`` in the module dialog: inputs, static arguments, seeds.

Three small tables of text fields that rows are added to and removed from.
"""

from __future__ import annotations

import re

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from inspector.errors import LoadModuleError
from inspector.ui.theme import Theme
from inspector.variables.dtypes import NAMES

_SHAPE = re.compile(
    r"(?P<dtype>key<\w+>|[A-Za-z]\w*)\s*\[(?P<shape>[\d\s,]*)\]\s*(?P<fill>:.+)?"
)
_FILE = re.compile(r".+\.(npy|npz|png|jpe?g|bmp|gif|webp)|.+\.npz:.+", re.IGNORECASE)
_NESTED = ("{", "[", "(")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")

EXAMPLE = "float32[8,28,28,1]"
"""What an input looks like."""


class ReadInputError(LoadModuleError):
    """What was typed as an input of the call means nothing."""

    def __init__(self, text: str) -> None:
        """Names what was typed and shows what an input looks like."""
        super().__init__(
            f"‘{text}’ is no input.",
            hint=f"Write a shape as JAX prints it ({EXAMPLE}), with what fills it"
            " behind a colon (float32[8]:normal(0)), a .npy file, FILE.npz:name, or"
            " several in {…}, […] or (…).",
        )


def check_input(text: str) -> str:
    """Returns the text of an input without blanks, or says why it is none.

    Args:
        text: A shape, a file, several of them in brackets, each after ``name=`` too.

    Raises:
        ReadInputError: It is none of these.
    """
    cleaned = text.strip()
    name, separator, rest = cleaned.partition("=")
    named = bool(separator) and _IDENTIFIER.fullmatch(name.strip()) is not None
    prefix, bare = (f"{name.strip()}=", rest.strip()) if named else ("", cleaned)
    # What is inside is read by the model, which says what is wrong with it.
    if _FILE.fullmatch(bare) or bare.startswith(_NESTED):
        return prefix + bare
    match = _SHAPE.fullmatch(bare)
    known = match is not None and (
        match["dtype"] in NAMES or match["dtype"].startswith("key")
    )
    if not known:
        raise ReadInputError(text.strip())
    assert match is not None  # a known one has matched
    fill = (match["fill"] or "").strip()
    shape = re.sub(r"\s+", "", match["shape"])
    return f"{prefix}{match['dtype']}[{shape}]{fill}"


class PairRows(QWidget):
    """Rows of two fields, a name and a value, each with a button to remove it.

    Signals:
        edited: A field or the number of rows changed.
    """

    edited = Signal()

    def __init__(
        self,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        name: str,
        captions: tuple[str, str],
        add_text: str,
    ) -> None:
        """Starts without rows.

        Args:
            theme: Fonts.
            parent: Owner.
            name: Begins the object names of the fields.
            captions: Placeholder of the two fields.
            add_text: Text of the button that adds a row.
        """
        super().__init__(parent)
        self._theme = theme
        self._name = name
        self._captions = captions
        self._rows: list[tuple[QWidget, QLineEdit, QLineEdit]] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self.add_button = QPushButton(add_text, self)
        self.add_button.setProperty("look", "flat")
        self.add_button.setObjectName(f"{name}.add")
        self.add_button.setAccessibleName(add_text)
        self.add_button.setAutoDefault(False)
        self.add_button.clicked.connect(self._on_add)
        self.add_button.setSizePolicy(
            QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed
        )
        self._column.addWidget(self.add_button)
        self.setObjectName(name)
        self.setAccessibleName(add_text.removeprefix("Add ").strip("…").capitalize())

    def pairs(self) -> list[tuple[str, str]]:
        """Returns (name, value) of every row whose value is not empty."""
        return [(name, text) for name, text, _ in self.entries()]

    def entries(self) -> list[tuple[str, str, QLineEdit]]:
        """Returns `pairs`, each with the field of its value."""
        return [
            (name.text().strip(), value.text().strip(), value)
            for _, name, value in self._rows
            if value.text().strip()
        ]

    def set_pairs(self, pairs: list[tuple[str, str]]) -> None:
        """Shows other rows."""
        for entry in self._rows:
            self._dispose(entry)
        self._rows.clear()
        for name, value in pairs:
            self.add_row(name, value)

    def add_row(self, name: str = "", value: str = "") -> QLineEdit:
        """Adds a row and returns its value field."""
        row = QWidget(self)
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(4)
        number = len(self._rows)
        first = self._make_field(row, f"name{number}", self._captions[0], name)
        second = self._make_field(row, f"value{number}", self._captions[1], value)
        remove = QPushButton("Remove", row)
        remove.setProperty("look", "flat")
        remove.setObjectName(f"{self._name}.remove{number}")
        remove.setAccessibleName(f"Remove {name or 'the row'}")
        remove.setAutoDefault(False)
        entry = (row, first, second)
        remove.clicked.connect(lambda _checked=False: self._remove(entry))
        line.addWidget(first, 2)
        line.addWidget(second, 5)
        line.addWidget(remove)
        self._rows.append(entry)
        self._column.insertWidget(self._column.count() - 1, row)
        return second

    def _make_field(
        self, row: QWidget, suffix: str, placeholder: str, text: str
    ) -> QLineEdit:
        field = QLineEdit(text, row)
        field.setFont(self._theme.mono_font())
        field.setPlaceholderText(placeholder)
        field.setObjectName(f"{self._name}.{suffix}")
        field.setAccessibleName(placeholder)
        field.textEdited.connect(lambda _text: self.edited.emit())
        return field

    @staticmethod
    def _dispose(entry: tuple[QWidget, QLineEdit, QLineEdit]) -> None:
        """Deletes a row, later: its own button may be what asked for it.

        Until then nobody may find its fields in place of those of the new rows.
        """
        row, *fields = entry
        row.hide()
        for field in fields:
            field.setObjectName("")
        row.deleteLater()

    def _remove(self, entry: tuple[QWidget, QLineEdit, QLineEdit]) -> None:
        self._rows.remove(entry)
        self._dispose(entry)
        self.edited.emit()

    def _on_add(self) -> None:
        self.add_row().setFocus()
        self.edited.emit()


def input_of(name: str, text: str) -> str:
    """Returns the input that a row of (keyword or "", text) stands for.

    Raises:
        ReadInputError: It is no input.
    """
    return check_input(f"{name}={text}" if name else text)


def pairs_of(inputs: tuple[str, ...]) -> list[tuple[str, str]]:
    """Returns the rows that show inputs; the other way round of `input_of`."""
    rows = []
    for text in inputs:
        name, separator, rest = text.partition("=")
        named = bool(separator) and _IDENTIFIER.fullmatch(name) is not None
        rows.append((name, rest) if named else ("", text))
    return rows
