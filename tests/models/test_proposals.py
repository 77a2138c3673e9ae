"""Inputs proposed for a checkpoint: those that fit, and no others."""

from __future__ import annotations

from typing import Any

import jax
import pytest
from flax import linen as nn

from inspector.engine.messages.calling import Proposals, TryInputs
from inspector.errors import LoadModuleError
from inspector.models import service_calls
from inspector.models.describe import describe
from inspector.models.inputs import made, parse_input
from inspector.models.loading import load_subject
from inspector.models.traced import Traced
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree
from tests.models.loading import Write, quiet, spec_of

HEAD = "import jax\nimport jax.numpy as jnp\nfrom flax import linen as nn\n\n"
NETS = (
    HEAD
    + """
class Lenet(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.avg_pool(nn.relu(nn.Conv(6, (5, 5))(x)), (2, 2), (2, 2))
        x = nn.avg_pool(nn.relu(nn.Conv(8, (3, 3))(x)), (2, 2), (2, 2))
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dense(10)(x.reshape(x.shape[0], -1))

class Pooled(nn.Module):
    @nn.compact
    def __call__(self, image):
        return nn.Dense(10)(nn.Conv(6, (7, 7), (2, 2))(image).mean((1, 2)))

class Vit(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(12, (4, 4), (4, 4), padding="VALID")(x)
        x = x.reshape(x.shape[0], -1, 12)
        x = x + self.param("pos_embedding", nn.initializers.zeros, (1, x.shape[1], 12))
        return nn.MultiHeadDotProductAttention(2)(x)

class Gpt(nn.Module):
    @nn.compact
    def __call__(self, tokens, deterministic=True):
        x = nn.Embed(50, 8)(tokens) + nn.Embed(32, 8, name="pos")(
            jnp.arange(tokens.shape[1])
        )
        return nn.Dropout(0.1, deterministic=deterministic)(nn.Dense(50)(x))

class Denoiser(nn.Module):
    @nn.compact
    def __call__(self, x, t, *, label):
        t = nn.Dense(8, name="time")(t[:, None] * jnp.ones((1, 4)))
        y = nn.Embed(10, 8, name="classes")(label)
        x = nn.Conv(8, (3, 3), name="first")(x) + (t + y)[:, None, None]
        return nn.Conv(3, (3, 3), name="last")(x)

class Keyed(nn.Module):
    @nn.compact
    def __call__(self, x, rng):
        return nn.Dense(3)(x + jax.random.normal(rng, x.shape))

class Series(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Conv(4, (3,))(x)

class Recurrent(nn.Module):
    @nn.compact
    def __call__(self, x):
        assert x.ndim == 3
        return nn.RNN(nn.LSTMCell(6))(x)

class Cell(nn.Module):
    @nn.compact
    def __call__(self, carry, x):
        return nn.LSTMCell(6)(carry, x)

class Nothing(nn.Module):
    @nn.compact
    def __call__(self):
        return self.param("table", nn.initializers.zeros, (3,))

class Scaling(nn.Module):
    def setup(self):
        self.scale = self.param("scale", nn.initializers.zeros, (7,))

    def scaled(self, x):
        return x * self.scale
"""
)
CASES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # Module: inputs its variables were made with, the first proposal.
    "Lenet": (("f32[1,28,28,1]",), ("float32[1,28,28,1]",)),
    "Pooled": (("f32[1,224,224,3]",), ("float32[1,224,224,3]",)),
    "Vit": (("f32[1,32,32,3]",), ("float32[1,32,32,3]",)),
    "Gpt": (("i32[1,8]",), ("int32[1,16]",)),
    "Denoiser": (
        ("f32[1,8,8,3]", "f32[1]", "label=i32[1]"),
        ("float32[1,224,224,3]", "float32[1]", "label=int32[1]"),
    ),
    "Keyed": (("f32[2,5]", "key<fry>[]"), ("float32[1,5]", "key<fry>[]")),
    "Series": (("f32[1,9,5]",), ("float32[1,32,5]",)),
    "Recurrent": (("f32[1,9,5]",), ("float32[1,16,5]",)),
    "Cell": (
        ("(f32[1,6], f32[1,6])", "f32[1,5]"),
        ("(float32[1,6], float32[1,6])", "float32[1,5]"),
    ),
    "Nothing": ((), ()),
}


