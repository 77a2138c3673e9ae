"""The sample that ships is real: it restores with plain Orbax and it has learnt."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from inspector import resources

PROGRAM = """
import json, sys
import jax, numpy as np, orbax.checkpoint as ocp
from classifier import Classifier
from digits import DigitsNet

folder = sys.argv[1]
state = ocp.StandardCheckpointer().restore(folder + "/digits")
stored = np.load(folder + "/digits_test.npz")
images = stored["images"].astype(np.float32) / 16
variables = {name: state[name] for name in ("params", "batch_stats")}
logits = jax.jit(DigitsNet().apply)(variables, images)
target = jax.eval_shape(Classifier().init, jax.random.key(0), images[:1])
shapes = lambda tree: {
    jax.tree_util.keystr(path, simple=True, separator="/"): [*leaf.shape]
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
}
json.dump({
    "keys": sorted(state),
    "step": int(state["step"]),
    "correct": int((np.argmax(logits, 1) == stored["labels"]).sum()),
    "source": shapes(variables),
    "target": shapes(target),
}, sys.stdout)
"""


@cache
def restored() -> Any:
    """Restores the sample in a child process, once; it imports nothing of ours.

    The child's path is the sample's folder, so that the sibling import in
    ``classifier.py`` is tried as a person's module would do it.
    """
    folder = resources.path("sample")
    done = subprocess.run(
        [sys.executable, "-B", "-c", PROGRAM, str(folder)],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)


def metrics() -> Any:
    return json.loads(resources.path("sample/digits_metrics.json").read_text("utf-8"))


def below(tree: dict[str, list[int]], prefix: str) -> dict[str, list[int]]:
    return {k.removeprefix(prefix): v for k, v in tree.items() if k.startswith(prefix)}


def test_checkpoint_is_a_train_state() -> None:
    assert restored()["keys"] == ["batch_stats", "opt_state", "params", "step"]
    assert restored()["step"] == metrics()["steps"] > 0


def test_accuracy_on_the_held_out_pictures_is_the_recorded_one() -> None:
    assert metrics()["test_images"] == 360
    # Another CPU may add in another order, which can turn a picture on the edge.
    assert abs(restored()["correct"] - metrics()["test_correct"]) <= 1
    assert metrics()["test_correct"] / 360 > 0.97


def test_pictures_are_uci_digits() -> None:
    with np.load(resources.path("sample/digits_test.npz")) as stored:
        images, labels = stored["images"], stored["labels"]
    assert images.shape == (360, 8, 8, 1)
    assert images.dtype == np.uint8
    assert images.max() == 16
    assert np.bincount(labels).min() >= 34


def test_encoder_fits_the_backbone_leaf_by_leaf() -> None:
    source, target = restored()["source"], restored()["target"]
    for collection, leaves in (("params", 9), ("batch_stats", 6)):
        encoder = below(source, f"{collection}/encoder/")
        assert len(encoder) == leaves
        assert encoder == below(target, f"{collection}/backbone/")


def test_new_head_does_not_fit() -> None:
    source, target = restored()["source"], restored()["target"]
    assert source["params/head/kernel"] == [256, 10]
    assert target["params/head/kernel"] == [32, 2]
    assert target["params/hidden/kernel"] == [256, 32]


def test_sample_is_small_and_names_no_folder_of_its_maker() -> None:
    files = [p for p in resources.path("sample").rglob("*") if p.is_file()]
    shipped = [p for p in files if "__pycache__" not in p.parts]
    assert sum(p.stat().st_size for p in shipped) < 1_500_000
    marker = Path(resources.path("sample/digits/commit_success.txt"))
    assert marker.read_text("utf-8") == "Checkpoint commit was successful"
