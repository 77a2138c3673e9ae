from __future__ import annotations

from pathlib import Path
from typing import Any

import flax.serialization
import jax
import numpy as np
import pytest
from flax import linen as nn

from tests.cli.verbs import Verb

SOURCE = '''\
from flax import linen as nn


class Net(nn.Module):
    """Two square layers with statistics between them."""

    epsilon: float = 1e-5

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(5, name="first")(x)
        x = nn.BatchNorm(True, epsilon=self.epsilon, name="norm")(x)
        return nn.Dense(5, name="last")(x)
'''
X = ("--input", "float32[3,5]:normal(1)")


class Net(nn.Module):
    """The same, for its variables."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        x = nn.Dense(5, name="first")(x)
        x = nn.BatchNorm(True, name="norm")(x)
        return nn.Dense(5, name="last")(x)


def _variables() -> Any:
    variables = Net().init(jax.random.key(0), jax.numpy.ones((1, 5)))
    random = np.random.default_rng(0)
    return jax.tree.map(
        lambda leaf: random.uniform(0.5, 2.0, leaf.shape).astype(leaf.dtype), variables
    )


@pytest.fixture
def sides(tmp_path: Path) -> tuple[str, Any]:
    """Returns the side of sound variables, and the variables."""
    (tmp_path / "net.py").write_text(SOURCE)
    variables = _variables()
    return _side(tmp_path, "good", variables), variables


def _side(folder: Path, name: str, variables: Any) -> str:
    file = folder / f"{name}.msgpack"
    file.write_bytes(flax.serialization.to_bytes(variables))
    return f"{folder / 'net.py'}:Net={file}"


def test_equal_variables_are_equal_in_every_call(
    quick_verb: Verb, sides: tuple[str, Any]
) -> None:
    good, _ = sides
    document = quick_verb("verify", good, good, *X, "--json").json
    assert [call["module"] for call in document["calls"]] == [
        "", "first", "norm", "last",
    ]  # fmt: skip
    assert {call["max_abs"] for call in document["calls"]} == {0.0}
    assert (document["first"], document["worst"]) == (None, 0.0)


@pytest.mark.parametrize("fault", ["transposed", "swapped"])
def test_a_planted_fault_is_named(
    quick_verb: Verb, sides: tuple[str, Any], tmp_path: Path, fault: str
) -> None:
    good, variables = sides
    if fault == "transposed":
        layer, module = variables["params"]["last"], "last"
        layer["kernel"] = layer["kernel"].T
    else:
        layer, module = variables["batch_stats"]["norm"], "norm"
        layer["mean"], layer["var"] = layer["var"], layer["mean"]
    bad = _side(tmp_path, "bad", variables)
    result = quick_verb("verify", good, bad, *X)
    assert result.status == 1
    assert module in result.out.splitlines()[-1]
    first = next(line for line in result.out.splitlines() if line.startswith("≠"))
    assert "(root)" in first
    tolerant = quick_verb("verify", good, bad, *X, "--tolerance", "1e9")
    assert tolerant.status == 0, tolerant.err


def test_another_argument_of_the_second_is_found(
    quick_verb: Verb, sides: tuple[str, Any]
) -> None:
    good, _ = sides
    kwargs = ("--kwargs-b", '{"epsilon": 0.1}')
    result = quick_verb("verify", good, good, *X, *kwargs)
    assert result.status == 1
    assert "norm" in result.out.splitlines()[-1]


def test_a_recipe_is_a_side(verb: Verb, sides: tuple[str, Any], tmp_path: Path) -> None:
    good, _ = sides
    spec, _, file = good.partition("=")
    moved = verb(
        "transfer", file, "--model", spec, "--input", "float32[1,5]",
        "--save-recipe", "r.json",
    )  # fmt: skip
    assert moved.status == 0, moved.err
    result = verb("verify", "r.json", good, *X)
    assert result.status == 0, result.err
    assert "qual" in result.out.splitlines()[-1]


def test_a_side_of_another_form_exits_with_2(verb: Verb) -> None:
    for side in ("absent.json", "net.py:Net", "net.py=w.msgpack"):
        verb("verify", side, "a.py:N=w", *X).refused("SPEC=VARIABLES", status=2)
