from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from inspector import app
from inspector.ui.theme import Mode


def test_without_arguments_the_sample_is_opened(tmp_path: Path) -> None:
    options = app.parse(["--state-dir", str(tmp_path)])
    assert [Path(path).name for path in options.wanted.sources] == ["digits"]
    assert options.wanted.module is not None
    assert options.wanted.module.spec.endswith("classifier.py:Classifier")
    assert options.wanted.offer_sessions
    assert options.state_dir == tmp_path
    assert options.screenshot is None


def test_what_is_named_is_opened(tmp_path: Path) -> None:
    options = app.parse(
        [
            "a.npz", "b@3", "--model", "net.py:Net", "--kwargs", '{"width": 3}',
            "--input", "float32[2,3]", "--call", "train=false", "--rng", "params=7",
            "--recipe", "r.json", "--python", "/usr/bin/python3", "--theme", "dark",
            "--size", "1024x700", "--panel", "log", "--state-dir", str(tmp_path),
        ]
    )  # fmt: skip
    assert options.wanted.sources == ("a.npz", "b@3")
    module = options.wanted.module
    assert module is not None
    assert (module.spec, module.kwargs) == ("net.py:Net", '{"width": 3}')
    assert module.inputs == ("float32[2,3]",)
    assert module.statics == (("train", "false"),)
    assert module.seeds == (("params", 7),)
    assert options.wanted.recipe == "r.json"
    assert options.python == "/usr/bin/python3"
    assert (options.mode, options.size, options.panel) == (
        Mode.DARK,
        (1024, 700),
        "log",
    )


def test_a_picture_offers_no_session(tmp_path: Path) -> None:
    out = tmp_path / "out.png"
    options = app.parse(["--screenshot", str(out), "--state-dir", str(tmp_path)])
    assert options.screenshot == out
    assert not options.wanted.offer_sessions


@pytest.mark.parametrize("name", ["graph", "programs", "nonsense"])
def test_panels_of_other_versions_are_a_usage_error(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["--panel", name]) == 2
    told = capsys.readouterr().err
    assert repr(name) in told
    assert "sources, target, details, plan, run, history, log" in told


def test_a_size_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["--size", "large"]) == 2
    assert "--size 1440x900" in capsys.readouterr().err


@pytest.mark.parametrize("module", ["inspector.app", "inspector.cli.run"])
def test_nothing_heavy_is_imported_before_it_is_needed(module: str) -> None:
    heavy = (
        "jax", "flax", "orbax", "tensorstore", "h5py", "pyqtgraph", "inspector.formats",
        "numpy", "ml_dtypes",
    )  # fmt: skip
    code = f"import {module}, sys; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("panel", ["details", "plan"])
def test_picture_of_the_sample(tmp_path: Path, panel: str) -> None:
    out = tmp_path / "window.png"
    state = tmp_path / "state"
    main = Path(app.__file__).parents[1] / "main.py"
    command = [
        sys.executable, str(main), "--screenshot", str(out), "--panel", panel,
        "--size", "1024x700", "--state-dir", str(state),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    picture = QImage(str(out))
    assert (picture.width(), picture.height()) == (1024, 700)
    assert not state.exists()
