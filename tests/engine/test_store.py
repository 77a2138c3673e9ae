from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from inspector import resources
from inspector.document.journal import Journal
from inspector.document.recipe import Recipe, SourceEntry, to_json
from inspector.engine.client import EngineClient
from inspector.engine.messages import document, reading, viewing
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.start import launch_store, start_store
from inspector.errors import EngineError, RemoteError
from inspector.variables.path import TreePath

CLASSIFIER = str(resources.path("sample/classifier.py"))
INPUTS = ("float32[1,8,8,1]",)
BACKBONE: TreePath = ("params", "backbone")
ENCODER: TreePath = ("params", "encoder")
HEAD_BIAS: TreePath = ("params", "head", "bias")


class Store:
    """A real store process, and what tests ask of it."""

    def __init__(self, state_dir: Path, *, private: bool = False) -> None:
        self.state_dir = state_dir
        self.client: EngineClient = start_store(
            state_dir=str(state_dir), private=private
        )

    def ask(self, body: object) -> object:
        return self.client.call(body, timeout=120)

    def open(self, locator: str | Path) -> document.SourceInfo:
        info = self.ask(document.OpenSource(str(locator)))
        assert isinstance(info, document.SourceInfo)
        return info

    def open_sample(self) -> document.SourceInfo:
        info = self.open(resources.path("sample/digits"))
        self.load(f"{CLASSIFIER}:Classifier")
        return info

    def load(self, spec: str, inputs: tuple[str, ...] = INPUTS) -> document.Changes:
        return self.change(document.LoadTarget(ModuleSpec(spec, inputs=inputs)))

    def change(self, body: object) -> document.Changes:
        changes = self.ask(body)
        assert isinstance(changes, document.Changes)
        return changes

    def plan(self, source: str, start: TreePath, end: TreePath) -> viewing.PlanInfo:
        plan = self.ask(viewing.MakePlan(source, start, end))
        assert isinstance(plan, viewing.PlanInfo)
        return plan

    def transfer(self) -> document.Changes:
        plan = self.plan("s1", ENCODER, BACKBONE)
        return self.change(viewing.ApplyPlan(plan.plan))

    def target(self) -> document.TargetInfo:
        info = self.ask(document.AskDocument())
        assert isinstance(info, document.DocumentInfo)
        return info.target

    def origins(self) -> dict[str, int]:
        return dict(self.target().origins)

    def numbers(self, path: TreePath, tree: str = document.TARGET) -> np.ndarray:
        details = self.ask(viewing.Describe(tree, path))
        assert isinstance(details, viewing.Details)
        region = tuple((0, extent) for extent in details.row.shape)
        reply = self.ask(viewing.ReadNumbers(tree, path, region))
        assert isinstance(reply, reading.Numbers)
        return np.frombuffer(reply.data, reply.dtype).reshape(reply.shape)

    def export(self, out: Path, *, run: bool = False) -> reading.Exported:
        written = self.ask(document.Export(str(out), run=run))
        assert isinstance(written, reading.Exported)
        return written

    def sessions(self) -> tuple[document.SessionInfo, ...]:
        reply = self.ask(document.AskSessions())
        assert isinstance(reply, document.Sessions)
        return reply.sessions


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "state")
    yield made
    made.client.close()


def test_a_drag_fills_every_collection_and_can_be_undone(store: Store) -> None:
    store.open_sample()
    assert store.origins() == {"initial": 19}
    plan = store.plan("s1", ENCODER, BACKBONE)
    assert dict(plan.summary)["exact"] == 15
    assert plan.applies
    marks = store.ask(
        viewing.AskPlanMarks(
            plan.plan, (BACKBONE, ("batch_stats", "backbone"), ("params", "head"))
        )
    )
    assert marks == viewing.PlanMarks(("exact", "exact", ""))
    changes = store.change(viewing.ApplyPlan(plan.plan))
    assert changes.values
    assert (
        changes.text
        == "Transfer 15 leaves from digits:params/encoder to params/backbone"
    )
    assert store.origins() == {"exact": 15, "initial": 4}
    assert store.change(document.Undo()).history.can_redo
    assert store.origins() == {"initial": 19}
    store.change(document.Redo())
    assert store.origins() == {"exact": 15, "initial": 4}


