from __future__ import annotations

import os
from pathlib import Path

import pytest

from inspector.errors import WriteFileError
from inspector.formats.export_place import Place, find_place, format_of


def place(
    out: Path, name: str = "", *, overwrite: bool = True, source: str = ""
) -> Place:
    sources = [Path(source)] if source else []
    return find_place(out, format_of(out, name), overwrite=overwrite, sources=sources)


def make(path: Path, *names: str) -> Path:
    """Makes a folder with empty files of these names below it."""
    path.mkdir(parents=True, exist_ok=True)
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).touch()
    return path


TREE = ("_METADATA", "manifest.ocdbt", "d/0123", "ocdbt.process_0/d/1", "_sharding")


def test_the_suffix_decides_unless_a_format_is_given() -> None:
    assert format_of(Path("a.msgpack"), "") == "msgpack"
    assert format_of(Path("a.SAFETENSORS"), "") == "safetensors"
    assert format_of(Path("a.npz"), "orbax") == "orbax"
    assert format_of(Path("a.ckpt"), "") == "orbax"


def test_links_are_followed(tmp_path: Path) -> None:
    make(tmp_path / "real", "a.npz")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real/b.npz").symlink_to("a.npz")
    assert place(tmp_path / "link/b.npz").path == tmp_path / "real/a.npz"


def test_a_home_that_nobody_has_is_a_plain_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = place(Path("~nobody-has-this.npz"))
    assert found.path == tmp_path / "~nobody-has-this.npz"


@pytest.mark.parametrize("names", [(), TREE, (*TREE, "_CHECKPOINT_METADATA")])
def test_an_empty_folder_and_a_checkpoint_may_be_replaced(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    out = make(tmp_path / "o", *names)
    assert place(out) == Place(out, "orbax")
    if names:
        with pytest.raises(WriteFileError, match="of this name already"):
            place(out, overwrite=False)
    else:
        assert place(out, overwrite=False).path == out


@pytest.mark.parametrize(
    ("names", "others"),
    [
        (("notes.txt",), "notes.txt"),
        ((*TREE, "train.py"), "train.py"),
        ((*TREE, "data/x"), "data"),
        (("sub/file", "z"), "sub, z"),
        (tuple(f"f{i}" for i in range(7)), "f0, f1, f2, f3, f4 …"),
        (("_CHECKPOINT_METADATA", "default/_METADATA", "photos/x"), "photos"),
    ],
)
def test_a_folder_with_other_files_is_left_alone(
    names: tuple[str, ...], others: str, tmp_path: Path
) -> None:
    out = make(tmp_path / "o", *names)
    with pytest.raises(WriteFileError) as caught:
        place(out)
    assert caught.value.message == f"The folder holds other files: {others}."
    assert caught.value.where == str(out)


def test_a_step_with_items_may_be_replaced(tmp_path: Path) -> None:
    names = ("_CHECKPOINT_METADATA", "default/_METADATA", "extra/metadata")
    make(tmp_path / "run/3", *names)
    assert place(tmp_path / "run/3") == Place(tmp_path / "run/3", "orbax", as_step=True)
    make(tmp_path / "alone", *names)
    assert place(tmp_path / "alone") == Place(tmp_path / "alone", "orbax")


@pytest.mark.parametrize(
    ("steps", "given", "expected"),
    [
        (("3", "11"), "", "12"),
        (("0", "00"), "", "01"),
        (("0003", "0011"), "", "0012"),
        (("ckpt_00000998", "ckpt_00000999"), "", "ckpt_00001000"),
        (("3",), "7", "7"),
        (("3",), "3", "3"),
        (("ckpt_0003",), "7", "ckpt_0007"),
        (("ckpt_0003",), "ckpt_7", "ckpt_0007"),
        (("3",), "final", "final"),
    ],
)
def test_a_step_keeps_the_naming(
    steps: tuple[str, ...], given: str, expected: str, tmp_path: Path
) -> None:
    root = tmp_path / "run"
    for step in steps:
        make(root / step, "_CHECKPOINT_METADATA", "default/_METADATA")
    found = place(root / given if given else root)
    assert found.path == root / expected
    assert found.as_step == (given != "final")


def test_a_number_that_anything_has_is_not_given_again(tmp_path: Path) -> None:
    root = make(tmp_path / "run", "4/default/_METADATA", "9/unfinished")
    assert place(root).path == root / "10"


def test_steps_that_are_trees_get_a_tree(tmp_path: Path) -> None:
    root = make(tmp_path / "run", "checkpoint_4/_METADATA", "notes.txt")
    assert place(root) == Place(root / "checkpoint_5", "orbax", as_step=False)


def test_a_number_elsewhere_is_a_plain_checkpoint(tmp_path: Path) -> None:
    assert place(tmp_path / "7") == Place(tmp_path / "7", "orbax")


@pytest.mark.parametrize("out", ["a.npz", "o", "o/d"])
def test_sources_are_never_written_to(out: str, tmp_path: Path) -> None:
    make(tmp_path / "o/d/in", *TREE)
    make(tmp_path, "a.npz")
    source = tmp_path / ("a.npz" if out == "a.npz" else "o/d/in")
    with pytest.raises(WriteFileError) as caught:
        place(tmp_path / out, source=str(source))
    assert caught.value.where in {str(source), str(tmp_path / out)}


def test_a_source_behind_a_link_is_seen(tmp_path: Path) -> None:
    make(tmp_path, "a.npz")
    (tmp_path / "b.npz").symlink_to("a.npz")
    with pytest.raises(WriteFileError, match="sources are never changed") as caught:
        place(tmp_path / "a.npz", source=str(tmp_path / "b.npz"))
    assert caught.value.where == str(tmp_path / "a.npz")


def test_a_step_beside_the_source_is_fine(tmp_path: Path) -> None:
    root = make(tmp_path / "run", "4/default/_METADATA")
    assert place(root, source=str(root / "4")).path == root / "5"


@pytest.mark.parametrize("out", ["o/x.npz", "o/deep/x"])
def test_nothing_is_put_into_a_checkpoint(out: str, tmp_path: Path) -> None:
    make(tmp_path / "o", *TREE)
    with pytest.raises(WriteFileError, match="inside the checkpoint") as caught:
        place(tmp_path / out)
    assert str(tmp_path / "o") in caught.value.message


def test_a_file_is_no_folder_and_a_folder_no_file(tmp_path: Path) -> None:
    make(tmp_path, "file")
    with pytest.raises(WriteFileError, match="but this is a file"):
        place(tmp_path / "file")
    with pytest.raises(WriteFileError, match="but this is a folder"):
        place(make(tmp_path / "a.npz"))
    os.mkfifo(tmp_path / "b.npz")
    with pytest.raises(WriteFileError, match="no regular file"):
        place(tmp_path / "b.npz")
