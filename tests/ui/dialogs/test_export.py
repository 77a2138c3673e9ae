from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import Export, SetSeed, TargetInfo
from inspector.engine.messages.reading import Exported
from inspector.errors import LossyExportError, ModuleNotImportedError
from inspector.ui.dialogs.export import ExportDialog, split_losses
from inspector.ui.operations import exports
from inspector.ui.store_client import StoreClient
from inspector.ui.viewers.number_field import NumberField
from tests.ui.content_store import ContentStore, light_theme, start_client
from tests.ui.fitting import faults

LOSS = "Flax msgpack cannot say everything: tuples become dicts: a, b; keys: c."


def _dialog(
    qtbot: QtBot, folder: Path
) -> tuple[ExportDialog, ContentStore, StoreClient]:
    store = ContentStore(
        target=TargetInfo(
            kind="module",
            name="nets.py:Classifier",
            leaves=148,
            nbytes=1 << 20,
            origins=(("exact", 140), ("initial", 8)),
            seeds=(("params", 0),),
        )
    )
    store.answers[Export] = lambda body: Exported(body.out, body.format, 148, 1 << 20)
    client = start_client(store, qtbot)
    dialog = ExportDialog(client, light_theme(), folder=str(folder))
    qtbot.addWidget(dialog)
    dialog.show_target()
    qtbot.waitUntil(lambda: bool(dialog.path.text()))
    return dialog, store, client


def test_enter_exports_what_is_shown(qtbot: QtBot, tmp_path: Path) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)
    assert dialog.path.text() == str(tmp_path / "classifier.msgpack")
    assert dialog.summary.text() == (
        "nets.py:Classifier: 148 leaves, 1 MiB."
        " 8 leaves get their initial value, made by the module."
    )
    with qtbot.waitSignal(dialog.exported) as exported:
        QTest.keyClick(dialog.path, Qt.Key.Key_Return)
    out = str(tmp_path / "classifier.msgpack")
    assert exported.args == [Exported(out, "msgpack", 148, 1 << 20)]
    assert store.of_type(Export) == [Export(out, "msgpack", cwd=str(tmp_path))]
    assert not dialog.isVisible()


def test_suffix_and_format_follow_each_other(qtbot: QtBot, tmp_path: Path) -> None:
    dialog, _, _ = _dialog(qtbot, tmp_path)
    dialog.path.selectAll()
    QTest.keyClicks(dialog.path, "out.npz")
    assert dialog.format.currentText() == "NumPy npz"
    QTest.keyClick(dialog.format, Qt.Key.Key_Home)
    dialog.format.activated.emit(dialog.format.currentIndex())
    assert (dialog.path.text(), dialog.format.currentText()) == ("out", "Orbax folder")


def test_the_window_goes_once_writing_has_begun(qtbot: QtBot, tmp_path: Path) -> None:
    dialog, store, client = _dialog(qtbot, tmp_path)
    store.held_types = (Export,)
    dialog.start()
    store.report(store.held(Export)[0], 1, 100)
    qtbot.waitUntil(lambda: not dialog.isVisible())
    assert [a.text for a in client.activities] == ["Export to classifier.msgpack"]
    with qtbot.waitSignal(dialog.cancelled):
        client.cancel(client.activities[0].ticket)


def test_a_loss_has_to_be_agreed_to(qtbot: QtBot, tmp_path: Path) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)

    def answer(body: Export) -> object:
        if not body.lossy:
            raise LossyExportError(message=LOSS)
        return Exported(body.out, body.format, 1, 1)

    store.answers[Export] = answer
    dialog.start()
    qtbot.waitUntil(dialog.lossy.isVisible)
    assert dialog.losses.toPlainText() == "tuples become dicts: a, b\nkeys: c"
    assert not dialog.start_button.isEnabled()
    with qtbot.waitSignal(dialog.exported):
        QTest.keyClick(dialog.lossy, Qt.Key.Key_Space)
        QTest.keyClick(dialog.path, Qt.Key.Key_Return)


def test_a_recorded_module_runs_only_after_a_click(
    qtbot: QtBot, tmp_path: Path
) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)

    def answer(body: Export) -> object:
        if not body.run:
            raise ModuleNotImportedError(file="nets/nets.py", leaves=8)
        return Exported(body.out, body.format, 1, 1)

    store.answers[Export] = answer
    dialog.start()
    qtbot.waitUntil(dialog.banner.isVisible)
    button = dialog.banner.findChild(QPushButton, "errorAction")
    assert button is not None
    assert button.text() == "Run nets.py and export"
    with qtbot.waitSignal(dialog.exported):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_the_dialog_grows_with_what_it_says(qtbot: QtBot, tmp_path: Path) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)
    before = dialog.height()

    def refuse(_body: object) -> object:
        raise ModuleNotImportedError(file="nets/" * 30 + "nets.py", leaves=8)

    store.answers[Export] = refuse
    dialog.start()
    qtbot.waitUntil(dialog.banner.isVisible)
    qtbot.waitUntil(lambda: dialog.height() > before)
    qtbot.waitUntil(lambda: faults(dialog) == [])


def test_what_is_there_is_named(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "old.npz").write_bytes(b"old")
    dialog, _, _ = _dialog(qtbot, tmp_path)
    assert not dialog.notice.isVisible()
    dialog.path.setText("old.npz")
    assert dialog.notice.text().startswith("old.npz exists and is replaced")


def test_a_seed_is_an_edit(qtbot: QtBot, tmp_path: Path) -> None:
    dialog, store, _ = _dialog(qtbot, tmp_path)
    field = dialog.findChild(NumberField, "seed.params")
    assert field is not None
    QTest.keyClick(field, Qt.Key.Key_Up)
    assert store.of_type(SetSeed) == [SetSeed("params", 1)]


@pytest.mark.parametrize(
    ("path", "format_name", "expected"),
    [
        ("a.msgpack", "safetensors", "a.safetensors"),
        ("a.npz", "orbax", "a"),
        ("a.b", "npz", "a.b.npz"),
        ("dir/", "msgpack", "dir.msgpack"),
        ("", "npz", ""),
    ],
)
def test_suffixes_are_exchanged(path: str, format_name: str, expected: str) -> None:
    assert exports.with_suffix(path, format_name) == expected


def test_a_message_without_a_list_is_shown_whole() -> None:
    assert split_losses("Something is lost.") == (
        "Something is lost.", "Something is lost.",
    )  # fmt: skip
