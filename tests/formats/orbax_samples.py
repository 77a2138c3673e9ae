"""Checkpoints that plain Orbax of the tested version writes, made in a child process.

Run as a program with one argument, the folder to fill. Orbax keeps threads and event
loops, so no test imports it into the test process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]

WIDE = np.arange(40 * 30, dtype=np.float32).reshape(40, 30)
"""What the leaf ``wide`` of every sample holds."""


def make(folder: Path) -> Path:
    """Fills a folder with the samples and returns it."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.formats.orbax_samples", folder],
        cwd=ROOT,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def _tree(jax: Any) -> dict[str, Any]:
    return {
        "wide": WIDE,
        "layers": [jax.numpy.ones((2, 3), jax.numpy.bfloat16), {"b": np.arange(3)}],
        "keys": jax.random.split(jax.random.key(3), 4),
        "none": None,
        "empty": {},
        "step": 7,
        "text": "hello",
    }


def _fill(folder: Path) -> None:
    import jax  # noqa: PLC0415 - in the child only
    import orbax.checkpoint as ocp  # noqa: PLC0415 - in the child only

    tree = _tree(jax)
    for name, options in {
        "ocdbt": {},
        "zarr3": {"use_zarr3": True},
        "folders": {"use_ocdbt": False},
        "raw": {"use_compression": False},
    }.items():
        handler = ocp.PyTreeCheckpointHandler(**options)
        with ocp.Checkpointer(handler) as checkpointer:
            checkpointer.save(folder / name, tree)
    small = {"w": np.ones(2, np.float32)}
    names = ("state", "meta", "array", "rng")
    with ocp.CheckpointManager(folder / "run", item_names=names) as manager:
        for step in (1, 2, 10):
            manager.save(
                step,
                args=ocp.args.Composite(
                    state=ocp.args.StandardSave({"w": small["w"] * step}),
                    meta=ocp.args.JsonSave({"lr": 0.1, "tags": ["a", None]}),
                    array=ocp.args.ArraySave(np.arange(4)),
                    rng=ocp.args.JaxRandomKeySave(jax.random.key(5)),
                ),
            )
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(folder / "bare", np.arange(6.0))


if __name__ == "__main__":
    _fill(Path(sys.argv[1]))
