from __future__ import annotations

import os
import pickle
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from inspector.errors import ReadFileError
from inspector.formats.checkpoint import never
from inspector.formats.listed import Subtree
from inspector.formats.registry import open_checkpoint
from inspector.variables.tree import walk
from inspector.variables.value import Stored
from tests.corpus_truth import CORPUS

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 9\n"


class Touch:
    """Makes a pickle that would create a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize(
    ("name", "data", "message", "hint"),
    [
        ("a.msgpack", LFS, "git-lfs pointer", "git lfs pull"),
        ("a.safetensors", LFS, "git-lfs pointer", "git lfs pull"),
        ("a.npz", b"", "The file is empty", "again"),
        ("a.msgpack", b"<!DOCTYPE html><p>Not found", "web page", "raw file"),
        ("a.bin", b"\n <html><body>", "web page", "raw file"),
        ("a.pkl", pickle.dumps({"a": 1}), "pickle; it was not executed", "runs code"),
        ("a.npz", pickle.dumps([1], 2), "pickle; it was not executed", "runs code"),
        ("a.pickle", pickle.dumps([1], 0), "pickle; it was not executed", "runs code"),
        ("a.h5", b"\x89HDF\r\n\x1a\n" + b"\0" * 90, "HDF5", "Convert"),
        ("a.npy", b"\x93NUMPY\x01\0", "run of npy arrays", "savez"),
        ("a.eqx", b'{"size": 3}\n', "Equinox", "savez"),
        ("a.gguf", b"GGUF\x03\0", "GGUF", "safetensors"),
        ("config.json", b'{"a": 1}', "JSON file", "beside it"),
        ("a.txt", b"hello world", "no checkpoint that this program knows", "Orbax"),
        ("x.bin.index.json", b'{"weight_map": {}}', "PyTorch", "save_file"),
        ("checkpoint", b'model_checkpoint_path: "m"', "TensorFlow", "Convert"),
    ],
)
def test_foreign_files_are_named(
    tmp_path: Path, name: str, data: bytes, message: str, hint: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ReadFileError) as caught:
        open_checkpoint(str(path))
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.where == str(path)


def test_a_pickle_is_not_executed(tmp_path: Path) -> None:
    path = tmp_path / "a.pkl"
    path.write_bytes(pickle.dumps(Touch(tmp_path / "made")))
    with pytest.raises(ReadFileError, match="not executed"):
        open_checkpoint(str(path))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("archive/data.pkl", "PyTorch"),
        ("model.weights.h5", "Keras"),
        ("a.txt", "without arrays"),
    ],
)
def test_foreign_zips_are_named(tmp_path: Path, member: str, message: str) -> None:
    path = tmp_path / "a.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, "x")
    with pytest.raises(ReadFileError, match=message):
        open_checkpoint(str(path))


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("pt-statedict-zip", "PyTorch"),
        ("pt-hf-bin-sharded", "PyTorch"),
        ("keras3-cnn-bn", "Keras"),
        ("kerasweights-cnn-bn", "HDF5"),
        ("eqx-mlp-header-state", "Equinox"),
        ("eqx-expaloma", "npy arrays"),
        ("pickle-pgx-optax", "pickle"),
        ("haikupickle-mlp-bn-jaxarrays", "pickle"),
        ("orbax-lfs-pointers-broken", "git-lfs pointer"),
    ],
)
def test_folders_of_foreign_files_say_what_is_in_them(item: str, message: str) -> None:
    with pytest.raises(ReadFileError, match=message) as caught:
        open_checkpoint(str(CORPUS / item / "data"))
    assert caught.value.hint


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
def test_fifos_are_never_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.msgpack"
    os.mkfifo(path)
    with pytest.raises(ReadFileError, match="a FIFO, not a regular file"):
        open_checkpoint(str(path))
    item = tmp_path / "item"
    shutil.copytree(CORPUS / "nnx-0128-puredict" / "data" / "state", item)
    (item / "_METADATA").unlink()
    os.mkfifo(item / "_METADATA")
    checkpoint = open_checkpoint(str(item))
    assert "There is no _METADATA" in checkpoint.warnings[0]
    checkpoint.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, a=np.ones(1))
    path.chmod(0)
    with pytest.raises(ReadFileError, match="no permission"):
        open_checkpoint(str(path))


def test_devices_and_broken_links_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadFileError, match="a device, not a regular file"):
        open_checkpoint(os.devnull)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ReadFileError, match="No such file"):
        open_checkpoint(str(tmp_path / "gone"))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(ReadFileError):
        open_checkpoint(str(tmp_path / "loop"))


def test_an_empty_folder_and_one_of_other_things(tmp_path: Path) -> None:
    with pytest.raises(ReadFileError, match="The folder is empty"):
        open_checkpoint(str(tmp_path))
    (tmp_path / "notes.md").write_text("x")
    with pytest.raises(ReadFileError, match="Nothing in the folder is a checkpoint"):
        open_checkpoint(str(tmp_path))


def test_a_folder_with_one_checkpoint_opens_it(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    np.savez(inner / "a.npz", w=np.ones(1))
    (inner / "config.json").write_text("{}")
    checkpoint = open_checkpoint(str(tmp_path))
    assert checkpoint.path == inner / "a.npz"
    assert checkpoint.locator == str(inner / "a.npz")
    checkpoint.close()
    np.savez(inner / "b.npz", w=np.ones(1))
    with pytest.raises(ReadFileError, match="holds 2 checkpoints") as caught:
        open_checkpoint(str(inner))
    assert caught.value.hint == "Open one of: a.npz, b.npz."


def test_subtrees_begin_below_their_key(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    arrays = {"params/0/w": np.arange(3), "params/0/b": np.ones(2)}
    np.savez(path, allow_pickle=False, **arrays)
    checkpoint = open_checkpoint(f"{path}::params/0")
    assert isinstance(checkpoint, Subtree)
    assert checkpoint.locator == f"{path}::params/0"
    leaves = dict(walk(checkpoint.tree))
    assert leaves.keys() == {("w",), ("b",)}
    assert leaves[("w",)].value == Stored(checkpoint.locator, ("w",))
    assert checkpoint.read(("w",), ((1, 3),), never).tolist() == [1, 2]
    assert sum(block.size for block in checkpoint.blocks(("w",), never)) == 3
    assert checkpoint.files() == [path]
    checkpoint.close()
    with pytest.raises(ReadFileError, match="no key path nope") as caught:
        open_checkpoint(f"{path}::nope")
    assert caught.value.hint == "Below the root are params."


def test_a_file_has_no_steps(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, w=np.ones(1))
    with pytest.raises(ReadFileError, match="has no steps; step 3"):
        open_checkpoint(f"{path}@3")


def test_flax_files_are_steps_by_number() -> None:
    data = CORPUS / "flaxlegacy-flax034-resnet-optim" / "data"
    checkpoint = open_checkpoint(str(data))
    assert checkpoint.step == "300"
    assert checkpoint.locator == f"{data}@300"
    checkpoint.close()


def test_old_orbax_run_sorts_its_steps_by_number() -> None:
    run = CORPUS / "orbax-010-resnet-items" / "data" / "run"
    checkpoint = open_checkpoint(str(run))
    assert checkpoint.step == "10"
    assert [step.name for step in checkpoint.steps] == ["5", "10"]
    checkpoint.close()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no list of descriptors")
def test_nothing_stays_open_after_an_error_or_a_close(tmp_path: Path) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = descriptors()
    for item in sorted(CORPUS.iterdir()):
        for path in (item / "data", *sorted((item / "data").glob("*"))[:3]):
            try:
                checkpoint = open_checkpoint(str(path))
            except ReadFileError:
                continue
            for key, leaf in walk(checkpoint.tree):
                if leaf.shape and not leaf.error and checkpoint.extent(key):
                    checkpoint.read(key, ((0, 1),) * len(leaf.shape), never)
                    break
            checkpoint.close()
    assert descriptors() == before


def test_a_file_that_is_replaced_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, w=np.arange(4))
    checkpoint = open_checkpoint(str(path))
    np.savez(tmp_path / "b.npz", other=np.zeros(50), w=np.zeros(4))
    (tmp_path / "b.npz").replace(path)
    assert checkpoint.read(("w",), ((0, 4),), never).tolist() == [0, 1, 2, 3]
    checkpoint.close()
