"""Bug 82: devices and precisions differ, and people suspect the weights.

On a CPU bfloat16 against float32 stands in for an accelerator's coarse products.
"""

from __future__ import annotations

from pathlib import Path

from inspector.engine.messages import document, running
from inspector.engine.messages.calling import Call
from inspector.engine.messages.module import ModuleSpec
from tests.engine.run_store import RunStore

NET = """\
from flax import linen as nn
from jax import numpy as jnp


class Net(nn.Module):
    coarse: bool = False

    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(512, dtype=jnp.bfloat16 if self.coarse else None)
        return dense(x).astype(jnp.bfloat16)
"""
X = "float32[64,512]:normal(0)"


def test_the_verdict_names_both_sides_and_what_rounding_explains(
    tmp_path: Path,
) -> None:
    store = RunStore(tmp_path, NET)
    try:
        runs: list[running.RunReport] = []
        for kwargs, precision in (
            ("{}", ""),
            ("{}", "highest"),
            ('{"coarse": true}', ""),
        ):
            spec = ModuleSpec(f"{store.file}:Net", kwargs, ("float32[1,512]",))
            store.ask(document.LoadTarget(spec))
            report = store.ask(running.Run(Call(inputs=(X,), precision=precision)))
            assert isinstance(report, running.RunReport)
            runs.append(report)
        plain, highest, coarse = (one.run for one in runs)
        same = store.ask(running.CompareRuns(plain, highest))
        assert isinstance(same, running.RunDifference)
        assert same.text.startswith("Every output is equal.")
        assert "cpu:0, precision default against cpu:0, precision highest" in same.text
        apart = store.ask(running.CompareRuns(plain, coarse))
        assert isinstance(apart, running.RunDifference)
        (row,) = apart.rows
        assert row.max_rel is not None
        assert 1e-4 < row.max_rel < 3e-2
        assert "within the rounding of the dtype" in apart.text
    finally:
        store.client.close()
