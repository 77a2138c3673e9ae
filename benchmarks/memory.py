"""What it costs to open a checkpoint of 4 GB: seconds, and memory without the model.

The files are real, not sparse. The window is the program's own, without a display;
store and reader hang below it. References read a smaller file, since they hold all
of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import generate
from benchmarks.asking import store
from benchmarks.figures import BYTES, Figure, Reference
from benchmarks.generate import GIB, MIB
from benchmarks.processes import Memory, child, memory_of
from benchmarks.workplace import Workplace

LISTED_S = 1.0
"""Most seconds to the list of a 4 GB file."""

MEMORY_BYTES = 200e6
"""Most memory of everything but the model."""

_LEAVES = 64
_MODEL = "model"
_FORMATS: dict[str, Callable[[Path, generate.Shapes], Path]] = {
    "msgpack": generate.msgpack_file,
    "safetensors": generate.safetensors_file,
}
_LOADERS = {
    "msgpack": "flax.serialization.msgpack_restore",
    "safetensors": "safetensors.numpy.load_file",
}


def run(place: Workplace) -> Iterator[Figure]:
    """Opens each file; the store's own time first, then with a window."""
    nbytes = place.size(4 * GIB, 256 * MIB)
    small = place.size(GIB, 64 * MIB)
    runs = place.size(5, 2)
    for name, write in _FORMATS.items():
        few = write(place.file(f"small.{name}"), generate.pieces(_LEAVES, small))
        seconds, held = _load_all(name, few)
        few.unlink()
        path = write(place.file(f"big.{name}"), generate.pieces(_LEAVES, nbytes))
        size = f"{nbytes / GIB:g} GiB"
        listed = Reference(f"{_LOADERS[name]}, {small / GIB:g} GiB", (seconds,))
        yield Figure(
            f"{name} of {size} listed, with the start of store and reader",
            tuple(_listed(place, path) for _ in range(runs)),
            target=LISTED_S,
            reference=listed,
        )
        yield _weighed(place, name, path, size, Reference(listed.name, (held,), BYTES))
        path.unlink()


def _listed(place: Workplace, path: Path) -> float:
    start = time.perf_counter()
    with store(place.empty("state")) as asked:
        asked.open(path)
        return time.perf_counter() - start


def _weighed(
    place: Workplace, name: str, path: Path, size: str, reference: Reference
) -> Figure:
    """Weighs window, store and reader once the file is on the screen."""
    argv = [str(path), "--state-dir", str(place.empty(f"window-{name}"))]
    wanted = {"argv": argv, "list": True, "stay": True}
    with child("window", wanted, {"QT_QPA_PLATFORM": "offscreen"}) as window:
        while "filled" not in window.hear():
            pass
        parts: dict[str, Memory] = {}
        for process in window.processes():
            words = process.cmdline()
            part = words[-1] if words[-1] in {"store", "reader", _MODEL} else "window"
            alone = memory_of([process])
            known = parts.get(part, Memory(0, 0))
            parts[part] = Memory(known.rss + alone.rss, known.pss + alone.pss)
    counted = [memory for part, memory in parts.items() if part != _MODEL]
    shares = ", ".join(f"{part} {one.pss / 1e6:.0f}" for part, one in parts.items())
    engines = sum(parts[part].pss for part in parts if part in {"store", "reader"})
    rss = sum(memory.rss for memory in counted)
    return Figure(
        f"{name} of {size} open: store and reader",
        (float(engines),),
        BYTES,
        MEMORY_BYTES,
        reference=reference,
        note=(
            f"PSS, shared pages divided, in MB: {shares}; with the window"
            f" {sum(memory.pss for memory in counted) / 1e6:.0f}, as sum of RSS"
            f" {rss / 1e6:.0f}"
        ),
    )


def _load_all(name: str, path: Path) -> tuple[float, float]:
    """Returns seconds and peak memory of loading a whole file in a process."""
    with child("load_all", {"format": name, "path": str(path)}) as loader:
        facts = loader.hear_all()[-1]
    return float(facts["seconds"]), float(facts["peak"])
