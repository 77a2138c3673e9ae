from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorstore

from inspector.errors import ReadFileError, ReadLeafError
from inspector.formats.checkpoint import Checkpoint, never
from inspector.formats.registry import open_checkpoint
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath, join
from inspector.variables.tree import Branch, Container, get, walk
from inspector.variables.value import Literal
from tests.formats import orbax_samples
from tests.formats.orbax_samples import WIDE


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return orbax_samples.make(tmp_path_factory.mktemp("samples"))


@pytest.fixture
def copy(samples: Path, tmp_path: Path) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        return Path(shutil.copytree(samples / name, tmp_path / name))

    return make


def leaf_at(checkpoint: Checkpoint, path: TreePath) -> Leaf:
    leaf = get(checkpoint.tree, path)
    assert isinstance(leaf, Leaf)
    return leaf


def leaves_of(locator: Path | str) -> dict[str, Leaf]:
    checkpoint = open_checkpoint(str(locator))
    leaves = {join(path): leaf for path, leaf in walk(checkpoint.tree)}
    checkpoint.close()
    return leaves


@pytest.mark.parametrize("name", ["ocdbt", "zarr3", "folders", "raw"])
def test_every_layout_gives_the_same_tree(samples: Path, name: str) -> None:
    checkpoint = open_checkpoint(str(samples / name))
    assert checkpoint.warnings == []
    assert checkpoint.incomplete == ""
    wide = checkpoint.read(("wide",), ((3, 17), (5, 30)), never)
    assert wide.tolist() == WIDE[3:17, 5:30].tolist()
    layers = get(checkpoint.tree, ("layers",))
    assert isinstance(layers, Branch)
    assert layers.container is Container.LIST
    key = leaf_at(checkpoint, ("keys",))
    assert (key.kind, key.dtype, key.shape) == (Kind.KEY, "key<fry>", (4,))
    assert key.sharding == "cpu:0"
    words = checkpoint.read(("keys",), ((1, 3),), never)
    assert words.shape == (2, 2)
    assert words.dtype == np.uint32
    assert leaf_at(checkpoint, ("step",)).value == Literal(7)
    assert leaf_at(checkpoint, ("text",)).value == Literal("hello")
    assert leaf_at(checkpoint, ("none",)).kind is Kind.NONE
    assert leaf_at(checkpoint, ("empty",)).kind is Kind.EMPTY_DICT
    assert all(file.is_file() for file in checkpoint.files())
    checkpoint.close()


def test_only_plain_chunks_have_a_place(samples: Path) -> None:
    raw = open_checkpoint(str(samples / "raw"))
    place = raw.extent(("wide",))
    assert place is not None
    data = Path(place.file).read_bytes()[place.offset : place.offset + place.nbytes]
    assert data == WIDE.tobytes()
    compressed = open_checkpoint(str(samples / "ocdbt"))
    assert compressed.extent(("wide",)) is None
    raw.close()
    compressed.close()


def test_a_bare_array_is_a_tree_of_its_own(samples: Path) -> None:
    checkpoint = open_checkpoint(str(samples / "bare"))
    assert checkpoint.read((), ((2, 5),), never).tolist() == [2, 3, 4]
    checkpoint.close()


def test_a_run_opens_its_newest_step_and_pins_it(samples: Path) -> None:
    checkpoint = open_checkpoint(str(samples / "run"))
    assert checkpoint.step == "10"
    assert [step.number for step in checkpoint.steps] == [1, 2, 10]
    assert checkpoint.locator == f"{samples / 'run'}@10"
    assert checkpoint.read(("state", "w"), ((0, 2),), never).tolist() == [10, 10]
    assert leaf_at(checkpoint, ("meta", "lr")).value == Literal(0.1)
    assert leaf_at(checkpoint, ("meta", "tags", 1)).kind is Kind.NONE
    assert checkpoint.read(("array",), ((0, 4),), never).tolist() == [0, 1, 2, 3]
    rng = leaf_at(checkpoint, ("rng",))
    assert (rng.kind, rng.dtype, rng.shape) == (Kind.KEY, "key<fry>", ())
    assert checkpoint.read(("rng",), (), never).tolist() == [0, 5]
    checkpoint.close()
    second = open_checkpoint(f"{samples / 'run'}@2::state")
    assert second.read(("w",), ((0, 1),), never).tolist() == [2]
    assert second.locator == f"{samples / 'run'}@2::state"
    second.close()


