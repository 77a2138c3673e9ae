"""Writes Flax's msgpack, byte for byte as ``flax.serialization.msgpack_serialize``.

Owns the encoding: sorted keys, arrays as extension 1, Python ``complex`` as
extension 2, arrays above `MAX_CHUNK_BYTES` in pieces. The reader process calls it
through `export`; numbers stream through, so memory stays at a few pieces.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import msgpack

from inspector.errors import WriteFileError
from inspector.formats.export_plan import Abilities, adapt
from inspector.formats.write_file import FileSink, expect_size
from inspector.formats.write_stream import LeafStream, WriteContext
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath, quote
from inspector.variables.tree import Container, Node
from inspector.variables.value import Literal

MAX_CHUNK_BYTES = 2**30
"""Above this an array is cut, as ``flax.serialization.MAX_CHUNK_SIZE`` has it."""

ABILITIES = Abilities(
    name="Flax msgpack",
    dtypes=frozenset(dtypes.NAMES),
    tuples=False,
    empty_tuples=False,
    integer_keys=False,
    random_keys=False,
    any_integer=False,
    any_text=True,
)
"""What ``msgpack_serialize`` keeps so that ``msgpack_restore`` gives it back."""

_ARRAY = 1
_COMPLEX = 2

_MAX_EXTENSION_BYTES = 2**32 - 1
"""Longest extension of msgpack; only an array inside a list can come near it."""

_Numbers = tuple[TreePath, Leaf, int]
"""(path, leaf, bytes): the next bytes of a leaf's numbers belong here."""


class MsgpackWriter:
    """One planned msgpack file.

    Attributes:
        tree: What is written.
        warnings: What was changed to make it fit.
        nbytes: Exact size of the file.
    """

    format = "msgpack"

    def __init__(self, tree: Node, *, lossy: bool) -> None:
        """Plans the file.

        Raises:
            WriteFileError: The tree holds something msgpack cannot.
            LossyExportError: It cannot say something and ``lossy`` is False.
        """
        adapted = adapt(tree, ABILITIES, lossy=lossy)
        self.tree = adapted.tree
        self.warnings = adapted.warnings
        self.nbytes = sum(
            len(part) if isinstance(part, bytes) else part[2]
            for part in _parts(self.tree, (), chunked=True)
        )

    def write(self, path: Path, context: WriteContext) -> None:
        """Writes the file at ``path``, which must not exist.

        Raises:
            OSError: The disk is full or fails.
            ReadLeafError: A leaf cannot be read.
            CancelledError: The person cancelled.
        """
        stream: LeafStream | None = None
        with FileSink(path, context.job) as sink:
            for part in _parts(self.tree, (), chunked=True):
                if isinstance(part, bytes):
                    sink.write(part)
                    continue
                leaf_path, leaf, nbytes = part
                if stream is None:
                    context.job.advance(0, quote(leaf_path))
                    stream = context.stream(leaf_path, leaf)
                sink.copy(stream, nbytes)
                if not stream.left:
                    stream.end()
                    stream = None
            expect_size(sink, self.nbytes)


def _parts(node: Node, path: TreePath, *, chunked: bool) -> Iterator[bytes | _Numbers]:
    """Yields the file in order: encoded bytes, and places for numbers.

    Flax cuts big arrays only where mappings alone lead to them, and puts them
    together only there; ``chunked`` is False below a list.
    """
    if isinstance(node, Leaf):
        yield from _leaf_parts(node, path, chunked=chunked)
        return
    packer = msgpack.Packer()
    if node.container is Container.DICT:
        yield packer.pack_map_header(len(node.children))
        for key in sorted(node.children, key=str):
            yield _pack(key)
            yield from _parts(node.children[key], (*path, key), chunked=chunked)
    else:
        yield packer.pack_array_header(len(node.children))
        for key, child in node.children.items():
            yield from _parts(child, (*path, key), chunked=False)


def _leaf_parts(
    leaf: Leaf, path: TreePath, *, chunked: bool
) -> Iterator[bytes | _Numbers]:
    if leaf.kind is not Kind.ARRAY:
        yield _pack_object(leaf)
    elif chunked and leaf.nbytes > MAX_CHUNK_BYTES:
        yield from _chunk_parts(leaf, path)
    else:
        yield from _array_parts(leaf, path, leaf.shape, leaf.nbytes)


def _chunk_parts(leaf: Leaf, path: TreePath) -> Iterator[bytes | _Numbers]:
    """Yields a big array as Flax's map of one-dimensional pieces."""
    itemsize = dtypes.itemsize(leaf.dtype)
    rows = max(1, MAX_CHUNK_BYTES // itemsize)
    counts = [min(rows, leaf.size - start) for start in range(0, leaf.size, rows)]
    yield b"\x83" + _pack("__msgpack_chunked_array__") + _pack(True) + _pack("shape")
    yield _pack({str(axis): extent for axis, extent in enumerate(leaf.shape)})
    yield _pack("chunks") + msgpack.Packer().pack_map_header(len(counts))
    for index, count in enumerate(counts):
        yield _pack(str(index))
        yield from _array_parts(leaf, path, (count,), count * itemsize)


def _array_parts(
    leaf: Leaf, path: TreePath, shape: tuple[int, ...], nbytes: int
) -> Iterator[bytes | _Numbers]:
    """Yields extension 1: msgpack of ``[shape, dtype name, bytes]``."""
    header = b"\x93" + _pack(shape) + _pack(leaf.dtype) + _binary_header(nbytes)
    if len(header) + nbytes > _MAX_EXTENSION_BYTES:
        raise WriteFileError(
            message="msgpack holds at most 4 GiB in one array, and Flax cuts no "
            f"array inside a list; this one has {nbytes:,} bytes.",
            where=quote(path),
            hint="Export to Orbax, safetensors or npz.",
        )
    yield _extension_header(_ARRAY, len(header) + nbytes) + header
    if nbytes:
        yield path, leaf, nbytes


def _pack_object(leaf: Leaf) -> bytes:
    """Returns the encoding of a leaf that is no array."""
    if leaf.kind is Kind.EMPTY_DICT:
        return b"\x80"
    if leaf.kind is Kind.EMPTY_LIST:
        return b"\x90"
    value = leaf.value.value if isinstance(leaf.value, Literal) else None
    if isinstance(value, complex):
        data = _pack((value.real, value.imag))
        return _extension_header(_COMPLEX, len(data)) + data
    return _pack(value)


def _pack(value: object) -> bytes:
    # Keys of a file that were no UTF-8 are shown with stand-ins; they go back to
    # the very bytes they were.
    packed: bytes = msgpack.packb(value, unicode_errors="surrogateescape")
    return packed


def _extension_header(code: int, nbytes: int) -> bytes:
    if nbytes in {1, 2, 4, 8, 16}:
        return bytes([0xD4 + nbytes.bit_length() - 1, code])
    if nbytes < 2**8:
        return struct.pack(">BBB", 0xC7, nbytes, code)
    if nbytes < 2**16:
        return struct.pack(">BHB", 0xC8, nbytes, code)
    return struct.pack(">BIB", 0xC9, nbytes, code)


def _binary_header(nbytes: int) -> bytes:
    if nbytes < 2**8:
        return struct.pack(">BB", 0xC4, nbytes)
    if nbytes < 2**16:
        return struct.pack(">BH", 0xC5, nbytes)
    return struct.pack(">BI", 0xC6, nbytes)
