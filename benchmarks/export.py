"""How fast a tree is written to each format, beside a plain copy of the same bytes.

The source is a safetensors file, whose leaves lie as plain bytes. The copy is made
right before each export, with its own sync, since disks have moods.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import generate
from benchmarks.figures import Figure, Reference
from benchmarks.generate import GIB, MIB
from benchmarks.processes import child
from benchmarks.workplace import Workplace

_LEAVES = 32
_KINDS = (
    ("safetensors", "safetensors", False),
    ("msgpack", "msgpack", False),
    ("npz", "npz", False),
    ("Orbax, unchecked", "orbax", False),
    ("Orbax, read back by plain Orbax", "orbax", True),
)


def run(place: Workplace) -> Iterator[Figure]:
    """Writes the tree with the reader's own code, in a process of its own."""
    nbytes = place.size(2 * GIB, 128 * MIB)
    runs = place.size(3, 1)
    shapes = generate.pieces(_LEAVES, nbytes)
    source = generate.safetensors_file(place.file("source.safetensors"), shapes)
    for name, format_name, check in _KINDS:
        copies, exports = [], []
        for _ in range(runs):
            copies.append(_copy(source, place.file("copy")))
            exports.append(_export(place, source, format_name, check=check))
        memory = f"peak memory {max(one['peak'] for one in exports) / 1e6:.0f} MB"
        if check:
            worst = max(one["peak_of_children"] for one in exports)
            memory += f", of the checking child {worst / 1e6:.0f} MB"
        yield Figure(
            f"{nbytes / GIB:g} GiB to {name}",
            tuple(float(one["seconds"]) for one in exports),
            reference=Reference("cp and sync", tuple(copies)),
            note=memory,
        )


def _copy(source: Path, copy: Path) -> float:
    start = time.perf_counter()
    if shutil.which("cp"):
        subprocess.run(["cp", source, copy], check=True)
    else:
        shutil.copyfile(source, copy)
    with copy.open("rb+") as file:
        os.fsync(file.fileno())
    seconds = time.perf_counter() - start
    copy.unlink()
    return seconds


def _export(
    place: Workplace, source: Path, format_name: str, *, check: bool
) -> dict[str, Any]:
    out = place.file("out")
    wanted = {
        "source": str(source),
        "out": str(out),
        "format": format_name,
        "check": check,
    }
    with child("export", wanted) as writer:
        facts = writer.hear_all()[-1]
    if out.is_dir():
        shutil.rmtree(out)
    else:
        out.unlink()
    return facts
