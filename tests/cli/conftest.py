from __future__ import annotations

import os
from pathlib import Path

import pytest

from inspector.cli.run import run
from tests.cli.verbs import Result, Verb


@pytest.fixture
def verb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Verb:
    """Runs a verb in this process, from the folder of the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLAX_INSPECTOR_STATE", str(tmp_path / ".state"))

    def invoke(*words: str | os.PathLike[str]) -> Result:
        capfd.readouterr()
        status = run([os.fspath(word) for word in words])
        out, err = capfd.readouterr()
        return Result(status, out, err)

    return invoke
