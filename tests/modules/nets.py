"""Small Linen modules of every kind that the model room has to load."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import flax
import jax
import jax.numpy as jnp
from flax import linen as nn


class Mlp(nn.Module):
    """Dense layers with an activation between."""

    features: tuple[int, ...] = (8, 4)
    act: Callable[[jax.Array], jax.Array] = nn.relu
    dtype: Any = jnp.float32
    kernel_init: nn.initializers.Initializer = nn.initializers.lecun_normal()

    @nn.compact
    def __call__(self, x):
        for width in self.features:
            layer = nn.Dense(
                width, param_dtype=self.dtype, kernel_init=self.kernel_init
            )
            x = self.act(layer(x))
        return x


class Normed(nn.Module):
    """Convolution, BatchNorm and Dropout with a required flag."""

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Conv(4, (3, 3))(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dropout(0.5, deterministic=not train)(x)


class Block(nn.Module):
    width: int = 6

    @nn.compact
    def __call__(self, x, _=None):
        x = nn.Dense(self.width, kernel_init=nn.initializers.orthogonal())(x)
        self.sow("losses", "size", jnp.sum(x**2))
        return nn.LayerNorm()(x), None


class Scanned(nn.Module):
    """Stacked layers, one of them recomputed, one with shared weights."""

    @nn.compact
    def __call__(self, x):
        stack = nn.scan(
            Block,
            variable_axes={"params": 0, "losses": 0},
            split_rngs={"params": True},
            length=3,
        )
        x, _ = stack()(x, None)
        tied = nn.scan(
            Block,
            variable_broadcast="params",
            variable_axes={"losses": 0},
            split_rngs={"params": False},
            length=2,
        )
        x, _ = tied(name="tied")(x, None)
        x, _ = nn.remat(Block)(name="again")(x)
        return x


class Shared(nn.Module):
    """One submodule used twice, and one that no call reaches."""

    def setup(self):
        self.core = nn.Dense(5)
        self.blocks = [nn.Dense(5), nn.Dense(5)]
        self.unused = nn.Dense(2)

    def __call__(self, x):
        x = self.core(self.core(x))
        for block in self.blocks:
            x = block(x)
        return x

    def other(self, x):
        return self.unused(x)


class Boxed(nn.Module):
    """Partitioned parameters: a fact about each, never a level."""

    @nn.compact
    def __call__(self, x):
        init = nn.initializers.lecun_normal()
        x = nn.Dense(
            4, kernel_init=nn.with_logical_partitioning(init, ("embed", "mlp"))
        )(x)
        return nn.Dense(2, kernel_init=nn.with_partitioning(init, (None, "m")))(x)


@flax.struct.dataclass
class Axes:
    names: tuple[str, ...] = flax.struct.field(pytree_node=False)


class Odd(nn.Module):
    """Collections with static nodes, tuples, keys, scalars, empty and Python leaves."""

    @nn.compact
    def __call__(self, x):
        self.variable("params_axes", "kernel_axes", lambda: Axes(("embed", "mlp")))
        self.variable("state", "pair", lambda: (jnp.zeros(2), [jnp.ones(3, "int8")]))
        self.variable("state", "key", lambda: self.make_rng("noise"))
        self.variable("state", "keys", lambda: jax.random.split(jax.random.key(3), 2))
        self.variable("state", "count", lambda: 7)
        self.variable("state", "text", lambda: "hello")
        self.variable("state", "nothing", lambda: None)
        self.variable("state", "empty", dict)
        self.variable("state", "half", lambda: jnp.full((2, 2), 0.1, "bfloat16"))
        self.variable("state", "mean", lambda: jnp.mean(x, axis=0))
        return nn.Dense(3)(x)


class Lstm(nn.Module):
    """Draws its first carry from a stream of its own."""

    @nn.compact
    def __call__(self, x, lengths):
        cell = nn.OptimizedLSTMCell(4)
        carry = cell.initialize_carry(self.make_rng("lstm"), x[:, 0].shape)
        self.variable("carry", "first", lambda: carry[0] + self.drawn())
        return nn.RNN(cell)(x, initial_carry=carry, seq_lengths=lengths)

    def drawn(self):
        return jax.random.normal(self.make_rng("lstm"), (4,))


class Keyed(nn.Module):
    """Takes a random key as an input, as a VAE does."""

    @nn.compact
    def __call__(self, x, key, *, scale=1.0):
        noise = jax.random.normal(key, x.shape) * scale
        self.variable("state", "noise", noise.mean)
        return nn.Dense(2)(x + noise)


@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 3
    dtype: Any = jnp.float32
    acts: tuple[Callable[[jax.Array], jax.Array], ...] = (nn.relu,)


class Mode(enum.Enum):
    FAST = "fast"
    SLOW = "slow"


class Configured(nn.Module):
    """Takes a configuration, a class, a module and choices."""

    config: Config
    inner: nn.Module
    block: type[nn.Module] = nn.Dense
    mode: Mode = Mode.FAST
    pool: Literal["mean", "max"] = "mean"
    rate: float = 0.5
    flag: bool = True
    title: str = "relu"
    anything: Any = None

    @nn.compact
    def __call__(self, x):
        x = self.block(self.config.width, param_dtype=self.config.dtype)(x)
        return self.inner(self.config.acts[-1](x))


class Bare(nn.Module):
    """Has one submodule inside a bare jit, whose variables are lost."""

    @nn.compact
    def __call__(self, x):
        def inner(y):
            return nn.Dense(2, name="lost")(y)

        return jax.jit(inner)(x) + nn.Dense(2)(x)


class Table(nn.Module):
    """Needs no input at all."""

    size: int = 4

    @nn.compact
    def __call__(self):
        return self.param("table", nn.initializers.normal(), (self.size, 3))


class Huge(nn.Module):
    """More than a billion parameters."""

    @nn.compact
    def __call__(self, x):
        for _ in range(4):
            x = nn.Dense(16384)(x)
        return nn.Dense(2, name="small")(x)


def small_mlp(width: int = 3) -> Mlp:
    """Makes a narrow Mlp."""
    return Mlp(features=(width,))


def plain_tree(width: int = 3):
    return {"w": jnp.ones(width)}


Narrow = partial(Mlp, features=(2,))
ready = Mlp(features=(5,))
bound = Mlp(features=(5,)).bind({})
NUMBER = 3
