"""A small convolutional net for 8 by 8 pictures of handwritten digits.

This is the pretrained side of the sample. The folder ``digits`` beside this file is
an Orbax checkpoint of it, written by ``train.py`` after training on the UCI digits
that scikit-learn carries: ``step``, ``params``, ``batch_stats`` and ``opt_state`` of
a Flax ``TrainState``. The test pictures are in ``digits_test.npz``, the accuracy
reached on them in ``digits_metrics.json``.

The part worth keeping is `Encoder`. `DigitsNet` holds it as ``encoder``; the class
in ``classifier.py`` holds the same module as ``backbone``. So the variables to move
are ``params/encoder`` and ``batch_stats/encoder``.

By hand, without the inspector::

    import numpy as np, orbax.checkpoint as ocp
    from digits import DigitsNet

    state = ocp.StandardCheckpointer().restore(absolute_path_of_the_folder)
    images = np.load("digits_test.npz")["images"].astype("float32") / 16
    logits = DigitsNet().apply(
        {"params": state["params"], "batch_stats": state["batch_stats"]}, images
    )
"""

from __future__ import annotations

import jax
from flax import linen as nn

NUM_DIGITS = 10
"""Classes of the pretrained head: the digits 0 to 9."""

PIXEL_MAX = 16
"""Largest pixel value of the UCI digits; inputs are pixels divided by it."""


class Encoder(nn.Module):
    """Turns pictures into feature vectors: convolution, norm and pooling, repeated.

    Attributes:
        features: Channels after each of the stages; all but the first stage begin
            with a 2 by 2 pooling, so 8 by 8 pictures allow four stages.
        dropout_rate: Share of the features that training sets to zero.
    """

    features: tuple[int, ...] = (16, 32, 64)
    dropout_rate: float = 0.3

    @nn.compact
    def __call__(self, x: jax.Array, train: bool = False) -> jax.Array:
        """Encodes pictures.

        Args:
            x: Pictures, float32 of shape ``(batch, 8, 8, 1)``, values from 0 to 1.
            train: Normalise by the batch and drop features; needs the random stream
                ``dropout`` and the collection ``batch_stats`` to be mutable.

        Returns:
            Feature vectors, float32 of shape ``(batch, 2 * 2 * features[-1])`` for
            three stages.
        """
        for stage, channels in enumerate(self.features, start=1):
            if stage > 1:
                x = nn.max_pool(x, (2, 2), strides=(2, 2))
            x = nn.Conv(channels, (3, 3), use_bias=False, name=f"conv{stage}")(x)
            x = nn.BatchNorm(use_running_average=not train, name=f"norm{stage}")(x)
            x = nn.relu(x)
        x = x.reshape((x.shape[0], -1))
        return nn.Dropout(self.dropout_rate, deterministic=not train)(x)


class DigitsNet(nn.Module):
    """Names the digit in a picture.

    Attributes:
        num_classes: Size of the head's output.
    """

    num_classes: int = NUM_DIGITS

    def setup(self) -> None:
        """Creates the encoder and the head under the names the checkpoint has."""
        self.encoder = Encoder()
        self.head = nn.Dense(self.num_classes)

    def __call__(self, x: jax.Array, train: bool = False) -> jax.Array:
        """Scores the classes.

        Args:
            x: Pictures, float32 of shape ``(batch, 8, 8, 1)``, values from 0 to 1.
            train: As in `Encoder.__call__`.

        Returns:
            Logits, float32 of shape ``(batch, num_classes)``.
        """
        return self.head(self.encoder(x, train=train))
