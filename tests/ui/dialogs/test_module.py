from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector.engine.messages.calling import Proposals, ProposeInputs
from inspector.engine.messages.document import Changes, LoadTarget
from inspector.engine.messages.module import (
    FormField,
    ListModules,
    ModuleOffer,
    ModuleOffers,
    ModuleSpec,
)
from inspector.errors import LoadModuleError
from inspector.ui.dialogs.module import ModuleDialog
from inspector.ui.dialogs.module_inputs import ReadInputError, check_input
from tests.ui.content_store import ContentStore, light_theme, start_client

OFFERS = (
    ModuleOffer("Encoder", "class", (), "(x)"),
    ModuleOffer(
        "Classifier",
        "class",
        (
            FormField("features", "int", "64", False, "int"),
            FormField("classes", "int", "", True, "int"),
        ),
        "(x, train: bool)",
        "A net.",
    ),
)


def _dialog(qtbot: QtBot, folder: Path) -> tuple[ModuleDialog, ContentStore, QSettings]:
    store = ContentStore()
    store.answers[ListModules] = lambda body: ModuleOffers(body.spec, OFFERS)
    settings = QSettings(str(folder / "s.ini"), QSettings.Format.IniFormat)
    dialog = ModuleDialog(
        start_client(store, qtbot), light_theme(), settings, cwd=str(folder)
    )
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog, store, settings


def _field(dialog: ModuleDialog, name: str) -> QLineEdit:
    field = dialog.findChild(QLineEdit, name)
    assert field is not None, name
    return field


def _type(field: QLineEdit, text: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)


def test_a_module_is_loaded_by_keyboard_alone(qtbot: QtBot, tmp_path: Path) -> None:
    dialog, store, settings = _dialog(qtbot, tmp_path)
    line = dialog.spec.lineEdit()
    assert line is not None
    line.setFocus()
    QTest.keyClicks(line, "nets.py:Classifier")
    assert dialog.warning.text() == (
        "Importing runs the code of nets.py on the Python above."
    )
    assert store.of_type(ListModules) == []
    QTest.keyClick(line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog.choice.currentText() == "Classifier")
    assert store.of_type(ListModules) == [
        ListModules("nets.py:Classifier", str(tmp_path), "")
    ]
    _type(_field(dialog, "argument.classes"), "10")
    _type(_field(dialog, "moduleInputs.value0"), "float32[8, 28, 28, 1]")
    QTest.keyClick(_field(dialog, "moduleInputs.value0"), Qt.Key.Key_Return)
    expected = ModuleSpec(
        "nets.py:Classifier",
        '{"classes": 10}',
        ("float32[8,28,28,1]",),
        seeds=(("params", 0),),
        cwd=str(tmp_path),
    )
    qtbot.waitUntil(lambda: not dialog.isVisible())
    assert store.of_type(LoadTarget) == [LoadTarget(expected, "", keep=False)]
    again = ModuleDialog(
        start_client(store, qtbot), light_theme(), settings, cwd=str(tmp_path)
    )
    qtbot.addWidget(again)
    again.show_spec("nets.py:Classifier")
    again.import_module()
    qtbot.waitUntil(lambda: again.current_offer() is not None)
    assert _field(again, "argument.classes").text() == "10"
    assert _field(again, "moduleInputs.value0").text() == "float32[8,28,28,1]"


def test_an_error_of_the_persons_code_shows_line_hint_and_traceback(
    qtbot: QtBot, tmp_path: Path
) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)

    def fail(_body: object) -> object:
        raise LoadModuleError(
            message="NameError: name 'nn' is not defined",
            where="nets.py:3",
            hint="Import it.",
        )

    store.answers[ListModules] = fail
    dialog.show_spec("nets.py")
    dialog.import_module()
    qtbot.waitUntil(dialog.banner.isVisible)
    assert dialog.banner.message.text() == "NameError: name 'nn' is not defined"
    assert dialog.banner.where.text() == "nets.py:3"
    assert dialog.banner.hint.text() == "Import it."
    more = dialog.banner.findChild(QPlainTextEdit, "errorTraceback")
    assert more is not None
    assert not more.isVisible()
    assert "Traceback" in more.toPlainText()
    assert not dialog.start_button.isEnabled()


def test_what_is_missing_in_the_form_is_named(qtbot: QtBot, tmp_path: Path) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)
    dialog.show_spec("nets.py:Classifier")
    dialog.import_module()
    qtbot.waitUntil(lambda: dialog.current_offer() is not None)
    dialog.load()
    assert dialog.banner.message.text() == "‘classes’ has to be given."
    assert store.of_type(LoadTarget) == []


def test_a_virtual_environment_near_the_file_is_proposed(
    qtbot: QtBot, tmp_path: Path
) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    dialog, store, _ = _dialog(qtbot, tmp_path)
    dialog.show_spec(str(tmp_path / "nets" / "nets.py"))
    assert dialog.python.findData(str(python)) == 1
    assert dialog.chosen_python() == ""
    dialog.python.setCurrentIndex(1)
    dialog.import_module()
    assert store.of_type(ListModules)[0].python == str(python)


def test_escape_ends_an_import_before_the_dialog(qtbot: QtBot, tmp_path: Path) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)
    store.held_types = (ListModules,)
    dialog.show_spec("nets.py")
    dialog.import_module()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert len(store.cancelled) == 1
    assert dialog.isVisible()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_changes_are_handed_on(qtbot: QtBot, tmp_path: Path) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)
    answer = Changes(base=True, text="Loaded Encoder")
    store.answers[LoadTarget] = lambda _body: answer
    dialog.show_spec("nets.py:Encoder")
    dialog.import_module()
    qtbot.waitUntil(lambda: dialog.current_offer() == OFFERS[0])
    with qtbot.waitSignal(dialog.loaded) as loaded:
        dialog.load()
    assert loaded.args == [answer]


