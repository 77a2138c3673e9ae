from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.errors import WriteFileError
from inspector.formats.write_npz import NATIVE
from inspector.variables import dtypes
from tests.formats.export_trees import RandomKey, export, same, sample


def written(value: Any, tmp_path: Path) -> Path:
    out = tmp_path / "tree.npz"
    assert export(value, out).nbytes == out.stat().st_size
    return out


def test_plain_arrays_are_what_numpy_reads(tmp_path: Path) -> None:
    tree = {f"x/{dtype}": sample(dtype) for dtype in NATIVE}
    tree |= {"s": sample("float32", ()), "z": sample("int8", (0, 4))}
    with np.load(
        written(
            {"x": {d: sample(d) for d in NATIVE}} | {"s": tree["s"], "z": tree["z"]},
            tmp_path,
        )
    ) as read:
        assert sorted(read.files) == sorted(tree)
        for name, array in tree.items():
            assert same(read[name], array)


def test_members_are_laid_out_as_savez_does(tmp_path: Path) -> None:
    tree = {"a": np.arange(6.0).reshape(2, 3), "b": np.arange(3, dtype=np.int8)}
    reference = tmp_path / "reference.npz"
    np.savez(reference, **tree)  # type: ignore[arg-type]  # its names are free
    with (
        zipfile.ZipFile(written(tree, tmp_path)) as ours,
        zipfile.ZipFile(reference) as theirs,
    ):
        assert ours.namelist() == theirs.namelist()
        for left, right in zip(ours.infolist(), theirs.infolist(), strict=True):
            assert ours.read(left) == theirs.read(right)
            assert left.compress_type == zipfile.ZIP_STORED
            assert left.header_offset == right.header_offset


@pytest.mark.parametrize("dtype", sorted(set(dtypes.NAMES) - NATIVE))
def test_other_dtypes_are_raw_bytes_with_their_name(dtype: str, tmp_path: Path) -> None:
    array = sample(dtype)
    with np.load(written({"w": array}, tmp_path)) as read:
        assert read["w"].dtype.str == f"|V{array.dtype.itemsize}"
        assert read["w"].tobytes() == array.tobytes()
        said = json.loads(read["inspector.tree"])
    assert said["entries"] == {"w": {"dtype": dtype}}


def test_structure_goes_into_the_description(tmp_path: Path) -> None:
    tree = {
        "t": (np.arange(2), {3: np.ones(1)}),
        "k": RandomKey("key<fry>", np.arange(6, dtype=np.uint32).reshape(3, 2)),
        "n": None,
    }
    with np.load(written(tree, tmp_path)) as read:
        assert sorted(read.files) == ["inspector.tree", "k", "t/0", "t/1/3"]
        assert read["k"].shape == (3, 2)
        said = json.loads(read["inspector.tree"])
    assert said["containers"] == [[["t"], "tuple"]]
    assert said["entries"]["t/1/3"] == {"keys": ["t", 1, 3]}
    assert said["nodes"] == [{"keys": ["n"], "kind": "None"}]


def test_a_plain_tree_has_no_description(tmp_path: Path) -> None:
    with np.load(written({"a": np.arange(2)}, tmp_path)) as read:
        assert read.files == ["a"]


def test_names_that_a_zip_would_cut_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WriteFileError, match="character NUL: a"):
        written({"a\0b": np.ones(1)}, tmp_path)
    with pytest.raises(WriteFileError, match="70,004 bytes"):
        written({"n" * 70_000: np.ones(1)}, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_equal_trees_give_equal_files(tmp_path: Path) -> None:
    first = written(tree := {"a": np.arange(9), "l": [1]}, tmp_path).read_bytes()
    assert written(tree, tmp_path).read_bytes() == first
