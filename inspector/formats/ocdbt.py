"""Reads the index of an OCDBT database, tensorstore's key-value store in a folder.

Gives every key with its value, or with the place of its value, without reading
values and without tensorstore. Format:
https://google.github.io/tensorstore/kvstore/ocdbt, plus the field ``manifest_kind``
after the UUID, which the published table leaves out. Every checksum is checked,
every count and size is bounded, and no path may leave the folder. Databases of an
unknown version are left to tensorstore (`ocdbt_fallback`).
"""

from __future__ import annotations

import io
import os
import struct
from dataclasses import dataclass
from pathlib import Path

import google_crc32c
import zstandard

from inspector.formats.byte_sources import Blob, FileRange
from inspector.formats.faults import (
    LeafFault,
    ReadFileDamagedError,
)
from inspector.formats.safe_files import FilePool, read_small

MANIFEST = "manifest.ocdbt"

NODE_LIMIT = 512 << 20
"""Decoded bytes of the largest node that is believed."""

_PIECE = 1 << 20

KEY_LIMIT = 10_000_000
"""Keys of the largest database that is listed."""

_NODES_LIMIT = 1_000_000
_MANIFEST_MAGIC = 0x0CDB3A2A
_NODE_MAGIC = 0x0CDB20DE
_HEADER = struct.Struct(">I")
_LENGTH = struct.Struct("<Q")
_CRC_BYTES = 4
_VARINT_BITS = 63
_SHORTEST = 18
_UUID_BYTES = 16
_SINGLE_MANIFEST = 0
_ZSTD = 1


class OcdbtUnknownVersionError(Exception):
    """The database is of a version or kind that only tensorstore reads."""


class OcdbtError(ValueError):
    """A node contradicts the format.

    Attributes:
        problem: One sentence without a full stop.
    """

    def __init__(self, *, problem: str) -> None:
        """Keeps the sentence; the file is named by `read_index`."""
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class _NodeRef:
    """Where a node lies and what is expected there.

    Attributes:
        path: Data file, relative to the database.
        base: Folder that paths inside the node start from.
        offset: First byte.
        length: Stored bytes.
        height: 0 for leaf nodes.
        prefix: Bytes that every key of the node starts with.
    """

    path: bytes
    base: bytes
    offset: int
    length: int
    height: int
    prefix: bytes


def read_index(root: Path) -> dict[bytes, Blob]:
    """Reads every key of a database.

    Args:
        root: Folder that holds ``manifest.ocdbt``.

    Returns:
        Key -> value (inline) or the range of a file that holds it; files named
        there lie inside ``root`` but may be absent or too short.

    Raises:
        ReadFileError: The manifest or a node is absent, damaged or hostile.
        OcdbtUnknownVersionError: tensorstore has to be asked.
    """
    manifest = root / MANIFEST
    pool = FilePool()
    index: dict[bytes, Blob] = {}
    current = manifest
    try:
        top = parse_manifest(read_small(manifest))
        stack = [top] if top is not None else []
        nodes = 0
        while stack:
            ref = stack.pop()
            nodes += 1
            current = inside(root, ref.path)
            if nodes > _NODES_LIMIT or len(index) > KEY_LIMIT:
                raise ReadFileDamagedError(
                    manifest, problem="it has more nodes or keys than are believed"
                )
            if ref.length > NODE_LIMIT:
                raise ReadFileDamagedError(
                    current, problem=f"a node of {ref.length:,} bytes is not believed"
                )
            raw = bytearray(ref.length)
            pool.read_into(current, ref.offset, memoryview(raw))
            parse_node(bytes(raw), ref, root, stack, index)
    except OcdbtError as error:
        raise ReadFileDamagedError(current, problem=error.problem) from error
    except LeafFault as error:
        raise ReadFileDamagedError(
            current, problem=f"a node of the index is missing: {error.problem}"
        ) from error
    finally:
        pool.close()
    return index


