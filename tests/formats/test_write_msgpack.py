from __future__ import annotations

from pathlib import Path
from typing import Any

import flax.serialization
import msgpack
import numpy as np
import pytest

from inspector.errors import LossyExportError, WriteFileError
from inspector.formats import write_msgpack
from inspector.variables import dtypes
from tests.formats.export_trees import RandomKey, export, odd_tree, same, sample

FRY = RandomKey("key<fry>", np.array([3, 4], np.uint32))


def written(value: Any, tmp_path: Path, **how: Any) -> bytes:
    out = tmp_path / "tree.msgpack"
    result = export(value, out, **how)
    assert result.nbytes == out.stat().st_size
    return out.read_bytes()


def expected(value: Any) -> bytes:
    data = flax.serialization.msgpack_serialize(value)
    assert isinstance(data, bytes)
    return data


@pytest.mark.parametrize("dtype", dtypes.NAMES)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3), (1,), (300,), (40_000,)])
def test_each_dtype_is_what_flax_writes(
    dtype: str, shape: tuple[int, ...], tmp_path: Path
) -> None:
    tree = {"a": sample(dtype, shape)}
    assert written(tree, tmp_path) == expected(tree)


def test_an_odd_tree_is_what_flax_writes(tmp_path: Path) -> None:
    tree = odd_tree() | {
        "z": 1 - 2j,
        "integers": [-5, 2**63],
        "f": 0.1,
        "t": True,
        "s": "é",
        "x": b"\0\xff",
    }
    data = written(tree, tmp_path)
    assert data == expected(tree)
    assert same(flax.serialization.msgpack_restore(data)["layers"], tree["layers"])


@pytest.mark.parametrize("root", [np.arange(3.0), {}, 7, "text", [np.arange(2), 1]])
def test_any_root_is_what_flax_writes(root: Any, tmp_path: Path) -> None:
    assert written(root, tmp_path) == expected(root)


@pytest.mark.parametrize("limit", [1, 100, 1024])
def test_big_arrays_are_cut_as_flax_cuts_them(
    limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_msgpack, "MAX_CHUNK_BYTES", limit)
    monkeypatch.setattr(flax.serialization, "MAX_CHUNK_SIZE", limit)
    tree = odd_tree() | {"scalar": np.asarray(1.0), "list": [np.arange(500)]}
    data = written(tree, tmp_path)
    assert data == expected(tree)
    restored = flax.serialization.msgpack_restore(data)
    kernel = tree["params"]["Dense_0"]["kernel"]
    assert same(restored["params"]["Dense_0"]["kernel"], kernel)


def test_a_bare_big_array_is_cut_as_flax_cuts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_msgpack, "MAX_CHUNK_BYTES", 64)
    monkeypatch.setattr(flax.serialization, "MAX_CHUNK_SIZE", 64)
    assert written(np.arange(99), tmp_path) == expected(np.arange(99))


def test_keys_that_were_no_text_go_back_to_their_bytes(tmp_path: Path) -> None:
    data = written({"\udcff": np.arange(2)}, tmp_path)
    assert list(msgpack.unpackb(data, raw=True)) == [b"\xff"]


def test_what_msgpack_cannot_say_is_named_by_path(tmp_path: Path) -> None:
    tree = {"a": {3: np.arange(2)}, "t": (1, 2), "e": (), "k": FRY}
    with pytest.raises(LossyExportError) as caught:
        written(tree, tmp_path)
    for part in (
        "integer key becomes text: a/3",
        "a tuple becomes a list: t",
        "empty tuple becomes an empty list: e",
        "impl='threefry2x32') makes the key): k",
    ):
        assert part in caught.value.message
    assert "--lossy" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_confirmed_loss_is_written_and_told(tmp_path: Path) -> None:
    tree = {"a": {3: np.arange(2)}, "t": (1, 2), "e": (), "k": FRY}
    data = written(tree, tmp_path, lossy=True)
    assert same(
        flax.serialization.msgpack_restore(data),
        {"a": {"3": np.arange(2)}, "e": [], "k": FRY.words, "t": [1, 2]},
    )
    result = export(tree, tmp_path / "again.msgpack", lossy=True)
    assert [warning.rpartition(": ")[2] for warning in result.warnings] == [
        "a/3.", "t.", "e.", "k.",
    ]  # fmt: skip


def test_two_keys_that_would_become_one_are_refused(tmp_path: Path) -> None:
    tree = {"a": {1: np.arange(2), "1": np.arange(3)}}
    with pytest.raises(
        WriteFileError, match=r"keys 1 and '1'|keys '1' and '1'"
    ) as caught:
        written(tree, tmp_path, lossy=True)
    assert caught.value.where == "a"


def test_an_integer_of_more_than_64_bits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WriteFileError, match=r"64 bits: n"):
        written({"n": 2**64, "m": 2**64 - 1}, tmp_path)
