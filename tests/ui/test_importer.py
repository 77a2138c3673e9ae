from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from inspector.errors import ErrorInfo
from inspector.ui.importer import Importer


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_modules_are_imported_in_order_and_on_another_thread(
    qtbot: QtBot, folder: Path
) -> None:
    (folder / "heavy_one.py").write_text(
        "import threading\nthread = threading.current_thread().name\n"
    )
    (folder / "heavy_two.py").write_text("import heavy_one\nsaw = heavy_one.thread\n")
    owner = QObject()
    importer = Importer(("heavy_one", "heavy_two"), owner)
    with qtbot.waitSignal(importer.finished):
        importer.start()
    assert sys.modules["heavy_two"].saw == "import heavy_one"


def test_a_module_that_cannot_be_imported_is_told(qtbot: QtBot, folder: Path) -> None:
    (folder / "broken_one.py").write_text("raise OSError('libfancy.so is missing')\n")
    (folder / "after_broken.py").write_text("")
    importer = Importer(("broken_one", "after_broken"), owner := QObject())
    with qtbot.waitSignal(importer.failed) as caught:
        importer.start()
    assert caught.args is not None
    error = caught.args[0]
    assert isinstance(error, ErrorInfo)
    assert error.kind == "OSError"
    assert "broken_one could not be imported: libfancy.so is missing" in error.message
    assert "after_broken" not in sys.modules
    del owner


def test_an_importer_may_go_while_it_imports(qtbot: QtBot, folder: Path) -> None:
    (folder / "slow_one.py").write_text("done = True\n")
    owner = QObject()
    Importer(("slow_one",), owner).start()
    del owner
    qtbot.waitUntil(lambda: hasattr(sys.modules.get("slow_one"), "done"))
