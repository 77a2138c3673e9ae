"""Bug 77: the key is given, and a lifted scan does not pass it on."""

from __future__ import annotations

import pytest

from inspector.engine.messages.calling import Call
from inspector.errors import LoadModuleError
from inspector.models.abstract_call import abstract_values, trace_abstractly
from inspector.models.loading import explained, load_subject
from inspector.models.resolve import resolve
from inspector.models.subject import Subject
from tests.models.loading import Write, quiet, spec_of

SOURCE = """\
from flax import linen as nn

class Step(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        x = nn.Dense(5)(x)
        return nn.Dropout(0.5, deterministic=False)(x), None

class Net(nn.Module):
    forward: bool = False

    @nn.compact
    def __call__(self, x):
        split = {"params": True, "dropout": True} if self.forward else {"params": True}
        steps = nn.scan(Step, variable_axes={"params": 0}, split_rngs=split, length=3)
        return steps()(x, None)[0]
"""


def trace(subject: Subject) -> tuple[str, ...]:
    call = resolve(subject, Call(inputs=("f32[2,5]",)))
    variables = subject.build(abstract_values(subject.traced.tree()))
    with explained(subject.imported, "Running"):
        return trace_abstractly(subject, call, variables).streams


def test_says_that_the_scan_does_not_forward_it(write: Write) -> None:
    file = write("net.py", SOURCE)
    with pytest.raises(LoadModuleError) as caught:
        trace(load_subject(spec_of(f"{file}:Net", "f32[2,5]"), quiet))
    assert caught.value.message == (
        "Running failed: Dropout_0 draws from the rng stream “dropout”, and the "
        "nn.scan around it does not forward that stream (InvalidRngError)."
    )
    assert 'split_rngs={"dropout": True, …}' in caught.value.hint
    assert caught.value.where == f"{file}:7"


def test_a_scan_that_forwards_it(write: Write) -> None:
    file = write("net.py", SOURCE)
    spec = spec_of(f"{file}:Net", "f32[2,5]", kwargs={"forward": True})
    assert trace(load_subject(spec, quiet)) == ("dropout",)
