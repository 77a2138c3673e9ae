"""safetensors: a JSON header and plain bytes; one file, or the shards of an index.

Format: https://github.com/huggingface/safetensors#format. Only the header is read;
names are kept as they are, and a ``/`` in them makes levels. The metadata entry
``inspector.tree`` of our own exports restores what names cannot say.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.errors import ReadFileError
from inspector.formats import inspector_tree
from inspector.formats.arrays import ArrayReader, StridedArray
from inspector.formats.byte_sources import FileRange, FileRuns
from inspector.formats.faults import (
    LeafFault,
    ReadFileDamagedError,
    ReadFileTruncatedError,
)
from inspector.formats.listed import ListedCheckpoint, Listing, place_entries
from inspector.formats.msgpack_read import add_missing_shard, check_total
from inspector.formats.safe_files import FilePool, parse_json
from inspector.formats.shards import read_index
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf

HEADER_LIMIT = 100_000_000
"""Bytes of the longest header that the format's own library reads."""

_LENGTH_BYTES = 8
_PAIR = 2

DTYPES: dict[str, str] = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "U32": "uint32",
    "I32": "int32",
    "U64": "uint64",
    "I64": "int64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
}
"""Dtype code of the format -> name, for elements of whole bytes."""

_PACKED_BITS = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6}


@dataclass(frozen=True, slots=True)
class _Header:
    """What one file's header says; offsets count from the start of the file."""

    tensors: dict[str, tuple[str, tuple[int, ...], int, int]]
    metadata: dict[str, str]


def open_safetensors(path: Path, source: str) -> ListedCheckpoint:
    """Opens one safetensors file.

    Args:
        path: The file.
        source: Locator text that the leaves name.

    Raises:
        ReadFileError: The header is damaged, or the file ends before its tensors do.
    """
    pool = FilePool()
    listing = Listing(source, files=[path])
    with pool.closed_on_error():
        header = read_header(path, pool)
        listing.custom.update(header.metadata)
        description = _description(listing, header, path)
        entries = _entries(path, header, pool)
        place_entries(listing, entries, description)
        return ListedCheckpoint("safetensors", path, listing, pool)


def open_safetensors_shards(index_path: Path, source: str) -> ListedCheckpoint:
    """Opens the shards of an index as one tree.

    Weights of a shard that is absent or damaged stay in the tree, each with the
    error.

    Raises:
        ReadFileError: The index is damaged.
    """
    index = read_index(index_path)
    pool = FilePool()
    listing = Listing(source, files=[index_path])
    entries: dict[str, tuple[Leaf, ArrayReader | None]] = {}
    for shard in index.files():
        try:
            header = read_header(shard, pool)
        except ReadFileError as error:
            add_missing_shard(listing, index, shard, error)
            continue
        listing.files.append(shard)
        listing.custom.update(header.metadata)
        entries.update(_entries(shard, header, pool))
    place_entries(listing, entries, None)
    check_total(listing, index)
    return ListedCheckpoint("safetensors", index_path, listing, pool)


def read_header(path: Path, pool: FilePool) -> _Header:
    """Reads and checks the header of a file, which stays open in the pool.

    Raises:
        ReadFileError: The file ends early, or the header contradicts itself:
            overlapping or missing bytes, sizes that do not fit shapes.
    """
    file = pool.open(path)
    try:
        length = int.from_bytes(file.read(0, _LENGTH_BYTES), "little")
        if length > HEADER_LIMIT:
            raise ReadFileDamagedError(
                path, problem=f"a header of {length:,} bytes is beyond the format"
            )
        data = file.read(_LENGTH_BYTES, length)
    except LeafFault as error:
        raise ReadFileDamagedError(path, problem=error.problem) from error
    content = parse_json(data, path)
    if not isinstance(content, dict):
        raise ReadFileDamagedError(path, problem="its header is no JSON object")
    metadata = content.pop("__metadata__", None) or {}
    if not isinstance(metadata, dict):
        raise ReadFileDamagedError(path, problem="its metadata are no JSON object")
    start = _LENGTH_BYTES + length
    tensors = {
        name: _tensor(path, name, entry, start) for name, entry in content.items()
    }
    _check_layout(path, tensors, start, file.size)
    return _Header(tensors, {key: str(value) for key, value in metadata.items()})


