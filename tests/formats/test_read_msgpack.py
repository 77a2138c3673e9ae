from __future__ import annotations

import contextlib
import struct
from pathlib import Path
from typing import Any

import flax.serialization
import ml_dtypes
import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.errors import ReadFileError, ReadLeafError
from inspector.formats import msgpack_scan
from inspector.formats.checkpoint import Extent, never, region_of
from inspector.formats.faults import ReadFileDamagedError, ReadFileTruncatedError
from inspector.formats.msgpack_read import open_msgpack
from inspector.formats.msgpack_scan import Scanner
from inspector.formats.registry import open_checkpoint
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import join
from inspector.variables.tree import Container, get, walk
from inspector.variables.value import Literal

TREE: dict[str, Any] = {
    "params": {
        "w": np.arange(24, dtype=np.float32).reshape(2, 3, 4),
        "b": np.array([1.5, -2], ml_dtypes.bfloat16),
        "f8": np.array([1, 0.5], ml_dtypes.float8_e5m2),
        "i4": np.array([-8, 7], ml_dtypes.int4),
        "zero": np.zeros((0, 3)),
    },
    "step": 7,
    "none": None,
    "big": 2**40,
    "empty": {},
    "text": "ä",
    "raw": b"\x00\xff",
    "z": 1 + 2j,
    "flag": True,
}


def write(path: Path, tree: Any) -> Path:
    path.write_bytes(flax.serialization.msgpack_serialize(tree))
    return path


def test_agrees_with_flax(tmp_path: Path) -> None:
    path = write(tmp_path / "a.msgpack", TREE)
    reference = flax.serialization.msgpack_restore(path.read_bytes())
    checkpoint = open_checkpoint(str(path))
    for key, expected in reference["params"].items():
        leaf = get(checkpoint.tree, ("params", key))
        assert isinstance(leaf, Leaf)
        found = checkpoint.read(("params", key), region_of(leaf.shape), never)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()
    values = {join(path): leaf for path, leaf in walk(checkpoint.tree)}
    for key in ("step", "big", "text", "raw", "z", "flag", "none"):
        assert values[key].value == Literal(reference[key])
    assert values["empty"].kind is Kind.EMPTY_DICT
    assert values["flag"].kind is Kind.BOOL
    checkpoint.close()


def test_a_slice_and_its_place(tmp_path: Path) -> None:
    path = write(tmp_path / "a.msgpack", TREE)
    checkpoint = open_checkpoint(str(path))
    region = ((1, 2), (0, 3), (1, 3))
    found = checkpoint.read(("params", "w"), region, never)
    assert found.tolist() == TREE["params"]["w"][1:2, 0:3, 1:3].tolist()
    extent = checkpoint.extent(("params", "w"))
    assert isinstance(extent, Extent)
    data = path.read_bytes()[extent.offset : extent.offset + extent.nbytes]
    assert data == TREE["params"]["w"].tobytes()
    checkpoint.close()


def test_integer_keys_stay_integers_and_sort_by_number(tmp_path: Path) -> None:
    layers = {number: np.full(2, number, np.float32) for number in (10, 2, 0)}
    path = write(tmp_path / "a.msgpack", {"layers": layers})
    checkpoint = open_checkpoint(str(path))
    assert [path for path, _ in walk(checkpoint.tree)] == [
        ("layers", 0),
        ("layers", 2),
        ("layers", 10),
    ]
    checkpoint.close()


def test_chunked_arrays_are_one_leaf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flax.serialization, "MAX_CHUNK_SIZE", 64)
    array = np.arange(60, dtype=np.int32).reshape(5, 12)
    path = write(tmp_path / "a.msgpack", {"w": array})
    checkpoint = open_checkpoint(str(path))
    leaf = get(checkpoint.tree, ("w",))
    assert isinstance(leaf, Leaf)
    assert (leaf.shape, leaf.dtype, leaf.stored_bytes) == ((5, 12), "int32", 240)
    found = checkpoint.read(("w",), ((1, 4), (2, 9)), never)
    assert found.tolist() == array[1:4, 2:9].tolist()
    assert checkpoint.extent(("w",)) is None
    checkpoint.close()


def test_lists_and_duplicate_keys(tmp_path: Path) -> None:
    path = tmp_path / "a.msgpack"
    path.write_bytes(b"\x82\xa1a\x92\x01\x02\xa1a\x93\x01\x02\x03")
    checkpoint = open_checkpoint(str(path))
    assert [path for path, _ in walk(checkpoint.tree)] == [("a", 0), ("a", 1), ("a", 2)]
    branch = get(checkpoint.tree, ("a",))
    assert not isinstance(branch, Leaf)
    assert branch is not None
    assert branch.container is Container.LIST
    assert "a is in the file more than once" in checkpoint.warnings[0]
    checkpoint.close()


