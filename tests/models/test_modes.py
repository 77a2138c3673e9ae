"""What the train/eval switch sets, by the names of arguments, fields and layers."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from flax import linen as nn
from flax import nnx

from inspector.errors import UsageError
from inspector.models.modes import (
    EVAL,
    INFERENCE,
    NNX_SWITCH,
    TRAIN,
    TRAINING,
    Switch,
    check_mode,
    switches_of,
)


def arguments(function: Any) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function).parameters.values())[1:]


def found(module: Any, family: str) -> list[tuple[str, str]]:
    switches = switches_of(module, family, arguments(type(module).__call__))
    return [(one.name, one.where) for one in switches.found]


def test_both_directions() -> None:
    assert set(TRAINING) == set(INFERENCE)
    for name, training in TRAINING.items():
        switch = Switch(name, "argument")
        assert switch.value(TRAIN) is training
        assert switch.value(EVAL) is not training
    assert Switch("deterministic", "argument").words(TRAIN) == "deterministic=False"


class Two(nn.Module):
    def __call__(self, x: Any, deterministic: bool, train: bool = False) -> Any:
        return x


def test_linen() -> None:
    assert found(Two(), "linen") == [
        ("train", "argument"),
        ("deterministic", "argument"),
    ]
    assert found(nn.Dropout(0.5), "linen") == [("deterministic", "argument")]
    fixed = nn.Dropout(0.5, deterministic=True)
    assert found(fixed, "linen") == [("deterministic", "field")]
    assert found(nn.Dense(3), "linen") == []
    assert switches_of(nn.Dense(3), "linen", ()).described().flag == ""


class Layers(nnx.Module):
    def __init__(self, *, drop: bool, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 2, rngs=rngs)
        if drop:
            self.drop = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.drop(self.linear(x))


def test_nnx() -> None:
    made = nnx.eval_shape(lambda: Layers(drop=True, rngs=nnx.Rngs(0)))
    assert found(made, "nnx") == [(NNX_SWITCH, "method")]
    assert found(Layers(drop=False, rngs=nnx.Rngs(0)), "nnx") == []
    layer = nnx.Dropout(0.5, rngs=nnx.Rngs(0))
    assert found(layer, "nnx") == [
        ("deterministic", "argument"),
        (NNX_SWITCH, "method"),
    ]
    mode = switches_of(made, "nnx", ()).described("differs")
    assert (mode.flag, mode.where, mode.train, mode.eval, mode.effect) == (
        ".train() / .eval()",
        "method",
        "",
        "",
        "differs",
    )
    assert mode.text == "Train means .train(), Eval means .eval()."


def test_what_is_no_mode() -> None:
    for mode in ("", TRAIN, EVAL):
        check_mode(mode)
    with pytest.raises(UsageError, match="“test” is not a mode"):
        check_mode("test")
