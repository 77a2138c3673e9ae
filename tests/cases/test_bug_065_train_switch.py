"""Bug 65: the train switch spelled four ways, and as a field; one switch sets it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from inspector.engine.messages.calling import Call, ReadCallForm
from inspector.errors import LoadModuleError
from inspector.models.loading import explained, load_subject
from inspector.models.resolve import resolve
from inspector.models.service_calls import read_call_form
from inspector.models.subject import Subject
from tests.models.loading import Write, quiet, spec_of

INPUT = "float32[4,6]:normal(0)"
SOURCE = """
from flax import linen as nn

def body(x, off):
    return nn.Dropout(0.5, deterministic=off)(nn.Dense(8)(x))

class Train(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        return body(x, not train)

class Training(nn.Module):
    @nn.compact
    def __call__(self, x, training):
        return body(x, not training)

class Deterministic(nn.Module):
    @nn.compact
    def __call__(self, x, deterministic=True):
        return body(x, deterministic)

class IsTraining(nn.Module):
    @nn.compact
    def __call__(self, x, *, is_training):
        return body(x, not is_training)

class Field(nn.Module):
    deterministic: bool = True
    @nn.compact
    def __call__(self, x):
        return body(x, self.deterministic)

class Both(nn.Module):
    deterministic: bool | None = None
    @nn.compact
    def __call__(self, x, deterministic=None):
        off = nn.merge_param("deterministic", self.deterministic, deterministic)
        return body(x, off)
"""
FLAGS = {
    "Train": ("train", "argument", "true", "false"),
    "Training": ("training", "argument", "true", "false"),
    "Deterministic": ("deterministic", "argument", "false", "true"),
    "IsTraining": ("is_training", "argument", "true", "false"),
    "Field": ("deterministic", "field", "false", "true"),
    "Both": ("deterministic", "argument", "false", "true"),
}


def direct(subject: Subject, name: str, train: bool) -> Any:
    """Returns what a plain ``apply`` gives, and its variables."""
    flag, where, *_ = FLAGS[name]
    value = train if "train" in flag else not train
    module, call = subject.module, {flag: value}
    if where == "field":
        module, call = module.clone(**call), {}
    x = jax.random.normal(jax.random.key(0), (4, 6))
    off = {flag: "train" not in flag} if where == "argument" else {}
    variables = subject.module.init(jax.random.key(0), x, **off)
    rngs = {"dropout": jax.random.key(7)}
    return module.apply(variables, x, rngs=rngs, **call), variables


@pytest.mark.parametrize("name", FLAGS)
def test_each_spelling_runs_in_both_modes(name: str, write: Write) -> None:
    file = write("net.py", SOURCE)
    statics = (("deterministic", "true"),) if name == "Both" else ()
    spec = spec_of(f"{file}:{name}", INPUT, statics=statics)
    mode = read_call_form(ReadCallForm(spec), quiet).mode
    assert (mode.flag, mode.where, mode.train, mode.eval) == FLAGS[name]
    assert mode.effect == "differs"
    subject = load_subject(spec, quiet)
    outputs = []
    for setting in ("train", "eval"):
        resolved = resolve(subject, Call(inputs=(INPUT,), mode=setting))
        expected, variables = direct(subject, name, setting == "train")
        rngs = {"dropout": jax.random.key(7)}
        forward = subject.forward(resolved, ())
        found, _ = forward(variables, rngs, resolved.args, resolved.kwargs)
        assert np.array_equal(found, expected)
        outputs.append(found)
    assert int(jnp.sum(outputs[0] == 0)) > int(jnp.sum(outputs[1] == 0))


def test_the_mapping_is_shown(write: Write) -> None:
    file = write("net.py", SOURCE)
    texts = {
        name: read_call_form(
            ReadCallForm(spec_of(f"{file}:{name}", INPUT)), quiet
        ).mode.text
        for name in ("Train", "Deterministic", "Field")
    }
    assert texts == {
        "Train": "Train means train=True, Eval means train=False.",
        "Deterministic": "Train means deterministic=False, Eval means "
        "deterministic=True.",
        "Field": "Train means deterministic=False, Eval means deterministic=True "
        "(deterministic: set in the module's fields).",
    }


def test_flag_of_the_constructor_and_of_the_call(write: Write) -> None:
    file = write("net.py", SOURCE)
    spec = spec_of(f"{file}:Both", INPUT, kwargs={"deterministic": True})
    mode = read_call_form(ReadCallForm(spec), quiet).mode
    assert (mode.where, mode.effect) == ("field", "differs")
    assert "deterministic is given in the constructor already" in mode.text
    subject = load_subject(spec, quiet)
    train = resolve(subject, Call(inputs=(INPUT,), mode="train"))
    assert (train.fields, train.statics) == ({"deterministic": False}, {})
    given = (("deterministic", "false"),)
    both = resolve(subject, Call(inputs=(INPUT,), statics=given))
    with (
        pytest.raises(LoadModuleError, match="both in the constructor and") as caught,
        explained(subject.imported, "Running"),
    ):
        subject.forward(both, ())({}, {}, both.args, {})
    assert caught.value.where == f"{file}:{_line(SOURCE, 'merge_param')}"
    assert "--kwargs" in caught.value.hint


def _line(source: str, text: str) -> int:
    return next(n for n, line in enumerate(source.split("\n"), 1) if text in line)
