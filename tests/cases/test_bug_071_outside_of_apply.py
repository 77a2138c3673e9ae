"""Bug 71: a module is touched outside of init and apply."""

from __future__ import annotations

from tests.models.loading import Write, fails, load, shapes_of

SOURCE = """\
from flax import linen as nn

class S(nn.Module):
    def setup(self):
        self.enc = nn.Dense(3)

    def __call__(self, x):
        return self.enc(x)

def reads(module):
    return module.enc

def calls(x):
    return nn.Dense(3, parent=None)(x)

class Reads(nn.Module):
    @nn.compact
    def __call__(self, x):
        return reads(S(parent=None))(x)

class Calls(nn.Module):
    @nn.compact
    def __call__(self, x):
        return calls(x)
"""


def test_the_tree_comes_from_a_trace(write: Write) -> None:
    file = write("net.py", SOURCE)
    assert shapes_of(load(f"{file}:S", "f32[1,2]")) == {
        "params/enc/kernel": "float32[2,3]",
        "params/enc/bias": "float32[3]",
    }


def test_reading_an_attribute_of_setup(write: Write) -> None:
    file = write("net.py", SOURCE)
    error = fails(f"{file}:Reads", "f32[1,2]")
    assert "S has no attribute enc yet" in error.message
    assert "only inside init/apply" in error.message
    assert error.where == f"{file}:11"


def test_calling_an_unbound_module(write: Write) -> None:
    file = write("net.py", SOURCE)
    error = fails(f"{file}:Calls", "f32[1,2]")
    assert "a module is called that is bound to no variables" in error.message
    assert "only inside init and apply" in error.hint
    assert error.where == f"{file}:14"
