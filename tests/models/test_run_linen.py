"""A run equals ``jax.jit`` of the method, bit for bit, and says what it did."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from inspector.engine.messages.running import RngUse
from tests.models.loading import spec_of
from tests.models.running import (
    arrays,
    initial_tree,
    run,
    same_arrays,
)


def test_outputs_equal_those_of_jit_dropout_and_updates_included(
    tmp_path: Path,
) -> None:
    spec = spec_of("Normed", "float32[2,8,8,1]", statics=(("train", "false"),))
    tree = initial_tree(spec, tmp_path)
    done = run(
        spec,
        tree,
        tmp_path,
        "float32[4,8,8,1]:normal(3)",
        mode="train",
        seeds=(("dropout", 5),),
    )
    # Models are a person's code and not typed.
    nets: Any = importlib.import_module("tests.modules.nets")
    module = nets.Normed()
    variables = module.init(jax.random.key(0), jnp.ones((2, 8, 8, 1)), train=False)
    x = jax.random.normal(jax.random.key(3), (4, 8, 8, 1), jnp.float32)
    apply = jax.jit(
        lambda v, rngs, x: module.apply(
            v, x, train=True, rngs=rngs, mutable=["batch_stats"]
        )
    )
    wanted, updates = apply(variables, {"dropout": jax.random.key(5)}, x)
    same_arrays(arrays(done.outputs), wanted)
    same_arrays(arrays(done.updates), updates)
    assert done.device == "cpu:0"
    assert done.signature == "__call__(float32[4,8,8,1], train=True)"
    assert done.mutable == ("batch_stats",)
    assert done.seeds == (("dropout", 5),)
    assert done.rngs == (RngUse(("Dropout_0",), "dropout", "dropout", 1),)
    assert done.program.made
    assert done.program.flops is not None
    assert done.program.flops > 1000
    assert done.program.peak_bytes is not None
    assert done.precision == "default"
