"""NumPy's npz: a zip of npy files.

Formats: numpy.lib.format, and the zip application note of PKWARE. Listing reads the
zip directory and the first bytes of each member. Stored members are read by
position, deflated ones as a stream; sizes are checked against the shape before
anything is decoded, so a zip bomb stays a number. Pickled objects are never loaded.
"""

from __future__ import annotations

import ast
import json
import math
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from inspector.formats import inspector_tree
from inspector.formats.arrays import ArrayReader, StridedArray, native, whole
from inspector.formats.byte_sources import (
    ByteSource,
    DecodedStream,
    FileRange,
    FileRuns,
    SkippedBytes,
    decoder_of,
)
from inspector.formats.checkpoint import never
from inspector.formats.faults import LeafFault, ReadFileDamagedError
from inspector.formats.listed import ListedCheckpoint, Listing, place_entries
from inspector.formats.msgpack_scan import TEXT_LIMIT
from inspector.formats.safe_files import METADATA_LIMIT, FilePool, SafeFile
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.value import Literal

NPY_MAGIC = b"\x93NUMPY"

_HEADER_LIMIT = 1 << 16
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LOCAL_MAGIC = b"PK\x03\x04"
_ENCRYPTED = 0x1

# Deflate's own bound is 1032:1 (RFC 1951: 258 bytes in 2 bits).
_DEFLATE_RATIO = 1040

# What numpy writes for the dtypes of ml_dtypes, without its byte order. Only bfloat16
# is 2 bytes wide, and only float8_e5m2 gets a code that looks like a float's.
_LOST = {"V2": "bfloat16", "f1": "float8_e5m2"}

Entry = tuple[Leaf, ArrayReader | None]


@dataclass(frozen=True, slots=True)
class NpyHeader:
    """The header of one npy file.

    Attributes:
        descr: Dtype as numpy writes it, e.g. ``"<f4"``; a list for records.
        fortran: Whether the elements are in Fortran order.
        shape: Its shape.
        length: Bytes before the first element.
    """

    descr: Any
    fortran: bool
    shape: tuple[int, ...]
    length: int


def open_npz(path: Path, source: str) -> ListedCheckpoint:
    """Opens an npz file.

    Args:
        path: The file.
        source: Locator text that the leaves name.

    Raises:
        ReadFileError: It is no zip, or its directory is damaged.
    """
    pool = FilePool()
    listing = Listing(source, files=[path])
    with pool.closed_on_error():
        _list_members(pool.open(path), pool, listing)
        return ListedCheckpoint("npz", path, listing, pool)


def _list_members(file: SafeFile, pool: FilePool, listing: Listing) -> None:
    entries: dict[str, Entry] = {}
    description: Mapping[str, Any] | None = None
    for member in read_directory(file):
        name = member.filename.removesuffix(".npy")
        if name in entries:
            listing.warnings.append(
                f"{name} is in the file more than once; the last one is shown."
            )
        if name == inspector_tree.NAME:
            description = _read_description(file, pool, member)
        else:
            entries[name] = _entry(file, pool, member)
    place_entries(listing, entries, description)


def read_directory(file: SafeFile) -> list[zipfile.ZipInfo]:
    """Reads the directory of a zip file; folders are left out.

    Raises:
        ReadFileError: There is none, or it is damaged.
    """
    try:
        with (
            open(file.descriptor, "rb", closefd=False) as raw,
            zipfile.ZipFile(raw) as archive,
        ):
            return [info for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, struct.error, OSError, ValueError) as error:
        raise ReadFileDamagedError(
            file.path,
            problem=f"its zip directory cannot be read ({error}); the end of the file "
            f"may be missing, it ends at byte {file.size:,}",
        ) from error
    except (NotImplementedError, OverflowError, MemoryError) as error:
        raise ReadFileDamagedError(
            file.path, problem=f"its zip directory: {error}"
        ) from error


def _entry(file: SafeFile, pool: FilePool, member: zipfile.ZipInfo) -> Entry:
    """Makes the leaf of one member; what is wrong with it becomes its error."""
    stored = member.compress_size
    if not member.filename.endswith(".npy"):
        note = f"a file of {member.file_size:,} bytes inside the npz, no array"
        return Leaf(Kind.OPAQUE, note=note, stored_bytes=stored), None
    try:
        source = _member_source(file, pool, member)
        header = read_npy_header(source)
        return _array_entry(source, header, stored)
    except LeafFault as error:
        return Leaf(Kind.OPAQUE, error=error.problem, stored_bytes=stored), None


def _member_source(
    file: SafeFile, pool: FilePool, member: zipfile.ZipInfo
) -> ByteSource:
    """Returns the decoded bytes of a member; the data begin after its local header.

    Raises:
        LeafFault: The member lies outside the file, is encrypted, or compressed in a
            way that numpy does not use.
    """
    if member.flag_bits & _ENCRYPTED:
        raise LeafFault(problem="It is encrypted.")
    local = bytearray(_LOCAL_HEADER.size)
    file.read_into(member.header_offset, memoryview(local))
    magic, name_length, extra_length = _LOCAL_HEADER.unpack(local)
    if magic != _LOCAL_MAGIC:
        raise LeafFault(problem="The zip directory points to no member.")
    start = member.header_offset + _LOCAL_HEADER.size + name_length + extra_length
    if start + member.compress_size > file.size:
        raise LeafFault(
            problem=f"It ends at byte {start + member.compress_size:,}, the file at "
            f"{file.size:,}."
        )
    blob = FileRange(file.path, start, member.compress_size)
    if member.compress_type == zipfile.ZIP_STORED:
        return FileRuns(pool, [blob])
    if member.compress_type != zipfile.ZIP_DEFLATED:
        raise LeafFault(problem=f"Zip compression {member.compress_type} is not known.")
    if member.file_size > member.compress_size * _DEFLATE_RATIO + _HEADER_LIMIT:
        raise LeafFault(
            problem=f"{member.compress_size:,} bytes cannot hold {member.file_size:,}."
        )
    return DecodedStream(decoder_of("deflate", blob, pool), member.file_size)


