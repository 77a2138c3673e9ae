"""Modules that consume random keys once, twice, and in every step of a loop."""

import jax
import jax.numpy as jnp
from flax import linen as nn


class Twice(nn.Module):
    @nn.compact
    def __call__(self, x):
        key = self.make_rng("noise")
        a = jax.random.normal(key, x.shape)
        b = jax.random.normal(key, x.shape)
        return nn.Dense(2)(x + a + b)


class Slices(nn.Module):
    @nn.compact
    def __call__(self, x):
        keys = jax.random.split(self.make_rng("noise"), 3)
        x = x + jax.random.normal(keys[0], x.shape)
        x = x + jax.random.uniform(keys[0], x.shape)
        return nn.Dense(2)(x)


class Fine(nn.Module):
    @nn.compact
    def __call__(self, x):
        keys = jax.random.split(self.make_rng("noise"), 3)
        y = x + jax.random.normal(keys[0], x.shape)
        y = y + jax.random.uniform(keys[1], x.shape)
        one, two = jax.random.fold_in(keys[2], 1), jax.random.fold_in(keys[2], 2)
        y = y + jax.random.randint(one, x.shape, 0, 5) + jax.random.permutation(two, x)
        y = nn.Dropout(0.5, deterministic=False)(y)
        attention = nn.MultiHeadDotProductAttention(2, dropout_rate=0.5)
        return attention(y[None], deterministic=False)


class Loop(nn.Module):
    @nn.compact
    def __call__(self, x):
        key = self.make_rng("noise")

        def step(c, t):
            return c + jax.random.normal(key, c.shape), None

        return nn.Dense(2)(jax.lax.scan(step, x, jnp.arange(3))[0])


class Body(nn.Module):
    @nn.compact
    def __call__(self, c, _):
        return nn.Dropout(0.5, deterministic=False)(nn.Dense(8)(c)), None


class Scan(nn.Module):
    split: bool = True

    @nn.compact
    def __call__(self, x):
        scan = nn.scan(
            Body,
            variable_axes={"params": 0},
            split_rngs={"params": True, "dropout": self.split},
            length=3,
        )
        return scan()(x, None)[0]
