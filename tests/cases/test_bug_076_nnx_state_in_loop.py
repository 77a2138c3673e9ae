"""Bug 76: NNX state is written inside a loop of JAX."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from inspector.errors import LoadModuleError
from inspector.models.explain import failure
from tests.models.loading import Write

SOURCE = """\
import jax
from flax import nnx

class M(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(4, 4, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        return self.drop(self.linear(x))

    def looped(self, x):
        return jax.lax.scan(lambda c, row: (c, self(row)), None, x)

    def mapped(self, x):
        return jax.vmap(self)(x)

    def branched(self, x):
        return jax.lax.cond(True, self, self.linear, x)
"""
CASES = {
    "looped": ("jax.lax.scan at net.py:13", "nnx.scan"),
    "mapped": ("jax.vmap at net.py:16", "nnx.vmap"),
    "branched": ("jax.lax.cond at net.py:19", "nnx.cond"),
}


def modules_of(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location("net", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("method", CASES)
def test_says_which_variable_which_loop_and_the_form(method: str, write: Write) -> None:
    file = write("net.py", SOURCE)
    made = modules_of(file).M(nnx.Rngs(0))
    before = jax.tree.map(np.asarray, nnx.to_pure_dict(nnx.state(made, nnx.Param)))
    with pytest.raises(LoadModuleError) as caught:
        _run(lambda: getattr(made, method)(jnp.ones((3, 4))), file.parent)
    loop, form = CASES[method]
    assert caught.value.message == (
        f"Running failed: drop/rngs/count (RngCount) is written inside {loop}, and "
        "what is written there would be lost (TraceContextError)."
    )
    assert f"Use {form} in place of" in caught.value.hint
    assert caught.value.where == f"{file}:10"
    after = nnx.to_pure_dict(nnx.state(made, nnx.Param))
    assert jax.tree.all(jax.tree.map(np.array_equal, before, after))
    made.eval()
    assert made(jnp.ones((3, 4))).shape == (3, 4)


def _run(run: Any, root: Path) -> None:
    try:
        run()
    except Exception as error:
        raise failure(error, (root,), doing="Running") from error
