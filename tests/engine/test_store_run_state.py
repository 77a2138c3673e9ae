from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from inspector.engine.messages.calling import Call
from inspector.engine.messages.document import ModuleFileChanged
from inspector.engine.messages.inspecting import ModuleCall
from inspector.engine.messages.running import (
    DifferenceRow,
    ProgramInfo,
    Remark,
    RngUse,
    RunDifference,
    RunReport,
    outputs_of,
    updates_of,
)
from inspector.engine.store_calls import Picture, pictures, variables_in
from inspector.engine.store_run_remarks import discarded
from inspector.engine.store_run_state import (
    REPORTS_KEPT,
    VALUES_KEPT,
    Kept,
    RunPartMissingError,
    RunRecords,
    RunUnknownError,
    RunValuesGoneError,
)
from inspector.engine.store_runs_bounds import brief_calls, brief_report
from inspector.engine.store_runs_verdict import verdict
from inspector.engine.store_watch import ModuleWatch
from inspector.variables.edit import Delete
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.plain import PlainTree
from inspector.variables.tree import Branch, Node


def _report(number: int, **others: object) -> RunReport:
    report = RunReport(
        number, Call(), "cpu:0", "__call__()", ProgramInfo(0.0, 0.0, 0.0), 0.1, 0.0,
        revision=1, variables="abc", outputs=1, updates=1,
    )  # fmt: skip
    for name, value in others.items():
        object.__setattr__(report, name, value)
    return report


def _array(*shape: int, variable: str = "") -> Leaf:
    return Leaf(Kind.ARRAY, shape, "float32", variable=variable)


def _kept(folder: Path, number: int, updates: Node | None = None) -> Kept:
    file = folder / f"run-{number}.bin"
    file.write_bytes(b"1234")
    trees: dict[str, Node] = {"outputs": Branch({"output": _array(2)})}
    if updates is not None:
        trees["updates"] = updates
    return Kept(number, file, trees, _report(number), nbytes=4)


def test_the_newest_runs_keep_values_and_older_ones_say_so(tmp_path: Path) -> None:
    runs = RunRecords(tmp_path)
    for _ in range(REPORTS_KEPT + 2):
        runs.add(_kept(tmp_path, runs.next_number()))
    newest = REPORTS_KEPT + 2
    assert [one.number for one in runs.newest()] == list(range(newest, 2, -1))
    assert runs.tree(outputs_of(newest)) == Branch({"output": _array(2)})
    assert len(list(tmp_path.iterdir())) == VALUES_KEPT
    with pytest.raises(RunValuesGoneError, match=f"newest {VALUES_KEPT} runs"):
        runs.tree(outputs_of(newest - VALUES_KEPT))
    with pytest.raises(RunUnknownError, match="no run 1 in"):
        runs.tree(outputs_of(1))
    with pytest.raises(RunPartMissingError, match="has no updates"):
        runs.tree(updates_of(newest))
    assert runs.tree("s1") is None


def test_values_are_let_go_of_when_they_are_too_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.engine.store_run_state.VALUES_BYTES", 7)
    runs = RunRecords(tmp_path)
    for _ in range(3):
        runs.add(_kept(tmp_path, runs.next_number()))
    assert [path.name for path in tmp_path.iterdir()] == ["run-3.bin"]


def test_updates_left_behind_are_said_until_they_are_taken(tmp_path: Path) -> None:
    target = Branch({"batch_stats": Branch({"mean": _array(3)})})
    runs = RunRecords(tmp_path)
    runs.add(_kept(tmp_path, runs.next_number(), target))
    runs.add(_kept(tmp_path, runs.next_number(), target))
    (remark,) = discarded(runs.newest(), "abc", target)
    assert remark.kind == "discarded-updates"
    assert remark.path == ("batch_stats", "mean")
    assert "Run 2 updated 1 variable (batch_stats/mean)" in remark.text
    assert "those of 1 earlier" in remark.text
    assert discarded(runs.newest(), "other variables", target) == ()
    edits = (Delete((("a",),)), Delete((("b",),)))
    runs.take(2, edits[1])
    runs.take(1, edits[0])
    runs.look_at(edits)
    assert discarded(runs.newest(), "abc", target) == ()
    runs.look_at(edits[:1])
    assert len(discarded(runs.newest(), "abc", target)) == 1


def test_counters_and_new_collections_are_no_stale_values(tmp_path: Path) -> None:
    updates = Branch(
        {"count": _array(variable="RngCount"), "cache": Branch({"k": _array(2)})}
    )
    runs = RunRecords(tmp_path)
    runs.add(_kept(tmp_path, runs.next_number(), updates))
    target = Branch({"count": _array(variable="RngCount")})
    assert discarded(runs.newest(), "abc", target) == ()


