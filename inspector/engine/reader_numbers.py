"""Answers with numbers of a leaf: statistics, a block, a picture.

Handlers of the reader; each runs on one of its worker threads. Memory follows what
is shown, never the size of the leaf: statistics stream, a picture reads the rows and
columns that it shows.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from inspector.engine.connection_job import Job
from inspector.engine.messages.reading import (
    LeafNumbers,
    LeafStatistics,
    Numbers,
    StatisticsReply,
)
from inspector.errors import ReadLeafError, UsageError
from inspector.formats.checkpoint import Check, Extent, Region, stop_if
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import join
from inspector.variables.statistics import (
    Statistics,
    StatisticsBuilder,
    histogram,
    spread,
)
from inspector.variables.value import Initial, Stored, innermost

NUMBERS_LIMIT = 1 << 20
"""Most decoded bytes of one block of numbers."""


class LeafReader(Protocol):
    """Reads leaves whatever their value is made of (`formats.values.ValueReader`)."""

    def read(self, leaf: Leaf, region: Region, cancelled: Check) -> np.ndarray:
        """Returns one region."""

    def blocks(self, leaf: Leaf, cancelled: Check) -> Iterator[np.ndarray]:
        """Yields the whole leaf as flat arrays in C order."""

    def extent(self, leaf: Leaf) -> Extent | None:
        """Returns where the leaf lies as plain bytes, None when it does not."""


def name_of(leaf: Leaf) -> str:
    """Returns where a leaf is, for messages; empty when it was never stored."""
    inner = innermost(leaf.value)
    if isinstance(inner, Stored):
        return f"{inner.source}: {join(inner.path)}"
    return join(inner.path) if isinstance(inner, Initial) else ""


def require_array(leaf: Leaf) -> None:
    """Raises when a leaf has no numbers to show.

    Raises:
        ReadLeafError: It is no array, cannot be read, or has an unknown dtype.
    """
    if leaf.error:
        raise ReadLeafError(leaf.error, where=name_of(leaf))
    if not leaf.has_numbers:
        raise ReadLeafError(
            message=f"A leaf of kind {leaf.kind.value!r} has no numbers.",
            where=name_of(leaf),
        )
    if leaf.dtype not in dtypes.NAMES:
        raise ReadLeafError(
            message=f"The dtype {leaf.dtype!r} is unknown here.", where=name_of(leaf)
        )


def leaf_statistics(
    body: LeafStatistics, job: Job, values: LeafReader
) -> StatisticsReply:
    """Reads a leaf once for its statistics, and again for the histogram.

    Progress counts decoded bytes of both passes.

    Raises:
        ReadLeafError: The leaf cannot be read, or has no numbers.
        CancelledError: The request was cancelled.
    """
    require_array(body.leaf)
    passes = 2 if body.bins > 0 else 1
    counter = _Counter(job, passes * body.leaf.nbytes)
    builder = StatisticsBuilder(body.leaf.dtype)
    for block in counter.count(values.blocks(body.leaf, job.is_cancelled), "Reading"):
        builder.add(block)
    statistics = builder.result()
    edges: tuple[float, float] | tuple[()] = ()
    counts: tuple[int, ...] = ()
    if body.bins > 0 and statistics.min is not None and statistics.max is not None:
        edges = spread(float(statistics.min), float(statistics.max))
        blocks = values.blocks(body.leaf, job.is_cancelled)
        counted = counter.count(blocks, "Counting")
        counts = tuple(histogram(counted, *edges, body.bins).tolist())
    return _reply(statistics, edges, counts)


class _Counter:
    """Counts bytes on their way, tells the owner, and hears a cancel."""

    def __init__(self, job: Job, total: int) -> None:
        self._job = job
        self._total = total
        self._done = 0

    def count(self, blocks: Iterator[np.ndarray], text: str) -> Iterator[np.ndarray]:
        for block in blocks:
            stop_if(self._job.is_cancelled)
            yield block
            self._done += block.nbytes
            self._job.progress(self._done, self._total, text)


def _reply(
    statistics: Statistics,
    edges: tuple[float, float] | tuple[()],
    counts: tuple[int, ...],
) -> StatisticsReply:
    total = statistics.sum
    return StatisticsReply(
        count=statistics.count,
        minimum=statistics.min,
        maximum=statistics.max,
        mean=statistics.mean,
        std=statistics.std,
        total=(total.real, total.imag) if isinstance(total, complex) else total,
        zeros=statistics.zeros,
        nan=statistics.nan,
        inf=statistics.inf,
        edges=edges,
        counts=counts,
    )


def leaf_numbers(body: LeafNumbers, job: Job, values: LeafReader) -> Numbers:
    """Reads one region of an array or of a batch of random keys.

    Raises:
        UsageError: The region does not lie in the leaf, or is larger than
            `NUMBERS_LIMIT`.
        ReadLeafError: The leaf cannot be read, or has no numbers.
        CancelledError: The request was cancelled.
    """
    leaf = body.leaf
    if leaf.kind is not Kind.KEY or leaf.error:
        require_array(leaf)
    _require_region(leaf, body.region)
    size = math.prod(stop - start for start, stop in body.region)
    nbytes = size * dtypes.itemsize(leaf.dtype)
    if nbytes > NUMBERS_LIMIT:
        raise UsageError(
            message=f"A block of {nbytes:,} bytes was asked for; the most is"
            f" {NUMBERS_LIMIT:,}.",
            where=name_of(leaf),
            hint="Ask for a smaller region.",
        )
    block = values.read(leaf, body.region, job.is_cancelled)
    return Numbers(block.shape, dtypes.name_of(block.dtype), little_endian(block))


def _require_region(leaf: Leaf, region: Region) -> None:
    fits = len(region) == len(leaf.shape) and all(
        0 <= start <= stop <= extent
        for (start, stop), extent in zip(region, leaf.shape, strict=True)
    )
    if not fits:
        raise UsageError(
            message=f"The region {region} does not lie in the shape {leaf.shape}.",
            where=name_of(leaf),
        )


def little_endian(array: np.ndarray) -> bytes:
    """Returns the elements in C order, little-endian."""
    if sys.byteorder == "big":
        array = array.byteswap()
    return array.tobytes()