def test_an_outdated_plan_is_not_applied(store: Store) -> None:
    store.open_sample()
    plan = store.plan("s1", ENCODER, BACKBONE)
    store.transfer()
    with pytest.raises(RemoteError, match="out of date"):
        store.ask(viewing.ApplyPlan(plan.plan))


def test_edits_by_hand_are_seen_in_the_numbers(store: Store) -> None:
    store.open_sample()
    store.change(document.FillNodes((HEAD_BIAS,), "0.5"))
    store.change(document.TypeNumbers(HEAD_BIAS, (1,), (1,), ("-2",)))
    np.testing.assert_array_equal(
        store.numbers(HEAD_BIAS), np.array([0.5, -2], np.float32)
    )
    store.change(document.RenameNode(("params", "head"), "logits"))
    store.change(document.CastNodes((("params", "logits"),), "float16"))
    moved: TreePath = ("params", "logits", "bias")
    np.testing.assert_array_equal(store.numbers(moved), np.array([0.5, -2], np.float16))
    store.change(document.DeleteNodes((moved,)))
    assert store.target().leaves == 18
    store.change(document.GoTo(1))
    np.testing.assert_array_equal(
        store.numbers(HEAD_BIAS), np.array([0.5, 0.5], np.float32)
    )


def test_initial_values_follow_the_seed(store: Store) -> None:
    store.open_sample()
    kernel: TreePath = ("params", "head", "kernel")
    first = store.numbers(kernel)
    assert np.std(first) > 0
    store.change(document.SetSeed("params", 7))
    assert not np.array_equal(first, store.numbers(kernel))
    store.change(document.SetSeed("params", 0))
    np.testing.assert_array_equal(first, store.numbers(kernel))


def test_a_source_in_use_is_not_closed(store: Store) -> None:
    store.open_sample()
    store.transfer()
    with pytest.raises(RemoteError, match="digits is in use: Transfer 15 leaves"):
        store.ask(document.CloseSource("s1"))
    other = store.open(resources.path("sample/digits"))
    assert other.name == "digits (2)"
    assert store.change(document.CloseSource(other.id)).sources


def test_an_edit_is_told_once_to_everybody(tmp_path: Path) -> None:
    events: list[object] = []
    client = launch_store(on_event=events.append)
    client.call(document.Begin(str(tmp_path)), timeout=60)
    client.call(document.OpenSource(str(resources.path("sample/digits"))), timeout=60)
    client.call(document.CopyTarget("s1"), timeout=60)
    client.call(document.FillNodes((("params",),), "0"), timeout=60)
    client.close()
    changes = [event for event in events if isinstance(event, document.Changes)]
    assert [change.text for change in changes] == [
        "Open digits",
        "Make a copy of digits the target",
        "Fill 11 leaves below params with 0",
    ]


def test_a_killed_store_loses_nothing(tmp_path: Path) -> None:
    first = Store(tmp_path)
    first.open_sample()
    first.transfer()
    first.change(document.FillNodes((HEAD_BIAS,), "3"))
    first.change(document.FillNodes((HEAD_BIAS,), "4"))
    first.change(document.Undo())
    os.kill(first.client.pid, signal.SIGKILL)
    with pytest.raises(EngineError):
        first.ask(document.AskDocument())
    first.client.close()

    second = Store(tmp_path)
    (session,) = second.sessions()
    assert session.title == "digits → classifier.py:Classifier"
    assert session.edits == 3
    changes = second.change(document.RestoreSession(session.id))
    assert changes.history.position == 2
    assert changes.history.can_redo
    assert second.origins() == {"exact": 15, "edited": 1, "initial": 3}
    np.testing.assert_array_equal(
        second.numbers(HEAD_BIAS), np.array([3, 3], np.float32)
    )
    assert not second.target().loaded
    assert second.sessions() == ()
    second.ask(document.End())
    second.client.close()

    third = Store(tmp_path)
    # Nobody saved these edits, so they are offered once more.
    assert [session.edits for session in third.sessions()] == [3]
    third.change(document.RestoreSession(third.sessions()[0].id))
    third.ask(document.SaveRecipe(str(tmp_path / "saved.json")))
    third.ask(document.End())
    third.client.close()

    fourth = Store(tmp_path)
    assert fourth.sessions() == ()
    fourth.client.close()


