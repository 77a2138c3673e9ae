"""Modules of every family, whose printed programs are run in a fresh process."""

from functools import partial

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import nnx


class Linen(nn.Module):
    """Convolution, normalisation, two dropouts of which one has a stream of its own."""

    width: int = 4

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.Dense(self.width)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.Dropout(0.5, rng_collection="noise", deterministic=not train)(x)
        x = nn.Dropout(0.25, deterministic=not train)(nn.relu(x))
        return {"logits": nn.Dense(3, dtype=jnp.bfloat16)(x), "hidden": (x, None)}

    def twice(self, x, scale=1.0):
        """Runs the module on twice the input."""
        return self(x * 2 * scale)


class Field(nn.Module):
    """Has its switch as a field."""

    deterministic: bool = True

    @nn.compact
    def __call__(self, x, *, mask):
        return nn.Dropout(0.5, deterministic=self.deterministic)(nn.Dense(4)(x)) * mask


class Nnx(nnx.Module):
    """The same in NNX."""

    def __init__(self, width: int = 4, *, rngs: nnx.Rngs):
        self.first = nnx.Linear(5, width, rngs=rngs)
        self.norm = nnx.BatchNorm(width, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.blocks = nnx.List([nnx.Linear(width, width, rngs=rngs) for _ in range(2)])

    def __call__(self, x):
        x = self.drop(nnx.relu(self.norm(self.first(x))))
        for block in self.blocks:
            x = block(x)
        return x, {"sum": x.sum()}


class Handed(nnx.Module):
    """Is handed its rngs with the call."""

    def __init__(self, rngs: nnx.Rngs):
        self.first = nnx.Linear(5, 4, rngs=rngs)
        self.drop = nnx.Dropout(0.5)

    def __call__(self, x, rngs: nnx.Rngs):
        return self.drop(self.first(x), rngs=rngs)


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["weight", "layers"],
    meta_fields=["act"],
)
class Tree:
    """A class registered as a pytree, with a function among its static fields."""

    def __init__(self, weight, layers, act=jax.nn.tanh):
        self.weight, self.layers, self.act = weight, layers, act

    def __call__(self, x):
        for layer in self.layers:
            x = self.act(x @ layer)
        return x * self.weight


def make_tree(key, width: int = 4) -> Tree:
    """Makes one from a key."""
    first, second = jax.random.split(key)
    layers = [
        jax.random.normal(first, (5, width)),
        jax.random.normal(second, (width, width)),
    ]
    return Tree(jnp.arange(width, dtype=jnp.float32), layers)


def make_dict(key):
    """Makes a plain dict of arrays."""
    return {"w": jax.random.normal(key, (5, 3)), "b": [jnp.ones(3), 2]}


def apply_dict(variables, x):
    """Runs the plain dict."""
    return x @ variables["w"] + variables["b"][0] * variables["b"][1]


def donating(variables, x):
    """Gives an input away, as a train step does."""
    step = jax.jit(lambda s: s + 1, donate_argnums=0)
    return step(variables["w"]) * x.sum()
