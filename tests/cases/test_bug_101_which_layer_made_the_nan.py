"""Bug 101: module, operation and numbers of what made the first NaN."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from inspector.variables.path import TreePath
from tests.models.looking import asked, bad, line_of


def test_log_of_a_negative_number(tmp_path: Path) -> None:
    report = bad(asked("LogOfNegative", "float32[1,4]", tmp_path))
    assert (report.kind, report.module) == ("equation", ("shift",))
    assert report.primitive == "log"
    assert report.source.endswith(f"faulty.py:{line_of('jnp.log(h - 1e9)')}")
    assert report.line == "return jnp.log(h - 1e9)"
    (given,) = report.inputs
    assert (given.text, given.minimum, given.nan) == ("float32[1,3]", -1e9, 0)
    (made,) = report.outputs
    assert (made.minimum, made.maximum, made.nan, made.size) == (None, None, 3, 3)
    assert report.bad_modules == ((), ("shift",), ("b",))


def test_a_variance_below_zero(tmp_path: Path) -> None:
    def edit(values: dict[TreePath, np.ndarray]) -> None:
        values["batch_stats", "BatchNorm_0", "var"][:] = -1

    report = bad(asked("Normed", "float32[1,4]", tmp_path, edit=edit))
    assert (report.kind, report.module) == ("equation", ("BatchNorm_0",))
    assert report.primitive == "rsqrt"
    assert "batch_stats/BatchNorm_0/var" in report.inputs[0].name
    assert report.bad_modules == ((), ("BatchNorm_0",), ("Dense_1",))


def test_a_weight_that_is_nan_already(tmp_path: Path) -> None:
    def edit(values: dict[TreePath, np.ndarray]) -> None:
        values["params", "layers_3", "bias"][1] = np.nan

    report = bad(asked("Layers", "float32[1,4]", tmp_path, edit=edit))
    assert (report.kind, report.module) == ("weight", ("layers_3",))
    assert report.variable == ("params", "layers_3", "bias")
    (held,) = report.outputs
    assert (held.name, held.nan, held.size) == ("params/layers_3/bias", 1, 3)
    assert report.bad_modules == ((), ("layers_3",), ("layers_4",))
