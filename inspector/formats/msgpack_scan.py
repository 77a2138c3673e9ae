"""A bounded scanner of flax's msgpack files that touches no array's payload.

The bytes are a memory map or a small buffer; only the pages with headers are read,
so a file of any size lists in milliseconds. Everything in a file is doubted: counts
against the bytes that are left, depth, number of items. Knows flax's extension types
(flax.serialization: 1 ndarray, 2 native complex, 3 numpy scalar) and nothing about
trees; `msgpack_read` makes leaves of what it finds.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from inspector.formats.faults import (
    ReadFileDamagedError,
    ReadFileTooManyError,
    ReadFileTruncatedError,
)
from inspector.variables.path import Key

MAX_DEPTH = 200
MAX_ITEMS = 1_000_000
"""Values of one file; more would take minutes to list, and nobody has so many."""

TEXT_LIMIT = 16 << 20
"""Bytes of the longest text or bytes object that is taken into memory."""

_MAX_RANK = 64
_DTYPE_NAME_LIMIT = 64

_EXT_NDARRAY, _EXT_COMPLEX, _EXT_SCALAR = 1, 2, 3

_NDARRAY_PARTS = 3
_COMPLEX_PARTS = 2

_POSITIVE_END = 0x80
_NEGATIVE_START = 0xE0
_BYTE = 0x100

_NUMBERS: dict[int, struct.Struct] = {
    0xCA: struct.Struct(">f"),
    0xCB: struct.Struct(">d"),
    0xCC: struct.Struct(">B"),
    0xCD: struct.Struct(">H"),
    0xCE: struct.Struct(">I"),
    0xCF: struct.Struct(">Q"),
    0xD0: struct.Struct(">b"),
    0xD1: struct.Struct(">h"),
    0xD2: struct.Struct(">i"),
    0xD3: struct.Struct(">q"),
}

_SIZED: dict[int, tuple[str, int]] = {
    0xC4: ("bin", 1),
    0xC5: ("bin", 2),
    0xC6: ("bin", 4),
    0xC7: ("ext", 1),
    0xC8: ("ext", 2),
    0xC9: ("ext", 4),
    0xD9: ("str", 1),
    0xDA: ("str", 2),
    0xDB: ("str", 4),
    0xDC: ("array", 2),
    0xDD: ("array", 4),
    0xDE: ("map", 2),
    0xDF: ("map", 4),
}

_FIXED_EXT = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


@dataclass(frozen=True, slots=True)
class ArrayItem:
    """An array that lies in the file.

    Attributes:
        shape: Its shape.
        dtype: Dtype name as it is written, e.g. ``"bfloat16"``.
        offset: First byte of its elements.
        nbytes: Stored bytes of its elements.
        scalar: Whether it was a numpy scalar and no array.
    """

    shape: tuple[int, ...]
    dtype: str
    offset: int
    nbytes: int
    scalar: bool = False


@dataclass(frozen=True, slots=True)
class MapItem:
    """A map: (key, value) pairs in the file's order, duplicates kept."""

    pairs: list[tuple[Key, Item]]


@dataclass(frozen=True, slots=True)
class ListItem:
    """An array of msgpack, i.e. a list or tuple."""

    items: list[Item]


@dataclass(frozen=True, slots=True)
class UnknownItem:
    """Something that is no leaf of flax, described in words."""

    text: str
    nbytes: int


Scalar = None | bool | int | float | complex | str | bytes
Item = ArrayItem | MapItem | ListItem | UnknownItem | Scalar
"""What one value of the file is."""