def test_shards_open_from_the_folder_the_index_and_any_shard(tmp_path: Path) -> None:
    write(tmp_path / "m-00001-of-00002.msgpack", {"a/kernel": np.ones(3, np.float32)})
    write(tmp_path / "m-00002-of-00002.msgpack", {"b/kernel": np.ones(2, np.float32)})
    (tmp_path / "m.msgpack.index.json").write_text(
        '{"metadata": {"total_size": 20}, "weight_map": '
        '{"a/kernel": "m-00001-of-00002.msgpack",'
        ' "b/kernel": "m-00002-of-00002.msgpack"}}'
    )
    for name in ("", "m.msgpack.index.json", "m-00002-of-00002.msgpack"):
        checkpoint = open_checkpoint(str(tmp_path / name))
        assert [join(path) for path, _ in walk(checkpoint.tree)] == [
            "a/kernel",
            "b/kernel",
        ]
        assert checkpoint.warnings == []
        checkpoint.close()
    (tmp_path / "m-00002-of-00002.msgpack").unlink()
    checkpoint = open_checkpoint(str(tmp_path))
    leaf = get(checkpoint.tree, ("b", "kernel"))
    assert isinstance(leaf, Leaf)
    assert "m-00002-of-00002.msgpack cannot be read" in leaf.error
    assert checkpoint.incomplete == "m-00002-of-00002.msgpack cannot be read"
    checkpoint.close()


def test_truncation_names_the_byte(tmp_path: Path) -> None:
    whole = flax.serialization.msgpack_serialize(
        {"a": np.ones((100, 100), np.float32), "b": np.ones(50, np.float32)}
    )
    path = tmp_path / "a.msgpack"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(
        ReadFileTruncatedError, match=r"ends early, at byte 20,1\d\d of"
    ):
        open_checkpoint(str(path))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\xdf\xff\xff\xff\xff", "ends early"),
        (b"\xdd\xff\xff\xff\xff", "ends early"),
        (b"\x91" * 300 + b"\x00", "nested more than 200"),
        (b"\x81\x80\x01", "a key is map"),
        (b"\x81\xa1a\xc1", "0xc1 begins no value"),
        (b"\x81\xa1a\x01\x01", "follow its end"),
        (b"\x81\xa1a\xc7\x02\x01\x90\x90", "no triple"),
        (b"\x81\xa1a\xd6\x02\x92\x01\x02\x03\x04", "no pair"),
    ],
)
def test_hostile_structure(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "a.msgpack"
    path.write_bytes(data)
    with pytest.raises(ReadFileError, match=problem):
        open_msgpack(path, str(path))


def test_more_values_than_can_be_shown_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(msgpack_scan, "MAX_ITEMS", 3)
    path = tmp_path / "a.msgpack"
    path.write_bytes(b"\x83\xa1a\x01\xa1b\x02\xa1c\x03")
    with pytest.raises(ReadFileError, match="more than 3 values") as caught:
        open_msgpack(path, str(path))
    assert caught.value.where == str(path)
    assert "Stack the arrays" in caught.value.hint


def test_a_shape_that_does_not_fit_is_one_bad_leaf(tmp_path: Path) -> None:
    body = msgpack.packb([[1 << 60], "float32", b"abcd"])
    odd = msgpack.packb([[1], "O", b"abcd"])
    tree = {"a": msgpack.ExtType(1, body), "o": msgpack.ExtType(1, odd), "n": 1}
    path = tmp_path / "a.msgpack"
    path.write_bytes(msgpack.packb(tree))
    checkpoint = open_checkpoint(str(path))
    leaf, opaque = (get(checkpoint.tree, (key,)) for key in "ao")
    assert isinstance(leaf, Leaf)
    assert leaf.error.endswith("bytes, 4 are stored.")
    assert isinstance(opaque, Leaf)
    assert opaque.kind is Kind.OPAQUE
    with pytest.raises(ReadLeafError, match="4 are stored"):
        checkpoint.read(("a",), ((0, 1),), never)
    checkpoint.close()


def test_a_large_file_is_listed_without_its_payload(tmp_path: Path) -> None:
    nbytes = 3 << 30
    head = b"\x93\x91\xce" + struct.pack(">I", nbytes) + b"\xa5uint8"
    head += b"\xc6" + struct.pack(">I", nbytes)
    path = tmp_path / "large.msgpack"
    with path.open("wb") as file:
        file.write(b"\x81\xa1w\xc9" + struct.pack(">I", len(head) + nbytes) + b"\x01")
        file.write(head)
        start = file.tell()
        file.truncate(start + nbytes)
        file.seek(start + nbytes - 2)
        file.write(b"\x05\x06")
    if path.stat().st_blocks * 512 > nbytes:
        pytest.skip("the file system has no sparse files")
    checkpoint = open_checkpoint(str(path))
    assert checkpoint.extent(("w",)) == Extent(str(path), start, nbytes)
    found = checkpoint.read(("w",), ((nbytes - 3, nbytes),), never)
    assert found.tolist() == [0, 5, 6]
    checkpoint.close()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_bytes_raise_errors_of_ours_alone(data: st.DataObject) -> None:
    raw = bytearray(flax.serialization.msgpack_serialize(TREE))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    with contextlib.suppress(ReadFileDamagedError, ReadFileTruncatedError):
        Scanner(bytes(raw[:cut]), Path("fuzz")).scan()
