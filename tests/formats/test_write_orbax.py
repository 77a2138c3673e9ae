from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from inspector.errors import LossyExportError, WriteFileError
from inspector.formats import write_orbax
from inspector.formats.write_orbax import ABILITIES, chunk_shape
from inspector.variables import dtypes
from tests.formats.export_trees import (
    RandomKey,
    export,
    in_order,
    odd_tree,
    same,
    sample,
)
from tests.formats.orbax_reference import restore

KEYS = {
    "fry": RandomKey("key<fry>", np.array([1, 2], np.uint32)),
    "batch": RandomKey("key<rbg>", np.arange(12, dtype=np.uint32).reshape(3, 4)),
}


def test_plain_orbax_restores_everything_without_a_target(tmp_path: Path) -> None:
    """One process of Orbax for many trees: its start takes longer than the work."""
    every = {dtype: sample(dtype) for dtype in sorted(ABILITIES.dtypes)}
    objects = {
        "s": "é\n",
        "i": -3,
        "u": 2**63,
        "f": 0.5,
        "nan": float("nan"),
        "b": True,
    }
    trees: dict[str, Any] = {
        "odd": odd_tree(),
        "dtypes": every,
        "keys": odd_tree() | KEYS,
        "objects": odd_tree() | objects,
        "tuple": {"e": (), "a": np.ones(2), "l": [np.ones(1), "s", [[]]]},
        "names": {name: sample("int8") for name in ("", "/a", "b/", "..", "a\0", "é ")},
        "bare": np.arange(5.0),
        "text": {"s": "no arrays at all", "n": None},
        "nothing": {"n": None, "e": {}},
        "list": [np.arange(2), {"a": np.ones(1)}],
    }
    for name, tree in trees.items():
        export(tree, tmp_path / name, check=False)
    requests = [
        (interface, tmp_path / name)
        for name in trees
        for interface in ("standard", "pytree", "v1")
    ]
    requests.append(("flax", tmp_path / "dtypes"))
    found = dict(zip(requests, restore(*requests), strict=True))
    for (interface, path), tree in found.items():
        expected = in_order(trees[path.name])
        assert same(in_order(tree), expected), (interface, path.name, tree)


def test_the_records_are_those_of_orbax(tmp_path: Path) -> None:
    """Compares with what ``StandardCheckpointer().save`` of 0.12.8 wrote."""
    tree = {"a": np.ones((2, 3), np.float32), "l": [np.zeros(2, ml_dtypes.bfloat16)]}
    export(tree | {"n": None, "k": KEYS["fry"]}, tmp_path / "o", check=False)
    assert (tmp_path / "o/_METADATA").read_text() == (
        '{"tree_metadata": {"(\'a\',)": {"key_metadata": '
        '[{"key": "a", "key_type": 2}], "value_metadata": '
        '{"value_type": "np.ndarray", "skip_deserialize": false}}, '
        '"(\'k\',)": {"key_metadata": [{"key": "k", "key_type": 2}], "value_metadata": '
        '{"value_type": "jax.Array", "skip_deserialize": false, "write_shape": [2]}}, '
        '"(\'l\', \'0\')": {"key_metadata": [{"key": "l", "key_type": 2}, {"key": "0", '
        '"key_type": 1}], "value_metadata": {"value_type": "np.ndarray", '
        '"skip_deserialize": false}}, "(\'n\',)": {"key_metadata": [{"key": "n", '
        '"key_type": 2}], "value_metadata": {"value_type": "None", "skip_deserialize": '
        'true}}}, "use_ocdbt": true, "use_zarr3": false, '
        '"store_array_data_equal_to_fill_value": true, "custom_metadata": null}'
    )
    assert (tmp_path / "o/array_metadatas/process_0").read_text() == (
        '{"array_metadatas": [{"array_metadata": {"param_name": "k", "write_shape": '
        '[2], "chunk_shape": [2], "ext_metadata": '
        '{"random_key_impl": "threefry2x32"}}}]}'
    )
    record = json.loads((tmp_path / "o/_CHECKPOINT_METADATA").read_text())
    assert record.pop("init_timestamp_nsecs") < record.pop("commit_timestamp_nsecs")
    assert record == {
        "item_handlers": "orbax.checkpoint._src.handlers.standard_checkpoint_handler."
        "StandardCheckpointHandler",
        "metrics": {},
        "performance_metrics": {},
        "custom_metadata": {},
    }
    commit = (tmp_path / "o/commit_success.txt").read_text()
    assert commit == f"Checkpoint commit was successful to {tmp_path / 'o'}"


def test_no_sharding_is_recorded_but_of_random_keys(tmp_path: Path) -> None:
    export(odd_tree(), tmp_path / "plain", check=False)
    assert not (tmp_path / "plain/_sharding").exists()
    assert not (tmp_path / "plain/array_metadatas").exists()
    export(odd_tree() | KEYS, tmp_path / "keys", check=False)
    record = json.loads((tmp_path / "keys/_sharding").read_text())
    assert sorted(record) == ["YmF0Y2g=", "ZnJ5"]
    assert all("device_str" not in text for text in record.values())


