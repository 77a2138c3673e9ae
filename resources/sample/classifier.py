"""A new task on the pretrained encoder: is the digit even or odd?

This is the target side of the sample. `Classifier` holds the `Encoder` of
``digits.py`` as ``backbone`` (the checkpoint calls it ``encoder``) and puts a new,
deeper head on it. Drag ``params/encoder`` of the checkpoint onto
``params/backbone``: every leaf fits, and ``batch_stats`` travels along. Drag the
whole checkpoint instead, and the plan shows what does not fit: ``head/kernel`` has
another shape, ``hidden`` has no counterpart.

The sibling import works when this file is loaded by its path, because its folder is
then on the module search path.
"""

from __future__ import annotations

import jax
from digits import Encoder
from flax import linen as nn


class Classifier(nn.Module):
    """Sorts pictures into a few classes with a pretrained backbone.

    Attributes:
        num_classes: Size of the head's output; 2 for even and odd.
        hidden_size: Width of the layer between the backbone and the head.
    """

    num_classes: int = 2
    hidden_size: int = 32

    def setup(self) -> None:
        """Creates the backbone, to be filled from the checkpoint, and a new head."""
        self.backbone = Encoder()
        self.hidden = nn.Dense(self.hidden_size)
        self.head = nn.Dense(self.num_classes)

    def __call__(self, x: jax.Array, train: bool = False) -> jax.Array:
        """Scores the classes.

        Args:
            x: Pictures, float32 of shape ``(batch, 8, 8, 1)``, values from 0 to 1.
            train: Normalise by the batch and drop features; needs the random stream
                ``dropout`` and the collection ``batch_stats`` to be mutable.

        Returns:
            Logits, float32 of shape ``(batch, num_classes)``.
        """
        features = self.backbone(x, train=train)
        return self.head(nn.relu(self.hidden(features)))
