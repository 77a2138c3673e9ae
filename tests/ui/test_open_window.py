"""The window on the real store: the main job once, without a display."""

from __future__ import annotations

import gc
import sys
import tempfile
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector import resources
from inspector.app import open_window
from inspector.ui.actions import ActionId
from inspector.ui.drag_data import DraggedNodes

ENGINE_MS = 60_000


@pytest.mark.usefixtures("qapp")
def test_sample_is_transferred_and_taken_back(qtbot: QtBot, tmp_path: Path) -> None:
    before = set(sys.modules)
    window = open_window(["--state-dir", str(tmp_path), "--theme", "light"])
    try:
        assert window.isVisible()
        assert not window.client.is_running
        qtbot.waitUntil(
            lambda: dict(window.mirror.info.target.origins).get("initial") == 19,
            timeout=ENGINE_MS,
        )
        qtbot.waitUntil(lambda: window.is_settled, timeout=ENGINE_MS)
        source = window.mirror.info.sources[0]
        assert (source.name, source.format) == ("digits", "orbax")
        nodes = DraggedNodes(source.id, source.name, (("params", "encoder"),))
        window.target.drop(nodes, ("params", "backbone"))
        qtbot.waitUntil(
            lambda: dict(window.mirror.info.target.origins).get("exact") == 15,
            timeout=ENGINE_MS,
        )
        qtbot.waitUntil(window.actions_[ActionId.UNDO].isEnabled)
        window.actions_[ActionId.UNDO].trigger()
        qtbot.waitUntil(
            lambda: dict(window.mirror.info.target.origins).get("initial") == 19,
            timeout=ENGINE_MS,
        )
        # Other tests of this process may have imported these long before.
        imported = set(sys.modules) - before
        for heavy in ("jax", "flax", "orbax", "tensorstore", "h5py"):
            assert heavy not in imported
    finally:
        window.close()
    assert not window.client.is_running
    assert QApplication.instance() is not None
    window.deleteLater()


def test_the_private_folder_lasts_as_long_as_the_window(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sample = str(resources.path("sample/digits"))
    window = open_window([sample, "--screenshot", str(tmp_path / "x.png")])
    qtbot.waitUntil(lambda: len(window.mirror.info.sources) == 1, timeout=60_000)
    gc.collect()
    (folder,) = tmp_path.glob("flax-inspector-*")
    assert list(folder.glob("scratch-*"))
    window.close()
    assert not folder.exists()
