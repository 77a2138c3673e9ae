from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from inspector.ui.operations import recipes
from inspector.ui.operations.sources import ask_which_to_open


def test_a_folder_can_be_chosen_as_well_as_files(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "step_3").mkdir()
    (tmp_path / "net.msgpack").touch()
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    chosen: list[list[str]] = []
    for typed in ("step_3", '"net.msgpack" "step_3" "~nobody-has-this/name"'):
        dialog = ask_which_to_open(
            parent, folder=str(tmp_path), on_chosen=chosen.append
        )
        line = dialog.findChild(QLineEdit)
        box = dialog.findChild(QDialogButtonBox)
        assert line is not None
        assert box is not None
        line.setText(typed)
        button = box.button(QDialogButtonBox.StandardButton.Open)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        assert not dialog.isVisible()
    assert [sorted(paths) for paths in chosen] == [
        [str(tmp_path / "step_3")],
        [str(tmp_path / "net.msgpack"), str(tmp_path / "step_3")],
    ]


def test_a_recipe_gets_its_suffix(qtbot: QtBot, tmp_path: Path) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    chosen: list[str] = []
    dialog = recipes.ask_where_to_save(
        parent, suggested=str(tmp_path / "mine"), on_chosen=chosen.append
    )
    dialog.fileSelected.emit(str(tmp_path / "mine"))
    dialog.reject()
    assert chosen == [str(tmp_path / "mine.recipe.json")]
