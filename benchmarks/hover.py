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
    """Measures with an idle and with a busy reader."""
    nbytes = place.size(4 * GIB, 256 * MIB)
    rows = nbytes // 4 // _BIG_ROW
    big = generate.safetensors_file(
        place.file("big.safetensors"), {("w",): (rows, _BIG_ROW)}
    )
    runs = place.size(50, 8)
    for leaves in (1_000, 10_000):
        shapes = generate.layers(leaves)
        tree = generate.orbax_folder(place.file(f"tree-{leaves}"), shapes)
        with store(place.empty("state")) as asked:
            asked.open(big)
            source = asked.open(tree).id
            asked.copy(source)
            screen = tuple(itertools.islice(shapes, _SCREEN_ROWS))

            def hover(one: Store = asked, tree_id: str = source) -> None:
                plan = one.plan(tree_id)
                one.marks(plan.plan, screen)  # noqa: B023 - called in this turn

            first = _seconds(hover)
            idle = [_seconds(hover) for _ in range(runs)]
            with _statistics_running(asked) as still_runs:
                busy = _while(still_runs, hover, runs)
                slices = _while(still_runs, lambda: _slice(asked, rows), runs)  # noqa: B023 - called at once
            name = f"{leaves:,} × {leaves:,} leaves"
            yield Figure(f"first hover, {name}", (first,), target=HOVER_S)
            yield Figure(f"hover, idle reader, {name}", tuple(idle), target=HOVER_S)
            busy_name = f"hover, statistics of {nbytes / GIB:g} GiB run, {name}"
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


def _slice(asked: Store, rows: int) -> None:
    start = rows // 2
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
