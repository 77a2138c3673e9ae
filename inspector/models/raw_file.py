"""A file of raw little-endian arrays that appears whole or not at all.

Knows neither JAX nor modules. The layout is decided first, so arrays may be written
in any order.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from inspector.errors import LoadModuleError
from inspector.variables import dtypes
from inspector.variables.path import TreePath, join

ALIGNMENT = 64
"""Every array begins at a multiple of it, in bytes: a cache line, and any SIMD load."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one array lies.

    Attributes:
        path: The leaf it belongs to.
        offset: First byte.
        shape: Its shape.
        dtype: JAX's name of its dtype.
    """

    path: TreePath
    offset: int
    shape: tuple[int, ...]
    dtype: str

    @property
    def stop(self) -> int:
        """First byte after the array."""
        return self.offset + math.prod(self.shape) * dtypes.itemsize(self.dtype)


def layout(
    arrays: Iterable[tuple[TreePath, tuple[int, ...], str]],
) -> tuple[Place, ...]:
    """Returns the places of (path, shape, dtype), one after the other, aligned."""
    places: list[Place] = []
    offset = 0
    for path, shape, dtype in arrays:
        places.append(Place(path, offset, shape, dtype))
        offset = -(-places[-1].stop // ALIGNMENT) * ALIGNMENT
    return tuple(places)


class RawFile:
    """Context manager that writes to a temporary sibling and renames it at the end.

    When the body raises, the sibling is removed and what was there before stays.
    """

    def __init__(
        self,
        file: Path,
        places: Sequence[Place],
        what: str = "The initial values",
        *,
        durable: bool = True,
    ) -> None:
        """Takes the final path and the layout; opens nothing yet.

        Args:
            file: Final path.
            places: The layout.
            what: What is written, for messages; plural.
            durable: Whether it has to outlive a crash of the machine; scratch that
                can be made again has not, and writing it takes no waiting.
        """
        self._file = file
        self._what = what
        self._durable = durable
        self._size = max((place.stop for place in places), default=0)
        self._left = {place.path for place in places}

    def __enter__(self) -> RawFile:
        """Makes the temporary file at its final length."""
        try:
            number, name = tempfile.mkstemp(".part", ".initial-", self._file.parent)
            self._temporary = Path(name)
            self._stream = os.fdopen(number, "wb")
            self._stream.truncate(self._size)
        except OSError as error:
            raise LoadModuleError(
                message=f"{self._what} cannot be written: {error.strerror}.",
                where=str(self._file),
            ) from error
        return self

    def write(self, place: Place, array: np.ndarray) -> None:
        """Writes one array at its place.

        Raises:
            LoadModuleError: The array is not the one the layout is for, or the
                disk is full.
        """
        if array.shape != place.shape or dtypes.name_of(array.dtype) != place.dtype:
            raise LoadModuleError(
                message=f"Expected {place.dtype}{list(place.shape)}, init gave "
                f"{array.dtype.name}{list(array.shape)}.",
                where=join(place.path),
                hint="The module gives another tree each time; load it again.",
            )
        if sys.byteorder == "big":
            array = array.byteswap()
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        try:
            self._stream.seek(place.offset)
            self._stream.write(flat.data)
        except OSError as error:
            raise LoadModuleError(
                message=f"{self._what} cannot be written: {error.strerror}.",
                where=str(self._file),
            ) from error
        self._left.discard(place.path)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Renames the file into place, or removes it."""
        try:
            if kind is None and not self._left:
                self._finish()
            elif kind is None:
                missing = ", ".join(sorted(join(path) for path in self._left)[:5])
                raise LoadModuleError(message=f"init gave no value for {missing}.")
        finally:
            self._stream.close()
            self._temporary.unlink(missing_ok=True)

    def _finish(self) -> None:
        try:
            self._stream.flush()
            if self._durable:
                os.fsync(self._stream.fileno())
            self._stream.close()
            self._temporary.replace(self._file)
            if self._durable:
                _sync_folder(self._file.parent)
        except OSError as error:
            raise LoadModuleError(
                message=f"{self._what} cannot be written: {error.strerror}.",
                where=str(self._file),
            ) from error


def _sync_folder(folder: Path) -> None:
    """Makes the rename durable where folders can be synced (not on Windows)."""
    if os.name != "posix":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
