"""Pretrained nets and the new modules that hold them under other names."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn


class ResNetBlock(nn.Module):
    """Two convolutions, each with BatchNorm, and what came in added."""

    filters: int

    @nn.compact
    def __call__(self, x: jax.Array, train: bool = False) -> jax.Array:
        y = nn.Conv(self.filters, (3, 3), use_bias=False)(x)
        y = nn.relu(nn.BatchNorm(use_running_average=not train)(y))
        y = nn.Conv(self.filters, (3, 3), use_bias=False)(y)
        y = nn.BatchNorm(use_running_average=not train)(y)
        return nn.relu(x + y)


class ResNet(nn.Module):
    """The names of flax's own ImageNet example, few blocks and filters."""

    classes: int = 10
    filters: int = 16
    blocks: int = 1

    @nn.compact
    def __call__(self, x: jax.Array, train: bool = False) -> jax.Array:
        x = nn.Conv(self.filters, (7, 7), (2, 2), use_bias=False, name="conv_init")(x)
        x = nn.relu(nn.BatchNorm(use_running_average=not train, name="bn_init")(x))
        for _ in range(self.blocks):
            x = ResNetBlock(self.filters)(x, train)
        return nn.Dense(self.classes)(x.mean((1, 2)))


class Transformer(nn.Module):
    """Pre-norm layers."""

    layers: int = 2

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        for index in range(self.layers):
            y = nn.LayerNorm(name=f"norm_{index}")(x)
            x = x + nn.MultiHeadDotProductAttention(2, name=f"attention_{index}")(y)
            x = x + nn.Dense(x.shape[-1], name=f"mlp_{index}")(nn.LayerNorm()(x))
        return x


class Layer(nn.Module):
    """One step of `Scanned`."""

    @nn.compact
    def __call__(self, x: jax.Array, _: None) -> tuple[jax.Array, None]:
        return nn.tanh(nn.Dense(x.shape[-1])(x)), None


class Scanned(nn.Module):
    """Layers whose parameters are stacked on axis 0."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        scan = nn.scan(
            Layer,
            variable_axes={"params": 0},
            split_rngs={"params": True},
            length=3,
        )
        out, _ = scan(name="layers")(x, None)
        return out


class Recurrent(nn.Module):
    """An LSTM over time."""

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        out: jax.Array = nn.RNN(nn.LSTMCell(5), name="rnn")(x)  # type: ignore[assignment]  # no carry asked for
        return out


class Headed(nn.Module):
    """A pretrained net under another attribute name, with a head of its own."""

    backbone: nn.Module
    outputs: int = 2

    def setup(self) -> None:
        self.head = nn.Dense(self.outputs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.head(self.features(x))

    def features(self, x: jax.Array) -> jax.Array:
        out: jax.Array = self.backbone(x)
        return out


class Nested(nn.Module):
    """`Headed` one level deeper."""

    model: Headed

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.model(x)

    def features(self, x: jax.Array) -> jax.Array:
        return self.model.features(x)


def pretrained(module: nn.Module, shape: tuple[int, ...]) -> Any:
    """Returns variables of a module of which no leaf has its initial value."""
    variables = module.init(jax.random.key(7), jnp.zeros(shape))
    leaves, structure = jax.tree.flatten(variables)
    keys = jax.random.split(jax.random.key(8), len(leaves))
    moved = [
        leaf + 0.1 * jax.random.uniform(key, leaf.shape)
        for leaf, key in zip(leaves, keys, strict=True)
    ]
    return jax.tree.unflatten(structure, moved)


def headed_resnet() -> Headed:
    """`Headed` around `ResNet`."""
    return Headed(ResNet())


def nested_resnet() -> Nested:
    """`Nested` around `ResNet`."""
    return Nested(Headed(ResNet()))


def headed_transformer() -> Headed:
    """`Headed` around `Transformer`."""
    return Headed(Transformer())


def headed_scanned() -> Headed:
    """`Headed` around `Scanned`."""
    return Headed(Scanned())


def headed_recurrent() -> Headed:
    """`Headed` around `Recurrent`."""
    return Headed(Recurrent())
