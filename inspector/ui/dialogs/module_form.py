"""Constructor arguments as form fields, and back as the JSON that a module takes.

One small editor for each kind of `FormField`; the module dialog lays them out.
Window's thread; it asks nothing and imports no user code.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget

from inspector.engine.messages.module import FormField
from inspector.errors import LoadModuleError
from inspector.variables.dtypes import NAMES


class ReadArgumentError(LoadModuleError):
    """What was typed for a constructor argument means nothing for it."""

    def __init__(self, name: str, problem: str) -> None:
        """Names the argument and the problem."""
        super().__init__(f"‘{name}’ {problem}.")
        self.name = name


DTYPES: tuple[str, ...] = (
    "float32",
    "bfloat16",
    "float16",
    *(name for name in NAMES if name not in {"float32", "bfloat16", "float16"}),
)
"""Names a dtype field offers, the usual ones first."""

_DTYPE_IN_REPR = re.compile(r"[a-z]+\d+\w*|bool")


class FieldEditor(QObject):
    """One constructor argument and the widget it is edited in.

    Attributes:
        field: The argument.
        widget: What is put into the form.

    Signals:
        edited: The person changed it.
    """

    edited = Signal()

    def __init__(self, field: FormField, parent: QWidget) -> None:
        """Makes the widget that suits the field."""
        super().__init__(parent)
        self.field = field
        make = _MAKERS.get(field.widget, _make_text)
        self.widget, self._read, self._write = make(field, parent, self.edited.emit)
        self.widget.setObjectName(f"argument.{field.name}")
        self.widget.setAccessibleName(f"Argument {field.name}")
        self.widget.setToolTip(self._tool_tip())

    def _tool_tip(self) -> str:
        default = f", default {self.field.default}" if self.field.default else ""
        return f"{self.field.name}: {self.field.hint or 'any'}{default}"

    def value(self) -> Any:
        """Returns the JSON value, `UNGIVEN` when the default is to be used.

        Raises:
            ReadArgumentError: What was typed means nothing for this argument.
        """
        value = self._read()
        if value is UNGIVEN and self.field.required:
            raise ReadArgumentError(self.field.name, "has to be given")
        return value

    def set_value(self, value: Any) -> None:
        """Shows a JSON value, e.g. one that was remembered."""
        self._write(value)


class _Ungiven:
    """The type of `UNGIVEN`."""


UNGIVEN = _Ungiven()
"""In place of a value: the argument's own default."""

_Made = tuple[QWidget, Callable[[], Any], Callable[[Any], None]]
_Maker = Callable[[FormField, QWidget, Callable[[], None]], _Made]


def _make_bool(field: FormField, parent: QWidget, tell: Callable[[], None]) -> _Made:
    box = QCheckBox(parent)
    default = field.default == "True"
    box.setChecked(default)
    box.toggled.connect(lambda _on: tell())

    def read() -> Any:
        changed = box.isChecked() != default or field.required
        return box.isChecked() if changed else UNGIVEN

    return box, read, lambda value: box.setChecked(bool(value))


def _make_choice(field: FormField, parent: QWidget, tell: Callable[[], None]) -> _Made:
    box = QComboBox(parent)
    for choice in field.choices:
        value = json.loads(choice)
        box.addItem(value if isinstance(value, str) else choice, choice)
    default = _as_json(field.default)
    box.setCurrentIndex(max(0, box.findData(default)))
    box.currentIndexChanged.connect(lambda _index: tell())

    def read() -> Any:
        chosen = box.currentData()
        if chosen is None or (chosen == default and not field.required):
            return UNGIVEN
        return json.loads(chosen)

    def write(value: Any) -> None:
        box.setCurrentIndex(max(0, box.findData(json.dumps(value))))

    return box, read, write


def _make_dtype(field: FormField, parent: QWidget, tell: Callable[[], None]) -> _Made:
    box = QComboBox(parent)
    box.setEditable(True)
    box.addItems(DTYPES)
    found = _DTYPE_IN_REPR.findall(field.default)
    default = next((name for name in found if name in NAMES), "")
    box.setEditText(default)
    line = box.lineEdit()
    if line is not None:
        line.setPlaceholderText(field.default or "dtype")
    box.editTextChanged.connect(lambda _text: tell())

    def read() -> Any:
        text = box.currentText().strip()
        if not text or (text == default and not field.required):
            return UNGIVEN
        if text not in NAMES:
            raise ReadArgumentError(field.name, f"takes a dtype of JAX, not ‘{text}’")
        return text

    return box, read, lambda value: box.setEditText(str(value))


def _make_text(field: FormField, parent: QWidget, tell: Callable[[], None]) -> _Made:
    line = QLineEdit(parent)
    hint = field.default or field.hint or "value"
    line.setPlaceholderText(hint if not field.required else f"{hint} (required)")
    line.textEdited.connect(lambda _text: tell())

    def read() -> Any:
        text = line.text().strip()
        return parse_argument(text, field) if text else UNGIVEN

    def write(value: Any) -> None:
        line.setText(value if isinstance(value, str) else json.dumps(value))

    return line, read, write


_MAKERS: dict[str, _Maker] = {
    "bool": _make_bool,
    "choice": _make_choice,
    "dtype": _make_dtype,
}


def parse_argument(text: str, field: FormField) -> Any:
    """Reads what was typed for an argument as a JSON value.

    Args:
        text: Text that is not empty.
        field: The argument; its ``widget`` says what is meant.

    Raises:
        ReadArgumentError: It is something else than was expected.
    """
    if field.widget in {"text", "callable"}:
        return text.strip("'\"")
    if field.widget == "int":
        try:
            return int(text.replace("_", ""))
        except ValueError:
            raise ReadArgumentError(
                field.name, f"takes a whole number, not ‘{text}’"
            ) from None
    if field.widget == "float":
        try:
            return float(text)
        except ValueError:
            raise ReadArgumentError(
                field.name, f"takes a number, not ‘{text}’"
            ) from None
    return _literal(text, field)


def _literal(text: str, field: FormField) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        value = _python_literal(text, field)
    if field.widget == "tuple" and not isinstance(value, list):
        value = list(value) if isinstance(value, tuple) else [value]
    return value


def _python_literal(text: str, field: FormField) -> Any:
    """Reads Python notation; ``3, 4`` and ``(3, 4)`` are lists, a bare word text."""
    try:
        value = ast.literal_eval(text)
        json.dumps(value)
    except (ValueError, SyntaxError, TypeError):
        if re.fullmatch(r"[\w.]+", text):
            return text
        raise ReadArgumentError(
            field.name, f"takes JSON or a Python literal, not ‘{text}’"
        ) from None
    return value


def _as_json(default: str) -> str:
    """Turns the ``repr`` of a default into JSON; empty when it cannot be said."""
    try:
        return json.dumps(ast.literal_eval(default))
    except (ValueError, SyntaxError, TypeError):
        return ""