def test_items_inner_folders_and_a_lone_item(copy: Callable[[str], Path]) -> None:
    run = copy("run")
    assert leaves_of(run / "10" / "state").keys() == {"w"}
    assert leaves_of(run / "10" / "rng")[""].kind is Kind.KEY
    assert leaves_of(run / "10" / "array")[""].shape == (4,)
    for inner in ("d", "ocdbt.process_0"):
        with pytest.raises(ReadFileError, match="inside a checkpoint") as caught:
            open_checkpoint(str(run / "10" / "state" / inner))
        assert caught.value.hint == f"Open {run / '10' / 'state'}."
    for name in ("meta", "array", "rng"):
        shutil.rmtree(run / "10" / name)
    assert leaves_of(run).keys() == {"w"}


def test_unfinished_steps_are_listed_but_not_chosen(
    copy: Callable[[str], Path],
) -> None:
    run = copy("run")
    (run / "11").mkdir()
    shutil.copytree(run / "1", run / "12.orbax-checkpoint-tmp")
    (run / "13").mkdir()
    (run / "13" / "notes.txt").write_text("x")
    checkpoint = open_checkpoint(str(run))
    assert checkpoint.step == "10"
    assert {step.name: step.incomplete for step in checkpoint.steps} == {
        "1": "",
        "2": "",
        "10": "",
        "11": "the folder is empty",
        "12.orbax-checkpoint-tmp": "not finished: a temporary folder",
        "13": "nothing in it is a checkpoint",
    }
    checkpoint.close()
    unfinished = open_checkpoint(f"{run}@12")
    assert unfinished.incomplete
    unfinished.close()
    with pytest.raises(ReadFileError, match="has no step 7") as caught:
        open_checkpoint(f"{run}@7")
    assert "1, 2, 10, 11 (the folder is empty)" in caught.value.hint


def test_an_unknown_item_names_its_handler(copy: Callable[[str], Path]) -> None:
    step = copy("run") / "10"
    (step / "iter").mkdir()
    (step / "iter" / "blob.bin").write_bytes(b"\0" * 9)
    path = step / "_CHECKPOINT_METADATA"
    content = json.loads(path.read_text())
    content["item_handlers"]["iter"] = "grain.PyGrainCheckpointHandler"
    path.write_text(json.dumps(content))
    leaves = leaves_of(step)
    assert leaves["iter"].kind is Kind.OPAQUE
    assert "PyGrainCheckpointHandler" in leaves["iter"].note
    assert leaves["state/w"].error == ""


def test_no_metadata_gives_the_names_with_a_warning(
    copy: Callable[[str], Path],
) -> None:
    item = copy("ocdbt")
    (item / "_METADATA").unlink()
    checkpoint = open_checkpoint(str(item))
    assert "There is no _METADATA" in checkpoint.warnings[0]
    assert checkpoint.read(("wide",), ((0, 1), (0, 2)), never).tolist() == [[0, 1]]
    assert leaf_at(checkpoint, ("layers", "1", "b")).shape == (3,)
    checkpoint.close()


def test_no_commit_marker_is_a_warning(copy: Callable[[str], Path]) -> None:
    item = copy("ocdbt")
    (item / "commit_success.txt").unlink()
    checkpoint = open_checkpoint(str(item))
    assert "There is no commit_success.txt" in checkpoint.warnings[0]
    assert checkpoint.read(("wide",), ((0, 1), (1, 2)), never).tolist() == [[1]]
    checkpoint.close()


def test_a_lost_index_keeps_the_names(copy: Callable[[str], Path]) -> None:
    item = copy("ocdbt")
    shutil.rmtree(item / "d")
    leaves = leaves_of(item)
    assert leaves["wide"].error.startswith(str(item / "d"))
    assert leaves["text"].value == Literal("hello")
    assert leaves["none"].kind is Kind.NONE


def test_a_lost_data_file_is_named_leaf_by_leaf(copy: Callable[[str], Path]) -> None:
    item = copy("ocdbt")
    sizes = {path: path.stat().st_size for path in item.glob("ocdbt.process_0/d/*")}
    largest = max(sizes, key=lambda path: sizes[path])
    os.truncate(largest, 100)
    error = leaves_of(item)["wide"].error
    assert error.startswith(
        f"The data file {largest.relative_to(item)} ends at byte 100"
    )
    largest.unlink()
    error = leaves_of(item)["wide"].error
    assert error == f"The data file {largest.relative_to(item)} is missing."


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"tree_metadata": {"a": 3}}'])
def test_damaged_metadata_fall_back_to_names(
    copy: Callable[[str], Path], damage: bytes
) -> None:
    item = copy("ocdbt")
    (item / "_METADATA").write_bytes(damage)
    checkpoint = open_checkpoint(str(item))
    assert str(item / "_METADATA") in checkpoint.warnings[0]
    assert leaf_at(checkpoint, ("wide",)).shape == (40, 30)
    checkpoint.close()
    folders = copy("folders")
    (folders / "_METADATA").write_bytes(damage)
    with pytest.raises(ReadFileError) as caught:
        open_checkpoint(str(folders))
    assert caught.value.where == str(folders / "_METADATA")


