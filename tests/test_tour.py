from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from inspector import resources
from inspector.formats.checkpoint import never, region_of
from inspector.formats.registry import open_checkpoint
from inspector.ui.drag_data import DraggedNodes, from_mime, leave_text_on_clipboard
from inspector.variables.tree import get

ROOT = Path(__file__).parent.parent


def test_the_tour_does_the_main_job_from_any_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, str(ROOT / "main.py"), "--tour", str(out)],
        cwd=tmp_path,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "15 exact, 4 initial" in done.stdout
    assert "4. Exported 19 leaves" in done.stdout
    pictures = sorted(path.name for path in out.glob("*.png"))
    assert pictures == [
        "1-opened.png",
        "2-transferred.png",
        "3-exported.png",
        "4-run.png",
    ]
    assert "5. Ran __call__(float32[1,8,8,1]" in done.stdout
    made = open_checkpoint(str(out / "classifier"))
    source = open_checkpoint(str(resources.path("sample/digits")))
    for name in ("kernel",):
        new = ("params", "backbone", "conv2", name)
        old = ("params", "encoder", "conv2", name)
        leaf = get(made.tree, new)
        assert leaf is not None
        region = region_of((3, 3, 16, 32))
        np.testing.assert_array_equal(
            made.read(new, region, never), source.read(old, region, never)
        )
    made.close()
    source.close()


def test_copied_nodes_leave_their_text_behind(qtbot: QtBot) -> None:
    del qtbot
    clipboard = QGuiApplication.clipboard()
    nodes = DraggedNodes("s1", "digits", (("params", "encoder"),))
    clipboard.setMimeData(nodes.to_mime())
    assert from_mime(clipboard.mimeData()) == nodes
    leave_text_on_clipboard()
    assert from_mime(clipboard.mimeData()) is None
    assert clipboard.text() == "params/encoder"
