"""A run equals ``jax.jit`` of the method, bit for bit, and says what it did."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from inspector.engine.messages.calling import Call
from inspector.engine.messages.running import RngUse, RunModule
from inspector.errors import LoadModuleError
from inspector.models import executing, held, running
from inspector.variables.leaf import Kind
from inspector.variables.plain import PlainTree
from inspector.variables.value import UNSET
from tests.models.loading import Write, quiet, spec_of
from tests.models.running import (
    arrays,
    initial_tree,
    kinds,
    request,
    run,
    same_arrays,
    text_of,
)
from tests.modules import nets


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
    module = nets.Normed()
    variables = jax.jit(module.init, static_argnames="train")(
        jax.random.key(0), jnp.ones((2, 8, 8, 1)), train=False
    )
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
