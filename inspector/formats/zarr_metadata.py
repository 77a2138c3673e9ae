"""Metadata of one zarr array, version 2 (``.zarray``) or 3 (``zarr.json``).

Specifications: https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html and
…/v3/core/index.html, with tensorstore's dtype names. Only metadata are parsed here;
`zarr` reads chunks. Equal metadata are parsed once, because a checkpoint of 100,000
leaves has mostly the same few.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from inspector.formats.arrays import native
from inspector.formats.faults import LeafFault
from inspector.variables import dtypes

OWN_CODECS = frozenset({"raw", "zstd", "gzip", "zlib"})
"""Compressions that are decoded here; others are left to tensorstore."""

_MAX_RANK = 64
_MAX_EXTENT = 1 << 62
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True, slots=True)
class ChunkCoding:
    """How the elements of one chunk are stored.

    Attributes:
        shape: Shape of a chunk; chunks at the edge are padded to it.
        dtype: Dtype with its byte order.
        fortran: Whether elements are in Fortran order.
        codec: Compression, one of `OWN_CODECS`, or another's name.
        checksum: Whether four bytes of CRC-32C follow (zarr 3).
        inner: Coding of the chunks inside, for sharded arrays.
        index_at_end: Where a shard keeps its index.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    fortran: bool = False
    codec: str = "raw"
    checksum: bool = False
    inner: ChunkCoding | None = None
    index_at_end: bool = True

    @property
    def nbytes(self) -> int:
        """Decoded bytes of a chunk."""
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class ZarrMetadata:
    """What the metadata of an array say.

    Attributes:
        shape: Shape of the array.
        dtype: JAX's name of its dtype.
        coding: How its chunks are stored.
        separator: Between the numbers of a chunk's key.
        prefix: Before them, e.g. ``"c"`` in zarr 3.
        fill: What an absent chunk stands for; None when the metadata do not say.
        version: 2 or 3.
        raw: The metadata as they are stored.
    """

    shape: tuple[int, ...]
    dtype: str
    coding: ChunkCoding
    separator: str
    prefix: str
    fill: bool | int | float | complex | None
    version: int
    raw: bytes

    @property
    def grid(self) -> tuple[int, ...]:
        """Number of chunks on every axis."""
        return tuple(
            -(-extent // chunk)
            for extent, chunk in zip(self.shape, self.coding.shape, strict=True)
        )

    def chunk_key(self, index: tuple[int, ...]) -> str:
        """Returns the key of a chunk below the array's own."""
        numbers = [str(number) for number in index]
        if self.prefix:
            return self.separator.join([self.prefix, *numbers])
        return self.separator.join(numbers) or "0"


@functools.lru_cache(maxsize=4096)
def parse_metadata(data: bytes) -> ZarrMetadata:
    """Parses the metadata of an array.

    Raises:
        LeafFault: They are no JSON, malformed, or of a dtype that JAX does not have.
    """
    try:
        content = json.loads(data)
        version = content.get("zarr_format")
        if version == 2:  # noqa: PLR2004 - the format's version
            return _parse_v2(content, data)
        if version == 3:  # noqa: PLR2004 - the format's version
            return _parse_v3(content, data)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise LeafFault(problem=f"Its zarr metadata are malformed: {error}.") from error
    raise LeafFault(problem=f"Its zarr metadata are of version {version!r}.")


def _parse_v2(content: dict[str, Any], raw: bytes) -> ZarrMetadata:
    shape, chunks = _counts(content["shape"]), _counts(content["chunks"], least=1)
    dtype = _dtype_v2(content["dtype"])
    compressor = content.get("compressor")
    codec = "raw" if compressor is None else str(compressor["id"])
    if content.get("filters"):
        codec = "filters"
    fortran = content.get("order") == "F"
    _same_rank(shape, chunks)
    return ZarrMetadata(
        shape,
        _name(dtype),
        ChunkCoding(chunks, dtype, fortran, codec),
        str(content.get("dimension_separator") or "."),
        "",
        _fill(content.get("fill_value")),
        2,
        raw,
    )


def _parse_v3(content: dict[str, Any], raw: bytes) -> ZarrMetadata:
    shape = _counts(content["shape"])
    chunks = _counts(content["chunk_grid"]["configuration"]["chunk_shape"], least=1)
    dtype = _dtype_v2(content["data_type"])
    encoding = content.get("chunk_key_encoding") or {"name": "default"}
    options = encoding.get("configuration") or {}
    default = encoding["name"] == "default"
    _same_rank(shape, chunks)
    return ZarrMetadata(
        shape,
        _name(dtype),
        _coding_v3(chunks, dtype, content["codecs"]),
        str(options.get("separator") or ("/" if default else ".")),
        "c" if default else "",
        _fill(content.get("fill_value")),
        3,
        raw,
    )


def _coding_v3(
    shape: tuple[int, ...], dtype: np.dtype, codecs: list[dict[str, Any]]
) -> ChunkCoding:
    """Reads a chain of codecs; a chain that is not known here names its codec."""
    names = [str(codec["name"]) for codec in codecs]
    options = [codec.get("configuration") or {} for codec in codecs]
    if names == ["sharding_indexed"]:
        inner_shape = _counts(options[0]["chunk_shape"], least=1)
        _same_rank(shape, inner_shape)
        known = [codec["name"] for codec in options[0]["index_codecs"]]
        inner = _coding_v3(inner_shape, dtype, options[0]["codecs"])
        codec = "raw" if known == ["bytes", "crc32c"] else "shard index"
        at_end = options[0].get("index_location", "end") == "end"
        return ChunkCoding(shape, dtype, codec=codec, inner=inner, index_at_end=at_end)
    fortran = False
    if names[:1] == ["transpose"]:
        order = options[0].get("order")
        fortran = order in ("F", list(reversed(range(len(shape)))))
        names = names[1:] if fortran else names
        options = options[1:] if fortran else options
    checksum = names[-1:] == ["crc32c"]
    names = names[:-1] if checksum else names
    if names[:1] != ["bytes"] or len(names) > 2:  # noqa: PLR2004 - bytes, compression
        return ChunkCoding(shape, dtype, codec="+".join(names) or "none")
    big = options[0].get("endian") == "big"
    if big and dtype.itemsize > 1 and dtype.isbuiltin != 1:
        return ChunkCoding(shape, dtype, codec="big-endian bytes")
    stored = dtype.newbyteorder(">") if big and dtype.itemsize > 1 else dtype
    codec = names[1] if len(names) > 1 else "raw"
    return ChunkCoding(shape, stored, fortran, codec, checksum)


def _counts(values: Any, least: int = 0) -> tuple[int, ...]:
    if not isinstance(values, list) or len(values) > _MAX_RANK:
        raise LeafFault(problem="Its zarr metadata give no shape.")
    for value in values:
        valid = isinstance(value, int) and not isinstance(value, bool)
        if not valid or not least <= value <= _MAX_EXTENT:
            raise LeafFault(problem=f"Its zarr metadata give the extent {value!r}.")
    return tuple(values)


def _same_rank(shape: tuple[int, ...], chunks: tuple[int, ...]) -> None:
    if len(shape) != len(chunks):
        raise LeafFault(
            problem=f"Its zarr metadata give shape {shape} and chunks {chunks}."
        )


def _dtype_v2(text: Any) -> np.dtype:
    """Returns the dtype of a name: numpy's, zarr's ``<f4``, or one of ml_dtypes."""
    if isinstance(text, str) and text in dtypes.NAMES:
        return dtypes.to_numpy(text)
    if isinstance(text, str) and not text.startswith(("|V", "|S", "<U", "|O")):
        dtype = np.dtype(text)
        if _name(dtype) in dtypes.NAMES:
            return dtype
    raise LeafFault(problem=f"Its dtype {text!r} is none that JAX has.")


def _name(dtype: np.dtype) -> str:
    return dtypes.name_of(native(dtype))


def _fill(value: Any) -> bool | int | float | complex | None:
    if isinstance(value, list) and len(value) == 2:  # noqa: PLR2004 - a complex number
        real, imaginary = (_fill(part) for part in value)
        if isinstance(real, int | float) and isinstance(imaginary, int | float):
            return complex(real, imaginary)
        return None
    if isinstance(value, str):
        return _SPECIAL.get(value)
    return value if isinstance(value, bool | int | float) else None
