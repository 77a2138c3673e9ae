"""Every module call is recorded, and can be run alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from inspector.engine.messages.inspecting import RunCallModule
from inspector.models import recording, service_inspect
from inspector.models.submodule import InnerCallError, NoSuchCallError
from inspector.variables.value import Raw, Unset
from tests.models.loading import quiet
from tests.models.looking import asked, recorded
from tests.models.running import arrays, run

_NOISY = ("Noisy", "float32[2,4]")


def test_every_call_alone_gives_what_was_recorded_dropout_included(
    tmp_path: Path,
) -> None:
    request = asked(
        *_NOISY,
        tmp_path,
        "float32[2,4]:normal(0)",
        statics=(("train", "true"),),
        mode="train",
        seeds=(("dropout", 3),),
    )
    done = recorded(request)
    values = arrays(done.values)
    assert [call.kind for call in done.calls] == [
        *("Noisy", "Dense", "Dropout", "Dense", "Drop", "Dropout"),
    ]
    for call in done.calls:
        out = str(tmp_path / f"alone{call.index}.raw")
        body = RunCallModule(replace(request, out=out), call.index)
        alone = service_inspect.run_call(body, quiet)
        found = arrays(alone.outputs)["output",]
        assert found.tobytes() == values[call.index, "outputs"].tobytes(), call
    assert (values[5, "outputs"] == 0).any()


def test_the_root_records_the_outputs_of_a_plain_run(tmp_path: Path) -> None:
    request = asked("Whole", "float32[4,4]", tmp_path, "float32[4,4]:normal(0)")
    values = arrays(recorded(request).values)
    assert request.variables is not None
    plain = run(request.module, request.variables, tmp_path, *request.call.inputs)
    found = arrays(plain.outputs)["output",]
    np.testing.assert_allclose(values[0, "outputs"], found, rtol=1e-6)


def test_every_turn_of_a_loop_is_recorded_and_remat(tmp_path: Path) -> None:
    done = recorded(asked("Stacked", "float32[2,4]", tmp_path))
    notes = {call.module: call.note for call in done.calls}
    assert list(notes) == [
        (),
        ("first",),
        ("stack",),
        ("stack", "Dense_0"),
        ("again",),
    ]
    assert notes["again",] == ""
    assert notes["stack",].startswith("step of a scan")
    leaves = dict(done.values.leaves)
    index = next(c.index for c in done.calls if c.module == ("stack", "Dense_0"))
    # The outputs of its three turns, one above the other.
    values = arrays(done.values)
    assert leaves[index, "outputs"].shape == (3, 2, 4)
    assert values[index, "outputs"].shape == (3, 2, 4)
    assert isinstance(leaves[index, "inputs"].value, Unset)
    last = values[4, "inputs"]
    np.testing.assert_allclose(values[index, "outputs"][2], last, rtol=1e-6)
    (remark,) = done.remarks
    assert remark.text.startswith("2 of 5 calls: step of a scan: outputs of all turns")


def test_a_call_inside_a_loop_cannot_run_alone(tmp_path: Path) -> None:
    request = asked("Stacked", "float32[2,4]", tmp_path)
    with pytest.raises(InnerCallError, match="call of stack is a step of a scan"):
        service_inspect.run_call(RunCallModule(request, 2), quiet)
    with pytest.raises(NoSuchCallError, match="no module call 99"):
        service_inspect.run_call(RunCallModule(request, 99), quiet)


def test_values_above_the_bound_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MOST_BYTES", 100)
    request = asked("Whole", "float32[4,4]", tmp_path)
    done = recorded(request)
    places = {
        leaf.value: leaf.nbytes
        for _, leaf in done.values.leaves
        if isinstance(leaf.value, Raw)
    }
    assert 0 < sum(places.values()) <= 100
    assert any("shapes only" in call.note for call in done.calls)


def test_shared_values_are_written_once(tmp_path: Path) -> None:
    request = asked("Stacked", "float32[2,4]", tmp_path)
    leaves = dict(recorded(request).values.leaves)
    # What a call gives out is what the next takes in.
    assert leaves[0, "inputs"].value == leaves[1, "inputs"].value
