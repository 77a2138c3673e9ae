"""Jobs and leaves for the tests of the reader's handlers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from inspector.engine.connection_job import Job
from inspector.engine.messages.envelope import Failure, Progress, Reply
from inspector.errors import CancelledError
from inspector.formats.checkpoint import Check, Extent, Region
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.value import Raw, Stored


class Asked:
    """A job whose messages are kept."""

    def __init__(self, body: object = None) -> None:
        self.messages: list[Reply | Failure | Progress] = []
        self.job = Job(1, body, self._keep)
        self.job.begin()

    def _keep(self, message: Reply | Failure | Progress, *, wait: bool) -> None:
        assert wait
        self.messages.append(message)


class ArrayValues:
    """Gives the numbers of one array in memory, and keeps what was read.

    Attributes:
        regions: Every region that was asked for.
        cancel_after: Blocks after which the job is cancelled.
    """

    def __init__(self, array: np.ndarray, cancel: Asked | None = None) -> None:
        self.array = array
        self.regions: list[Region] = []
        self.cancel = cancel

    def leaf(self) -> Leaf:
        dtype = dtypes.name_of(self.array.dtype)
        return Leaf(Kind.ARRAY, self.array.shape, dtype, Stored("/c", ("a", "b")))

    def read(self, leaf: Leaf, region: Region, cancelled: Check) -> np.ndarray:
        assert leaf.shape == self.array.shape
        if cancelled():
            raise CancelledError
        self.regions.append(region)
        if self.cancel is not None:
            self.cancel.job.cancel()
        return self.array[tuple(slice(*span) for span in region)]

    def blocks(self, leaf: Leaf, cancelled: Check) -> Iterator[np.ndarray]:
        assert leaf.shape == self.array.shape
        for block in np.array_split(self.array.reshape(-1), 4):
            if self.cancel is not None:
                self.cancel.job.cancel()
            yield block

    def extent(self, leaf: Leaf) -> Extent | None:
        assert leaf.shape == self.array.shape
        return None


class FileValues(ArrayValues):
    """The same, of an array that lies in a file as plain bytes."""

    def __init__(self, array: np.ndarray, file: Path) -> None:
        super().__init__(array)
        self.file = file
        file.write_bytes(b"head" + array.tobytes())

    def extent(self, leaf: Leaf) -> Extent | None:
        assert leaf.shape == self.array.shape
        return Extent(str(self.file), 4, self.array.nbytes)


def raw_leaf(file: Path, array: np.ndarray) -> Leaf:
    """Writes an array to a file of ours and returns the leaf that reads it."""
    file.write_bytes(array.tobytes())
    dtype = dtypes.name_of(array.dtype)
    value = Raw(str(file), 0, array.shape, dtype)
    return Leaf(Kind.ARRAY, array.shape, dtype, value)


def leaves_of(leaves: tuple[tuple[TreePath, Leaf], ...]) -> dict[TreePath, Leaf]:
    """Returns the leaves of a plain tree by path."""
    return dict(leaves)
