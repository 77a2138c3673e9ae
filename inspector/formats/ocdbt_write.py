"""Writes OCDBT, tensorstore's key-value store in a folder, in one pass.

Owns the bytes of data files, B+tree nodes and the manifest. Values stream into
``d/<hex>`` in the order they are put; the tree is written after them, from its
leaves to its root, and the manifest last, so a folder without one is unfinished.
`write_orbax` calls it, in the reader process. It knows nothing of arrays.

The layout is that of https://google.github.io/tensorstore/kvstore/ocdbt, with the
field ``manifest_kind`` after the UUID that the published table leaves out.
"""

from __future__ import annotations

import secrets
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import google_crc32c

from inspector.errors import WriteFileError
from inspector.formats.write_file import FileSink
from inspector.formats.write_stream import Job

INLINE_BYTES = 1024
"""Values up to this size lie in the tree itself, as Orbax configures it."""

DATA_FILE_BYTES = 2 << 30
"""A data file that has reached this size takes no further value."""

NODE_BYTES = 1 << 20
"""Encoded size at which a node is closed; far below what readers accept."""

MAX_DECODED_NODE_BYTES = 100_000_000
"""Largest node that the manifest announces, as Orbax configures it."""

_MANIFEST_MAGIC = 0x0CDB3A2A
_NODE_MAGIC = 0x0CDB20DE
_FRAME_BYTES = 4 + 8 + 1 + 1 + 4
_ARITY_LOG2 = 4
_ENTRY_BYTES = 12
_MORE = 0x80


@dataclass(frozen=True, slots=True)
class _Place:
    """Where bytes lie: number of the data file, offset, length."""

    file: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class _Value:
    """A key with its value inline, or with its place."""

    key: bytes
    inline: bytes
    place: _Place | None

    @property
    def length(self) -> int:
        return self.place.length if self.place else len(self.inline)

    @property
    def encoded_bytes(self) -> int:
        return len(self.key) + len(self.inline) + _ENTRY_BYTES


@dataclass(frozen=True, slots=True)
class _Subtree:
    """A written node and what is below it."""

    key: bytes
    place: _Place
    keys: int
    tree_bytes: int
    value_bytes: int

    @property
    def encoded_bytes(self) -> int:
        return len(self.key) + 2 * _ENTRY_BYTES


_Entry = TypeVar("_Entry", _Value, _Subtree)