def test_damaged_extras_cost_only_themselves(copy: Callable[[str], Path]) -> None:
    item = copy("ocdbt")
    (item / "_sharding").write_text("{")
    (item / "_strings.json").write_text('{"other": "x"}')
    (item / "array_metadatas" / "process_0").write_text('{"array_metadatas": [3]}')
    checkpoint = open_checkpoint(str(item))
    assert checkpoint.warnings == [
        text for text in checkpoint.warnings if text.startswith("_sharding is ignored")
    ]
    assert leaf_at(checkpoint, ("keys",)).shape == (4, 2)
    assert leaf_at(checkpoint, ("text",)).error == "Its text is not in _strings.json."
    checkpoint.close()


def test_a_name_that_is_not_stored_is_one_bad_leaf(copy: Callable[[str], Path]) -> None:
    item = copy("ocdbt")
    path = item / "_METADATA"
    content = json.loads(path.read_text())
    entry = content["tree_metadata"]["('wide',)"]
    ghost = json.loads(json.dumps(entry).replace("wide", "ghost"))
    ghost["value_metadata"]["value_type"] = "my.Type"
    content["tree_metadata"]["('ghost',)"] = ghost
    path.write_text(json.dumps(content))
    leaves = leaves_of(item)
    assert "no metadata in the store" in leaves["ghost"].error
    assert leaves["wide"].error == ""


def edit_zarray(item: Path, name: str, **changes: Any) -> None:
    path = item / name / ".zarray"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"shape": [1 << 50, 1], "chunks": [1 << 50, 1]}, "which cannot hold the"),
        ({"shape": [1 << 36], "chunks": [2]}, "chunks, which is refused"),
        ({"shape": [400, 30], "chunks": [40, 30]}, "Its chunk 1.0 is not stored."),
        ({"shape": [-1, 30]}, "give the extent -1"),
        ({"shape": [40]}, "give shape (40,) and chunks"),
        ({"chunks": [0, 30]}, "give the extent 0"),
        ({"dtype": "|O"}, "is none that JAX has"),
        ({"dtype": [["x", "<f4"]]}, "is none that JAX has"),
        ({"compressor": 3}, "malformed"),
        ({"zarr_format": 9}, "of version 9"),
    ],
)
def test_hostile_array_metadata(
    copy: Callable[[str], Path], changes: dict[str, Any], error: str
) -> None:
    item = copy("folders")
    edit_zarray(item, "wide", **changes)
    leaf = leaves_of(item)["wide"]
    assert error in leaf.error
    checkpoint = open_checkpoint(str(item))
    with pytest.raises(ReadLeafError) as caught:
        checkpoint.read(("wide",), ((0, 1), (0, 1)), never)
    assert caught.value.where.endswith("::wide")
    checkpoint.close()