def inside(root: Path, relative: bytes) -> Path:
    """Returns a path of the database, which must not leave its folder.

    Raises:
        OcdbtError: It is absolute, leaves the folder, or is no name at all.
    """
    text = os.fsdecode(relative)
    parts = text.split("/")
    if "\0" in text or "\\" in text or any(part in {"", ".", ".."} for part in parts):
        raise OcdbtError(problem=f"it names the file {text!r}, which is refused")
    return root.joinpath(*parts)


def parse_manifest(raw: bytes) -> _NodeRef | None:
    """Parses a manifest.

    Returns:
        The root node of the newest version; None for an empty database.

    Raises:
        OcdbtError: It is damaged.
        OcdbtUnknownVersionError: It is of a version or kind that is not known here.
    """
    body = _Body(_unwrap(raw, _MANIFEST_MAGIC))
    body.skip(_UUID_BYTES)
    if body.varint() != _SINGLE_MANIFEST:
        raise OcdbtUnknownVersionError
    body.varints(2)  # max_inline_value_bytes, max_decoded_node_bytes
    body.skip(1)  # version_tree_arity_log2
    if body.varint() == _ZSTD:
        body.skip(4)  # compression level
    files = body.files(b"")
    count = body.count()
    if count == 0:
        return None
    body.varints(count)  # generation numbers
    heights = body.take(count)
    file_ids, offsets, lengths = (body.varints(count) for _ in range(3))
    # Versions are in order of their generation; the last one is current.
    if lengths[-1] == 0 or offsets[-1] >= 1 << _VARINT_BITS:
        return None
    path, base = _file(files, file_ids[-1])
    return _NodeRef(path, base, offsets[-1], lengths[-1], heights[-1], b"")


def parse_node(
    raw: bytes,
    ref: _NodeRef,
    root: Path,
    stack: list[_NodeRef],
    index: dict[bytes, Blob],
) -> None:
    """Parses a B+tree node: adds its children to ``stack`` or its keys to ``index``.

    Raises:
        OcdbtError: It is damaged, or not what ``ref`` promises.
        OcdbtUnknownVersionError: It is of a version that is not known here.
    """
    body = _Body(_unwrap(raw, _NODE_MAGIC))
    height = body.take(1)[0]
    if height != ref.height:
        raise OcdbtError(problem=f"a node has height {height}, not {ref.height}")
    files = body.files(ref.base)
    count = body.count()
    keys, common = body.keys(count, interior=height > 0)
    if height:
        file_ids, offsets, lengths = (body.varints(count) for _ in range(3))
        for position, key in enumerate(keys):
            path, base = _file(files, file_ids[position])
            stack.append(
                _NodeRef(
                    path,
                    base,
                    offsets[position],
                    lengths[position],
                    height - 1,
                    ref.prefix + key[: common[position]],
                )
            )
        return
    _parse_values(body, [ref.prefix + key for key in keys], files, root, index)


def _parse_values(
    body: _Body,
    keys: list[bytes],
    files: list[tuple[bytes, bytes]],
    root: Path,
    index: dict[bytes, Blob],
) -> None:
    lengths = body.varints(len(keys))
    kinds = body.varints(len(keys))
    if any(kind > 1 for kind in kinds):
        raise OcdbtUnknownVersionError
    outside = sum(kinds)
    file_ids, offsets = body.varints(outside), body.varints(outside)
    places: dict[int, Path] = {}
    used = 0
    for key, length, kind in zip(keys, lengths, kinds, strict=True):
        if kind:
            number = file_ids[used]
            if number not in places:
                places[number] = inside(root, _file(files, number)[0])
            index[key] = FileRange(places[number], offsets[used], length)
            used += 1
        else:
            index[key] = body.take(length)


def _file(files: list[tuple[bytes, bytes]], number: int) -> tuple[bytes, bytes]:
    if number >= len(files):
        raise OcdbtError(problem=f"it names data file {number} of {len(files)}")
    return files[number]