class OcdbtWriter:
    """A new OCDBT database.

    Attributes:
        root: Folder of the database; it exists and holds no database yet.
        nbytes: Bytes written to it so far.
    """

    def __init__(self, root: Path, job: Job, *, node_bytes: int = NODE_BYTES) -> None:
        """Makes the folder of the data files.

        Args:
            root: Existing folder.
            job: Progress and cancel.
            node_bytes: Size at which a node is closed.

        Raises:
            OSError: The folder cannot be made.
        """
        self.root = root
        self.nbytes = 0
        self._job = job
        self._node_bytes = node_bytes
        self._files: list[bytes] = []
        self._sink: FileSink | None = None
        self._values: list[_Value] = []
        self._keys: set[bytes] = set()
        (root / "d").mkdir()

    def put(self, key: bytes, value: bytes) -> None:
        """Stores a small value.

        Raises:
            WriteFileError: There is a value under this key already.
            OSError: The disk is full or fails.
        """
        if len(value) <= INLINE_BYTES:
            self._take(key)
            self._values.append(_Value(key, value, None))
        else:
            self.put_stream(key, lambda sink: sink.write(value))

    def put_stream(self, key: bytes, fill: Callable[[FileSink], None]) -> None:
        """Stores whatever ``fill`` writes to the sink that it is given.

        Raises:
            WriteFileError: There is a value under this key already.
            OSError: The disk is full or fails.
        """
        self._take(key)
        sink = self._open_sink()
        start = sink.position
        fill(sink)
        place = _Place(len(self._files) - 1, start, sink.position - start)
        self._values.append(_Value(key, b"", place))
        self.nbytes += place.length

    def finish(self) -> None:
        """Writes the tree and the manifest; the database is whole afterwards.

        At least one value must have been put: a database without any is a folder
        without a manifest.

        Raises:
            OSError: The disk is full or fails.
        """
        self._values.sort(key=lambda value: value.key)
        level = [
            self._write_leaf_node(group)
            for group in _groups(self._values, self._node_bytes)
        ]
        height = 0
        while len(level) > 1:
            height += 1
            level = [
                self._write_interior_node(height, group)
                for group in _groups(level, self._node_bytes)
            ]
        self._close_sink()
        manifest = self._encode_manifest(level[0], height)
        with FileSink(self.root / "manifest.ocdbt", self._job) as sink:
            sink.write(_frame(_MANIFEST_MAGIC, manifest))
        self.nbytes += len(manifest) + _FRAME_BYTES

    def abandon(self) -> None:
        """Closes the open data file as it is, after an error."""
        if self._sink is not None:
            self._sink.abandon()

    def _take(self, key: bytes) -> None:
        if key in self._keys:
            raise WriteFileError(
                message=f"Two leaves would be stored under the one name "
                f"{key.decode(errors='replace')!r}: Orbax joins keys with a dot.",
                hint="Rename one of them in the target; Orbax itself would lose one.",
            )
        self._keys.add(key)

    def _open_sink(self) -> FileSink:
        if self._sink is not None and self._sink.position < DATA_FILE_BYTES:
            return self._sink
        self._close_sink()
        name = f"d/{secrets.token_hex(16)}"
        self._sink = FileSink(self.root / name, self._job)
        self._files.append(name.encode())
        return self._sink

    def _close_sink(self) -> None:
        if self._sink is not None:
            self._sink.close()

    def _write_node(self, body: bytes) -> _Place:
        sink = self._open_sink()
        node = _frame(_NODE_MAGIC, body)
        start = sink.position
        sink.write(node)
        self.nbytes += len(node)
        return _Place(len(self._files) - 1, start, len(node))

    def _write_leaf_node(self, values: Sequence[_Value]) -> _Subtree:
        places = [value.place for value in values if value.place]
        table, numbers = self._file_table(places)
        body = b"".join(
            (
                b"\0",
                table,
                _varint(len(values)),
                *_encode_keys([value.key for value in values]),
                _varints(value.length for value in values),
                _varints(1 if value.place else 0 for value in values),
                _varints(numbers[place.file] for place in places),
                _varints(place.offset for place in places),
                *(value.inline for value in values if not value.place),
            )
        )
        place = self._write_node(body)
        stored = sum(place.length for place in places)
        return _Subtree(values[0].key, place, len(values), place.length, stored)

    def _write_interior_node(self, height: int, nodes: Sequence[_Subtree]) -> _Subtree:
        places = [node.place for node in nodes]
        table, numbers = self._file_table(places)
        prefixes, suffixes, text = _encode_keys([node.key for node in nodes])
        body = b"".join(
            (
                bytes([height]),
                table,
                _varint(len(nodes)),
                prefixes,
                suffixes,
                # No part of a key is left out in the children.
                _varints(0 for _ in nodes),
                text,
                _varints(numbers[place.file] for place in places),
                _varints(place.offset for place in places),
                _varints(place.length for place in places),
                _varints(node.keys for node in nodes),
                _varints(node.tree_bytes for node in nodes),
                _varints(node.value_bytes for node in nodes),
            )
        )
        place = self._write_node(body)
        return _Subtree(
            nodes[0].key,
            place,
            sum(node.keys for node in nodes),
            place.length + sum(node.tree_bytes for node in nodes),
            sum(node.value_bytes for node in nodes),
        )

    def _file_table(self, places: Iterable[_Place]) -> tuple[bytes, dict[int, int]]:
        """Returns the table of the files that a node names, and their numbers in it."""
        used = sorted({place.file for place in places}, key=lambda i: self._files[i])
        names = [self._files[index] for index in used]
        prefixes, suffixes, text = _encode_keys(names)
        base_lengths = _varints(0 for _ in names)
        table = _varint(len(names)) + prefixes + suffixes + base_lengths + text
        return table, {index: number for number, index in enumerate(used)}

    def _encode_manifest(self, root: _Subtree, height: int) -> bytes:
        table, _ = self._file_table([root.place])
        single_manifest, no_compression, no_older_versions = 0, 0, 0
        return b"".join(
            (
                secrets.token_bytes(16),
                _varint(single_manifest),
                _varint(INLINE_BYTES),
                _varint(MAX_DECODED_NODE_BYTES),
                bytes([_ARITY_LOG2]),
                _varint(no_compression),
                table,
                # One version: its generation number, height, and root.
                _varints((1, 1)),
                bytes([height]),
                _varint(0),
                _varints((root.place.offset, root.place.length)),
                _varints((root.keys, root.tree_bytes, root.value_bytes)),
                struct.pack("<Q", time.time_ns()),
                _varint(no_older_versions),
            )
        )


def _groups(items: Sequence[_Entry], limit: int) -> Iterator[list[_Entry]]:
    """Splits entries into nodes of about ``limit`` bytes, at least two to a node."""
    group: list[_Entry] = []
    size = 0
    for item in items:
        group.append(item)
        size += item.encoded_bytes
        if size >= limit and len(group) > 1:
            yield group
            group, size = [], 0
    if group:
        yield group


def _encode_keys(keys: Sequence[bytes]) -> tuple[bytes, bytes, bytes]:
    """Returns sorted keys as lengths of shared prefixes, lengths of rests, rests."""
    prefixes: list[int] = []
    rests: list[bytes] = []
    previous = b""
    for index, key in enumerate(keys):
        shared = _shared(previous, key) if index else 0
        if index:
            prefixes.append(shared)
        rests.append(key[shared:])
        previous = key
    return _varints(prefixes), _varints(map(len, rests)), b"".join(rests)


def _shared(left: bytes, right: bytes) -> int:
    """Returns the length of the longest common prefix."""
    length = min(len(left), len(right))
    # Neighbours in a sorted list differ late; most often only in the last bytes.
    while left[:length] != right[:length]:
        length -= 1
    return length


def _frame(magic: int, body: bytes) -> bytes:
    """Returns magic, length, version 0, no compression, body and CRC32C."""
    head = struct.pack(">I", magic) + struct.pack("<Q", len(body) + _FRAME_BYTES)
    framed = head + b"\0\0" + body
    return framed + struct.pack("<I", google_crc32c.value(framed))


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number >= _MORE:
        encoded.append(number % _MORE | _MORE)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _varints(numbers: Iterable[int]) -> bytes:
    return b"".join(map(_varint, numbers))
