from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path

import flax.serialization
import ml_dtypes
import numpy as np
import orbax.checkpoint as ocp
import pytest

from tests.cli.verbs import Verb, layers


def write(path: Path, tree: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(flax.serialization.msgpack_serialize(tree))
    return path


def paths(verb: Verb, *words: str) -> list[str]:
    return [leaf["path"] for leaf in verb("ls", *words, "--json").json["leaves"]]


def test_arrays_have_the_fields_of_the_surface(
    quick_verb: Verb, tmp_path: Path
) -> None:
    tree = {
        "array": np.array([1, np.nan, np.inf, 0], np.float32),
        "brain": np.ones((3, 4), ml_dtypes.bfloat16),
        "complex": np.array([3 + 4j, -1j], np.complex64),
        "nothing": np.zeros((0, 3), np.int8),
        "whole": np.array([2**53, 1], np.int64),
    }
    write(tmp_path / "kinds.msgpack", tree)
    document = quick_verb("ls", "kinds.msgpack", "--json", "--stats").json
    assert document["format"] == "msgpack"
    assert document["path"] == str(tmp_path / "kinds.msgpack")
    assert document["total_bytes"] == 16 + 24 + 16 + 16
    assert document["warnings"] == []
    assert "step" not in document
    assert "incomplete" not in document
    leaves = {leaf.pop("path"): leaf for leaf in document["leaves"]}
    assert leaves["array"] == {
        "keys": ["array"],
        "shape": [4],
        "dtype": "float32",
        "nbytes": 16,
        "stats": {
            "min": 0.0,
            "max": 1.0,
            "mean": 0.5,
            "std": 0.5,
            "sum": "nan",
            "zeros": 1,
            "nan": 1,
            "inf": 1,
        },
    }
    assert leaves["brain"]["dtype"] == "bfloat16"
    assert leaves["brain"]["stats"]["sum"] == 12.0
    assert leaves["complex"]["stats"]["max"] == 5.0
    assert leaves["complex"]["stats"]["sum"] == [3.0, 3.0]
    assert leaves["nothing"]["stats"]["min"] is None
    assert leaves["whole"]["stats"]["sum"] == 2**53 + 1


def test_leaves_that_are_no_arrays_have_a_kind_and_a_value(
    quick_verb: Verb, tmp_path: Path
) -> None:
    tree = {
        "b": True,
        "i": 2**62,
        "nan": float("nan"),
        "inf": float("-inf"),
        "z": 1 + 2j,
        "s": "héllo\n",
        "y": b"\x00\xff" * 700,
        "n": None,
        "e": {},
    }
    write(tmp_path / "kinds.msgpack", tree)
    document = quick_verb("ls", "kinds.msgpack", "--json", "--stats").json
    leaves = {leaf["path"]: leaf for leaf in document["leaves"]}
    scalars = {
        name: (leaves[name]["kind"], leaves[name].get("value"))
        for name in ("b", "i", "nan", "inf", "z", "s", "n", "e")
    }
    assert scalars == {
        "b": ("bool", True),
        "i": ("int", 2**62),
        "nan": ("float", "nan"),
        "inf": ("float", "-inf"),
        "z": ("complex", [1.0, 2.0]),
        "s": ("str", "héllo\n"),
        "n": ("None", None),
        "e": ("empty dict", None),
    }
    for name in scalars:
        assert "shape" not in leaves[name]
        assert "stats" not in leaves[name]
    assert leaves["y"]["value"] == "00ff" * 512


def test_names_with_digits_sort_by_number(quick_verb: Verb, tmp_path: Path) -> None:
    write(tmp_path / "w.msgpack", layers(11, 2, 10, 1, 0))
    expected = [f"params/layer_{number}/kernel" for number in (0, 1, 2, 10, 11)]
    assert paths(quick_verb, "w.msgpack") == expected
    table = quick_verb("ls", "w.msgpack").out.splitlines()
    assert [line.split()[0] for line in table[1:-1]] == expected
    assert table[-1] == "5 leaves, 45 parameters, 180 B"


def test_a_name_of_more_digits_than_a_number_may_have_is_a_name(
    quick_verb: Verb, tmp_path: Path
) -> None:
    names = ["8" * 5000, "9" * 5000]
    write(tmp_path / "w.msgpack", dict.fromkeys(names, 1))
    assert paths(quick_verb, "w.msgpack") == names
    refused = quick_verb("ls", f"w.msgpack::{'7' * 5000}")
    refused.refused("There is no key path 777")


def test_a_path_may_be_given_in_every_way(
    verb: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    whole = ["params/layer_1/kernel"]
    file = write(tmp_path / "mit Leerzeichen ä" / "ö.msgpack", layers(1))
    for given in (
        "mit Leerzeichen ä/ö.msgpack",
        "./mit Leerzeichen ä/../mit Leerzeichen ä/ö.msgpack",
        "~/mit Leerzeichen ä/ö.msgpack",
        str(file),
    ):
        document = verb("ls", given, "--json").json
        assert document["path"] == str(file)
        assert [leaf["path"] for leaf in document["leaves"]] == whole


def test_an_existing_name_wins_over_steps_and_subtrees(
    quick_verb: Verb, tmp_path: Path
) -> None:
    for name in ("a@3.msgpack", "a::b.msgpack"):
        write(tmp_path / name, layers(1, 2))
        assert len(paths(quick_verb, name)) == 2
        assert paths(quick_verb, f"{name}::params/layer_2") == ["kernel"]
    quick_verb("ls", "a::b.msgpack::params/layer_3").refused(
        str(tmp_path / "a::b.msgpack"),
        "no key path params/layer_3",
        "Did you mean params/layer_2 or params/layer_1?",
    )
    quick_verb("ls", "a::b.msgpack@3").refused("A file has no steps", "Leave out")


def test_slashes_in_keys_are_escaped_where_given_and_exact_where_told(
    quick_verb: Verb, tmp_path: Path
) -> None:
    tree = {"params": {"a/b": {"c\\d": np.ones(2, np.float32)}, "a": {"b": {"c": 1}}}}
    write(tmp_path / "s.msgpack", tree)
    (_, leaf) = quick_verb("ls", "s.msgpack", "--json").json["leaves"]
    assert leaf["keys"] == ["params", "a/b", "c\\d"]
    assert leaf["path"] == "params/a/b/c\\d"
    assert paths(quick_verb, r"s.msgpack::params/a\/b") == ["c\\d"]
    assert paths(quick_verb, r"s.msgpack::params/a\/b/c\\d") == [""]
    assert paths(quick_verb, "s.msgpack::params/a/b") == ["c"]


def test_a_managers_folder_opens_its_newest_finished_step(
    quick_verb: Verb, tmp_path: Path
) -> None:
    with ocp.CheckpointManager(tmp_path / "mgr") as manager:
        for step in (1, 2, 10):
            value = {"w": np.full(2, step, np.float32)}
            manager.save(step, args=ocp.args.StandardSave(value))
    shutil.copytree(tmp_path / "mgr/10", tmp_path / "mgr/11.orbax-checkpoint-tmp-1")
    for given, step in (("mgr", 10), ("mgr@2", 2), ("mgr/1", 1)):
        document = quick_verb("ls", given, "--json", "--stats").json
        (leaf,) = document["leaves"]
        assert (leaf["path"], leaf["stats"]["sum"]) == ("w", 2.0 * step)
        if "@" in given or given == "mgr":
            assert document["step"] == str(step)
    quick_verb("ls", "mgr@7").refused("7", "1, 2, 10")


class Bomb:
    """Something whose pickle makes a file when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self._mark,)


def write_bad(folder: Path) -> dict[str, tuple[Path, str]]:
    """Makes what is no checkpoint; name -> (path, part of the message)."""
    whole = write(folder / "whole.msgpack", layers(0, 1)).read_bytes()
    np.savez(folder / "whole.npz", w=np.ones(100))
    archive = (folder / "whole.npz").read_bytes()
    header = b'{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}'
    tensors = len(header).to_bytes(8, "little") + header + bytes(5)
    lfs = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    bomb = pickle.dumps(Bomb(folder / "executed"))
    contents = {
        "cut.msgpack": (whole[: len(whole) // 2], "ends early, at byte"),
        "cut.npz": (archive[:-30], "end of the file may be missing"),
        "cut.safetensors": (tensors, "ends early, at byte 68 of 75"),
        "pointer.safetensors": (lfs, "git-lfs pointer"),
        "bomb.msgpack": (bomb, "a pickle; it was not executed"),
        "bomb.npz": (bomb, "a pickle; it was not executed"),
        "bomb.pkl": (bomb, "a pickle; it was not executed"),
        "page.npz": (b"<!DOCTYPE html>\n<html></html>", "a web page"),
        "empty.msgpack": (b"", "The file is empty"),
        "text": (b"hello", "no checkpoint that this program knows"),
        "recipe.json": (b'{\n "format": "flax-inspector recipe"}', "This is a recipe"),
    }
    bad: dict[str, tuple[Path, str]] = {}
    for name, (content, part) in contents.items():
        path = folder / name
        path.write_bytes(content)
        bad[name] = path, part
    (folder / "folder").mkdir()
    bad["folder"] = folder / "folder", "The folder is empty"
    bad["absent"] = folder / "whole.msgpac", "Did you mean whole.msgpack"
    return bad


def test_what_is_no_checkpoint_is_named_with_what_to_do(
    quick_verb: Verb, tmp_path: Path
) -> None:
    for path, part in write_bad(tmp_path).values():
        result = quick_verb("ls", path, "--json")
        result.refused(f"{path}: ", part)
        what, *hints = result.err.splitlines()
        assert what.startswith("flax-inspector: ")
        assert all(hints)
        assert hints, f"{path.name}: nothing says what to do"
    assert not (tmp_path / "executed").exists()


def test_an_object_array_is_listed_and_never_unpickled(
    quick_verb: Verb, tmp_path: Path
) -> None:
    bombs = np.array([Bomb(tmp_path / "executed")], dtype=object)
    np.savez(tmp_path / "o.npz", bombs=bombs, fine=np.ones(3))
    one, other = quick_verb("ls", "o.npz", "--json", "--stats").json["leaves"]
    assert (one["path"], one["kind"]) == ("bombs", "opaque")
    assert other["stats"]["sum"] == 3.0
    assert not (tmp_path / "executed").exists()


@pytest.mark.skipif(os.name == "nt", reason="FIFOs and links of POSIX")
def test_special_files_and_loops_are_not_opened(
    quick_verb: Verb, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "fifo")
    quick_verb("ls", "fifo").refused("This is a FIFO", "it was not opened")
    quick_verb("ls", "/dev/zero").refused("This is a device", "it was not opened")
    (tmp_path / "loop").symlink_to("loop")
    quick_verb("ls", "loop").refused(
        f"{tmp_path / 'loop'}: ", "symbolic links", "circle"
    )
    (tmp_path / "round").mkdir()
    (tmp_path / "round" / "again").symlink_to(".", target_is_directory=True)
    quick_verb("ls", "round").refused(str(tmp_path / "round"))
