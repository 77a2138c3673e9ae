from __future__ import annotations

import contextlib
import io
import itertools
import struct
import zipfile
import zlib
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from inspector.errors import ReadFileError, ReadLeafError
from inspector.formats.checkpoint import never, region_of
from inspector.formats.registry import open_checkpoint
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import join
from inspector.variables.tree import get, walk
from inspector.variables.value import Literal

ARRAYS: dict[str, np.ndarray] = {
    "Transformer/block_0/kernel": np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    "fortran": np.asfortranarray(np.arange(12, dtype=np.int16).reshape(3, 4)),
    "big": np.arange(5, dtype=">f8"),
    "flag": np.array(True),
    "c": np.array([1 + 2j], np.complex64),
    "none": np.zeros((0, 2)),
}


@pytest.mark.parametrize("compressed", [False, True])
def test_agrees_with_numpy(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "a.npz"
    save = np.savez_compressed if compressed else np.savez
    save(path, allow_pickle=False, **ARRAYS)
    checkpoint = open_checkpoint(str(path))
    for name, expected in ARRAYS.items():
        key = tuple(name.split("/"))
        leaf = get(checkpoint.tree, key)
        assert isinstance(leaf, Leaf)
        assert leaf.dtype == expected.dtype.newbyteorder("=").name
        found = checkpoint.read(key, region_of(expected.shape), never)
        assert found.dtype.isnative
        assert found.tolist() == expected.tolist()
        blocks = [block.tolist() for block in checkpoint.blocks(key, never)]
        assert list(itertools.chain(*blocks)) == expected.ravel().tolist()
    part = checkpoint.read(("fortran",), ((1, 3), (2, 3)), never)
    assert part.tolist() == ARRAYS["fortran"][1:3, 2:3].tolist()
    plain = checkpoint.extent(("Transformer", "block_0", "kernel"))
    assert (plain is None) is compressed
    assert checkpoint.extent(("fortran",)) is None
    assert checkpoint.extent(("big",)) is None
    checkpoint.close()


def test_dtypes_whose_names_numpy_loses(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(
        path,
        b=np.array([1.5], ml_dtypes.bfloat16),
        e=np.array([2.0], ml_dtypes.float8_e5m2),
        f=np.array([2.0], ml_dtypes.float8_e4m3fn),
    )
    checkpoint = open_checkpoint(str(path))
    leaves = {join(path): leaf for path, leaf in walk(checkpoint.tree)}
    assert leaves["b"].dtype == "bfloat16"
    assert "V2" in leaves["b"].note
    assert checkpoint.read(("b",), ((0, 1),), never).astype(float).tolist() == [1.5]
    assert leaves["e"].dtype == "float8_e5m2"
    assert leaves["f"].kind is Kind.OPAQUE
    checkpoint.close()


def test_objects_are_not_loaded_and_text_is_a_literal(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(
        path,
        o=np.array([{}], object),
        t=np.array("hello"),
        many=np.array(["a", "b"]),
        record=np.zeros(2, [("x", "f4")]),
    )
    checkpoint = open_checkpoint(str(path))
    leaves = {join(path): leaf for path, leaf in walk(checkpoint.tree)}
    assert leaves["o"].kind is Kind.OPAQUE
    assert "pickled object array, not loaded" in leaves["o"].note
    assert leaves["t"].value == Literal("hello")
    assert leaves["many"].kind is Kind.OPAQUE
    assert leaves["record"].kind is Kind.OPAQUE
    checkpoint.close()


def npy(shape: tuple[int, ...], data: bytes) -> bytes:
    buffer = io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + data


def test_a_bomb_is_one_bad_leaf(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("huge.npy", npy((1 << 60,), b"\0" * 4000))
        archive.writestr("good.npy", npy((2,), struct.pack("<2f", 1, 2)))
        archive.writestr("notes.txt", "x")
        archive.writestr("bad.npy", b"\x93NUMPY\x01\x00\x04\x00{[}]")
    checkpoint = open_checkpoint(str(path))
    leaves = {join(path): leaf for path, leaf in walk(checkpoint.tree)}
    assert leaves["huge"].error.endswith("bytes, 4,000 are there.")
    assert leaves["bad"].error == "Its npy header is malformed."
    assert leaves["notes.txt"].kind is Kind.OPAQUE
    assert checkpoint.read(("good",), ((0, 2),), never).tolist() == [1, 2]
    with pytest.raises(ReadLeafError, match="4,000 are there"):
        checkpoint.read(("huge",), ((0, 1),), never)
    checkpoint.close()


def test_damaged_deflate_names_the_leaf(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    np.savez_compressed(path, w=values)
    with zipfile.ZipFile(path) as archive:
        start = archive.infolist()[0].header_offset
    data = bytearray(path.read_bytes())
    data[start + 900 : start + 1000] = b"\xff" * 100
    path.write_bytes(data)
    checkpoint = open_checkpoint(str(path))
    with pytest.raises(ReadLeafError, match="damaged compressed data") as caught:
        checkpoint.read(("w",), ((0, 1000),), never)
    assert caught.value.where == f"{path}::w"
    checkpoint.close()


def test_a_cut_directory_says_where_the_file_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, a=np.zeros(100))
    data = path.read_bytes()
    path.write_bytes(data[:-30])
    with pytest.raises(ReadFileError, match=f"ends at byte {len(data) - 30:,}"):
        open_checkpoint(str(path))


def test_every_cut_and_flip_is_an_error_of_ours_or_readable(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, a=np.arange(5.0), b=np.ones(3))
    data = path.read_bytes()
    for position in range(0, len(data), 3):
        changed = bytearray(data)
        changed[position] ^= 1 << (position % 8)
        path.write_bytes(changed)
        try:
            checkpoint = open_checkpoint(str(path))
        except ReadFileError:
            continue
        for key, leaf in walk(checkpoint.tree):
            if leaf.kind is Kind.ARRAY and not leaf.error and leaf.size < 1000:
                with contextlib.suppress(ReadLeafError):
                    checkpoint.read(key, region_of(leaf.shape), never)
        checkpoint.close()


def test_deflate_in_one_pass_whatever_the_block(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    values = np.arange(3_000_000, dtype=np.float32).reshape(1000, 3000)
    np.savez_compressed(path, w=values)
    checkpoint = open_checkpoint(str(path))
    total = 0.0
    crc = 0
    for block in checkpoint.blocks(("w",), never):
        assert block.nbytes <= 8 << 20
        total += float(block.astype(np.float64).sum())
        crc = zlib.crc32(block.tobytes(), crc)
    assert total == values.astype(np.float64).sum()
    assert crc == zlib.crc32(values.tobytes())
    column = checkpoint.read(("w",), ((0, 1000), (2999, 3000)), never)
    assert column[:, 0].tolist() == values[:, 2999].tolist()
    checkpoint.close()