def test_python_objects_make_it_a_pytree_checkpoint(tmp_path: Path) -> None:
    export({"a": [np.ones(1), "x"], "i": 3}, tmp_path / "o", check=False)
    assert (
        "PyTreeCheckpointHandler" in (tmp_path / "o/_CHECKPOINT_METADATA").read_text()
    )
    assert (tmp_path / "o/_strings.json").read_text() == '{"a.1": "x"}'
    assert '"value_type": "scalar"' in (tmp_path / "o/_METADATA").read_text()


def test_big_leaves_are_cut_into_chunks_and_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_orbax, "MAX_CHUNK_BYTES", 2_000)
    tree = {
        "rows": np.arange(7_000).reshape(700, 10),
        "deep": np.arange(3 * 4 * 801, dtype=np.float32).reshape(3, 4, 801),
        "line": np.arange(100_001, dtype=np.uint8),
        "last": np.arange(2_400, dtype=np.int16).reshape(1, 2, 1200),
    }
    export(tree, tmp_path / "o")
    found = restore(("standard", tmp_path / "o"), ("pytree", tmp_path / "o"))
    assert all(same(one, in_order(tree)) for one in found)


@pytest.mark.parametrize(
    ("shape", "itemsize", "limit", "chunks"),
    [
        ((), 8, 100, ()),
        ((10, 10), 1, 100, (10, 10)),
        ((11, 10), 1, 100, (6, 10)),
        ((21, 10), 1, 100, (7, 10)),
        ((5, 200), 1, 100, (1, 100)),
        ((5, 201), 1, 100, (1, 67)),
        ((2, 3, 4), 8, 1, (1, 1, 1)),
        ((3, 1000, 2), 4, 100, (1, 12, 2)),
    ],
)
def test_chunks_are_runs_of_nearly_equal_length(
    shape: tuple[int, ...],
    itemsize: int,
    limit: int,
    chunks: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(write_orbax, "MAX_CHUNK_BYTES", limit)
    assert chunk_shape(shape, itemsize) == chunks


def test_what_orbax_cannot_say_needs_a_confirmation(tmp_path: Path) -> None:
    tree = {
        "t": (np.ones(1),),
        "d": {7: np.ones(2)},
        "z": [np.zeros((0, 3)), np.ones(1)],
        "c": 1 + 2j,
        "b": {"long": bytes(range(200)) * 9, "none": b""},
    }
    with pytest.raises(LossyExportError) as caught:
        export(tree, tmp_path / "o")
    for part in (
        "list: t",
        "text: d/7",
        "elements becomes None: z/0",
        "no axes: c",
        "uint8: b/long",
    ):
        assert part in caught.value.message
    assert list(tmp_path.iterdir()) == []
    result = export(tree, tmp_path / "o", lossy=True)
    assert len(result.warnings) == 6
    assert same(
        restore(("pytree", tmp_path / "o"))[0],
        {
            "b": {
                "long": np.frombuffer(bytes(range(200)) * 9, np.uint8),
                "none": None,
            },
            "c": np.asarray(1 + 2j),
            "d": {"7": np.ones(2)},
            "t": [np.ones(1)],
            "z": [None, np.ones(1)],
        },
    )


@pytest.mark.parametrize(
    "tree",
    [
        {"a.b": np.ones(1), "a": {"b": np.ones(2)}},
        {"a": np.ones(1), "a/": np.ones(2)},
        {"l": [np.ones(1)], "l.0": "text"},
    ],
)
def test_leaves_that_would_share_a_name_are_refused(
    tree: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(WriteFileError, match="would both be stored as"):
        export(tree, tmp_path / "o", lossy=True)
    assert list(tmp_path.iterdir()) == []


def test_empty_nodes_share_no_name(tmp_path: Path) -> None:
    export({"a.b": {}, "a": {"b": np.ones(2)}}, tmp_path / "o")
    assert (tmp_path / "o/_METADATA").exists()


@pytest.mark.parametrize("dtype", sorted(set(dtypes.NAMES) - ABILITIES.dtypes))
def test_a_dtype_that_zarr_lacks_is_refused(dtype: str, tmp_path: Path) -> None:
    with pytest.raises(WriteFileError) as caught:
        export({"p": [sample(dtype)]}, tmp_path / "o", lossy=True)
    assert caught.value.message == f"Orbax has no dtype {dtype}: p/0."
    assert caught.value.hint.split()[4].rstrip(",") in ABILITIES.dtypes


@pytest.mark.parametrize(
    ("tree", "problem"),
    [
        ({}, "without leaves"),
        ({"a": 2**64}, "64 bits: a"),
        ({"\udc80": np.ones(1)}, "no Unicode text"),
    ],
)
def test_what_orbax_cannot_hold_at_all_is_refused(
    tree: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(WriteFileError, match=problem):
        export(tree, tmp_path / "o", lossy=True)
