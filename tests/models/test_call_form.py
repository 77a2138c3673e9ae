"""How a module can be called, found by its signature and by tracing on shapes."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.engine.messages.calling import CallForm, ReadCallForm
from inspector.errors import LoadModuleError
from inspector.models.service_calls import read_call_form
from tests.models.loading import Write, quiet, spec_of

HEAD = """
import enum
from typing import Any, Callable, Literal, Optional
import jax
import jax.numpy as jnp
from flax import linen as nn

class Pool(enum.Enum):
    MEAN = "mean"
"""
PARAMETERS = (
    HEAD
    + """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x, mask: Optional[jax.Array] = None, *, act: Callable = nn.relu,
                 pool: Pool = Pool.MEAN, kind: Literal["a", "b"] = "a", times: int = 2,
                 scale: float = 1.0, size=3, where=None, name_: str = "x",
                 deterministic: bool = True):
        '''Computes. And more.'''
        for _ in range(times):
            x = nn.Dense(4)(x) * scale
        return act(x) + jnp.zeros((size, 1, 1))

    def count(self, x, length: int, factor: float):
        '''Counts.'''
        return x * factor + jnp.arange(length)[0]
"""
)


def form(
    name: str, *inputs: str, method: str = "", apply: str = "", **rest: Any
) -> CallForm:
    body = ReadCallForm(spec_of(name, *inputs, **rest), method, apply)
    return read_call_form(body, quiet)


def test_parameters(write: Write) -> None:
    file = write("net.py", PARAMETERS)
    found = form(f"{file}:Net", "f32[2,3]")
    assert (found.family, found.methods, found.method) == (
        "linen",
        ("__call__", "count"),
        "",
    )
    assert found.doc == "Computes. And more."
    assert found.signature.startswith("(x, mask: Optional[jax.Array] = None, *, act")
    static = {one.name: one.static for one in found.parameters}
    assert static == {
        "x": False,
        "mask": False,
        "act": True,
        "pool": True,
        "kind": True,
        "times": True,
        "scale": False,
        "size": True,
        "where": True,
        "name_": True,
        "deterministic": True,
    }
    x, mask, act, pool, *_ = found.parameters
    assert (x.required, x.keyword_only, x.default, x.hint) == (True, False, "", "")
    assert (mask.required, mask.default) == (False, "None")
    assert (act.keyword_only, act.default) == (True, "relu")
    assert pool.hint == "net.Pool"
    assert found.inputs == ("f32[2,3]",)
    assert found.problem == ""


def test_numbers_without_default(write: Write) -> None:
    file = write("net.py", PARAMETERS)
    found = form(f"{file}:Net", "f32[2,3]", method="count")
    assert found.method == "count"
    assert {one.name: one.static for one in found.parameters} == {
        "x": False,
        "length": True,
        "factor": False,
    }
    assert found.mode.text == "The module has no train/eval switch."


def test_required_flag_and_streams() -> None:
    found = form("Normed", "f32[1,8,8,1]")
    mode = found.mode
    assert (mode.flag, mode.where, mode.train, mode.eval, mode.effect) == (
        "train",
        "argument",
        "true",
        "false",
        "differs",
    )
    assert mode.text == "Train means train=True, Eval means train=False."
    assert found.streams == ("dropout",)


def test_method_that_does_not_take_the_inputs() -> None:
    found = form("Shared", "f32[2,5]", method="other")
    assert [one.name for one in found.parameters] == ["x"]
    with pytest.raises(LoadModuleError, match="no method “othre”"):
        form("Shared", "f32[2,5]", method="othre")


def test_switch_without_effect_and_of_unknown_effect(write: Write) -> None:
    file = write(
        "net.py",
        HEAD
        + """
class Same(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool = False):
        return nn.Dropout(0.0, deterministic=not train)(nn.Dense(2)(x))

class Broken(nn.Module):
    @nn.compact
    def __call__(self, x, deterministic=True):
        if not deterministic:
            raise ValueError("no training yet")
        return nn.Dense(2)(x)
""",
    )
    same = form(f"{file}:Same", "f32[1,3]").mode
    assert same.effect == "same"
    assert "It has no effect" in same.text
    broken = form(f"{file}:Broken", "f32[1,3]").mode
    assert (broken.train, broken.eval, broken.effect) == ("false", "true", "unknown")
    assert "no training yet" in broken.text


def test_function_in_place_of_a_method(write: Write) -> None:
    file = write(
        "net.py",
        HEAD
        + """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x)

def outside(variables, x, training=False):
    '''Sums.'''
    kernel = variables["params"]["Dense_0"]["kernel"]
    return (x @ kernel).sum() if training else x @ kernel
""",
    )
    found = form(f"{file}:Net", "f32[1,3]", apply=f"{file}:outside")
    assert found.signature == "(x, training=False)"
    assert found.doc == "Sums."
    assert (found.mode.flag, found.mode.effect) == ("training", "differs")