def test_a_session_that_ended_without_a_word_is_offered(tmp_path: Path) -> None:
    first = Store(tmp_path)
    first.open_sample()
    first.client.close()
    second = Store(tmp_path)
    (session,) = second.sessions()
    reply = second.ask(document.DiscardSession(session.id))
    assert reply == document.Sessions(())
    second.client.close()


LOUD = """
import pathlib
pathlib.Path(__file__).with_name("ran").touch()
from flax import linen as nn

class Loud(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)
"""


def test_opening_a_recipe_runs_no_code(tmp_path: Path) -> None:
    module = tmp_path / "loud.py"
    module.write_text(LOUD)
    recipe = tmp_path / "loud.json"
    store = Store(tmp_path / "state")
    store.load(f"{module}:Loud", ("float32[1,2]",))
    store.change(document.FillNodes((("params", "Dense_0", "bias"),), "1"))
    store.ask(document.SaveRecipe(str(recipe)))
    store.client.close()
    (tmp_path / "ran").unlink()

    again = Store(tmp_path / "state")
    again.change(document.OpenRecipe(str(recipe)))
    assert again.origins() == {"edited": 1, "initial": 1}
    assert again.target().file == str(module)
    with pytest.raises(RemoteError) as caught:
        again.export(tmp_path / "out.msgpack")
    assert caught.value.error.kind == "ModuleNotImportedError"
    assert caught.value.where == str(module)
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "out.msgpack").exists()

    written = again.export(tmp_path / "out.msgpack", run=True)
    assert written.leaves == 2
    assert (tmp_path / "ran").exists()
    again.client.close()


def test_a_module_that_changed_is_reported_leaf_by_leaf(tmp_path: Path) -> None:
    module = tmp_path / "loud.py"
    module.write_text(LOUD)
    recipe = tmp_path / "loud.json"
    store = Store(tmp_path / "state", private=True)
    store.load(f"{module}:Loud", ("float32[1,2]",))
    store.change(document.FillNodes((("params", "Dense_0", "bias"),), "1"))
    store.ask(document.SaveRecipe(str(recipe)))
    module.write_text(LOUD.replace("Dense(3)", "Dense(5)"))
    store.change(document.OpenRecipe(str(recipe)))
    with pytest.raises(RemoteError) as caught:
        store.export(tmp_path / "out.msgpack", run=True)
    assert caught.value.error.kind == "ModuleChangedError"
    assert "params/Dense_0/bias is float32[5], it was float32[3]" in str(caught.value)
    changes = store.change(document.LoadRecorded())
    assert "params/Dense_0/bias is float32[5], it was float32[3]" in changes.notes
    assert store.target().loaded
    store.client.close()