def test_the_focus_goes_to_the_field_that_cannot_be_read(
    qtbot: QtBot, tmp_path: Path
) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)
    dialog.show_spec("nets.py:Classifier")
    dialog.import_module()
    # The form is laid out in the turn after it was made; only then it takes a focus.
    qtbot.waitUntil(lambda: _field(dialog, "argument.classes").isVisible())
    dialog.load()
    qtbot.waitUntil(lambda: dialog.focusWidget() is _field(dialog, "argument.classes"))
    _type(_field(dialog, "argument.classes"), "10")
    _type(_field(dialog, "moduleInputs.value0"), "8 by 8")
    dialog.start_button.setFocus()
    QTest.keyClick(dialog.start_button, Qt.Key.Key_Space)
    assert dialog.banner.message.text() == "‘8 by 8’ is no input."
    assert dialog.focusWidget() is _field(dialog, "moduleInputs.value0")
    assert store.of_type(LoadTarget) == []


def test_after_a_failed_load_the_focus_is_where_it_was(
    qtbot: QtBot, tmp_path: Path
) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)
    dialog.show_spec("nets.py:Encoder")
    dialog.import_module()
    qtbot.waitUntil(lambda: dialog.current_offer() is not None)

    def fail(_body: object) -> object:
        raise LoadModuleError(message="x needs an input.", where="nets.py:3")

    store.answers[LoadTarget] = fail
    store.held_types = (LoadTarget,)
    dialog.start_button.setFocus()
    QTest.keyClick(dialog.start_button, Qt.Key.Key_Space)
    assert dialog.focusWidget() is not dialog.start_button
    store.release()
    qtbot.waitUntil(dialog.banner.isVisible)
    assert dialog.focusWidget() is dialog.start_button


def test_a_name_that_is_not_listed_is_loaded_as_it_stands(
    qtbot: QtBot, tmp_path: Path
) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)
    store.answers[LoadTarget] = lambda _body: Changes(base=True)
    dialog.show_spec("net.py:make_params")
    dialog.import_module()
    qtbot.waitUntil(lambda: dialog.choice.currentText() == "make_params")
    dialog.load()
    qtbot.waitUntil(lambda: bool(store.of_type(LoadTarget)))
    assert store.of_type(LoadTarget)[0].module.spec == "net.py:make_params"


def test_a_file_that_lists_nothing_can_be_loaded_by_name(
    qtbot: QtBot, tmp_path: Path
) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)
    store.answers[ListModules] = lambda body: ModuleOffers(body.spec, ())
    store.answers[LoadTarget] = lambda _body: Changes(base=True)
    dialog.show_spec("params.py")
    dialog.import_module()
    qtbot.waitUntil(dialog.choice.isEnabled)
    line = dialog.choice.lineEdit()
    assert line is not None
    _type(line, "init_params")
    dialog.load()
    qtbot.waitUntil(lambda: bool(store.of_type(LoadTarget)))
    assert store.of_type(LoadTarget)[0].module.spec == "params.py:init_params"


def test_an_nnx_module_begins_with_its_default_stream(
    qtbot: QtBot, tmp_path: Path
) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)
    offers = (ModuleOffer("Net", "class", (), "(x)", "", "nnx"),)
    store.answers[ListModules] = lambda body: ModuleOffers(body.spec, offers)
    store.answers[LoadTarget] = lambda _body: Changes(base=True)
    dialog.show_spec("net.py:Net")
    dialog.import_module()
    qtbot.waitUntil(lambda: dialog.choice.currentText() == "Net")
    assert dialog.page.note.text().startswith("An NNX module is made without inputs")
    dialog.load()
    qtbot.waitUntil(lambda: bool(store.of_type(LoadTarget)))
    assert store.of_type(LoadTarget)[0].module.seeds == (("default", 0),)


def test_inputs_that_fit_a_source_are_proposed(qtbot: QtBot, tmp_path: Path) -> None:
    store = ContentStore()
    store.answers[ListModules] = lambda body: ModuleOffers(body.spec, OFFERS[:1])
    store.answers[ProposeInputs] = lambda _body: Proposals(
        (("float32[1,784]",), ("float32[1,28,28,1]",)), 9
    )
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    dialog = ModuleDialog(
        start_client(store, qtbot),
        light_theme(),
        settings,
        cwd=str(tmp_path),
        sources=(("s1", "digits"),),
    )
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.show_spec("net.py:Encoder")
    dialog.import_module()
    qtbot.waitUntil(lambda: dialog.current_offer() is not None)
    button = dialog.findChild(QPushButton, "moduleProposeInputs")
    assert button is not None
    assert button.text() == "Propose inputs that fit digits"
    button.click()
    qtbot.waitUntil(lambda: dialog.page.inputs.pairs() == [("", "float32[1,784]")])
    (asked,) = store.of_type(ProposeInputs)
    assert (asked.module.spec, asked.source) == ("net.py:Encoder", "s1")


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (" float32[ 8, 28 ]:normal(0)", "float32[8,28]:normal(0)"),
        ("x = int32[3]:integers(0, 9)", "x=int32[3]:integers(0, 9)"),
        ("{'a': float32[3], 'b': (int32[2],)}", "{'a': float32[3], 'b': (int32[2],)}"),
        ("photo.png", "photo.png"),
        ("key<fry>[]", "key<fry>[]"),
    ],
)
def test_inputs_with_what_fills_them(typed: str, read: str) -> None:
    assert check_input(typed) == read


def test_what_is_no_input_is_refused() -> None:
    with pytest.raises(ReadInputError, match="flaot32"):
        check_input("flaot32[3]")
