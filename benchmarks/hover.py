"""How soon a plan is there while the mouse hovers, and a busy reader does not matter.

A hover is what the window asks for each row that the mouse comes over: the plan, and
then the marks of the rows on the screen. The window's own share is in `stall`.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import generate
from benchmarks.asking import Store, store
from benchmarks.figures import Figure
from benchmarks.generate import GIB, MIB
from benchmarks.workplace import Workplace
from inspector.engine.messages import reading, viewing
from inspector.errors import CancelledError, ErrorInfo

HOVER_S = 0.05
"""Most seconds from the mouse over a row to its marks."""

_SCREEN_ROWS = 40
_BIG_ROW = 4096
_SLICE = 64


def run(place: Workplace) -> Iterator[Figure]:
    """Measures with an idle and with a busy reader, for two sizes of trees."""
    nbytes = place.size(4 * GIB, 256 * MIB)
    shape = (nbytes // 4 // _BIG_ROW, _BIG_ROW)
    big = generate.safetensors_file(place.file("big.safetensors"), {("w",): shape})
    for leaves in (1_000, 10_000):
        yield from _hovers(place, big, leaves, nbytes)


def _hovers(place: Workplace, big: Path, leaves: int, nbytes: int) -> Iterator[Figure]:
    runs = place.size(50, 8)
    shapes = generate.layers(leaves)
    tree = generate.orbax_folder(place.file(f"tree-{leaves}"), shapes)
    screen = tuple(itertools.islice(shapes, _SCREEN_ROWS))
    name = f"{leaves:,} × {leaves:,} leaves"
    busy_name = f"hover, statistics of {nbytes / GIB:g} GiB run, {name}"
    with store(place.empty("state")) as asked:
        asked.open(big)
        source = asked.open(tree).id
        asked.copy(source)

        def hover() -> None:
            asked.marks(asked.plan(source).plan, screen)

        yield Figure(f"first hover, {name}", (_seconds(hover),), target=HOVER_S)
        idle = tuple(_seconds(hover) for _ in range(runs))
        yield Figure(f"hover, idle reader, {name}", idle, target=HOVER_S)
        with _statistics_running(asked) as still_runs:
            busy = _while(still_runs, hover, runs)
            slices = _while(still_runs, lambda: _slice(asked, nbytes), runs)
        yield Figure(busy_name, tuple(busy), target=HOVER_S)
        slice_name = f"{_SLICE}×{_SLICE} numbers of that leaf meanwhile"
        yield Figure(slice_name, tuple(slices))


def _seconds(action: Callable[[], None]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _while(
    condition: Callable[[], bool], action: Callable[[], None], most: int
) -> list[float]:
    """Times an action as long as a condition held until its end, at least once."""
    found: list[float] = []
    while len(found) < most:
        seconds = _seconds(action)
        if found and not condition():
            break
        found.append(seconds)
    return found


def _slice(asked: Store, nbytes: int) -> None:
    start = nbytes // 4 // _BIG_ROW // 2
    region = ((start, start + _SLICE), (0, _SLICE))
    asked.ask(viewing.ReadNumbers("s1", ("w",), region), reading.Numbers)


@contextmanager
def _statistics_running(asked: Store) -> Iterator[Callable[[], bool]]:
    """Statistics of the big leaf for the body; gives whether they still run."""
    started, ended = threading.Event(), threading.Event()
    failures: list[ErrorInfo] = []

    def on_failure(error: ErrorInfo) -> None:
        failures.append(error)
        started.set()
        ended.set()

    ticket = asked.client.request(
        viewing.ReadStatistics("s1", ("w",)),
        on_reply=lambda _: ended.set(),
        on_failure=on_failure,
        on_progress=lambda _: started.set(),
    )
    started.wait()
    yield lambda: not ended.is_set()
    asked.client.cancel(ticket)
    ended.wait()
    if failures and failures[0].kind != CancelledError.__name__:
        raise RuntimeError(failures[0].text())