def test_a_report_of_a_deep_net_fits_into_a_message() -> None:
    rngs = tuple(
        RngUse((f"layer_{number}", "dropout" * 20), "dropout", "params", 1)
        for number in range(4000)
    )
    remarks = tuple(Remark("mode", "x" * 5000) for _ in range(200))
    brief = brief_report(_report(1, rngs=rngs, remarks=remarks))
    assert 0 < len(brief.rngs) < 4000
    assert brief.rngs == rngs[: len(brief.rngs)]
    assert sum(len(one.text) for one in brief.remarks) < 100_000
    call = ModuleCall(0, ("block",) * 30, "Dense", "__call__", "i" * 999, "o" * 999)
    calls = brief_calls([call] * 5000)
    assert 0 < len(calls) <= 2000
    assert all(len(one.inputs) == 200 for one in calls)


def _difference(largest: float | None, why: str = "") -> RunDifference:
    row = DifferenceRow(("output",), largest, largest, largest, why)
    return RunDifference((row,), 1, "Equal bit for bit.")


@pytest.mark.parametrize(
    ("largest", "device", "precision", "dtype", "said"),
    [
        (0.0, "cpu:0", "", "float32", "Every output is equal. Equal bit for bit."),
        (1e-6, "cpu:0", "", "float32", "within the rounding of the dtype"),
        (1e-3, "cpu:0", "", "float32", "more than rounding explains"),
        (1e-3, "gpu:0", "", "float32", "within TF32 error"),
        (1e-3, "gpu:0", "highest", "float32", "more than rounding explains"),
        (0.3, "gpu:0", "default", "float32", "more than TF32 error explains"),
        (1e-2, "cpu:0", "", "bfloat16", "within the rounding of the dtype"),
        (float("nan"), "cpu:0", "", "float32", "a NaN where the other has none"),
        (None, "cpu:0", "", "float32", "1 outputs cannot be compared: shape"),
    ],
)
def test_the_verdict_fits_dtype_device_and_precision(
    largest: float | None, device: str, precision: str, dtype: str, said: str
) -> None:
    outputs = PlainTree(((("output",), Leaf(Kind.ARRAY, (2,), dtype)),))
    other = _report(2, device=device, precision=precision)
    found = _difference(largest, "" if largest is not None else "shape (2,) and (3,)")
    text = verdict(_report(1), other, found, outputs)
    assert said in text
    assert ("cpu:0" in text) == ((device, precision) != ("cpu:0", ""))


def test_pictures_are_found_in_inputs_of_every_form() -> None:
    found = pictures(
        (
            "float32[1,28,28,1]:digit.png",
            "image=f32[1,8,8,3]:my photo.JPG",
            "cat.webp",
            '{"a": bfloat16[2,2,3]: b.png, "c": (x.npy, "d, e.gif")}',
            "float32[1,2]:normal(0)",
            "x.npz:png",
        )
    )
    assert found == (
        Picture("float32[1,28,28,1]:digit.png", "digit.png", (1, 28, 28, 1), "float32"),
        Picture("f32[1,8,8,3]:my photo.JPG", "my photo.JPG", (1, 8, 8, 3), "float32"),
        Picture("cat.webp", "cat.webp"),
        Picture("bfloat16[2,2,3]: b.png", "b.png", (2, 2, 3), "bfloat16"),
        Picture("d, e.gif", "d, e.gif"),
    )


def test_variables_are_found_inside_a_train_state() -> None:
    params = Branch({"Dense_0": Branch({"kernel": _array(2, 2)})})
    stats = Branch({"mean": _array(2)})
    state = Branch(
        {
            "step": Leaf(Kind.INT),
            "opt_state": Branch({"0": Branch({"mu": params})}),
            "params": params,
            "batch_stats": stats,
        }
    )
    whole = Branch({"params": params, "batch_stats": stats})
    assert variables_in(Branch({"state": state})) == whole
    assert variables_in(state, {"params"}) == Branch({"params": params})
    assert variables_in(params) == params


def test_a_change_of_a_file_is_told_once(tmp_path: Path) -> None:
    file, gone = tmp_path / "net.py", tmp_path / "parts.py"
    file.write_text("a = 1")
    gone.write_text("b = 1")
    told: list[object] = []

    async def go() -> None:
        watch = ModuleWatch(told.append, period_s=3600)
        await watch.watch((str(file), str(gone), str(file)))
        await watch.look()
        assert told == []
        file.write_text("a = 22")
        gone.unlink()
        await watch.look()
        await watch.look()
        watch.close()

    asyncio.run(go())
    assert told == [
        ModuleFileChanged(str(file)),
        ModuleFileChanged(str(gone), is_gone=True),
    ]
