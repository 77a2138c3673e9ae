"""What training code does with an exported file; knows nothing of the inspector.

``plain_check.py EXPORTED SAMPLE SEED`` restores the file with its own library (a
folder with Orbax, a file with Flax), calls the sample's `Classifier` on it and
compares with the original net: every number of the moved part and of the new part,
and every output, bit for bit. Prints what it found as one JSON object. Run as a
program of its own: the test's process has imported the inspector.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import flax.serialization
import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp


def restore(path: Path) -> Any:
    """Returns the tree of an exported file, without saying what it should be."""
    if path.is_dir():
        with ocp.StandardCheckpointer() as checkpointer:
            return checkpointer.restore(path.resolve())
    return flax.serialization.msgpack_restore(path.read_bytes())


def expected(original: Any, classifier: Any, seed: int) -> Any:
    """Returns the classifier's own first values with the trained encoder in them."""
    first = classifier.init(
        {"params": jax.random.key(seed)}, jnp.zeros((1, 8, 8, 1), jnp.float32)
    )
    first["params"]["backbone"] = original["params"]["encoder"]
    first["batch_stats"]["backbone"] = original["batch_stats"]["encoder"]
    return first


def differing(found: Any, wanted: Any) -> list[str]:
    """Returns the paths of leaves that are not the same, bit for bit."""
    ours, theirs = (
        {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}
        for leaves in map(jax.tree_util.tree_leaves_with_path, (found, wanted))
    )
    missing = sorted(set(ours) ^ set(theirs))
    return missing + [
        path
        for path in sorted(set(ours) & set(theirs))
        if bits(ours[path]) != bits(theirs[path])
    ]


def bits(array: Any) -> tuple[str, tuple[int, ...], bytes]:
    """Returns everything about an array."""
    plain = np.asarray(array)
    return str(plain.dtype), plain.shape, plain.tobytes()


def features(model: Any, part: str, variables: Any, images: Any) -> Any:
    """Returns what a part of a model makes of pictures, compiled."""
    apply = jax.jit(
        lambda v, x: model.apply(v, x, method=lambda m, y: getattr(m, part)(y))
    )
    return apply(variables, images)


def check(exported: Path, sample: Path, seed: int) -> dict[str, object]:
    """Compares an exported file with what it has to be."""
    sys.path.insert(0, str(sample))
    classifier = importlib.import_module("classifier").Classifier()
    net = importlib.import_module("digits").DigitsNet()
    state = restore(sample / "digits")
    original = {name: state[name] for name in ("params", "batch_stats")}
    images = np.load(sample / "digits_test.npz")["images"].astype(np.float32) / 16
    found, wanted = restore(exported), expected(original, classifier, seed)
    logits = jax.jit(classifier.apply)
    return {
        "differing": differing(found, wanted),
        "leaves": len(jax.tree.leaves(found)),
        "same_features": bits(features(classifier, "backbone", found, images))
        == bits(features(net, "encoder", original, images)),
        "same_outputs": bits(logits(found, images)) == bits(logits(wanted, images)),
        "shape": list(logits(found, images).shape),
        "knows_inspector": any(name.startswith("inspector") for name in sys.modules),
    }


if __name__ == "__main__":
    file, folder, number = sys.argv[1:]
    sys.stdout.write(json.dumps(check(Path(file), Path(folder), int(number))) + "\n")
