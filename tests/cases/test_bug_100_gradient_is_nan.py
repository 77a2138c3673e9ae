"""Bug 100: the forward pass is fine, its gradient is NaN."""

from __future__ import annotations

from pathlib import Path

from tests.models.looking import asked, bad, line_of, saved


def test_the_branch_that_is_not_selected_is_named(tmp_path: Path) -> None:
    x = saved(tmp_path, "x.npy", [0, 1], "float32")
    run = asked("RootOrZero", "float32[2]", tmp_path, x)
    assert bad(run).kind == "none"
    report = bad(run, gradient=True)
    assert report.kind == "gradient"
    assert report.module == ("unsafe",)
    assert report.primitive == "mul"
    assert report.source.endswith(f"faulty.py:{line_of('jnp.sqrt(x), 0)')}")
    assert "the backward pass of sqrt in unsafe" in report.text
    assert "goes into a where" in report.text
    assert "params/unsafe/shift" in report.text
    assert [value.inf for value in report.inputs] == [0, 1]
    assert [value.nan for value in report.outputs] == [1]


def test_the_norm_of_a_zero_vector_is_named(tmp_path: Path) -> None:
    run = asked("Length", "float32[3]", tmp_path, "float32[3]:zeros")
    report = bad(run, gradient=True)
    assert report.kind == "gradient"
    assert "the backward pass of sqrt in the module itself" in report.text
    assert "norm of a vector" in report.text
    assert report.outputs[0].nan == 3


def test_a_gradient_that_is_fine_is_said_to_be(tmp_path: Path) -> None:
    run = asked("Length", "float32[3]", tmp_path, "float32[3]")
    report = bad(run, gradient=True)
    assert report.kind == "none"
    assert "gradient" in report.text
