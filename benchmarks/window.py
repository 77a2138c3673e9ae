"""How soon the window is there, and a checkpoint of 1,000 leaves in it.

From the start of the process to the first picture, warm: one run before is not
counted. Each run has the same state folder, as a person's second start has.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import generate
from benchmarks.display import platforms
from benchmarks.figures import Figure, Reference
from benchmarks.processes import child
from benchmarks.workplace import Workplace

FIRST_WINDOW_S = 0.6
"""Most seconds to the first picture."""

LISTED_S = 1.0
"""Most seconds from the start to the rows of a 1,000-leaf checkpoint."""

_LEAVES = 1000


def run(place: Workplace) -> Iterator[Figure]:
    """Measures on each platform there is."""
    runs = place.size(5, 2)
    folder = generate.orbax_folder(place.file("leaves"), generate.layers(_LEAVES))
    reference = _orbax(folder, place.size(3, 1))
    with platforms() as found:
        for name, env in found.items():
            yield _first_picture(place, name, env, runs)
            argv = [str(folder), "--state-dir", str(place.empty(f"state-{name}"))]
            yield from _listed(name, env, argv, reference, runs)


def _first_picture(
    place: Workplace, name: str, env: Mapping[str, str], runs: int
) -> Figure:
    argv = ["--state-dir", str(place.empty(f"state-{name}"))]
    ours, empty = [], []
    for _ in range(runs + 1):
        empty.append(_painted("empty_window", {}, env))
        ours.append(_painted("window", {"argv": argv}, env))
    cpu = [
        statistics.median(cpu_s for _, cpu_s in found[1:]) for found in (ours, empty)
    ]
    return Figure(
        f"first window, {name}",
        tuple(seconds for seconds, _ in ours[1:]),
        target=FIRST_WINDOW_S,
        reference=Reference(
            "an empty QMainWindow", tuple(seconds for seconds, _ in empty[1:])
        ),
        note=f"processor time until then {cpu[0]:.2f} s, empty window {cpu[1]:.2f} s",
    )


def _painted(
    program: str, wanted: Mapping[str, object], env: Mapping[str, str]
) -> tuple[float, float]:
    """Returns the seconds from start to picture, and the processor time of that."""
    with child(program, wanted, env) as window:
        facts = window.hear()
        window.hear_all()
        return window.since_start_s(facts["painted"]), facts["cpu_s"]


def _listed(
    name: str,
    env: Mapping[str, str],
    argv: list[str],
    reference: Reference,
    runs: int,
) -> Iterator[Figure]:
    listed, filled = [], []
    for _ in range(runs + 1):
        with child("window", {"argv": argv, "list": True}, env) as window:
            facts: dict[str, int] = {}
            while "filled" not in facts:
                facts |= window.hear()
            window.hear_all()
            listed.append(window.since_start_s(facts["listed"]))
            filled.append(window.since_start_s(facts["filled"]))
    yield Figure(
        f"1,000-leaf Orbax listed, {name}",
        tuple(listed[1:]),
        target=LISTED_S,
        reference=reference,
    )
    yield Figure(f"… and expanded, leaves on the screen, {name}", tuple(filled[1:]))


def _orbax(folder: Path, runs: int) -> Reference:
    wanted = {"job": "metadata", "path": str(folder)}
    found = []
    for _ in range(runs + 1):
        with child("orbax", wanted, {"JAX_PLATFORMS": "cpu"}) as orbax:
            found.append(orbax.since_start_s(orbax.hear()["done"]))
    return Reference("Orbax's metadata, with its import", tuple(found[1:]))
