from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from inspector.engine.messages import calling, document, inspecting, running
from inspector.engine.messages.calling import Call
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.messages.reading import Exported
from inspector.errors import CancelledError, RemoteError
from tests.engine.run_store import MEAN, NET, NORMAL, RunStore
from tests.engine.waiting import wait_until


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunStore]:
    made = RunStore(tmp_path_factory.mktemp("runs"))
    made.load()
    yield made
    made.client.close()


def _difference(store: RunStore, body: object) -> running.RunDifference:
    found = store.ask(body)
    assert isinstance(found, running.RunDifference)
    return found


def test_a_run_is_of_the_target_as_it_stands(shared: RunStore) -> None:
    kernel = ("params", "Dense_0", "kernel")
    first = shared.run()
    x_w = shared.output(first.run)
    shared.ask(document.FillNodes((kernel,), "0"))
    edited = shared.run()
    assert np.array_equal(shared.output(edited.run), np.zeros((2, 4), np.float32))
    assert edited.variables != first.variables
    assert edited.revision > first.revision
    shared.ask(document.Undo())
    again = shared.run()
    assert again.variables == first.variables
    assert np.array_equal(shared.output(again.run), x_w)
    assert not again.program.made
    found = _difference(shared, running.CompareRuns(first.run, again.run))
    assert found.rows[0].max_abs == 0.0
    assert found.text.startswith("Every output is equal.")
    apart = _difference(shared, running.CompareRuns(first.run, edited.run))
    assert apart.rows[0].max_abs == np.abs(x_w).max()


def test_the_program_of_an_edited_target_reads_an_export(shared: RunStore) -> None:
    call = Call(inputs=(NORMAL,))
    plain = shared.ask(running.AskCode(call))
    assert isinstance(plain, running.Code)
    assert "variables = module.init(" in plain.text
    shared.ask(document.FillNodes((("params", "Dense_0", "kernel"),), "0"))
    edited = shared.ask(running.AskCode(call))
    shared.ask(document.Undo())
    assert isinstance(edited, running.Code)
    first, _, rest = edited.text.partition("\n")
    assert first == (
        "# The target has edits: export it to target.msgpack before this runs."
    )
    assert "data = Path('target.msgpack').read_bytes()" in rest
    assert "module.init(" not in rest


def test_updates_are_seen_taken_and_undone(shared: RunStore) -> None:
    before = shared.numbers(document.TARGET, MEAN)
    report = shared.run("train")
    assert report.updates == 2
    assert report.mutable == ("batch_stats",)
    found = _difference(shared, running.CompareUpdates(report.run))
    after = shared.numbers(running.updates_of(report.run), MEAN)
    rows = {row.path: row.max_abs for row in found.rows}
    assert rows[MEAN] == np.abs(after.astype(float) - before).max() > 0
    changes = shared.ask(running.TakeUpdates(report.run))
    assert isinstance(changes, document.Changes)
    assert changes.count == 2
    assert np.array_equal(shared.numbers(document.TARGET, MEAN), after)
    runs = shared.ask(running.AskRuns())
    assert isinstance(runs, running.Runs)
    assert runs.runs[0].run == report.run
    assert runs.runs[0].taken
    shared.ask(document.Undo())
    undone = shared.ask(running.AskRuns())
    assert isinstance(undone, running.Runs)
    assert not undone.runs[0].taken
    assert np.array_equal(shared.numbers(document.TARGET, MEAN), before)


def test_outputs_are_saved_under_their_paths(shared: RunStore, tmp_path: Path) -> None:
    report = shared.run()
    saved = shared.ask(running.SaveRun(report.run, "o.npz", str(tmp_path)))
    assert isinstance(saved, Exported)
    with np.load(tmp_path / "o.npz") as arrays:
        assert np.array_equal(arrays["output"], shared.output(report.run))


def test_module_calls_are_recorded_and_run_alone(shared: RunStore) -> None:
    report = shared.ask(inspecting.Record(Call(inputs=(NORMAL,))))
    assert isinstance(report, inspecting.CallsReport)
    modules = [call.module for call in report.calls]
    assert modules == [(), ("Dense_0",), ("BatchNorm_0",), ("Dropout_0",)]
    tree = running.calls_of(report.run)
    recorded = shared.numbers(tree, (1, "outputs"))
    alone = shared.ask(inspecting.RunSubmodule(report.run, 1))
    assert isinstance(alone, running.RunReport)
    assert np.array_equal(shared.output(alone.run), recorded)


def test_nothing_bad_is_found_in_a_sound_net(shared: RunStore) -> None:
    found = shared.ask(inspecting.FindBad(Call(inputs=(NORMAL,))))
    assert isinstance(found, inspecting.BadReport)
    assert found.kind == "none"


