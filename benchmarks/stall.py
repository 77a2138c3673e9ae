"""How long the window's thread is held while a person works with 10,000 leaves.

A heartbeat on that thread notices when the event loop does not turn. Two trees: a
deep one as Orbax saves it, and a flat one as safetensors files are, where one node
has all the children.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks import generate
from benchmarks.display import platforms
from benchmarks.figures import Figure
from benchmarks.processes import child
from benchmarks.workplace import Workplace

LONGEST_S = 0.05
"""Longest time that the window's thread may be held."""

_NOTED_S = 0.03


def run(place: Workplace) -> Iterator[Figure]:
    """Measures on each platform there is."""
    shapes = generate.layers(place.size(10_000, 2_000))
    trees = {
        "deep": generate.orbax_folder(place.file("deep"), shapes),
        "flat": generate.safetensors_file(place.file("flat.safetensors"), shapes),
    }
    runs = place.size(3, 1)
    with platforms() as found:
        for name, env in found.items():
            for tree, path in trees.items():
                state = place.empty(f"state-{name}-{tree}")
                phases = _phases(path, state, env, runs)
                for phase, facts in phases.items():
                    yield _figure(f"{phase}, {tree} tree, {name}", facts)


def _phases(
    path: Path, state: Path, env: Mapping[str, str], runs: int
) -> dict[str, list[dict[str, Any]]]:
    """Returns what each run told of each phase."""
    found: dict[str, list[dict[str, Any]]] = {}
    argv = [str(path), "--state-dir", str(state)]
    # The first run is not counted: it finds nothing in the caches.
    for number in range(runs + 1):
        with child("stalls", {"argv": argv}, env) as window:
            for facts in window.hear_all():
                if number:
                    found.setdefault(facts["phase"], []).append(facts)
    return found


def _figure(name: str, facts: list[dict[str, Any]]) -> Figure:
    worst = max(facts, key=lambda one: float(one["wall_s"]))
    note = ""
    if worst["wall_s"] > _NOTED_S:
        note = f"of the longest, the thread itself worked {worst['cpu_s'] * 1e3:.0f} ms"
        if worst["stack"]:
            note += f"; seen in {worst['stack'][-1]}"
    return Figure(
        name,
        tuple(float(one["wall_s"]) for one in facts),
        target=LONGEST_S,
        by_worst=True,
        note=note,
    )
