"""Planted faults are found at their module; equal trees differ by nothing."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from inspector.engine.messages.running import RunModule
from inspector.models.verifying import difference
from inspector.variables.path import TreePath
from tests.models.looking import Edit, asked, verified

Arrays = dict[TreePath, np.ndarray]


def whole(folder: Path, edit: Edit | None = None, **kwargs: object) -> RunModule:
    """Returns a model whose statistics are not those of the start."""

    def both(values: Arrays) -> None:
        random = np.random.default_rng(0)
        for name, low in (("mean", 0.0), ("var", 1.0)):
            found = low + random.random(4)
            values["batch_stats", "bn", name] = found.astype(np.float32)
        if edit is not None:
            edit(values)

    return asked(
        "Whole",
        "float32[4,4]",
        folder,
        "float32[4,4]:normal(1)",
        edit=both,
        kwargs=kwargs,
    )


def transposed(values: Arrays) -> None:
    values["params", "square", "kernel"] = values["params", "square", "kernel"].T.copy()


def swapped(first: TreePath, second: TreePath) -> Edit:
    def edit(values: Arrays) -> None:
        values[first], values[second] = values[second], values[first]

    return edit


QUERY, KEY = ("params", "attn", "q", "kernel"), ("params", "attn", "k", "kernel")
MEAN, VARIANCE = ("batch_stats", "bn", "mean"), ("batch_stats", "bn", "var")


def test_equal_trees_differ_by_nothing(tmp_path: Path) -> None:
    report = verified(whole(tmp_path), whole(tmp_path))
    assert report.first is None
    assert report.worst == 0.0
    assert report.text == "Equal bit for bit in 8 module calls."
    assert {row.max_abs for row in report.calls} == {0.0}


@pytest.mark.parametrize(
    ("edit", "at"),
    [
        (transposed, ("square",)),
        (swapped(QUERY, KEY), ("attn", "q")),
        (swapped(MEAN, VARIANCE), ("bn",)),
    ],
)
def test_a_planted_fault_is_found(tmp_path: Path, edit: Edit, at: TreePath) -> None:
    report = verified(whole(tmp_path), whole(tmp_path, edit))
    assert report.first == at
    assert report.worst > 0.1
    rows = {row.module: row.max_rel for row in report.calls}
    assert rows[at] > 0.1
    assert rows["attn", "v"] == 0.0


def test_a_wrong_epsilon_is_found(tmp_path: Path) -> None:
    report = verified(whole(tmp_path), whole(tmp_path, epsilon=1e-3))
    assert report.first == ("bn",)
    assert "bn.__call__ is the first that differs" in report.text
    assert verified(whole(tmp_path), whole(tmp_path, epsilon=1e-3), 1e-2).first is None


def test_a_fault_inside_a_loop_is_found(tmp_path: Path) -> None:
    def edit(values: Arrays) -> None:
        values["params", "stack", "Dense_0", "kernel"][1] *= 2

    one = asked("Stacked", "float32[2,4]", tmp_path)
    other = asked("Stacked", "float32[2,4]", tmp_path, edit=edit)
    report = verified(one, other)
    rows = {row.module: row for row in report.calls}
    assert rows["first",].max_abs == 0.0
    assert report.first == ("stack", "Dense_0")
    assert rows["stack", "Dense_0"].note == "step of a scan, all together"
    assert rows["again",].max_abs > 0
    assert verified(one, one).text == "Equal bit for bit in 5 module calls."


def test_another_structure_is_paired_by_kind(tmp_path: Path) -> None:
    one = asked("LogOfNegative", "float32[2,4]", tmp_path)
    other = asked("Layers", "float32[2,4]", tmp_path)
    report = verified(one, other)
    notes = {(row.module, row.note) for row in report.calls}
    assert (("a",), "layers_0 in the second") in notes
    assert any(note == "only in the second" for _, note in notes)


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ([0.0, 0.0], [0.0, 0.0], (0.0, 0.0)),
        ([1.0, 2.0], [1.0, 4.0], (2.0, 0.5)),
        ([1.0, 1.0], [0.0, 0.0], (1.0, math.inf)),
        ([np.nan, 1.0], [np.nan, 1.0], (0.0, 0.0)),
        ([np.nan, 1.0], [2.0, 1.0], (math.inf, math.inf)),
        ([np.inf, 1.0], [np.inf, 1.0], (0.0, 0.0)),
        ([np.inf, 1.0], [-np.inf, 1.0], (math.inf, math.inf)),
        ([1.0], [1.0, 2.0], (math.inf, math.inf)),
        ([], [], (0.0, 0.0)),
    ],
)
def test_differences(
    a: list[float], b: list[float], wanted: tuple[float, float]
) -> None:
    found = difference(np.asarray(a, np.float32), np.asarray(b, np.float32))
    assert found == wanted