def _unwrap(raw: bytes, magic: int) -> bytes:
    """Checks the frame around a manifest or node and returns the decoded body."""
    if len(raw) < _SHORTEST or _HEADER.unpack_from(raw)[0] != magic:
        raise OcdbtError(problem="it does not begin as OCDBT data do")
    if _LENGTH.unpack_from(raw, _HEADER.size)[0] != len(raw):
        raise OcdbtError(problem=f"it has {len(raw):,} bytes, not what it says")
    stored = int.from_bytes(raw[-_CRC_BYTES:], "little")
    if google_crc32c.value(raw[:-_CRC_BYTES]) != stored:
        raise OcdbtError(problem="its checksum (CRC-32C) does not fit its bytes")
    frame = _Body(raw[_HEADER.size + _LENGTH.size : -_CRC_BYTES])
    if frame.varint() != 0:
        raise OcdbtUnknownVersionError
    compression = frame.varint()
    data = frame.rest()
    if compression == 0:
        return data
    if compression != _ZSTD:
        raise OcdbtUnknownVersionError
    return _inflate(data)


def _inflate(data: bytes) -> bytes:
    decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    try:
        # Piece by piece, because a read reserves as much as it is asked for.
        with decompressor.stream_reader(io.BytesIO(data)) as reader:
            decoded = bytearray()
            while len(decoded) <= NODE_LIMIT and (piece := reader.read(_PIECE)):
                decoded += piece
    except zstandard.ZstdError as error:
        raise OcdbtError(
            problem=f"its compressed bytes are damaged: {error}"
        ) from error
    if len(decoded) > NODE_LIMIT:
        raise OcdbtError(problem=f"it decodes to more than {NODE_LIMIT:,} bytes")
    return bytes(decoded)


class _Body:
    """A cursor over decoded bytes; every read is bounded by what is there."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def skip(self, length: int) -> None:
        self.take(length)

    def take(self, length: int) -> bytes:
        start = self._position
        if length > len(self._data) - start:
            raise OcdbtError(problem="it ends in the middle of an entry")
        self._position = start + length
        return self._data[start : self._position]

    def rest(self) -> bytes:
        return self._data[self._position :]

    def varint(self) -> int:
        return self.varints(1)[0]

    def count(self) -> int:
        """Reads a count of entries, each of which takes a byte at least."""
        count = self.varint()
        if count > len(self._data) - self._position:
            raise OcdbtError(problem=f"it claims {count:,} entries")
        return count

    def varints(self, count: int) -> list[int]:
        """Reads ``count`` varints: 7 bits a byte, least significant first."""
        data, position = self._data, self._position
        numbers = []
        try:
            for _ in range(count):
                byte = data[position]
                position += 1
                number = byte & 0x7F
                shift = 7
                while byte > 0x7F:  # noqa: PLR2004 - the continuation bit
                    byte = data[position]
                    position += 1
                    number |= (byte & 0x7F) << shift
                    shift += 7
                    if shift > _VARINT_BITS + 7:
                        raise OcdbtError(problem="a number in it has no end")
                numbers.append(number)
        except IndexError as error:
            raise OcdbtError(problem="it ends in the middle of a number") from error
        self._position = position
        return numbers

    def files(self, base: bytes) -> list[tuple[bytes, bytes]]:
        """Reads a table of data files: (path, folder of the paths inside it)."""
        count = self.count()
        shared = [0, *self.varints(max(count - 1, 0))]
        suffixes = self.varints(count)
        base_lengths = self.varints(count)
        files: list[tuple[bytes, bytes]] = []
        path = b""
        for position in range(count):
            path = path[: shared[position]] + self.take(suffixes[position])
            files.append((base + path, base + path[: base_lengths[position]]))
        return files

    def keys(self, count: int, *, interior: bool) -> tuple[list[bytes], list[int]]:
        """Reads prefix-compressed keys; for inner nodes also the common prefixes."""
        if count == 0:
            return [], []
        shared = [0, *self.varints(count - 1)]
        suffixes = self.varints(count)
        common = self.varints(count) if interior else []
        keys: list[bytes] = []
        key = b""
        for position in range(count):
            key = key[: shared[position]] + self.take(suffixes[position])
            keys.append(key)
        return keys, common
