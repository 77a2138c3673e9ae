"""What looking inside is tried on in NNX: a network that Linen has too, and faults."""

from __future__ import annotations

import jax.numpy as jnp
from flax import nnx


class Attention(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.q = nnx.Linear(4, 4, rngs=rngs)
        self.k = nnx.Linear(4, 4, rngs=rngs)
        self.v = nnx.Linear(4, 4, rngs=rngs)

    def __call__(self, x):
        return nnx.softmax(self.q(x) @ self.k(x).T) @ self.v(x)


class Whole(nnx.Module):
    """The NNX form of ``faulty.Whole``."""

    def __init__(self, rngs: nnx.Rngs):
        self.attn = Attention(rngs)
        self.bn = nnx.BatchNorm(4, rngs=rngs)
        self.square = nnx.Linear(4, 4, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        return self.drop(self.square(self.bn(self.attn(x))))


class Logarithm(nnx.Module):
    def __call__(self, h):
        return jnp.log(h - 1e9)


class LogOfNegative(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.blocks = nnx.List([nnx.Linear(4, 3, rngs=rngs), Logarithm()])

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Sowing(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.inner = nnx.Linear(4, 3, rngs=rngs)

    def __call__(self, x):
        h = self.inner(x)
        self.sow(nnx.Intermediate, "h", h)
        return nnx.relu(h)
