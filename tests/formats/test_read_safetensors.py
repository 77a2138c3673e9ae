from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from inspector.errors import ReadFileError
from inspector.formats.checkpoint import never, region_of
from inspector.formats.registry import open_checkpoint
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.tree import get, walk


def write(path: Path, header: dict[str, Any], data: bytes = b"") -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def test_agrees_with_the_library(tmp_path: Path) -> None:
    arrays = {
        "layer.0/kernel": np.arange(6, dtype=np.float32).reshape(2, 3),
        "layer.0/bias": np.array([True, False]),
        "h": np.array([1.5, 2], np.float16),
        "empty": np.zeros((0, 4), np.int64),
    }
    path = tmp_path / "a.safetensors"
    safetensors.numpy.save_file(arrays, path, {"format": "flax"})
    checkpoint = open_checkpoint(str(path))
    assert checkpoint.format == "safetensors"
    assert checkpoint.custom == {"format": "flax"}
    for name, expected in arrays.items():
        key = tuple(name.split("/"))
        found = checkpoint.read(key, region_of(expected.shape), never)
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()
    checkpoint.close()


@pytest.mark.parametrize(
    ("code", "dtype"),
    [
        ("BF16", ml_dtypes.bfloat16),
        ("F8_E4M3", ml_dtypes.float8_e4m3fn),
        ("F8_E5M2", ml_dtypes.float8_e5m2),
        ("F8_E8M0", ml_dtypes.float8_e8m0fnu),
    ],
)
def test_dtypes_that_numpy_has_not(tmp_path: Path, code: str, dtype: Any) -> None:
    array = np.array([1, 2, 4], dtype)
    header = {"a": {"dtype": code, "shape": [3], "data_offsets": [0, array.nbytes]}}
    path = write(tmp_path / "a.safetensors", header, array.tobytes())
    checkpoint = open_checkpoint(str(path))
    leaf = get(checkpoint.tree, ("a",))
    assert isinstance(leaf, Leaf)
    assert leaf.dtype == np.dtype(dtype).name
    assert checkpoint.read(("a",), ((0, 3),), never).astype(float).tolist() == [1, 2, 4]
    checkpoint.close()


def test_packed_elements_are_opaque(tmp_path: Path) -> None:
    header = {"a": {"dtype": "F4", "shape": [4], "data_offsets": [0, 2]}}
    checkpoint = open_checkpoint(
        str(write(tmp_path / "a.safetensors", header, b"\x12\x34"))
    )
    leaf = get(checkpoint.tree, ("a",))
    assert isinstance(leaf, Leaf)
    assert (leaf.kind, leaf.stored_bytes) == (Kind.OPAQUE, 2)
    assert "F4[4]" in leaf.note
    checkpoint.close()


def test_names_that_cannot_be_levels_stay_whole(tmp_path: Path) -> None:
    entry = {"dtype": "U8", "shape": [1]}
    header = {
        "a": {**entry, "data_offsets": [0, 1]},
        "a/b": {**entry, "data_offsets": [1, 2]},
    }
    checkpoint = open_checkpoint(
        str(write(tmp_path / "a.safetensors", header, b"\1\2"))
    )
    assert [path for path, _ in walk(checkpoint.tree)] == [("a",), ("a/b",)]
    checkpoint.close()


F32 = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}


@pytest.mark.parametrize(
    ("header", "data", "problem"),
    [
        ({"a": F32}, b"12", "ends early"),
        ({"a": F32}, b"123456", "2 bytes follow"),
        ({"a": F32, "b": {**F32, "data_offsets": [2, 6]}}, b"123456", "overlaps"),
        ({"a": F32, "b": {**F32, "data_offsets": [8, 12]}}, b"1" * 12, "hole of 4"),
        ({"a": {**F32, "shape": [2]}}, b"1234", "does not fit"),
        ({"a": {**F32, "shape": [-1]}}, b"1234", "malformed"),
        ({"a": {**F32, "shape": [1 << 60, 1 << 60]}}, b"1234", "does not fit"),
        ({"a": {**F32, "data_offsets": [4, 0]}}, b"1234", "malformed"),
        ({"a": 3}, b"", "malformed"),
        ({"__metadata__": 3}, b"", "metadata are no JSON object"),
    ],
)
def test_hostile_headers(
    tmp_path: Path, header: dict[str, Any], data: bytes, problem: str
) -> None:
    path = write(tmp_path / "a.safetensors", header, data)
    with pytest.raises(ReadFileError, match=problem) as caught:
        open_checkpoint(str(path))
    assert caught.value.where == str(path)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (struct.pack("<Q", 1 << 60) + b"{}", "beyond the format"),
        (struct.pack("<Q", 99_000_000) + b"{}", "ends early, at byte 10"),
        (b"\x01\x02", "ends early"),
        (struct.pack("<Q", 2) + b"{x", "no valid JSON"),
        (struct.pack("<Q", 2) + b"[]", "no JSON object"),
    ],
)
def test_hostile_lengths(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(data)
    with pytest.raises(ReadFileError, match=problem):
        open_checkpoint(str(path))


def test_an_index_never_opens_files_elsewhere(tmp_path: Path) -> None:
    index = tmp_path / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"a": "../secret.safetensors"}}')
    with pytest.raises(ReadFileError, match="is no file beside it"):
        open_checkpoint(str(index))
