from __future__ import annotations

from pathlib import Path
from typing import Any

import flax.serialization
import jax
import numpy as np
import pytest
from flax import linen as nn

from tests.cli.verbs import Result, Verb

SOURCE = '''\
from flax import linen as nn


class Net(nn.Module):
    """Dense, BatchNorm and Dropout."""

    features: int = 4

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.Dense(self.features)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dropout(0.5, deterministic=not train)(x)
'''
X = "float32[2,5]:normal(0)"


class Net(nn.Module):
    """The same, for the reference."""

    @nn.compact
    def __call__(self, x: jax.Array, train: bool = False) -> jax.Array:
        x = nn.Dense(4)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        dropped: jax.Array = nn.Dropout(0.5, deterministic=not train)(x)
        return dropped


@pytest.fixture
def run(quick_verb: Verb, tmp_path: Path) -> Verb:
    """Runs the net of this file."""
    file = tmp_path / "net.py"
    file.write_text(SOURCE)

    def invoke(*words: Any) -> Result:
        return quick_verb("run", "--model", f"{file}:Net", *words)

    return invoke


def _input() -> jax.Array:
    return jax.random.normal(jax.random.key(0), (2, 5))


def _variables(seed: int = 0) -> Any:
    return Net().init(jax.random.key(seed), _input())


def test_a_train_run_equals_the_jitted_call(run: Verb, tmp_path: Path) -> None:
    words = ("--input", X, "--mode", "train", "--rng", "dropout=3", "--save", "o.npz")
    document = run(*words, "--json").json
    apply = jax.jit(Net().apply, static_argnames=("train", "mutable"))
    rngs = {"dropout": jax.random.key(3)}
    expected, updates = apply(
        _variables(), _input(), train=True, rngs=rngs, mutable=("batch_stats",)
    )
    with np.load(tmp_path / "o.npz") as arrays:
        np.testing.assert_array_equal(arrays["output"], expected)
    assert document["device"] == "cpu:0"
    assert document["signature"] == "__call__(float32[2,5], train=True)"
    assert set(document["program"]) == {
        "trace_s", "lower_s", "compile_s", "flops", "peak_bytes",
    }  # fmt: skip
    assert document["run_s"] > 0
    (output,) = document["outputs"]
    assert (output["path"], output["shape"], output["dtype"]) == (
        "output", [2, 4], "float32",
    )  # fmt: skip
    assert output["stats"]["max"] == float(expected.max())
    found = {one["path"]: one["stats"]["max"] for one in document["updates"]}
    stats = updates["batch_stats"]["BatchNorm_0"]
    assert found == {
        f"batch_stats/BatchNorm_0/{name}": float(stats[name].max())
        for name in ("mean", "var")
    }
    assert document["rngs"] == [
        {"path": "Dropout_0", "stream": "dropout", "used": "dropout", "draws": 1}
    ]


def test_variables_come_from_a_checkpoint(run: Verb, tmp_path: Path) -> None:
    variables = _variables(7)
    file = tmp_path / "w.msgpack"
    file.write_bytes(flax.serialization.to_bytes(variables))
    words = ("--variables", file, "--input", X, "--save", "o.npz")
    result = run(*words)
    assert result.status == 0, result.err
    assert "__call__(float32[2,5])  on cpu:0" in result.out
    assert "wrote" in result.out
    expected = jax.jit(Net().apply)(variables, _input())
    with np.load(tmp_path / "o.npz") as arrays:
        np.testing.assert_array_equal(arrays["output"], expected)


def test_variables_come_from_a_recipe(verb: Verb, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SOURCE)
    file = tmp_path / "w.msgpack"
    file.write_bytes(flax.serialization.to_bytes(_variables(7)))
    model = f"{tmp_path / 'net.py'}:Net"
    moved = verb(
        "transfer", file, "--model", model, "--input", "float32[1,5]", "--only",
        "params", "--save-recipe", "r.json",
    )  # fmt: skip
    assert moved.status == 0, moved.err
    words = ("--variables", "r.json", "--input", X, "--save", "o.npz")
    result = verb("run", "--model", model, *words)
    assert result.status == 0, result.err
    expected = jax.jit(Net().apply)(_variables(7), _input())
    with np.load(tmp_path / "o.npz") as arrays:
        np.testing.assert_array_equal(arrays["output"], expected)


def test_variables_that_do_not_fit_are_named(run: Verb, tmp_path: Path) -> None:
    file = tmp_path / "w.msgpack"
    file.write_bytes(flax.serialization.to_bytes(_variables()))
    words = ("--variables", file, "--input", X, "--kwargs", '{"features": 3}')
    run(*words).refused("do not fit the module", "params/Dense_0/kernel", str(file))


def test_variables_that_are_missing_are_said(run: Verb, tmp_path: Path) -> None:
    file = tmp_path / "w.msgpack"
    params = {"params": _variables()["params"]}
    file.write_bytes(flax.serialization.to_bytes(params))
    result = run("--variables", file, "--input", X)
    assert result.status == 0, result.err
    assert "2 variables are not in the file" in result.err
    assert "batch_stats/BatchNorm_0/mean" in result.err


def test_a_call_that_fails_names_the_line(run: Verb) -> None:
    run("--input", X, "--init-input", "float32[1,3]").refused("width")


def test_malformed_calls_exit_with_2(verb: Verb) -> None:
    head = ("run", "--model", "absent.py:Net")
    verb(*head, "--mode", "fast").refused("usage: ", "--mode", status=2)
    verb(*head, "--rng", "dropout=x").refused("--rng takes NAME=VALUE", status=2)


def test_a_module_without_variables_is_refused_in_words(
    quick_verb: Verb, tmp_path: Path
) -> None:
    file = tmp_path / "plain.py"
    file.write_text(
        "from flax import linen as nn\n\nclass Plain(nn.Module):\n"
        "    @nn.compact\n    def __call__(self, x):\n        return x * 2\n"
    )
    spec = f"{file}:Plain"
    result = quick_verb("run", "--model", spec, "--input", "float32[2]")
    result.refused("Plain has no variables", "Choose a module with parameters")
