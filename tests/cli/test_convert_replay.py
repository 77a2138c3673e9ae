from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import flax.serialization
import numpy as np
import orbax.checkpoint as ocp
import pytest
from safetensors.numpy import load_file

from tests.cli.verbs import Verb, layers

NET = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
from flax import linen as nn

class Net(nn.Module):
    head: bool = True

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(3, use_bias=False, name="layer_0")(x)
        return nn.Dense(2, name="head")(x) if self.head else x
"""

NUMBERS = ("leaves", "format", "warnings")


def write(path: Path, tree: object) -> Path:
    path.write_bytes(flax.serialization.msgpack_serialize(tree))
    return path


def msgpack(path: Path) -> Any:
    return flax.serialization.msgpack_restore(path.read_bytes())


def record(verb: Verb, folder: Path, *words: str) -> bytes:
    """Makes ``r.json`` and ``first.msgpack``; returns the latter's bytes."""
    (folder / "net.py").write_text(NET)
    write(folder / "w.msgpack", layers(0, 1))
    pair = ("--from", "layer_1", "--to", "layer_0")
    model = ("--model", "net.py:Net", "--input", "float32[1,3]")
    out = ("--out", "first.msgpack", "--save-recipe", "r.json", "--json")
    assert verb("transfer", "w.msgpack", *model, *pair, *words, *out).json
    (folder / "ran").unlink()
    return (folder / "first.msgpack").read_bytes()