def _tensor(
    path: Path, name: str, entry: Any, start: int
) -> tuple[str, tuple[int, ...], int, int]:
    """Checks one entry: (dtype code, shape, first byte, byte after the last)."""
    entry = entry if isinstance(entry, dict) else {}
    code, shape, offsets = (
        entry.get(key) for key in ("dtype", "shape", "data_offsets")
    )
    if not (
        isinstance(code, str)
        and _are_counts(shape)
        and _are_counts(offsets)
        and len(offsets) == _PAIR
        and offsets[0] <= offsets[1]
    ):
        raise ReadFileDamagedError(path, problem=f"the entry of {name!r} is malformed")
    begin, end = offsets
    bits = math.prod(shape) * _bits(code)
    if bits and (end - begin) * 8 != bits:
        raise ReadFileDamagedError(
            path,
            problem=f"{name!r} is {code}{shape} in {end - begin:,} bytes, which does "
            "not fit",
        )
    return code, tuple(shape), start + begin, start + end


def _are_counts(values: Any) -> bool:
    return isinstance(values, list) and all(
        isinstance(value, int) and not isinstance(value, bool) and value >= 0
        for value in values
    )


def _bits(code: str) -> int:
    """Returns the bits of one element, 0 for a code this program does not know."""
    if code in DTYPES:
        return 8 * dtypes.itemsize(DTYPES[code])
    return _PACKED_BITS.get(code, 0)


def _check_layout(
    path: Path,
    tensors: Mapping[str, tuple[str, tuple[int, ...], int, int]],
    start: int,
    size: int,
) -> None:
    """Checks that the tensors cover the rest of the file without overlap or hole."""
    position = start
    for name, (_, _, begin, end) in sorted(
        tensors.items(), key=lambda item: (item[1][2], item[1][3])
    ):
        if begin != position:
            problem = (
                "overlaps the tensor before it"
                if begin < position
                else (f"leaves a hole of {begin - position:,} bytes before it")
            )
            raise ReadFileDamagedError(path, problem=f"{name!r} {problem}")
        position = end
    if position > size:
        raise ReadFileTruncatedError(path, ends_at=size, promised=position)
    if position < size:
        raise ReadFileDamagedError(
            path, problem=f"{size - position:,} bytes follow its last tensor"
        )


def _entries(
    path: Path, header: _Header, pool: FilePool
) -> dict[str, tuple[Leaf, ArrayReader | None]]:
    entries: dict[str, tuple[Leaf, ArrayReader | None]] = {}
    for name, (code, shape, begin, end) in header.tensors.items():
        if code not in DTYPES:
            note = f"{code}{list(shape)}, packed or unknown elements"
            entries[name] = Leaf(Kind.OPAQUE, note=note, stored_bytes=end - begin), None
            continue
        source = FileRuns(pool, [FileRange(path, begin, end - begin)])
        dtype = DTYPES[code]
        leaf = Leaf(Kind.ARRAY, shape, dtype, stored_bytes=end - begin)
        entries[name] = leaf, StridedArray(source, shape, dtypes.to_numpy(dtype))
    return entries


def _description(
    listing: Listing, header: _Header, path: Path
) -> Mapping[str, Any] | None:
    """Takes the tree description out of the metadata, with a warning when bad."""
    text = listing.custom.pop(inspector_tree.NAME, None)
    if text is None:
        return None
    try:
        description = json.loads(header.metadata[inspector_tree.NAME])
    except (ValueError, RecursionError):
        description = None
    if isinstance(description, dict):
        return description
    listing.warnings.append(
        f"{path.name}: the entry {inspector_tree.NAME} is no JSON object; the plain "
        "names are shown."
    )
    return None
