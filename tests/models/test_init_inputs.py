"""Inputs of ``init`` of every form: the values and the shown program agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np

from tests.models.loading import Write, load, make, run_code, same, spec_of

SOURCE = """
import enum
import jax
import jax.numpy as jnp
from flax import linen as nn

class Kind(enum.Enum):
    SMALL = "small"
    LARGE = "large"

class Net(nn.Module):
    @nn.compact
    def __call__(self, batch, scale, *, kind: Kind, dtype=jnp.float32):
        x, (ids, mask) = batch["x"], batch["rest"]
        width = 3 if kind is Kind.SMALL else 5
        # Weights that depend on the numbers of the input, as in weight normalisation.
        self.param("mean", lambda key: x.mean(0) * scale)
        self.variable("state", "ids", lambda: ids + 0)
        x = nn.Dense(width, param_dtype=dtype)(x)
        return x * mask if mask is not None else x
"""


def test_nested_inputs_generators_and_statics(write: Write, tmp_path: Path) -> None:
    file = write("net.py", SOURCE)
    np.save(tmp_path / "ids.npy", np.arange(4, dtype="int32"))
    inputs = ('{"x": float32[2,3]:normal(5), "rest": (ids.npy, null)}', "scale=0.5")
    statics = (("kind", '"LARGE"'), ("dtype", '"bfloat16"'))
    rest: dict[str, Any] = {"statics": statics, "cwd": str(tmp_path)}
    loaded = load(f"{file}:Net", *inputs, **rest)
    made = make(spec_of(f"{file}:Net", *inputs, **rest), tmp_path / "values")
    normal = jax.random.normal(jax.random.key(5), (2, 3))
    mean = np.asarray(normal.mean(0) * 0.5)
    assert np.allclose(made["params", "mean"], mean)
    assert made["state", "ids"].tolist() == [0, 1, 2, 3]
    assert made["params", "Dense_0", "kernel"].shape == (3, 5)
    assert str(made["params", "Dense_0", "kernel"].dtype) == "bfloat16"
    assert "kind=Kind.LARGE" in loaded.call
    assert "dtype=jnp.bfloat16" in loaded.call
    same(made, run_code(loaded.call))


def test_ones_stay_abstract(write: Write, tmp_path: Path) -> None:
    file = write("net.py", SOURCE)
    inputs = ("{x: f32[2,3], rest: (i32[4], bool[2,5]:integers(0,2))}", "f32[]")
    statics = (("kind", '"LARGE"'),)
    loaded = load(f"{file}:Net", *inputs, statics=statics)
    made = make(spec_of(f"{file}:Net", *inputs, statics=statics), tmp_path / "values")
    assert made["params", "mean"].tolist() == [1, 1, 1]
    same(made, run_code(loaded.call))
