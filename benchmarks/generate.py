"""Makes the checkpoints that are measured: real bytes, never sparse files.

Numbers are a block of normal random float32 written over and over; blocks lie
further apart than a compressor looks back. Files are forced to the disk before
anything is measured, so that writing them back does not disturb it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import msgpack
import numpy as np

from benchmarks.processes import child
from inspector.variables.path import TreePath

MIB = 1 << 20
GIB = 1 << 30

Shapes = Mapping[TreePath, tuple[int, ...]]
"""Path of each float32 leaf -> its shape."""

_BLOCK = 32 * MIB
_ITEM = 4
_EXT_NDARRAY = 1


def layers(leaves: int, width: int = 4) -> dict[TreePath, tuple[int, ...]]:
    """Returns the leaves of a deep model: blocks of layers with kernels and biases.

    Args:
        leaves: How many; sixteen a block.
        width: Rows and columns of a kernel.
    """
    found: dict[TreePath, tuple[int, ...]] = {}
    for number in range(leaves):
        block, inside = divmod(number, 16)
        layer, name = divmod(inside, 2)
        path = ("params", f"block_{block}", f"Dense_{layer}")
        found[*path, "bias" if name else "kernel"] = (width,) * (2 - name)
    return found


def pieces(leaves: int, nbytes: int) -> dict[TreePath, tuple[int, ...]]:
    """Returns leaves of equal size that have so many bytes in all."""
    rows = nbytes // leaves // (_ITEM * 1024)
    return {("params", f"layer_{n}", "kernel"): (rows, 1024) for n in range(leaves)}


def safetensors_file(path: Path, shapes: Shapes) -> Path:
    """Writes a safetensors file whose names join the keys with ``.``."""
    header: dict[str, object] = {}
    offset = 0
    for keys, shape in shapes.items():
        end = offset + math.prod(shape) * _ITEM
        header[".".join(map(str, keys))] = {
            "dtype": "F32",
            "shape": shape,
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        _write(file, offset)
        _sync(file)
    return path


def msgpack_file(path: Path, shapes: Shapes) -> Path:
    """Writes what ``flax.serialization.msgpack_serialize`` gives for the tree."""
    tree: dict[str, object] = {}
    for keys, shape in shapes.items():
        level = tree
        for key in keys[:-1]:
            level = level.setdefault(str(key), {})  # type: ignore[assignment]  # dicts
        level[str(keys[-1])] = shape
    with path.open("wb") as file:
        _pack(file, tree)
        _sync(file)
    return path


def _pack(file: BinaryIO, node: object) -> None:
    packer = msgpack.Packer()
    if isinstance(node, dict):
        file.write(packer.pack_map_header(len(node)))
        for key, child_node in node.items():
            file.write(packer.pack(key))
            _pack(file, child_node)
        return
    assert isinstance(node, tuple)
    nbytes = math.prod(node) * _ITEM
    # An array is an extension of (shape, dtype, bytes); all lengths as 32 bits.
    inner = packer.pack_array_header(3) + packer.pack(node) + packer.pack("float32")
    inner += b"\xc6" + nbytes.to_bytes(4, "big")
    length = len(inner) + nbytes
    file.write(b"\xc9" + length.to_bytes(4, "big") + bytes([_EXT_NDARRAY]) + inner)
    _write(file, nbytes)


def _write(file: BinaryIO, nbytes: int) -> None:
    for block in _blocks(nbytes):
        file.write(block)


def _blocks(nbytes: int) -> Iterator[memoryview]:
    if "block" not in _made:
        random = np.random.default_rng(0)
        numbers = random.standard_normal(_BLOCK // _ITEM, np.float32)
        _made["block"] = memoryview(numbers.tobytes())
    block = _made["block"]
    for start in range(0, nbytes, _BLOCK):
        yield block[: min(_BLOCK, nbytes - start)]


_made: dict[str, memoryview] = {}


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def orbax_folder(path: Path, shapes: Shapes, *, compress: bool = True) -> Path:
    """Lets plain Orbax, in a child, save a tree of random float32 arrays."""
    wanted = {
        "job": "save",
        "path": str(path),
        "compress": compress,
        "leaves": [[list(map(str, keys)), shape] for keys, shape in shapes.items()],
    }
    with child("orbax", wanted, {"JAX_PLATFORMS": "cpu"}) as saver:
        saver.hear_all()
    return path