def test_a_cut_or_damaged_chunk_names_the_leaf(copy: Callable[[str], Path]) -> None:
    item = copy("folders")
    chunk = item / "wide" / "0.0"
    whole = chunk.read_bytes()
    chunk.write_bytes(whole[: len(whole) // 2])
    checkpoint = open_checkpoint(str(item))
    with pytest.raises(ReadLeafError, match=r"compressed data") as caught:
        list(checkpoint.blocks(("wide",), never))
    assert caught.value.where == f"{item}::wide"
    checkpoint.close()
    chunk.unlink()
    assert leaves_of(item)["wide"].error == "Its chunk 0.0 is not stored."


def write_zarr(path: Path, array: np.ndarray, **metadata: Any) -> None:
    """Writes an array with tensorstore, the reference of the format."""
    driver = "zarr3" if "codecs" in metadata else "zarr"
    specification = {
        "driver": driver,
        "kvstore": {"driver": "file", "path": f"{path}/"},
        "metadata": metadata,
    }
    tensorstore.open(
        specification, create=True, dtype=array.dtype, shape=array.shape
    ).result().write(array).result()


GRID = np.arange(11 * 7 * 5, dtype=np.int32).reshape(11, 7, 5)
ZSTD = {"name": "zstd", "configuration": {"level": 1}}
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
CRC = {"name": "crc32c"}


def v3(chunks: list[int], *codecs: dict[str, Any]) -> dict[str, Any]:
    grid = {"name": "regular", "configuration": {"chunk_shape": chunks}}
    return {"chunk_grid": grid, "codecs": list(codecs)}


def sharded(location: str, *codecs: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": [2, 7, 5],
            "codecs": list(codecs),
            "index_codecs": [BYTES, CRC],
            "index_location": location,
        },
    }


@pytest.mark.parametrize(
    "metadata",
    [
        {"chunks": [4, 3, 5], "compressor": None},
        {"chunks": [4, 3, 5], "compressor": {"id": "zstd", "level": 1}},
        {"chunks": [4, 3, 5], "compressor": {"id": "gzip", "level": 1}},
        {"chunks": [16, 8, 8], "compressor": {"id": "zlib", "level": 1}},
        {"chunks": [4, 3, 5], "compressor": {"id": "blosc", "cname": "lz4"}},
        {"chunks": [4, 7, 5], "compressor": {"id": "bz2", "level": 1}},
        {"chunks": [4, 3, 5], "compressor": None, "order": "F"},
        {"chunks": [4, 3, 5], "compressor": None, "dimension_separator": "/"},
        {"chunks": [4, 3, 5], "compressor": None, "dtype": ">i4"},
        v3([4, 3, 5], BYTES),
        v3([4, 3, 5], BYTES, ZSTD, CRC),
        v3([4, 3, 5], {"name": "bytes", "configuration": {"endian": "big"}}),
        v3([4, 3, 5], BYTES, {"name": "gzip", "configuration": {"level": 1}}),
        v3(
            [4, 3, 5],
            {"name": "transpose", "configuration": {"order": [2, 1, 0]}},
            BYTES,
        ),
        v3(
            [4, 3, 5],
            {"name": "transpose", "configuration": {"order": [0, 2, 1]}},
            BYTES,
        ),
        v3([4, 7, 5], sharded("end", BYTES, ZSTD)),
        v3([4, 7, 5], sharded("start", BYTES)),
    ],
)
def test_every_coding_of_chunks(tmp_path: Path, metadata: dict[str, Any]) -> None:
    array = GRID.astype(">i4") if metadata.get("dtype") == ">i4" else GRID
    write_zarr(tmp_path / "item" / "a.b", array, **metadata)
    checkpoint = open_checkpoint(str(tmp_path / "item"))
    path = ("a", "b")
    assert leaf_at(checkpoint, path).error == ""
    for region in (
        ((0, 11), (0, 7), (0, 5)),
        ((3, 9), (2, 4), (1, 5)),
        ((10, 11),) * 3,
    ):
        clipped = tuple(
            (min(start, extent - 1), min(stop, extent))
            for (start, stop), extent in zip(region, GRID.shape, strict=True)
        )
        found = checkpoint.read(path, clipped, never)
        where = tuple(slice(*span) for span in clipped)
        assert found.tolist() == GRID[where].tolist()
        assert found.dtype.isnative
    blocks = np.concatenate(list(checkpoint.blocks(path, never)))
    assert blocks.tolist() == GRID.ravel().tolist()
    checkpoint.close()


def test_an_absent_chunk_is_the_fill_value_where_the_layout_says_so(
    tmp_path: Path,
) -> None:
    write_zarr(
        tmp_path / "item" / "w",
        np.full((4, 4), 3, np.float32),
        chunks=[2, 4],
        compressor=None,
        dtype="<f4",
        fill_value=-1,
    )
    (tmp_path / "item" / "w" / "1.0").unlink()
    checkpoint = open_checkpoint(str(tmp_path / "item"))
    assert (
        leaf_at(checkpoint, ("w",)).note
        == "1 of 2 chunks are not stored and read as -1.0"
    )
    found = checkpoint.read(("w",), ((1, 3), (0, 2)), never)
    assert found.tolist() == [[3, 3], [-1, -1]]
    checkpoint.close()


def test_a_database_of_a_newer_kind_goes_through_tensorstore(tmp_path: Path) -> None:
    kvstore = {
        "driver": "ocdbt",
        "base": {"driver": "file", "path": f"{tmp_path}/item/"},
        "config": {"manifest_kind": "numbered"},
        "path": "a.w/",
    }
    metadata = {"chunks": [4, 3, 5], "compressor": {"id": "zstd", "level": 1}}
    specification = {"driver": "zarr", "kvstore": kvstore, "metadata": metadata}
    tensorstore.open(
        specification, create=True, dtype=GRID.dtype, shape=GRID.shape
    ).result().write(GRID).result()
    checkpoint = open_checkpoint(str(tmp_path / "item"))
    found = checkpoint.read(("a", "w"), ((2, 9), (0, 7), (4, 5)), never)
    assert found.tolist() == GRID[2:9, :, 4:5].tolist()
    checkpoint.close()


def test_nothing_in_an_opened_folder_changes(samples: Path) -> None:
    def state() -> dict[str, tuple[int, int]]:
        return {
            str(path): (path.stat().st_mtime_ns, path.stat().st_size)
            for path in sorted(samples.rglob("*"))
        }

    before = state()
    for name in ("ocdbt", "zarr3", "folders", "run"):
        checkpoint = open_checkpoint(str(samples / name))
        for path, leaf in walk(checkpoint.tree):
            if leaf.kind is Kind.ARRAY:
                list(checkpoint.blocks(path, never))
        checkpoint.close()
    assert state() == before
