"""Writes safetensors: a header of names, dtypes and ranges, then the numbers.

Owns the header and the order of the tensors; for a tree that the format can say, the
file is the one that ``safetensors.numpy.save`` makes. What it cannot say goes into
the metadata entry ``inspector.tree``. The reader process calls it through `export`.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

from inspector.errors import WriteFileError
from inspector.formats import inspector_tree
from inspector.formats.export_plan import Abilities, adapt
from inspector.formats.write_file import FileSink, expect_size
from inspector.formats.write_stream import WriteContext
from inspector.variables import dtypes
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath, quote
from inspector.variables.tree import Node, get

CODES: dict[str, str] = {
    "uint64": "U64",
    "int64": "I64",
    "float64": "F64",
    "complex64": "C64",
    "float32": "F32",
    "uint32": "U32",
    "int32": "I32",
    "bfloat16": "BF16",
    "float16": "F16",
    "uint16": "U16",
    "int16": "I16",
    "float8_e5m2fnuz": "F8_E5M2FNUZ",
    "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e8m0fnu": "F8_E8M0",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}
"""Dtype -> its code, in the order in which the library lays tensors out."""

ABILITIES = Abilities(name="safetensors", dtypes=frozenset(CODES))
"""`inspector_tree` says all of the structure; only dtypes can be missing."""

MAX_HEADER_BYTES = 100_000_000
"""The library refuses to read a longer header."""

_ALIGNMENT = 8


class SafetensorsWriter:
    """One planned safetensors file.

    Attributes:
        tree: What is written.
        warnings: Always empty; the format loses nothing.
        nbytes: Exact size of the file.
    """

    format = "safetensors"

    def __init__(self, tree: Node, *, lossy: bool) -> None:
        """Plans the file.

        Raises:
            WriteFileError: A dtype is not in the format, or the header is too long.
        """
        adapted = adapt(tree, ABILITIES, lossy=lossy)
        self.tree = adapted.tree
        self.warnings = adapted.warnings
        names = inspector_tree.entry_names(self.tree)
        order = {dtype: index for index, dtype in enumerate(CODES)}
        self._leaves = sorted(
            ((name, path, _leaf_at(self.tree, path)) for path, name in names.items()),
            key=lambda item: (order[_stored_dtype(item[2])], item[0]),
        )
        description = inspector_tree.describe(self.tree, names, CODES)
        self._header = _encode_header(self._leaves, description)
        numbers = sum(leaf.nbytes for _, _, leaf in self._leaves)
        self.nbytes = len(self._header) + numbers

    def write(self, path: Path, context: WriteContext) -> None:
        """Writes the file at ``path``, which must not exist.

        Raises:
            OSError: The disk is full or fails.
            ReadLeafError: A leaf cannot be read.
            CancelledError: The person cancelled.
        """
        with FileSink(path, context.job) as sink:
            sink.write(self._header)
            for _, leaf_path, leaf in self._leaves:
                context.job.advance(0, quote(leaf_path))
                stream = context.stream(leaf_path, leaf)
                sink.copy(stream, leaf.nbytes)
                stream.end()
            expect_size(sink, self.nbytes)


def _leaf_at(tree: Node, path: TreePath) -> Leaf:
    node = get(tree, path)
    if not isinstance(node, Leaf):
        raise KeyError(path)
    return node


def _stored_dtype(leaf: Leaf) -> str:
    return "uint32" if dtypes.is_key(leaf.dtype) else leaf.dtype


def _encode_header(
    leaves: list[tuple[str, TreePath, Leaf]], description: dict[str, object]
) -> bytes:
    """Returns length and JSON, padded so that the numbers begin at a multiple of 8."""
    header: dict[str, object] = {}
    if description:
        text = inspector_tree.dumps(description)
        header["__metadata__"] = {inspector_tree.NAME: text}
    offset = 0
    for name, _, leaf in leaves:
        words = (dtypes.words_of(leaf.dtype),) if dtypes.is_key(leaf.dtype) else ()
        header[name] = {
            "dtype": CODES[_stored_dtype(leaf)],
            "shape": [*leaf.shape, *words],
            "data_offsets": [offset, offset + leaf.nbytes],
        }
        offset += leaf.nbytes
    encoded = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    encoded += b" " * (-len(encoded) % _ALIGNMENT)
    if len(encoded) > MAX_HEADER_BYTES:
        raise WriteFileError(
            message=f"The header has {len(encoded):,} bytes; safetensors reads at most "
            f"{MAX_HEADER_BYTES:,}.",
            hint="Export to Orbax, msgpack or npz, or only a part of the tree.",
        )
    return struct.pack("<Q", len(encoded)) + encoded
