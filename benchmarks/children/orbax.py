"""Plain Orbax: saves the trees that are measured, and is the reference for listing.

Wanted: ``{"job": "save", "path", "leaves": [[keys, shape]], "compress"}``, or
``{"job": "metadata", "path"}``, which tells ``call_s`` and, with the monotonic time,
``done``.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
import orbax.checkpoint as ocp

from benchmarks.children.speech import now_ns, tell, wanted


def _save(path: Path, leaves: list[Any], *, compress: bool) -> None:
    random = np.random.default_rng(0)
    tree: dict[str, Any] = {}
    for keys, shape in leaves:
        level = tree
        for key in keys[:-1]:
            level = level.setdefault(key, {})
        level[keys[-1]] = random.standard_normal(shape, np.float32)
    handler = ocp.PyTreeCheckpointHandler(use_compression=compress)
    with ocp.Checkpointer(handler) as checkpointer:
        checkpointer.save(path, tree)


def _metadata(path: Path) -> None:
    start = time.perf_counter()
    with ocp.StandardCheckpointer() as checkpointer:
        found = checkpointer.metadata(path)
    leaves = len(jax.tree.leaves(found.item_metadata))
    tell(call_s=time.perf_counter() - start, done=now_ns(), leaves=leaves)


def main() -> None:
    """Does the job."""
    job = wanted()
    if job["job"] == "save":
        _save(Path(job["path"]), job["leaves"], compress=job["compress"])
    else:
        _metadata(Path(job["path"]))


if __name__ == "__main__":
    main()
