from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

from inspector.errors import WriteFileError
from inspector.formats import write_safetensors
from inspector.formats.write_safetensors import CODES
from inspector.variables import dtypes
from tests.formats.export_trees import RandomKey, export, sample


def written(value: Any, tmp_path: Path) -> bytes:
    out = tmp_path / "tree.safetensors"
    assert export(value, out).nbytes == out.stat().st_size
    return out.read_bytes()


def header_of(data: bytes) -> dict[str, Any]:
    (length,) = struct.unpack("<Q", data[:8])
    assert length % 8 == 0
    header = json.loads(data[8 : 8 + length])
    assert isinstance(header, dict)
    return header


def test_every_dtype_is_what_the_library_writes(tmp_path: Path) -> None:
    tree = {f"x{dtype}": sample(dtype) for dtype in CODES}
    tree |= {f"a{dtype}": sample(dtype, ()) for dtype in CODES}
    assert written(tree, tmp_path) == safetensors.numpy.save(tree)


def test_unicode_and_nested_names_are_what_the_library_writes(tmp_path: Path) -> None:
    tree = {"b": {"ключ": np.arange(3), 'q"': np.zeros((0, 2))}, "a": np.ones(1)}
    flat = {"b/ключ": tree["b"]["ключ"], 'b/q"': tree["b"]['q"'], "a": tree["a"]}  # type: ignore[index]  # a nested literal
    assert written(tree, tmp_path) == safetensors.numpy.save(flat)


def test_a_plain_tree_has_no_description(tmp_path: Path) -> None:
    assert "__metadata__" not in header_of(written({"a": np.arange(2)}, tmp_path))


def test_what_names_cannot_say_is_described(tmp_path: Path) -> None:
    tree = {
        "l": [np.arange(2), {}],
        "a/b": np.ones(1),
        "k": RandomKey("key<rbg>", np.arange(4, dtype=np.uint32)),
        "s": "text",
    }
    data = written(tree, tmp_path)
    header = header_of(data)
    said = json.loads(header["__metadata__"]["inspector.tree"])
    assert said["containers"] == [[["l"], "list"]]
    assert said["entries"]["a/b"] == {"keys": ["a/b"]}
    assert said["entries"]["k"]["dtype"] == "key<rbg>"
    assert header["k"]["shape"] == [4]
    assert {tuple(node["keys"]): node["kind"] for node in said["nodes"]} == {
        ("l", 1): "empty dict",
        ("s",): "str",
    }
    assert safetensors.numpy.load(data)["l/0"].tolist() == [0, 1]


@pytest.mark.parametrize("dtype", sorted(set(dtypes.NAMES) - set(CODES)))
def test_a_dtype_it_lacks_is_refused_with_an_offer(dtype: str, tmp_path: Path) -> None:
    with pytest.raises(WriteFileError) as caught:
        written({"p": {"w": sample(dtype)}, "q": np.ones(1)}, tmp_path)
    assert caught.value.message == f"safetensors has no dtype {dtype}: p/w."
    offered = caught.value.hint.split()[4].rstrip(",")
    assert offered in CODES
    if dtype != "complex128":
        # Every value of the dtype must survive the cast that is offered.
        numbers = np.arange(256, dtype=np.uint8).view(dtypes.to_numpy(dtype))
        wide = numbers.astype(dtypes.to_numpy(offered))
        back = wide.astype(numbers.dtype)
        finite = np.isfinite(numbers.astype(np.float64))
        assert np.array_equal(
            numbers[finite].astype(np.float64), wide[finite].astype(np.float64)
        )
        assert np.array_equal(
            numbers[finite].astype(np.float64), back[finite].astype(np.float64)
        )


def test_a_header_that_nothing_could_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_safetensors, "MAX_HEADER_BYTES", 100)
    with pytest.raises(WriteFileError, match="header has"):
        written({f"name{i}": np.ones(1) for i in range(9)}, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WriteFileError, match="no Unicode text"):
        written({"\udcff": np.ones(1)}, tmp_path)