def test_a_filled_recipe_is_replayed_without_its_module(
    verb: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = record(verb, tmp_path, "--kwargs", '{"head": false}')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    result = verb("replay", "../r.json", "--out", "second.msgpack", "--json")
    assert {name: result.json[name] for name in NUMBERS} == {
        "leaves": 1,
        "format": "msgpack",
        "warnings": [],
    }
    assert result.json["out"] == str(elsewhere / "second.msgpack")
    assert result.json["bytes"] == len(first)
    assert result.err == ""
    assert (elsewhere / "second.msgpack").read_bytes() == first
    assert not (tmp_path / "ran").exists()


def test_a_recipe_with_initial_values_names_the_file_before_it_runs(
    verb: Verb, tmp_path: Path
) -> None:
    first = record(verb, tmp_path, "--rng", "params=7")
    result = verb("replay", "r.json", "--out", "second.msgpack", "--json")
    assert result.json["leaves"] == 3
    assert str(tmp_path / "net.py") in result.err
    assert (tmp_path / "second.msgpack").read_bytes() == first
    assert (tmp_path / "ran").exists()
    expected = layers(0, 1)["params"]["layer_1"]["kernel"]
    found = msgpack(tmp_path / "second.msgpack")
    np.testing.assert_array_equal(found["params"]["layer_0"]["kernel"], expected)

    (tmp_path / "net.py").write_text(NET.replace("Dense(2", "Dense(4"))
    changed = verb("replay", "r.json", "--out", "third.msgpack", "--json")
    changed.refused(str(tmp_path / "net.py"), "head/kernel", "another tree")
    assert not (tmp_path / "third.msgpack").exists()


def test_damaged_and_foreign_recipes_are_refused(verb: Verb, tmp_path: Path) -> None:
    record(verb, tmp_path, "--kwargs", '{"head": false}')
    good = json.loads((tmp_path / "r.json").read_text())
    bad: dict[str, tuple[object, str]] = {
        "newer.json": (good | {"version": 99}, "99"),
        "other.json": ({"a": 1}, "flax-inspector recipe"),
        "list.json": ([1, 2], "recipe"),
        "more.json": (good | {"surprise": 1}, "surprise"),
    }
    for name, (data, part) in bad.items():
        (tmp_path / name).write_text(json.dumps(data))
        refused = verb("replay", name, "--out", "x.npz", "--json")
        refused.refused(str(tmp_path / name), part)
        assert len(refused.err.splitlines()) >= 2, f"{name}: no hint"
    (tmp_path / "cut.json").write_text((tmp_path / "r.json").read_text()[:200])
    verb("replay", "cut.json", "--out", "x.npz").refused("no JSON")
    verb("replay", "w.msgpack", "--out", "x.npz").refused("no JSON")
    verb("replay", "absent.json", "--out", "x.npz").refused("No such file")
    (tmp_path / "w.msgpack").unlink()
    verb("replay", "r.json", "--out", "x.npz").refused(str(tmp_path / "w.msgpack"))
    assert not (tmp_path / "x.npz").exists()


def test_the_suffix_or_the_option_chooses_the_format(
    verb: Verb, tmp_path: Path
) -> None:
    tree = layers(0, 10)
    source = write(tmp_path / "w.msgpack", tree)
    for out, option, name in (
        ("a.safetensors", "", "safetensors"),
        ("b.NPZ", "", "npz"),
        ("c", "", "orbax"),
        ("d.npz", "orbax", "orbax"),
        ("e.bin", "msgpack", "msgpack"),
    ):
        words = ("--format", option) if option else ()
        document = verb("convert", "w.msgpack", out, *words, "--json").json
        assert document["format"] == name
        assert document["out"] == str(tmp_path / out)
        assert document["leaves"] == 2
    assert (tmp_path / "e.bin").read_bytes() == source.read_bytes()
    with ocp.StandardCheckpointer() as checkpointer:
        for folder in ("c", "d.npz"):
            restored = checkpointer.restore(tmp_path / folder)
            kernel = restored["params"]["layer_10"]["kernel"]
            np.testing.assert_array_equal(kernel, tree["params"]["layer_10"]["kernel"])
    flat = load_file(tmp_path / "a.safetensors")
    assert sorted(flat) == ["params/layer_0/kernel", "params/layer_10/kernel"]
    with np.load(tmp_path / "b.NPZ") as archive:
        assert "params/layer_10/kernel" in archive


def test_a_managers_folder_gets_a_further_step(verb: Verb, tmp_path: Path) -> None:
    with ocp.CheckpointManager(tmp_path / "mgr") as manager:
        for step in (1, 9):
            value = {"w": np.full(2, step, np.float32)}
            manager.save(step, args=ocp.args.StandardSave(value))
    write(tmp_path / "w.msgpack", {"w": np.full(2, 7, np.float32)})
    assert verb("convert", "w.msgpack", "mgr", "--json").json["out"] == str(
        tmp_path / "mgr" / "10"
    )
    assert verb("convert", "w.msgpack", "mgr/25", "--json").json["out"] == str(
        tmp_path / "mgr" / "25"
    )
    with ocp.CheckpointManager(tmp_path / "mgr") as manager:
        assert manager.all_steps() == [1, 9, 10, 25]
        for step, number in ((9, 9), (10, 7), (25, 7)):
            restored = manager.restore(step, args=ocp.args.StandardRestore())
            np.testing.assert_array_equal(restored["w"], np.full(2, number))


def test_losses_are_named_and_need_a_word(verb: Verb, tmp_path: Path) -> None:
    tree = {"w": np.ones(2, np.float32), "z": np.zeros((0, 3)), "c": 1 + 2j}
    source = write(tmp_path / "w.msgpack", tree)
    refused = verb("convert", "w.msgpack", "out", "--json")
    refused.refused("becomes None: z", "no axes: c", "--lossy")
    assert not (tmp_path / "out").exists()
    document = verb("convert", "w.msgpack", "out", "--lossy", "--json").json
    assert len(document["warnings"]) == 2
    for middle in ("a.safetensors", "b.npz"):
        assert verb("convert", "w.msgpack", middle, "--json").json["warnings"] == []
        verb("convert", middle, "back.msgpack", "--json")
        assert (tmp_path / "back.msgpack").read_bytes() == source.read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
def test_a_name_that_is_no_text_is_written_and_read(verb: Verb, tmp_path: Path) -> None:
    name = os.fsdecode(b"b\xe4d")
    write(tmp_path / f"{name}.msgpack", layers(0))
    document = verb("convert", f"{name}.msgpack", f"{name}.npz", "--json").json
    assert document["out"] == str(tmp_path / f"{name}.npz")
    assert len(verb("ls", f"{name}.npz", "--json").json["leaves"]) == 1


def test_where_an_export_cannot_go_is_said_and_nothing_is_touched(
    verb: Verb, tmp_path: Path
) -> None:
    source = write(tmp_path / "w.msgpack", layers(0))
    before = source.read_bytes()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    (tmp_path / "link.msgpack").symlink_to("w.msgpack")
    (tmp_path / "loop").symlink_to("loop")
    refusals = {
        "w.msgpack": "sources are never changed",
        "./mine/../w.msgpack": "sources are never changed",
        "link.msgpack": "sources are never changed",
        "mine": "other files: notes.txt",
        ".": "other files",
        "w.msgpack/inside.npz": "A folder was expected here",
        "loop": "a circle",
    }
    for out, part in refusals.items():
        refused = verb("convert", "w.msgpack", out, "--json")
        refused.refused(str(tmp_path), part)
        assert ".part" not in refused.err
    assert source.read_bytes() == before
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".state", "link.msgpack", "loop", "mine", "w.msgpack"]
