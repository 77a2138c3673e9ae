"""Models that the benchmarks load as a person's file: a ResNet-50, a small MLP.

Plain Flax, imported by the model process and by the reference alike.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


class Bottleneck(nn.Module):
    """Three convolutions around a shortcut.

    Attributes:
        features: Channels of the first two; the last has four times as many.
        stride: Stride of the second.
    """

    features: int
    stride: int = 1

    @nn.compact
    def __call__(self, x: jax.Array, train: bool = False) -> jax.Array:
        """Runs the block on ``x`` of shape ``[N, H, W, C]``."""
        norm = partial(nn.BatchNorm, use_running_average=not train)
        conv = partial(nn.Conv, use_bias=False)
        strides = (self.stride, self.stride)
        y = nn.relu(norm()(conv(self.features, (1, 1))(x)))
        y = nn.relu(norm()(conv(self.features, (3, 3), strides)(y)))
        y = norm()(conv(4 * self.features, (1, 1))(y))
        if y.shape != x.shape:
            x = norm()(conv(4 * self.features, (1, 1), strides)(x))
        return nn.relu(x + y)


class ResNet50(nn.Module):
    """He et al. 2015 with strides in the 3 by 3 convolutions: 25.6 M parameters.

    Attributes:
        classes: Width of the output.
        stages: Blocks of each stage.
    """

    classes: int = 1000
    stages: tuple[int, ...] = (3, 4, 6, 3)

    @nn.compact
    def __call__(self, x: jax.Array, train: bool = False) -> jax.Array:
        """Classifies images of shape ``[N, H, W, 3]``."""
        x = nn.Conv(64, (7, 7), (2, 2), use_bias=False)(x)
        x = nn.relu(nn.BatchNorm(use_running_average=not train)(x))
        pool: Any = nn.max_pool
        x = pool(x, (3, 3), (2, 2), "SAME")
        for stage, blocks in enumerate(self.stages):
            for block in range(blocks):
                stride = 2 if stage and not block else 1
                x = Bottleneck(64 * 2**stage, stride)(x, train)
        return nn.Dense(self.classes)(jnp.mean(x, (1, 2)))


class Mlp(nn.Module):
    """A few small layers, whose call takes next to nothing.

    Attributes:
        widths: Width of each layer.
    """

    widths: tuple[int, ...] = (64, 64, 10)

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Runs on ``x`` of shape ``[N, C]``."""
        for width in self.widths[:-1]:
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(self.widths[-1])(x)


class Endless(nn.Module):
    """Never returns when it is run in train mode; to be stopped."""

    @nn.compact
    def __call__(self, x: jax.Array, train: bool = False) -> jax.Array:
        """Runs on ``x`` of shape ``[N, C]``."""
        x = nn.Dense(8)(x)
        if train:
            x = jax.lax.while_loop(lambda y: jnp.all(y < jnp.inf), lambda y: y * 0, x)
        return x
