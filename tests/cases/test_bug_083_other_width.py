"""Bug 83: stored variables meet an input of another width, or another config."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.engine.messages.calling import Call, TryInputs
from inspector.errors import LoadModuleError
from inspector.models.abstract_call import abstract_values, trace_abstractly
from inspector.models.loading import explained, load_subject
from inspector.models.resolve import resolve
from inspector.models.service_calls import try_inputs
from inspector.variables.plain import PlainTree
from tests.models.loading import Write, quiet, spec_of

SOURCE = """\
from flax import linen as nn

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(x)

class Horizon(nn.Module):
    horizon: int = 8

    @nn.compact
    def __call__(self, x):
        return nn.Dense(256)(x[..., : 416 + 7 * self.horizon])

class Image(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Conv(4, (3, 3))(x)

class Wide(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)
"""


def failing(spec: str, tree: PlainTree, given: str, **rest: Any) -> LoadModuleError:
    """Runs a module on the variables of a tree and returns the error it gives."""
    subject = load_subject(spec_of(spec, given, **rest), quiet)
    call = resolve(subject, Call(inputs=(given,)))
    with (
        pytest.raises(LoadModuleError) as caught,
        explained(subject.imported, "Running"),
    ):
        trace_abstractly(subject, call, subject.build(abstract_values(tree)))
    return caught.value


def stored(spec: str, given: str, **rest: Any) -> PlainTree:
    return load_subject(spec_of(spec, given, **rest), quiet).traced.tree()


def test_both_numbers_are_named(write: Write) -> None:
    file = write("net.py", SOURCE)
    tree = stored(f"{file}:Net", "f32[2,5]")
    error = failing(f"{file}:Net", tree, "f32[2,3]")
    assert error.message == (
        "Running failed: Dense_0/kernel was made for inputs of width 5; this input "
        "has 3 (the variables hold (5, 4), this call makes (3, 4)) "
        "(ScopeParamShapeError)."
    )
    assert error.where == f"{file}:6"
    assert "last axis is 5" in error.hint
    # It offers an input of the right shape.
    asked = TryInputs(spec_of(f"{file}:Net", "f32[2,3]"), tree)
    assert try_inputs(asked, quiet).inputs[0] == ("float32[1,5]",)


def test_edited_config(write: Write) -> None:
    file = write("net.py", SOURCE)
    tree = stored(f"{file}:Horizon", "f32[1,999]")
    error = failing(f"{file}:Horizon", tree, "f32[1,999]", kwargs={"horizon": 4})
    assert "was made for inputs of width 472; this input has 444" in error.message
    assert "--kwargs" in error.hint


def test_channels_and_outputs(write: Write) -> None:
    file = write("net.py", SOURCE)
    tree = stored(f"{file}:Image", "f32[1,8,8,3]")
    error = failing(f"{file}:Image", tree, "f32[1,8,8,1]")
    assert "was made for inputs of 3 channels; this input has 1" in error.message
    tree = stored(f"{file}:Wide", "f32[1,5]")
    error = failing(f"{file}:Wide", tree, "f32[1,5]", kwargs={"width": 6})
    assert "Dense_0/kernel has another shape than the module needs" in error.message
    assert "hold (5, 4), this call makes (5, 6)" in error.message