def read_npy_header(source: ByteSource) -> NpyHeader:
    """Reads the header of an npy file from its first bytes.

    Raises:
        LeafFault: It is none, or malformed.
    """
    fixed = _peek(source, 0, len(NPY_MAGIC) + 2)
    if not fixed.startswith(NPY_MAGIC):
        raise LeafFault(problem="It does not begin as an npy file does.")
    width = 2 if fixed[len(NPY_MAGIC)] == 1 else 4
    length = int.from_bytes(_peek(source, len(fixed), width), "little")
    start = len(fixed) + width
    if length > _HEADER_LIMIT:
        raise LeafFault(problem=f"Its npy header claims {length:,} bytes.")
    text = _peek(source, start, length)
    try:
        content = ast.literal_eval(text.decode("utf-8").strip())
        descr, fortran, shape = (
            content[key] for key in ("descr", "fortran_order", "shape")
        )
    except (
        SyntaxError,
        ValueError,
        TypeError,
        KeyError,
        MemoryError,
        RecursionError,
    ) as error:
        raise LeafFault(problem="Its npy header is malformed.") from error
    valid = isinstance(shape, tuple) and all(
        isinstance(extent, int) and extent >= 0 for extent in shape
    )
    if not valid:
        raise LeafFault(problem=f"Its npy header gives the shape {shape!r}.")
    return NpyHeader(descr, bool(fortran), shape, start + length)


def _peek(source: ByteSource, offset: int, length: int) -> bytes:
    data = bytearray(length)
    source.read_into(offset, memoryview(data), never)
    return bytes(data)


def _array_entry(source: ByteSource, header: NpyHeader, stored: int) -> Entry:
    """Makes the leaf that an npy header describes."""
    elements = SkippedBytes(source, header.length)
    dtype, name, note = _dtype_of(header.descr)
    if dtype is None:
        note = f"{note}, shape {list(header.shape)}"
        return Leaf(Kind.OPAQUE, note=note, stored_bytes=stored), None
    needed = math.prod(header.shape) * dtype.itemsize
    reader = StridedArray(elements, header.shape, dtype, fortran=header.fortran)
    kind = Kind.ARRAY if name else Kind.OPAQUE
    leaf = Leaf(kind, header.shape, name, note=note, stored_bytes=needed)
    if needed != elements.nbytes:
        problem = f"Its shape needs {needed:,} bytes, {elements.nbytes:,} are there."
        return replace(leaf, error=problem), None
    if dtype.kind in "US":
        return _text_leaf(reader, stored), None
    return leaf, reader


def _dtype_of(descr: Any) -> tuple[np.dtype | None, str, str]:
    """Returns (numpy dtype, dtype name, note) of an npy descr.

    Without a name the elements are opaque, though a tree description may tell what
    they are; without a dtype they are not readable at all.
    """
    if not isinstance(descr, str):
        return None, "", "array of records"
    name = _LOST.get(descr.lstrip("<|="), "")
    if name:
        note = f"stored as {descr}; read as {name}, whose name npz does not keep"
        return dtypes.to_numpy(name), name, note
    try:
        dtype = np.dtype(descr)
    except (TypeError, ValueError, SyntaxError):
        return None, "", f"array of {descr!r}"
    if dtype.hasobject:
        return None, "", "pickled object array, not loaded"
    name = dtypes.name_of(native(dtype))
    known = name in dtypes.NAMES
    return dtype, name if known else "", "" if known else f"array of {dtype.name}"


def _text_leaf(reader: StridedArray, stored: int) -> Leaf:
    """Returns text for a 0-d array of text, as `np.savez` stores a string."""
    if reader.shape or reader.dtype.itemsize > TEXT_LIMIT:
        return Leaf(
            Kind.OPAQUE,
            note=f"array of text, shape {list(reader.shape)}",
            stored_bytes=stored,
        )
    value = whole(reader, never).item()
    if isinstance(value, bytes):
        return Leaf(Kind.BYTES, value=Literal(value), stored_bytes=stored)
    return Leaf(Kind.STR, value=Literal(value), stored_bytes=stored)


def _read_description(
    file: SafeFile, pool: FilePool, member: zipfile.ZipInfo
) -> Mapping[str, Any]:
    """Reads the member ``inspector.tree``: plain JSON, without an npy header.

    Raises:
        ReadFileError: It is too large, damaged, or no JSON object.
    """
    if member.file_size > METADATA_LIMIT:
        raise ReadFileDamagedError(
            file.path, problem=f"{member.file_size:,} bytes of metadata are too many"
        )
    try:
        source = _member_source(file, pool, member)
        content = json.loads(_peek(source, 0, source.nbytes))
    except (LeafFault, ValueError, RecursionError) as error:
        raise ReadFileDamagedError(
            file.path, problem=f"its member {inspector_tree.NAME}: {error}"
        ) from error
    return content if isinstance(content, dict) else {}