def test_a_planted_fault_is_found_at_its_module(
    shared: RunStore, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.msgpack", tmp_path / "bad.msgpack"
    shared.ask(document.Export(str(good)))
    shared.ask(document.FillNodes((("params", "Dense_0", "bias"),), "1"))
    shared.ask(document.Export(str(bad)))
    shared.ask(document.Undo())
    ids = []
    for file in (good, bad):
        info = shared.ask(document.OpenSource(str(file)))
        assert isinstance(info, document.SourceInfo)
        ids.append(info.id)
    call = Call(inputs=(NORMAL,))
    same = shared.ask(inspecting.Verify(document.TARGET, ids[0], call))
    assert isinstance(same, inspecting.VerifyReport)
    assert (same.first, same.worst) == (None, 0.0)
    module = ModuleSpec(f"{shared.file}:Net", inputs=("float32[1,5]",))
    apart = shared.ask(inspecting.Verify(ids[0], ids[1], call, module_a=module))
    assert isinstance(apart, inspecting.VerifyReport)
    assert apart.first == ("Dense_0",)
    assert apart.worst > 1e-5
    for source in ids:
        shared.ask(document.CloseSource(source))


def test_a_picture_is_an_input(shared: RunStore, tmp_path: Path) -> None:
    Image.new("L", (5, 2), 255).save(tmp_path / "white.png")
    ones = shared.run(text="float32[2,5]")
    for text in ("float32[2,5]:white.png", f"x=f32[2,5]: {tmp_path / 'white.png'}"):
        call = Call(inputs=(text,), cwd=str(tmp_path))
        white = shared.ask(running.Run(call))
        assert isinstance(white, running.RunReport)
        assert np.array_equal(shared.output(white.run), shared.output(ones.run))
    with pytest.raises(RemoteError) as caught:
        shared.ask(running.Run(Call(inputs=("gone.png",), cwd=str(tmp_path))))
    assert caught.value.where == str(tmp_path / "gone.png")


def test_questions_on_calls_are_passed_on(shared: RunStore) -> None:
    form = shared.ask(calling.AskCallForm())
    assert isinstance(form, calling.CallForm)
    assert (form.family, form.mode.flag) == ("linen", "train")
    devices = shared.ask(calling.AskDevices())
    assert isinstance(devices, calling.Devices)
    assert "cpu:0" in [device.id for device in devices.devices]


def test_stop_ends_an_endless_loop_and_the_module_is_back(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    try:
        store.load()
        report = store.run()
        cancelled = threading.Event()

        def hang() -> None:
            with pytest.raises(CancelledError):
                store.ask(running.Run(Call(method="forever", inputs=(NORMAL,))))
            cancelled.set()

        thread = threading.Thread(target=hang)
        thread.start()
        wait_until((tmp_path / "begun").exists)
        count = len(store.events)
        store.ask(document.StopModel())
        thread.join()
        assert cancelled.is_set()
        # Nobody asks, and the module is loaded again by the spare.
        back = document.EngineStatus("model", "ready")
        wait_until(lambda: back in store.events[count:])
        again = store.run()
        assert again.variables == report.variables
        assert np.array_equal(store.output(again.run), store.output(report.run))
    finally:
        store.client.close()


def test_an_import_that_hangs_is_not_begun_again(tmp_path: Path) -> None:
    hanging = "import time\nfrom pathlib import Path\n"
    hanging += "Path(__file__).with_name('begun').touch()\ntime.sleep(600)\n"
    store = RunStore(tmp_path)
    try:
        store.load()
        store.file.write_text(hanging)
        cancelled = threading.Event()

        def hang() -> None:
            with pytest.raises(CancelledError):
                store.ask(document.ReloadModule())
            cancelled.set()

        thread = threading.Thread(target=hang)
        thread.start()
        wait_until((tmp_path / "begun").exists)
        store.ask(document.StopModel())
        thread.join()
        assert cancelled.is_set()
        (tmp_path / "begun").unlink()
        # The next answer of the model is that of the next question.
        assert isinstance(store.ask(calling.AskDevices()), calling.Devices)
        assert not (tmp_path / "begun").exists()
    finally:
        store.client.close()


def test_a_changed_file_is_told_and_reloaded_with_its_edits(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    try:
        store.load()
        gone = ("params", "Dense_0", "bias")
        store.ask(document.FillNodes((("params", "Dense_0", "kernel"),), "2"))
        store.ask(document.FillNodes((gone,), "3"))
        store.run()
        store.file.write_text(NET.replace("nn.Dense(4)", "nn.Dense(4, use_bias=False)"))
        event = document.ModuleFileChanged(str(store.file))
        wait_until(lambda: event in store.events)
        changes = store.ask(document.ReloadModule())
        assert isinstance(changes, document.Changes)
        assert any("bias" in note for note in changes.notes)
        report = store.run(text="float32[1,5]")
        expected = np.full((1, 4), 10 / np.sqrt(1 + 1e-5), np.float32)
        np.testing.assert_allclose(store.output(report.run), expected, rtol=1e-6)
        assert store.events.count(event) == 1
    finally:
        store.client.close()


def test_a_module_of_a_recipe_runs_only_when_that_was_agreed(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    try:
        store.load()
        store.ask(document.SaveRecipe(str(tmp_path / "r.json")))
        store.ask(document.OpenRecipe(str(tmp_path / "r.json")))
        for body in (running.Run(Call(inputs=(NORMAL,))), calling.AskCallForm()):
            with pytest.raises(RemoteError) as caught:
                store.ask(body)
            assert caught.value.error.kind == "ModuleNotImportedError"
            assert caught.value.where == str(store.file)
        report = store.ask(running.Run(Call(inputs=(NORMAL,)), fresh=True))
        assert isinstance(report, running.RunReport)
        assert store.output(report.run).shape == (2, 4)
    finally:
        store.client.close()