def tree_of(spec: str, *inputs: str, **rest: Any) -> PlainTree:
    traced: Traced = load_subject(spec_of(spec, *inputs, **rest), quiet).traced
    return traced.tree()


def below(tree: PlainTree, *prefix: str) -> PlainTree:
    """Returns a tree wrapped in some levels."""
    leaves = tuple(((*prefix, *path), leaf) for path, leaf in tree.leaves)
    return PlainTree(leaves)


def proposed(spec: str, tree: PlainTree, method: str = "", **rest: Any) -> Proposals:
    # The module's own inputs are ignored, wrong ones too.
    asked = TryInputs(spec_of(spec, "float32[77]", **rest), tree, method)
    return service_calls.try_inputs(asked, quiet)


@pytest.mark.parametrize("name", CASES)
def test_likeliest_first_and_all_fit(name: str, write: Write) -> None:
    file = write("net.py", NETS)
    inputs, first = CASES[name]
    tree = tree_of(f"{file}:{name}", *inputs)
    found = proposed(f"{file}:{name}", tree)
    assert found.inputs[0] == first
    assert found.tried >= len(found.inputs)
    module: nn.Module = load_subject(spec_of(f"{file}:{name}", *inputs), quiet).module
    for texts in found.inputs:
        parsed = [parse_input(text, file.parent) for text in texts]
        args = [made(one.value) for one in parsed if not one.keyword]
        named = {one.keyword: made(one.value) for one in parsed if one.keyword}
        flags = {"train": False} if name == "Lenet" else {}
        variables = jax.eval_shape(
            lambda args=args, named=named, flags=flags: module.init(
                jax.random.key(0), *args, **named, **flags
            )
        )
        shapes = {leaf.path: leaf.value.shape for leaf in describe(variables).leaves}
        assert shapes == {path: leaf.shape for path, leaf in tree.leaves}


def test_mlp_takes_exactly_its_width() -> None:
    found = proposed("Mlp", tree_of("Mlp", "f32[1,784]"))
    assert found.inputs[0] == ("float32[1,784]",)
    assert all(text.endswith(",784]") for (text,) in found.inputs)


@pytest.mark.parametrize("prefix", [("state",), ("0", "model")])
def test_wrapped_and_bare_trees(prefix: tuple[str, ...], write: Write) -> None:
    file = write("net.py", NETS)
    tree = tree_of(f"{file}:Lenet", "f32[1,28,28,1]")
    first = ("float32[1,28,28,1]",)
    assert proposed(f"{file}:Lenet", below(tree, *prefix)).inputs[0] == first
    params = tree_of(f"{file}:Series", "f32[1,9,5]")
    bare = PlainTree(tuple((path[1:], leaf) for path, leaf in params.leaves))
    assert proposed(f"{file}:Series", bare).inputs[0] == ("float32[1,32,5]",)


def test_another_method(write: Write) -> None:
    file = write("net.py", NETS)
    tree = tree_of(f"{file}:Scaling", "f32[2,7]", method="scaled")
    found = proposed(f"{file}:Scaling", tree, "scaled")
    assert found.inputs[:2] == (("float32[1,7]",), ("float32[1,16,7]",))
    with pytest.raises(LoadModuleError, match="no method “scale”"):
        proposed(f"{file}:Scaling", tree, "scale")


def test_nothing_fits(write: Write) -> None:
    file = write(
        "net.py",
        HEAD + "class Net(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
        "        raise SystemExit(3)\n",
    )
    path: TreePath = ("params", "Dense_0", "kernel")
    leaf = tree_of("Mlp", "f32[1,3]").leaves[0][1]
    found = proposed(f"{file}:Net", PlainTree(((path, leaf),)))
    assert found.inputs == ()
    assert found.tried > 0
