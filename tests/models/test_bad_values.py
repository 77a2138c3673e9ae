"""What made a NaN or an Inf first, and what is legal."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from inspector.variables.path import TreePath
from tests.models.looking import asked, bad, line_of, saved


def test_masks_and_unselected_branches_are_legal(tmp_path: Path) -> None:
    run = asked("Masked", "float32[2,4]", tmp_path, "float32[2,4]:normal(0)")
    report = bad(run)
    assert report.kind == "none"
    assert report.bad_modules == ()
    (remark,) = report.remarks
    assert remark.kind == "nan"
    assert remark.text.startswith("log in the module itself makes a NaN")


def test_the_turn_of_a_loop_is_told(tmp_path: Path) -> None:
    report = bad(asked("Loop", "float32[2]", tmp_path))
    assert report.primitive == "log"
    assert report.steps == "step 2 of 4 of scan"
    assert report.source.endswith(f":{line_of('0.0 * step')}")
    assert report.inputs[0].minimum == -0.5


def test_a_nan_that_an_argmax_hides_is_found(tmp_path: Path) -> None:
    report = bad(asked("Swallowed", "float32[2,4]", tmp_path))
    assert (report.kind, report.primitive) == ("equation", "log")


def test_an_inf_that_reaches_an_output(tmp_path: Path) -> None:
    report = bad(asked("Overflow", "float32[2,4]", tmp_path))
    assert (report.kind, report.primitive) == ("equation", "exp")
    assert "first Inf" in report.text
    assert report.outputs[0].inf == 4
    assert report.remarks == ()


def test_an_inf_that_becomes_a_nan(tmp_path: Path) -> None:
    report = bad(asked("Overflowed", "float32[2,4]", tmp_path))
    assert report.primitive == "div"
    (remark,) = report.remarks
    assert remark.text.startswith("exp in the module itself makes an Inf")


def test_an_inf_in_a_weight_is_the_cause_of_a_nan(tmp_path: Path) -> None:
    def edit(values: dict[TreePath, np.ndarray]) -> None:
        values["params", "layers_1", "kernel"][0, 0] = np.inf

    report = bad(
        asked("Layers", "float32[2,4]", tmp_path, "float32[2,4]:zeros", edit=edit)
    )
    assert report.kind == "weight"
    assert report.variable == ("params", "layers_1", "kernel")


def test_modules_inside_a_loop_are_bad_too(tmp_path: Path) -> None:
    def edit(values: dict[TreePath, np.ndarray]) -> None:
        values["params", "stack", "Dense_0", "kernel"][1, 0, 0] = np.nan

    report = bad(asked("Stacked", "float32[2,4]", tmp_path, edit=edit))
    assert report.kind == "weight"
    assert report.bad_modules == ((), ("stack",), ("stack", "Dense_0"), ("again",))


def test_an_inf_of_a_loop_is_told_by_its_turn(tmp_path: Path) -> None:
    def edit(values: dict[TreePath, np.ndarray]) -> None:
        values["params", "stack", "Dense_0", "kernel"][1] = 3e38

    report = bad(asked("Stacked", "float32[2,4]", tmp_path, edit=edit))
    assert report.kind == "equation"
    assert report.module == ("stack", "Dense_0")
    assert report.steps == "step 3 of 3 of scan"
    assert report.primitive == "dot_general"


def test_a_nan_in_an_input(tmp_path: Path) -> None:
    x = saved(tmp_path, "x.npy", [[0, 1, np.nan, 2]], "float32")
    report = bad(asked("Layers", "float32[1,4]", tmp_path, x))
    assert report.kind == "input"
    assert report.text == "Input 0 already holds 1 NaN of 4 numbers."


def test_a_second_look_costs_no_trace(tmp_path: Path) -> None:
    run = asked("LogOfNegative", "float32[1,4]", tmp_path)
    first = bad(run)
    second = bad(run)
    assert (first.text, first.inputs) == (second.text, second.inputs)