class Scanner:
    """Reads values one after the other from a buffer.

    Attributes:
        position: Next byte to read.
    """

    def __init__(self, buffer: mmap.mmap | bytes, path: Path) -> None:
        """Starts at the first byte.

        Args:
            buffer: All bytes of the file.
            path: The file, for errors.
        """
        self.position = 0
        self._buffer = buffer
        self._size = len(buffer)
        self._path = path
        self._items = 0
        self._readers: dict[str, Callable[[int, int], Item]] = {
            "map": self._map,
            "array": self._list,
            "ext": self._extension,
            "str": self._text,
            "bin": self._bytes,
        }

    def scan(self) -> Item:
        """Reads the one value that the file is.

        Raises:
            ReadFileError: The file ends early, is followed by more, or is no
                msgpack as flax writes it.
        """
        item = self._value(0)
        if self.position != self._size:
            raise self._damaged(
                problem=f"{self._size - self.position:,} bytes follow its end"
            )
        return item

    def _damaged(self, *, problem: str) -> ReadFileDamagedError:
        return ReadFileDamagedError(
            self._path, problem=f"{problem} (at byte {self.position:,})"
        )

    def _skip(self, length: int) -> int:
        """Moves past ``length`` bytes and returns where they begin."""
        start = self.position
        if start + length > self._size:
            raise ReadFileTruncatedError(
                self._path, ends_at=self._size, promised=start + length
            )
        self.position = start + length
        return start

    def _head(self) -> tuple[str, object]:
        """Reads a value's first bytes: its kind, and its number, length or count."""
        code = self._buffer[self._skip(1)]
        fixed = _fixed(code)
        if fixed is not None:
            return fixed
        if code in _NUMBERS:
            number = _NUMBERS[code]
            return "number", number.unpack_from(self._buffer, self._skip(number.size))[
                0
            ]
        if code in _CONSTANTS:
            return "constant", _CONSTANTS[code]
        if code in _FIXED_EXT:
            return "ext", _FIXED_EXT[code]
        if code in _SIZED:
            kind, width = _SIZED[code]
            start = self._skip(width)
            return kind, int.from_bytes(self._buffer[start : start + width], "big")
        raise self._damaged(problem=f"0x{code:02x} begins no value")

    def _length(self, kinds: tuple[str, ...], what: str) -> int:
        """Reads a head of one of the kinds and returns its length or count."""
        kind, value = self._head()
        if kind not in kinds or not isinstance(value, int):
            raise self._damaged(problem=f"{what} is expected, {kind} is found")
        return value

    def _value(self, depth: int) -> Item:
        if depth > MAX_DEPTH:
            raise self._damaged(
                problem=f"it is nested more than {MAX_DEPTH} levels deep"
            )
        self._items += 1
        if self._items > MAX_ITEMS:
            raise ReadFileTooManyError(self._path, most=MAX_ITEMS)
        kind, value = self._head()
        if kind in {"number", "constant"}:
            return value  # type: ignore[return-value]  # a number, bool or None
        assert isinstance(value, int)
        return self._readers[kind](value, depth)

    def _map(self, count: int, depth: int) -> Item:
        self._check_count(2 * count)
        pairs: list[tuple[Key, Item]] = []
        for _ in range(count):
            key = self._key()
            pairs.append((key, self._value(depth + 1)))
        return MapItem(pairs)

    def _list(self, count: int, depth: int) -> Item:
        self._check_count(count)
        return ListItem([self._value(depth + 1) for _ in range(count)])

    def _check_count(self, count: int) -> None:
        """Refuses a count that the bytes left cannot hold, before any allocation."""
        if count > self._size - self.position:
            raise ReadFileTruncatedError(
                self._path, ends_at=self._size, promised=self.position + count
            )

    def _key(self) -> Key:
        kind, value = self._head()
        if kind in {"str", "bin"} and isinstance(value, int):
            if value > TEXT_LIMIT:
                raise self._damaged(problem=f"a key has {value:,} bytes")
            return _decode(self._take(value))
        if kind == "number" and isinstance(value, int):
            return value
        if kind in {"number", "constant"}:
            return str(value)
        raise self._damaged(problem=f"a key is {kind}")

    def _take(self, length: int) -> bytes:
        start = self._skip(length)
        return bytes(self._buffer[start : start + length])

    def _text(self, length: int, depth: int) -> Item:
        del depth
        if length > TEXT_LIMIT:
            self._skip(length)
            return UnknownItem(f"text of {length:,} bytes", length)
        return _decode(self._take(length))

    def _bytes(self, length: int, depth: int) -> Item:
        del depth
        if length > TEXT_LIMIT:
            self._skip(length)
            return UnknownItem(f"bytes object of {length:,} bytes", length)
        return self._take(length)

    def _extension(self, length: int, depth: int) -> Item:
        del depth
        code = self._take(1)[0]
        start = self._skip(length)
        if code in {_EXT_NDARRAY, _EXT_SCALAR}:
            self.position = start
            return self._array(start + length, scalar=code == _EXT_SCALAR)
        if code == _EXT_COMPLEX:
            self.position = start
            return self._complex(start + length)
        signed = code - _BYTE if code >= _POSITIVE_END else code
        return UnknownItem(f"msgpack extension type {signed}", length)

    def _array(self, end: int, *, scalar: bool) -> ArrayItem:
        """Reads flax's ndarray: the triple (shape, dtype name, bytes)."""
        if self._length(("array",), "an array's triple") != _NDARRAY_PARTS:
            raise self._damaged(problem="an array is no triple")
        rank = self._length(("array",), "an array's shape")
        if rank > _MAX_RANK:
            raise self._damaged(problem=f"an array has {rank} axes")
        shape = tuple(
            self._length(("number",), "an array's extent") for _ in range(rank)
        )
        if any(extent < 0 for extent in shape):
            raise self._damaged(problem=f"an array has the shape {shape}")
        length = self._length(("str", "bin"), "an array's dtype")
        if length > _DTYPE_NAME_LIMIT:
            raise self._damaged(problem=f"a dtype's name has {length:,} bytes")
        dtype = _decode(self._take(length))
        nbytes = self._length(("bin", "str"), "an array's bytes")
        offset = self._skip(nbytes)
        if self.position != end:
            raise self._damaged(
                problem="an array is longer or shorter than its extension"
            )
        return ArrayItem(shape, dtype, offset, nbytes, scalar)

    def _complex(self, end: int) -> complex:
        if self._length(("array",), "a complex number's pair") != _COMPLEX_PARTS:
            raise self._damaged(problem="a complex number is no pair")
        parts = [self._head() for _ in range(_COMPLEX_PARTS)]
        numbers = [value for _, value in parts if isinstance(value, int | float)]
        if len(numbers) != len(parts) or self.position != end:
            raise self._damaged(problem="a complex number is no pair of numbers")
        return complex(*numbers)


def _fixed(code: int) -> tuple[str, int] | None:
    """Returns what a one-byte head means, None for a longer one."""
    if code < _POSITIVE_END:
        return "number", code
    if code >= _NEGATIVE_START:
        return "number", code - _BYTE
    for limit, kind, mask in (
        (0x90, "map", 0x0F),
        (0xA0, "array", 0x0F),
        (0xC0, "str", 0x1F),
    ):
        if code < limit:
            return kind, code & mask
    return None


def _decode(data: bytes) -> str:
    r"""Returns text; bytes that are no UTF-8 show as ``\xNN``."""
    return data.decode("utf-8", "backslashreplace")
