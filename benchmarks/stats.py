"""How fast exact statistics of a leaf stream, stored raw and compressed.

Asked of the store as the details panel does. The reference is numpy on an array that
is already in memory.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil

from benchmarks import generate
from benchmarks.asking import Store, store
from benchmarks.figures import RATE, Figure, Reference
from benchmarks.generate import GIB, MIB
from benchmarks.workplace import Workplace
from inspector.engine.messages import reading, viewing
from inspector.variables.path import TreePath

_BINS = 64
_COLUMNS = 4096


def run(place: Workplace) -> Iterator[Figure]:
    """Reads one leaf from each kind of file."""
    nbytes = place.size(GIB, 64 * MIB)
    runs = place.size(3, 2)
    shape = (nbytes // 4 // _COLUMNS, _COLUMNS)
    path: TreePath = ("w",)
    raw = generate.safetensors_file(place.file("raw.safetensors"), {path: shape})
    zstd = generate.orbax_folder(place.file("zstd"), {path: shape})
    numbers = np.fromfile(raw, np.float32, offset=raw.stat().st_size - nbytes)
    references = {
        bins: Reference(
            "numpy, array in memory",
            tuple(_numpy_rate(numbers, bins) for _ in range(runs)),
            RATE,
        )
        for bins in (0, _BINS)
    }
    del numbers
    size = f"{nbytes / GIB:g} GiB float32"
    for name, file in (("raw", raw), ("zstd, one chunk of Orbax", zstd)):
        for bins, reference in references.items():
            with store(place.empty("state")) as asked:
                asked.open(file)
                rates = tuple(_rate(asked, nbytes, bins) for _ in range(runs))
                peak = _peak(asked)
            what = "with histogram" if bins else "without histogram"
            yield Figure(
                f"{size}, {what}, {name}",
                rates,
                RATE,
                reference=reference,
                note=f"peak memory of the reader {peak / 1e6:.0f} MB" if peak else "",
            )


def _rate(asked: Store, nbytes: int, bins: int) -> float:
    start = time.perf_counter()
    asked.ask(viewing.ReadStatistics("s1", ("w",), bins), reading.StatisticsReply)
    return nbytes / (time.perf_counter() - start)


def _numpy_rate(numbers: np.ndarray, bins: int) -> float:
    """Computes what a `StatisticsReply` says, as one does in a notebook."""
    start = time.perf_counter()
    low, high = numbers.min(), numbers.max()
    numbers.mean(dtype=np.float64)
    numbers.std(dtype=np.float64)
    numbers.sum(dtype=np.float64)
    np.count_nonzero(numbers)
    np.isnan(numbers).sum()
    np.isinf(numbers).sum()
    if bins:
        np.histogram(numbers, bins, (float(low), float(high)))
    return numbers.nbytes / (time.perf_counter() - start)


def _peak(asked: Store) -> int:
    """Returns the most memory that the reader has held; 0 where nobody tells."""
    peak = 0
    for process in asked.processes():
        with suppress(OSError, psutil.Error):
            if process.cmdline()[-1:] == ["reader"]:
                peak = max(peak, _high_water(process.pid))
    return peak


def _high_water(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
