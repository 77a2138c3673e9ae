"""What every format gives: an opened checkpoint with a tree and ways to read it.

The reader service and the writers know checkpoints through this class alone.
Opening reads metadata; numbers are read by block, on demand.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inspector.errors import CancelledError
from inspector.variables.path import TreePath
from inspector.variables.tree import EMPTY, Node

BLOCK_BYTES = 8 << 20
"""Decoded bytes that a reader hands out at once, unless one row is larger."""

Region = tuple[tuple[int, int], ...]
"""(start, stop) on every axis of a leaf, within its shape."""

Check = Callable[[], bool]
"""Returns whether the request has been cancelled; called at least every block."""


def never() -> bool:
    """A `Check` for callers that cannot be cancelled."""
    return False


def stop_if(cancelled: Check) -> None:
    """Raises `CancelledError` when ``cancelled()`` says so."""
    if cancelled():
        raise CancelledError


@dataclass(frozen=True, slots=True)
class Extent:
    """Bytes of an array that lie uncompressed, C order, little-endian, in one run.

    Attributes:
        file: Absolute path of the file.
        offset: First byte.
        nbytes: Length in bytes.
    """

    file: str
    offset: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a manager's folder.

    Attributes:
        name: Folder name, e.g. ``"ckpt_00001000"``.
        number: Its number, by which steps are sorted.
        incomplete: Why it cannot be offered; empty for a whole step.
    """

    name: str
    number: int
    incomplete: str = ""


class Checkpoint(ABC):
    """An opened checkpoint: a tree of leaves and a way to read each.

    Leaves of `tree` carry ``Stored(locator, path)`` as their value, ``Literal``
    for Python objects, and `error` when one cannot be read.

    Attributes:
        format: ``"orbax"``, ``"msgpack"``, ``"safetensors"`` or ``"npz"``.
        path: Absolute path of the file or folder that holds the tree.
        tree: Leaves by path; never holds numbers.
        warnings: Sentences a person should read, e.g. a missing marker file.
        incomplete: Why the checkpoint is not whole; empty when it is.
        step: The step that was opened, None when there are no steps.
        steps: All steps of the folder, sorted by number.
        custom: Extra JSON-able metadata worth showing and keeping.
        locator: Text that opens exactly this tree again: absolute, with the step
            that was chosen; what the leaves' `Stored` values name.
    """

    format: str = ""

    def __init__(self, path: Path) -> None:
        """Starts with an empty tree; the format fills in what it finds."""
        self.path = path
        self.tree: Node = EMPTY
        self.warnings: list[str] = []
        self.incomplete = ""
        self.step: str | None = None
        self.steps: tuple[Step, ...] = ()
        self.custom: dict[str, Any] = {}
        self.locator = ""

    @abstractmethod
    def read(self, path: TreePath, region: Region, cancelled: Check) -> np.ndarray:
        """Reads one region of one leaf.

        Args:
            path: Exact path of an array or random-key leaf.
            region: (start, stop) per axis; for a key leaf the axis of the words
                is not part of it and always comes whole.
            cancelled: Asked between blocks.

        Returns:
            Array of the region's shape (keys: plus the axis of uint32 words),
            native byte order; may be read-only or share memory with a cache.

        Raises:
            ReadLeafError: The bytes are absent, damaged or do not fit the shape.
            CancelledError: ``cancelled()`` returned True.
        """

    @abstractmethod
    def blocks(self, path: TreePath, cancelled: Check) -> Iterator[np.ndarray]:
        """Yields the whole leaf in C order as flat arrays of about `BLOCK_BYTES`.

        Memory stays near one block for layouts that allow it, else near one
        stored chunk.

        Raises:
            ReadLeafError: As `read`.
            CancelledError: As `read`.
        """

    @abstractmethod
    def extent(self, path: TreePath) -> Extent | None:
        """Returns where the leaf lies as plain bytes, None when it does not."""

    @abstractmethod
    def files(self) -> list[Path]:
        """Returns the files that the checkpoint consists of, for fingerprints."""

    @abstractmethod
    def close(self) -> None:
        """Releases file descriptors and maps; reading afterwards may fail."""


def region_of(shape: tuple[int, ...]) -> Region:
    """Returns the region that covers a whole array."""
    return tuple((0, extent) for extent in shape)


def row_regions(shape: tuple[int, ...], itemsize: int, limit: int) -> Iterator[Region]:
    """Yields regions that cover an array in C order, each of at most ``limit`` bytes.

    Each is a contiguous run of the array in C order. A zero-size array yields
    nothing.

    Args:
        shape: Shape of the array.
        itemsize: Bytes of one element.
        limit: Upper bound in bytes; one element is always allowed.
    """
    if math.prod(shape) == 0:
        return
    axis, row = _split_axis(shape, itemsize, limit)
    if axis < 0:
        yield region_of(shape)
        return
    step = max(1, limit // max(1, row))
    for outer in np.ndindex(*shape[:axis]):
        for start in range(0, shape[axis], step):
            stop = min(shape[axis], start + step)
            fixed = tuple((index, index + 1) for index in outer)
            yield (*fixed, (start, stop), *region_of(shape[axis + 1 :]))


def _split_axis(shape: tuple[int, ...], itemsize: int, limit: int) -> tuple[int, int]:
    """Finds the outermost axis whose single rows fit; -1 when all fits at once."""
    if math.prod(shape) * itemsize <= limit:
        return -1, 0
    row = math.prod(shape) * itemsize
    for axis, extent in enumerate(shape):
        row //= extent
        if row <= limit:
            return axis, row
    return len(shape) - 1, itemsize
