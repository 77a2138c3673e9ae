"""Updates of a run that were taken outlive the run, the file and the process."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from inspector.engine.messages import document, running
from inspector.engine.messages.calling import Call
from inspector.errors import EngineError
from inspector.formats.registry import open_checkpoint
from tests.engine.test_store import CLASSIFIER, Store

MEAN = ("batch_stats", "backbone", "norm1", "mean")
INPUT = "float32[4,8,8,1]:normal(0)"


def test_taken_updates_are_kept_saved_and_restored(tmp_path: Path) -> None:
    state, recipe = tmp_path / "state", tmp_path / "net.json"
    store = Store(state)
    store.load(f"{CLASSIFIER}:Classifier")
    report = store.ask(running.Run(Call(inputs=(INPUT,), mode="train")))
    assert isinstance(report, running.RunReport)
    before = store.numbers(MEAN)
    changes = store.change(running.TakeUpdates(report.run))
    assert changes.text == "Take 6 updates of run 1"
    assert MEAN in changes.paths
    assert store.origins() == {"run": 6, "initial": 13}
    taken = store.numbers(MEAN)
    assert not np.array_equal(taken, before)
    assert np.array_equal(taken, store.numbers(MEAN, running.updates_of(report.run)))

    store.change(document.Undo())
    assert store.origins() == {"initial": 19}
    assert np.array_equal(store.numbers(MEAN), before)
    store.change(document.Redo())
    store.ask(document.SaveRecipe(str(recipe)))
    assert (tmp_path / "net.values.safetensors").is_file()
    store.export(tmp_path / "out.safetensors")
    written = open_checkpoint(str(tmp_path / "out.safetensors"))
    found = written.read(MEAN, ((0, taken.size),), lambda: False)
    assert found.tobytes() == taken.tobytes()
    written.close()
    # An edit that nobody saved, so that the session is offered again.
    store.change(document.FillNodes((("params", "head", "bias"),), "3"))
    os.kill(store.client.pid, signal.SIGKILL)
    with pytest.raises(EngineError):
        store.ask(document.AskDocument())
    store.client.close()

    restored = Store(state)
    (session,) = restored.sessions()
    changes = restored.change(document.RestoreSession(session.id))
    assert changes.notes == ()
    assert np.array_equal(restored.numbers(MEAN), taken)
    restored.client.close()

    elsewhere = Store(tmp_path / "other", private=True)
    assert elsewhere.change(document.OpenRecipe(str(recipe))).notes == ()
    assert elsewhere.origins() == {"run": 6, "initial": 13}
    assert np.array_equal(elsewhere.numbers(MEAN), taken)
    elsewhere.client.close()