def test_a_source_that_changed_on_disk_stops_an_export(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "w.npz"
    np.savez(path, w=np.zeros(3, np.float32))
    store.open(path)
    store.change(document.CopyTarget("s1"))
    np.savez(path, w=np.ones(3, np.float32), v=np.ones(2, np.float32))
    with pytest.raises(RemoteError) as caught:
        store.export(tmp_path / "out.npz")
    assert caught.value.error.kind == "ExportChangedSourceError"
    assert caught.value.where == "w.npz"
    info = store.ask(document.AskDocument())
    assert isinstance(info, document.DocumentInfo)
    assert "w.npz" in info.sources[0].changed
    store.change(document.AcceptSource("s1"))
    assert store.export(tmp_path / "out.npz").leaves == 2


def test_touching_a_file_is_no_change(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    np.savez(path, w=np.zeros(3, np.float32))
    store.open(path)
    os.utime(path, (1, 1))
    info = store.ask(document.RecheckSources())
    assert isinstance(info, document.DocumentInfo)
    assert info.sources[0].changed == ""


def test_a_recipe_finds_its_files_beside_it(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    np.savez(folder / "w.npz", w=np.arange(3, dtype=np.float32))
    store.open(folder / "w.npz")
    store.change(document.CopyTarget("s1"))
    store.change(document.FillNodes((("w",),), "7"))
    store.ask(document.SaveRecipe(str(folder / "r.json")))
    shutil.move(folder, tmp_path / "b")
    store.change(document.OpenRecipe(str(tmp_path / "b" / "r.json")))
    np.testing.assert_array_equal(
        store.numbers(("w",)), np.array([7, 7, 7], np.float32)
    )


def test_search_goes_over_all_trees(store: Store) -> None:
    store.open_sample()
    hits = store.ask(viewing.Search("norm1/mean"))
    assert hits == viewing.Hits(
        (
            ("target", ("batch_stats", "backbone", "norm1", "mean")),
            ("s1", ("batch_stats", "encoder", "norm1", "mean")),
        ),
        2,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_store_never_loads_the_heavy_libraries(
    store: Store, tmp_path: Path
) -> None:
    store.open_sample()
    store.transfer()
    store.export(tmp_path / "out")
    maps = Path(f"/proc/{store.client.pid}/maps").read_text()
    for library in ("jaxlib", "tensorstore", "h5py", "PySide6", "shiboken"):
        assert library not in maps


def test_cancelled_statistics_answer_as_cancelled(store: Store, tmp_path: Path) -> None:
    big = tmp_path / "big.safetensors"
    count = 1 << 28
    header = b'{"w":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]}}' % (
        count,
        4 * count,
    )
    header += b" " * (-len(header) % 8)
    with big.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + 4 * count)
    store.open(big)
    answered = threading.Event()
    started = threading.Event()
    kinds: list[str] = []

    def failed(error: object) -> None:
        kinds.append(getattr(error, "kind", ""))
        answered.set()

    ticket = store.client.request(
        viewing.ReadStatistics("s1", ("w",)),
        on_reply=lambda _: answered.set(),
        on_failure=failed,
        on_progress=lambda _: started.set(),
    )
    assert started.wait(60)
    store.client.cancel(ticket)
    assert answered.wait(60)
    assert kinds == ["CancelledError"]


def test_a_source_that_ended_the_reader_comes_back_closed(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    np.savez(path, w=np.arange(3, dtype=np.float32))
    entry = SourceEntry("s1", str(path), format="npz", name="w.npz")
    journal = Journal.create(tmp_path / "state", "w.npz")
    journal.append({"op": "source", "recipe": to_json(Recipe(sources=(entry,)))})
    journal.append({"op": "culprit", "locator": str(path)})
    journal.close(keep=True)

    store = Store(tmp_path / "state")
    changes = store.change(document.RestoreSession(store.sessions()[0].id))
    assert changes.sources
    info = store.ask(document.AskDocument())
    assert isinstance(info, document.DocumentInfo)
    assert "ended the reader in the earlier session" in info.sources[0].incomplete
    assert info.sources[0].leaves == 0
    # Only a click that names it reads it again.
    store.change(document.AcceptSource("s1"))
    info = store.ask(document.AskDocument())
    assert isinstance(info, document.DocumentInfo)
    assert (info.sources[0].leaves, info.sources[0].incomplete) == (1, "")
    store.client.close()


@pytest.mark.skipif(sys.platform != "linux", reason="finds the reader in /proc")
def test_the_death_of_an_idle_reader_is_told_and_the_next_request_works(
    tmp_path: Path,
) -> None:
    events: list[object] = []
    told = threading.Event()

    def on_event(event: object) -> None:
        events.append(event)
        if isinstance(event, document.EngineStatus) and event.state == "ended":
            told.set()

    client = launch_store(on_event=on_event)
    client.call(document.Begin(str(tmp_path), private=True), timeout=60)
    sample = document.OpenSource(str(resources.path("sample/digits")))
    client.call(sample, timeout=60)
    (reader,) = [
        child.pid
        for child in psutil.Process(client.pid).children()
        if "reader" in child.cmdline()
    ]
    os.kill(reader, signal.SIGKILL)
    assert told.wait(60)
    assert isinstance(client.call(sample, timeout=60), document.SourceInfo)
    client.close()
