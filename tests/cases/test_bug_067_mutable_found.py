"""Bug 67: what a call updates becomes mutable by itself, and params do not change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inspector.errors import LoadModuleError
from tests.models.loading import Write
from tests.models.running import arrays, initial_tree, run, spec_in

NET = """
    from flax import linen as nn

    class T(nn.Module):
        @nn.compact
        def __call__(self, x, train=False):
            x = nn.Dense(4)(x)
            x = nn.BatchNorm(use_running_average=not train)(x)
            return nn.Dropout(0.5, deterministic=not train)(x)
"""


def test_statistics_change_and_params_do_not(write: Write, tmp_path: Path) -> None:
    spec = spec_in(write("net.py", NET), "T", "float32[2,5]")
    tree = initial_tree(spec, tmp_path)
    x = "float32[2,5]:normal(0)"
    done = run(spec, tree, tmp_path, x, mode="train", seeds=(("dropout", 1),))
    assert done.mutable == ("batch_stats",)
    updates, before = arrays(done.updates), arrays(tree)
    assert list(updates) == [
        ("batch_stats", "BatchNorm_0", "mean"),
        ("batch_stats", "BatchNorm_0", "var"),
    ]
    for path, after in updates.items():
        assert not np.array_equal(after, before[path])
    # One output, not Flax's pair of outputs and updates.
    assert [path for path, _ in done.outputs.leaves] == [("output",)]


def test_in_eval_nothing_is_mutable(write: Write, tmp_path: Path) -> None:
    spec = spec_in(write("net.py", NET), "T", "float32[2,5]")
    tree = initial_tree(spec, tmp_path)
    done = run(spec, tree, tmp_path, "float32[2,5]", mode="eval")
    assert (done.mutable, done.updates.leaves) == ((), ())


def test_nothing_is_made_mutable_against_the_will(write: Write, tmp_path: Path) -> None:
    spec = spec_in(write("net.py", NET), "T", "float32[2,5]")
    tree = initial_tree(spec, tmp_path)
    with pytest.raises(LoadModuleError) as caught:
        run(spec, tree, tmp_path, "float32[2,5]", mode="train", mutable=())
    assert "batch_stats" in caught.value.message
    assert "mutable" in caught.value.hint
