"""Looking inside works on NNX as it does on Linen, and between the two."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.engine.messages.inspecting import RunCallModule
from inspector.engine.messages.running import RunModule
from inspector.models import service_inspect
from inspector.models.skeleton import nest
from tests.models.loading import MODULES, quiet, spec_of
from tests.models.looking import Edit, asked, bad, recorded, verified
from tests.models.running import arrays, initial_tree, lay_out, request

FAULTY_NNX = MODULES / "faulty_nnx.py"
LINES = "float32[4,4]:normal(1)"


def asked_nnx(
    name: str, folder: Path, *inputs: str, edit: Edit | None = None, **rest: Any
) -> RunModule:
    """Returns the request of a call of a module in ``faulty_nnx.py``."""
    spec = spec_of(f"{FAULTY_NNX}:{name}")
    tree = initial_tree(spec, folder)
    if edit is not None:
        keys = dict(tree.leaves)
        values = {path: array.copy() for path, array in arrays(tree).items()}
        edit(values)
        changed = {
            path: leaf
            for path, leaf in lay_out(nest(values), folder).leaves
            if keys[path].dtype == leaf.dtype
        }
        leaves = tuple(
            (
                path,
                replace(leaf, value=changed[path].value) if path in changed else leaf,
            )
            for path, leaf in tree.leaves
        )
        tree = replace(tree, leaves=leaves)
    return request(spec, tree, folder, *inputs, **rest)


def test_the_module_and_the_weight_are_named(tmp_path: Path) -> None:
    report = bad(asked_nnx("LogOfNegative", tmp_path, "float32[2,4]"))
    assert (report.kind, report.module) == ("equation", ("blocks", 1))
    assert report.primitive == "log"
    assert report.bad_modules == ((), ("blocks", 1))

    def edit(values: Any) -> None:
        values["blocks", 0, "bias"][1] = np.nan

    report = bad(asked_nnx("LogOfNegative", tmp_path, "float32[2,4]", edit=edit))
    assert (report.kind, report.variable) == ("weight", ("blocks", 0, "bias"))
    assert report.module == ("blocks", 0)


# A plain trace comes first; what Flax says of it there is said to the person.
@pytest.mark.filterwarnings("ignore:Using 'Module.sow")
def test_calls_and_sowed_values_are_recorded(tmp_path: Path) -> None:
    done = recorded(asked_nnx("Sowing", tmp_path, "float32[2,4]"))
    assert [(call.module, call.kind) for call in done.calls] == [
        ((), "Sowing"),
        (("inner",), "Linear"),
    ]
    values = arrays(done.values)
    assert np.array_equal(values["sowed", "h"], values[1, "outputs"])


def test_every_call_alone_gives_what_was_recorded(tmp_path: Path) -> None:
    run = asked_nnx("Whole", tmp_path, LINES, mode="train")
    done = recorded(run)
    values = arrays(done.values)
    assert [call.kind for call in done.calls][-1] == "Dropout"
    for call in done.calls:
        out = str(tmp_path / f"alone{call.index}.raw")
        body = RunCallModule(replace(run, out=out), call.index)
        found = arrays(service_inspect.run_call(body, quiet).outputs)["output",]
        assert found.tobytes() == values[call.index, "outputs"].tobytes(), call


def test_linen_and_nnx_are_compared_call_by_call(tmp_path: Path) -> None:
    linen = asked("Whole", "float32[4,4]", tmp_path, LINES)
    assert linen.variables is not None
    given = arrays(linen.variables)

    def same(values: Any) -> None:
        for path, array in given.items():
            if path[0] == "params" and path[1] != "bn":
                values[path[1:]] = array.copy()

    def turned(values: Any) -> None:
        same(values)
        values["square", "kernel"] = values["square", "kernel"].T.copy()

    report = verified(linen, asked_nnx("Whole", tmp_path, LINES, edit=same))
    assert report.first is None
    rows = {row.module: row.note for row in report.calls}
    assert rows["attn", "q"] == ""
    assert rows["Dropout_0",] == "drop in the second"
    report = verified(linen, asked_nnx("Whole", tmp_path, LINES, edit=turned))
    assert report.first == ("square",)
