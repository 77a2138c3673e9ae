"""Writes npz: a zip archive of ``.npy`` members, laid out as ``numpy.savez`` does.

Owns the members and their numpy headers. Dtypes that numpy has no name for are
written as raw bytes (``|V2`` for bfloat16); their names, and all that flat names
cannot say, go into the member ``inspector.tree``. The reader process calls it
through `export`; no array is ever whole in memory.
"""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from inspector.errors import WriteFileError
from inspector.formats import inspector_tree
from inspector.formats.export_plan import Abilities, adapt
from inspector.formats.write_stream import WriteContext
from inspector.variables import dtypes
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath, quote
from inspector.variables.tree import Node, walk

NATIVE = frozenset(
    name for name in dtypes.NAMES if dtypes.to_numpy(name).isbuiltin == 1
)
"""Dtypes that a numpy header names; ml_dtypes' own are not among them."""

ABILITIES = Abilities(name="npz", dtypes=frozenset(dtypes.NAMES), nul_in_keys=False)
"""`inspector_tree` says all of the structure; a zip name ends at NUL."""

_MAX_NAME_BYTES = 2**16 - 1
_SUFFIX = ".npy"
_BUFFER_BYTES = 1 << 20

# What the zip format puts around a member: local header with a zip64 field, and an
# entry of the directory, which may need a zip64 field as well.
_MEMBER_BYTES = 50 + 74
_ARCHIVE_BYTES = 98


class NpzWriter:
    """One planned npz file.

    Attributes:
        tree: What is written.
        warnings: Always empty; the format loses nothing.
        nbytes: Size of the file, a few bytes for each member above the real one.
    """

    format = "npz"

    def __init__(self, tree: Node, *, lossy: bool) -> None:
        """Plans the file.

        Raises:
            WriteFileError: A name is too long for a zip, or holds NUL.
        """
        adapted = adapt(tree, ABILITIES, lossy=lossy)
        self.tree = adapted.tree
        self.warnings = adapted.warnings
        names = inspector_tree.entry_names(self.tree)
        self._leaves = [
            (names[path] + _SUFFIX, path, leaf)
            for path, leaf in walk(self.tree)
            if path in names
        ]
        for name, path, _ in self._leaves:
            if len(name.encode()) > _MAX_NAME_BYTES:
                raise WriteFileError(
                    message=f"The name of this leaf has {len(name.encode()):,} bytes; "
                    f"a zip archive holds at most {_MAX_NAME_BYTES:,}.",
                    where=quote(path)[:200] + "…",
                    hint="Rename the keys in the target, or choose another format.",
                )
        description = inspector_tree.describe(self.tree, names, NATIVE)
        self._description = (
            inspector_tree.dumps(description).encode() if description else b""
        )
        self.nbytes = _ARCHIVE_BYTES + _MEMBER_BYTES + len(self._description)
        for name, _, leaf in self._leaves:
            around = _MEMBER_BYTES + 2 * len(name.encode())
            self.nbytes += around + len(_npy_header(leaf)) + leaf.nbytes

    def write(self, path: Path, context: WriteContext) -> None:
        """Writes the file at ``path``, which must not exist.

        Raises:
            OSError: The disk is full or fails.
            ReadLeafError: A leaf cannot be read.
            CancelledError: The person cancelled.
        """
        # Buffered, because zipfile does not look at how much a raw write has taken.
        with path.open("xb", buffering=_BUFFER_BYTES) as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                for name, leaf_path, leaf in self._leaves:
                    context.job.advance(0, quote(leaf_path))
                    with archive.open(_member(name), "w", force_zip64=True) as member:
                        _write_member(member, leaf_path, leaf, context)
                if self._description:
                    archive.writestr(_member(inspector_tree.NAME), self._description)
            file.flush()
            os.fsync(file.fileno())


def _member(name: str) -> zipfile.ZipInfo:
    """Returns the entry of a member; without a date, so that equal trees are equal."""
    member = zipfile.ZipInfo(name)
    member.external_attr = 0o644 << 16
    return member


def _write_member(
    member: IO[bytes], path: TreePath, leaf: Leaf, context: WriteContext
) -> None:
    header = _npy_header(leaf)
    member.write(header)
    context.job.advance(len(header))
    stream = context.stream(path, leaf)
    for piece in stream.pieces(leaf.nbytes):
        member.write(piece)
        context.job.advance(len(piece))
    stream.end()


def _npy_header(leaf: Leaf) -> bytes:
    """Returns the numpy header of a leaf.

    float8_e5m2 calls itself ``<f1``, which makes a file that numpy cannot open; so
    every dtype that is not numpy's own is declared as raw bytes.
    """
    words = (dtypes.words_of(leaf.dtype),) if dtypes.is_key(leaf.dtype) else ()
    dtype = dtypes.to_numpy(leaf.dtype)
    native = leaf.dtype in NATIVE or bool(words)
    descr = dtype.newbyteorder("<").str if native else f"|V{dtype.itemsize}"
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer,
        {"descr": descr, "fortran_order": False, "shape": (*leaf.shape, *words)},
    )
    return buffer.getvalue()
