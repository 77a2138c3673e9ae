from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from inspector.engine.messages.module import FormField
from inspector.ui.dialogs.module_form import (
    UNGIVEN,
    FieldEditor,
    ReadArgumentError,
    parse_argument,
)
from inspector.ui.dialogs.module_inputs import ReadInputError, check_input, pairs_of


def _field(widget: str, default: str = "", **facts: Any) -> FormField:
    return FormField("x", "", default, facts.pop("required", False), widget, **facts)


@pytest.mark.parametrize(
    ("text", "widget", "value"),
    [
        ("64", "int", 64),
        ("1e-3", "float", 0.001),
        ("(3, 4)", "tuple", [3, 4]),
        ("3, 4", "tuple", [3, 4]),
        ("7", "tuple", [7]),
        ('{"a": [1]}', "literal", {"a": [1]}),
        ("None", "literal", None),
        ("nn.relu", "callable", "nn.relu"),
        ("'same'", "text", "same"),
        ("gelu", "literal", "gelu"),
    ],
)
def test_arguments_are_read(text: str, widget: str, value: Any) -> None:
    assert parse_argument(text, _field(widget)) == value


@pytest.mark.parametrize(
    ("text", "widget", "message"),
    [
        ("many", "int", "‘x’ takes a whole number, not ‘many’."),
        ("1..2", "float", "‘x’ takes a number, not ‘1..2’."),
        ("[1, (", "literal", "‘x’ takes JSON or a Python literal, not ‘[1, (’."),
    ],
)
def test_what_means_nothing_is_refused(text: str, widget: str, message: str) -> None:
    with pytest.raises(ReadArgumentError) as caught:
        parse_argument(text, _field(widget))
    assert caught.value.message == message


def test_defaults_are_not_sent(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    check = FieldEditor(_field("bool", "True"), parent)
    choice = FieldEditor(_field("choice", "'a'", choices=('"a"', '"b"')), parent)
    dtype = FieldEditor(_field("dtype", "<class 'jax.numpy.bfloat16'>"), parent)
    number = FieldEditor(_field("int", "3"), parent)
    assert [e.value() for e in (check, choice, dtype, number)] == [UNGIVEN] * 4
    assert isinstance(check.widget, QCheckBox)
    check.widget.setChecked(False)
    assert isinstance(choice.widget, QComboBox)
    choice.widget.setCurrentIndex(1)
    assert isinstance(dtype.widget, QComboBox)
    dtype.widget.setEditText("float16")
    assert isinstance(number.widget, QLineEdit)
    number.widget.setText("5")
    values = [e.value() for e in (check, choice, dtype, number)]
    assert values == [False, "b", "float16", 5]


def test_a_required_argument_has_to_be_given(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    editor = FieldEditor(_field("int", required=True), parent)
    with pytest.raises(ReadArgumentError, match="‘x’ has to be given"):
        editor.value()
    editor.set_value(12)
    assert editor.value() == 12


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("float32[8, 28, 28, 1]", "float32[8,28,28,1]"),
        ("bfloat16[]", "bfloat16[]"),
        ("mask = bool[8]", "mask=bool[8]"),
        ("x=data/batch.npy", "x=data/batch.npy"),
        ("batch.npz:images", "batch.npz:images"),
    ],
)
def test_inputs_are_read(text: str, clean: str) -> None:
    assert check_input(text) == clean


@pytest.mark.parametrize("text", ["float33[2]", "8,28,28", "float32[a]", "x="])
def test_what_is_no_input_is_refused(text: str) -> None:
    with pytest.raises(ReadInputError, match="is no input"):
        check_input(text)


def test_inputs_are_shown_in_rows() -> None:
    assert pairs_of(("float32[2]", "m=bool[2]")) == [
        ("", "float32[2]"), ("m", "bool[2]"),
    ]  # fmt: skip
