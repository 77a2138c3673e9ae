from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from inspector.cli.run import run
from inspector.cli.store import StoreSession
from inspector.engine.messages import document
from inspector.engine.messages.module import ModuleSpec
from tests.cli import nets
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


@pytest.fixture(scope="session")
def _shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreSession]:
    """One store for many tests, its reader, model and spare started beforehand.

    What a test starts and leaves behind is an error (`tests.conftest`).
    """
    folder = tmp_path_factory.mktemp("shared")
    np.savez(folder / "w.npz", w=np.ones(1))
    net = ModuleSpec(f"{nets.__file__}:Recurrent", inputs=("float32[1,2,3]",))
    with StoreSession(state_dir=str(folder)) as store:
        store.open_source(str(folder / "w.npz"))
        store.ask(document.LoadTarget(net))
        yield store


@pytest.fixture
def quick_verb(
    verb: Verb, monkeypatch: pytest.MonkeyPatch, _shared_store: StoreSession
) -> Verb:
    """As ``verb``, on one store for all tests; for verbs that write nothing."""
    shared = nullcontext(_shared_store)
    monkeypatch.setattr("inspector.cli.run.StoreSession", lambda **_: shared)
    return verb
