from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import flax
import jax
import pytest

from inspector.engine.launch_python import ChoosePythonError, probe_python


def fake_python(folder: Path, script: str) -> str:
    """Makes a program that is started as if it were Python."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def answering(folder: Path, version: str, packages: str) -> str:
    answer = f'{{"version": [{version}], "prefix": "/p", "packages": {{{packages}}}}}'
    return fake_python(
        folder, f"echo noise of a sitecustomize\necho 'flax-inspector probe {answer}'"
    )


def test_our_own_interpreter_fits() -> None:
    info = probe_python(sys.executable)
    assert info.version == "{}.{}.{}".format(*sys.version_info[:3])
    assert info.prefix == sys.prefix
    assert dict(info.packages)["jax"] == jax.__version__
    assert dict(info.packages)["flax"] == flax.__version__


def test_an_environment_without_flax_is_refused_with_the_command(
    tmp_path: Path,
) -> None:
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True
    )
    python = str(tmp_path / "bare" / "bin" / "python")
    with pytest.raises(ChoosePythonError) as caught:
        probe_python(python)
    assert "jax is missing, flax is missing" in caught.value.message
    assert caught.value.where == python
    assert f'{python} -m pip install "jax>=0.10" "flax>=0.12.4"' in caught.value.hint


def test_an_old_python_is_refused(tmp_path: Path) -> None:
    python = answering(tmp_path, "3, 10, 2", "")
    with pytest.raises(ChoosePythonError, match=r"Python 3\.10\.2; .* 3\.11 or newer"):
        probe_python(python)


def test_an_old_flax_is_refused(tmp_path: Path) -> None:
    python = answering(tmp_path, "3, 12, 0", '"jax": "0.10.1", "flax": "0.10.9"')
    with pytest.raises(ChoosePythonError, match=r"flax 0\.10\.9") as caught:
        probe_python(python)
    assert caught.value.hint.endswith('pip install "flax>=0.12.4"')


def test_a_version_that_nobody_tried_is_said(tmp_path: Path) -> None:
    python = answering(tmp_path, "3, 14, 0", '"jax": "1.0.0rc1", "flax": "0.12.4"')
    info = probe_python(python)
    assert info.warnings == (
        "jax 1.0.0rc1 is newer than the versions this program was tested with"
        " (below 0.11).",
    )
    assert info.packages == (("jax", "1.0.0rc1"), ("flax", "0.12.4"))


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo oops >&2; exit 3", r"no working Python \(status 3\)\. It said: oops"),
        ("exit 0", r"no working Python \(status 0\)\.$"),
        ("exec sleep 600", r"did not answer within 0\.2 s"),
    ],
)
def test_what_is_no_python_is_said(tmp_path: Path, script: str, message: str) -> None:
    with pytest.raises(ChoosePythonError) as caught:
        probe_python(fake_python(tmp_path, script), timeout_s=0.2)
    assert caught.match(message.removesuffix("$"))


def test_nothing_a_folder_and_a_plain_file_are_no_python(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    for path, message in (
        (tmp_path / "missing", "No such file"),
        (tmp_path, "This is a folder"),
        (plain, "Permission denied"),
    ):
        with pytest.raises(ChoosePythonError, match=message):
            probe_python(str(path))


def test_the_folder_it_runs_in_offers_no_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')\n")
    monkeypatch.chdir(tmp_path)
    assert probe_python(sys.executable).prefix == sys.prefix
    assert [entry.name for entry in tmp_path.iterdir()] == ["json.py"]
