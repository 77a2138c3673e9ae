"""Trains `DigitsNet` and writes the checkpoint of the sample.

Run it to make the sample again, about ten seconds on two CPU cores::

    pip install scikit-learn
    python resources/sample/train.py

It replaces, beside this file (or in ``--out``), the Orbax checkpoint ``digits``, the
held-out pictures ``digits_test.npz`` and ``digits_metrics.json``. Scikit-learn is
needed here alone, for the data: 1,797 pictures from "Optical Recognition of
Handwritten Digits" (E. Alpaydin and C. Kaynak, UCI Machine Learning Repository,
1998, CC BY 4.0), which are downsized to 8 by 8 pixels with values from 0 to 16.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
from digits import PIXEL_MAX, DigitsNet
from flax.training import train_state
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 0
EPOCHS = 40
BATCH_SIZE = 64
PEAK_LEARNING_RATE = 3e-3
TEST_IMAGES = 360

Batch = tuple[jax.Array, jax.Array]
log = logging.getLogger("train")


class TrainState(train_state.TrainState):
    """Flax's training state with the running statistics of the norms."""

    batch_stats: Any


class Data(NamedTuple):
    """Pictures, uint8 of shape ``(n, 8, 8, 1)``, and labels, int32 ``(n,)``."""

    images: np.ndarray
    labels: np.ndarray


def load_data() -> tuple[Data, Data]:
    """Returns the training and the held-out pictures, each digit equally often."""
    bunch = load_digits()
    images = bunch.images.astype(np.uint8)[..., None]
    labels = bunch.target.astype(np.int32)
    parts = train_test_split(
        images, labels, test_size=TEST_IMAGES, random_state=SEED, stratify=labels
    )
    return Data(parts[0], parts[2]), Data(parts[1], parts[3])


def shift(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Moves each picture by up to one pixel each way; zeros come in at the edge."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    top, left = rng.integers(0, 3, size=(2, len(images), 1))
    rows = (top + np.arange(8))[:, :, None]
    columns = (left + np.arange(8))[:, None, :]
    return padded[np.arange(len(images))[:, None, None], rows, columns]


def batches(data: Data, rng: np.random.Generator) -> Iterator[Batch]:
    """Yields one shuffled, shifted epoch in full batches; the rest is left out."""
    order = rng.permutation(len(data.labels))
    for start in range(0, len(order) - BATCH_SIZE + 1, BATCH_SIZE):
        chosen = order[start : start + BATCH_SIZE]
        images = shift(data.images[chosen], rng).astype(np.float32) / PIXEL_MAX
        yield jnp.asarray(images), jnp.asarray(data.labels[chosen])


def create_state(total_steps: int) -> TrainState:
    """Returns the state before the first step; AdamW on a one-cycle schedule."""
    model = DigitsNet()
    variables = model.init(jax.random.key(SEED), jnp.zeros((1, 8, 8, 1)))
    schedule = optax.cosine_onecycle_schedule(total_steps, PEAK_LEARNING_RATE)
    return TrainState.create(
        apply_fn=model.apply,
        params=variables["params"],
        batch_stats=variables["batch_stats"],
        tx=optax.adamw(schedule, weight_decay=1e-4),
    )


@jax.jit
def train_step(
    state: TrainState, batch: Batch, key: jax.Array
) -> tuple[TrainState, jax.Array]:
    """Makes one step; returns the new state and the mean loss of the batch."""
    images, labels = batch

    def loss_fn(params: Any) -> tuple[jax.Array, Any]:
        logits, updates = state.apply_fn(
            {"params": params, "batch_stats": state.batch_stats},
            images,
            train=True,
            mutable=["batch_stats"],
            rngs={"dropout": jax.random.fold_in(key, state.step)},
        )
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
        return losses.mean(), updates["batch_stats"]

    (loss, batch_stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads, batch_stats=batch_stats), loss


def count_correct(state: TrainState, data: Data) -> int:
    """Returns how many pictures get their own digit the highest score."""
    variables = {"params": state.params, "batch_stats": state.batch_stats}
    logits = jax.jit(state.apply_fn)(
        variables, data.images.astype(np.float32) / PIXEL_MAX
    )
    return int((np.asarray(logits).argmax(axis=1) == data.labels).sum())


def train(data: Data) -> tuple[TrainState, float]:
    """Trains from scratch; returns the last state and the last mean loss."""
    rng = np.random.default_rng(SEED)
    key = jax.random.key(SEED + 1)
    state = create_state(EPOCHS * (len(data.labels) // BATCH_SIZE))
    mean_loss = float("nan")
    for epoch in range(1, EPOCHS + 1):
        losses = []
        for batch in batches(data, rng):
            state, loss = train_step(state, batch, key)
            losses.append(loss)
        mean_loss = float(jnp.stack(losses).mean())
        log.info("epoch %2d of %d: loss %.4f", epoch, EPOCHS, mean_loss)
    return state, mean_loss


def save(out: Path, state: TrainState, test: Data, metrics: dict[str, Any]) -> None:
    """Writes the three files of the sample into a folder."""
    folder = out.resolve() / "digits"
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(folder, state, force=True)
    # Orbax looks only whether this file exists, but writes the absolute path of the
    # folder into it, which is of no use once the sample is shipped elsewhere.
    marker = folder / "commit_success.txt"
    if marker.exists():
        marker.write_text("Checkpoint commit was successful", encoding="utf-8")
    np.savez_compressed(out / "digits_test.npz", images=test.images, labels=test.labels)
    text = json.dumps(metrics, indent=2) + "\n"
    (out / "digits_metrics.json").write_text(text, encoding="utf-8")


def main() -> None:
    """Trains, measures on the held-out pictures and writes the sample."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("absl").setLevel(logging.WARNING)
    parser = argparse.ArgumentParser(description="Train the sample's digits net.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    out = parser.parse_args().out
    training, test = load_data()
    start = time.perf_counter()
    state, loss = train(training)
    correct = count_correct(state, test)
    metrics = {
        "steps": int(state.step),
        "epochs": EPOCHS,
        "seed": SEED,
        "train_images": len(training.labels),
        "train_loss": round(loss, 5),
        "test_images": len(test.labels),
        "test_correct": correct,
        "test_accuracy": round(correct / len(test.labels), 5),
        "seconds": round(time.perf_counter() - start, 1),
    }
    log.info("%s", metrics)
    out.mkdir(parents=True, exist_ok=True)
    save(out, state, test, metrics)


if __name__ == "__main__":
    main()
