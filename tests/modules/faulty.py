"""Small modules that make bad values, each in its own way."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import linen as nn


class LogOfNegative(nn.Module):
    """Dense, the logarithm of something far below zero, Dense."""

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(3, name="a")(x)
        h = Shifted(name="shift")(h)
        return nn.Dense(2, name="b")(h)


class Shifted(nn.Module):
    @nn.compact
    def __call__(self, h):
        return jnp.log(h - 1e9)


class Normed(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        x = nn.BatchNorm(use_running_average=True)(x)
        return nn.Dense(2)(x)


class Layers(nn.Module):
    """Five layers in a list, so that their names are layers_0 to layers_4."""

    def setup(self):
        self.layers = [nn.Dense(3) for _ in range(5)]

    def __call__(self, x):
        for layer in self.layers:
            x = nn.relu(layer(x))
        return x


class RootOrZero(nn.Module):
    """The forward pass is fine; the derivative of the unselected root is not."""

    @nn.compact
    def __call__(self, x):
        return UnsafeRoot(name="unsafe")(x)


class UnsafeRoot(nn.Module):
    @nn.compact
    def __call__(self, x):
        shift = self.param("shift", nn.initializers.zeros, x.shape)
        x = x + shift
        return jnp.where(x > 0, jnp.sqrt(x), 0).sum()


class Length(nn.Module):
    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.ones, ())
        return jnp.linalg.norm(x * scale)


class Masked(nn.Module):
    """Infs and NaNs that are meant, and none of them reaches an output."""

    @nn.compact
    def __call__(self, x):
        scores = nn.Dense(4)(x)
        scores = jnp.where(jnp.arange(4) < 2, scores, -jnp.inf)
        safe = jnp.where(x > 0, jnp.log(x), 0.0)
        return nn.softmax(scores) + safe.sum()


class Loop(nn.Module):
    """The second of four turns takes the logarithm of a negative number."""

    @nn.compact
    def __call__(self, x):
        bias = self.param("bias", nn.initializers.zeros, ())

        def turn(carry, step):
            return carry - 1.0, jnp.log(carry + bias + 0.0 * step)

        _, rows = jax.lax.scan(turn, x.sum() * 0 + 0.5, jnp.arange(4.0))
        return rows


class Swallowed(nn.Module):
    @nn.compact
    def __call__(self, x):
        return jnp.argmax(jnp.log(nn.Dense(3)(x) - 1e9), axis=-1)


class Overflow(nn.Module):
    @nn.compact
    def __call__(self, x):
        return jnp.exp(nn.Dense(2)(x) + 1e3)


class Overflowed(nn.Module):
    """Inf over Inf."""

    @nn.compact
    def __call__(self, x):
        grown = jnp.exp(nn.Dense(2)(x) + 1e3)
        return grown / grown.sum()


class Tokens(nn.Module):
    @nn.compact
    def __call__(self, ids):
        return nn.Dense(2)(nn.Embed(4, 2, name="tok")(ids))


class AutoEncoder(nn.Module):
    """Methods of other names, a sowed value, one Dense called twice."""

    def setup(self):
        self.narrow = nn.Dense(2)
        self.wide = nn.Dense(3)

    def encode(self, x):
        h = self.narrow(x)
        self.sow("intermediates", "h", h)
        return h

    def decode(self, h):
        return self.wide(h)

    def __call__(self, x):
        return self.decode(self.encode(self.decode(self.encode(x))))


class Attention(nn.Module):
    """Query, key and value as three square layers of their own."""

    @nn.compact
    def __call__(self, x):
        q = nn.Dense(4, name="q")(x)
        k = nn.Dense(4, name="k")(x)
        v = nn.Dense(4, name="v")(x)
        return nn.softmax(q @ k.T) @ v


class Whole(nn.Module):
    """What planted faults are looked for in."""

    epsilon: float = 1e-5

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = Attention(name="attn")(x)
        x = nn.BatchNorm(
            use_running_average=not train, epsilon=self.epsilon, name="bn"
        )(x)
        x = nn.Dense(4, name="square")(x)
        return nn.Dropout(0.5, deterministic=not train)(x)


class Step(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        return nn.Dense(4)(x), None


class Stacked(nn.Module):
    """One layer by itself, four in a scan, one recomputed."""

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4, name="first")(x)
        stack = nn.scan(
            Step, variable_axes={"params": 0}, split_rngs={"params": True}, length=3
        )
        x, _ = stack(name="stack")(x, None)
        return nn.remat(nn.Dense)(4, name="again")(x)


class Noisy(nn.Module):
    """Dropout after dropout, so that the second mask depends on its own path."""

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Dropout(0.5, deterministic=not train)(nn.Dense(8)(x))
        return Drop(name="drop")(nn.Dense(8)(x), train)


class Drop(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        return nn.Dropout(0.5, deterministic=not train)(x)
