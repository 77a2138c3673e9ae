from __future__ import annotations

import errno
import itertools
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.errors import (
    CancelledError,
    LossyExportError,
    ReadLeafError,
    UsageError,
    WriteFileError,
)
from inspector.formats import export as export_module
from inspector.formats.checkpoint import Check, Extent, never
from inspector.formats.export import ExportRequest, export_tree, plan_export
from inspector.formats.registry import open_checkpoint
from inspector.formats.values import ValueReader
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.tree import Branch, walk
from inspector.variables.value import Initial, Literal, Stored
from tests.formats.export_trees import (
    MemoryValues,
    RandomKey,
    export,
    odd_tree,
    tree_of,
)
from tests.formats.orbax_reference import restore

NAMES = ["t.msgpack", "t.safetensors", "t.npz", "t"]
MIB = 1 << 20


def plain(**arrays: Any) -> dict[str, Any]:
    return {"p": arrays, "q": np.arange(4.0)}


def content(path: Path) -> dict[str, bytes]:
    """Returns the files below a path, or the file itself, by relative name."""
    if path.is_file():
        return {"": path.read_bytes()}
    files = (file for file in path.rglob("*") if file.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


@pytest.mark.parametrize("name", NAMES)
def test_our_reader_gives_the_tree_back(name: str, tmp_path: Path) -> None:
    keys = {"k": RandomKey("key<rbg>", np.arange(8, dtype=np.uint32).reshape(2, 4))}
    objects = {"s": "é\n", "i": -3, "f": 0.5, "b": True}
    exact = {"t": (1, ()), "d": {1: np.ones(2), "1": np.ones(3)}, "z": np.zeros((0, 2))}
    value = odd_tree() | objects
    if name != "t.msgpack":
        value |= keys
    if name in {"t.safetensors", "t.npz"}:
        value |= exact
    if name == "t.safetensors":
        del value["it's"]
    written = export(value, tmp_path / name, check=False)
    assert written.warnings == ()
    tree, values = tree_of(value)
    checkpoint = open_checkpoint(str(tmp_path / name))
    reader = ValueReader(lambda _: checkpoint)
    found = dict(walk(checkpoint.tree))
    expected = dict(walk(tree))
    assert written.leaves == len(expected)
    assert {
        path: (leaf.kind, leaf.shape, leaf.dtype) for path, leaf in found.items()
    } == {path: (leaf.kind, leaf.shape, leaf.dtype) for path, leaf in expected.items()}
    for path, leaf in found.items():
        if path in values.arrays:
            blocks = b"".join(block.tobytes() for block in reader.blocks(leaf, never))
            assert blocks == values.arrays[path].tobytes(), path
        elif isinstance(expected[path].value, Literal):
            assert leaf.value == expected[path].value, path
    # What was read can be written again, this time from the first file's own bytes.
    again = tmp_path / f"again-{name}"
    request = ExportRequest(again, check=False, sources=(tmp_path / name,))
    export_tree(checkpoint.tree, reader, request, lambda *_: None, never)
    if name != "t":
        assert again.read_bytes() == (tmp_path / name).read_bytes()
    checkpoint.close()
    reader.close()


@pytest.mark.parametrize("name", NAMES)
def test_an_old_export_is_replaced(name: str, tmp_path: Path) -> None:
    out = tmp_path / name
    export(plain(a=np.ones(3)), out, check=False)
    if out.is_file():
        out.chmod(0o640)
    first = content(out)
    written = export(plain(b=np.zeros(2)), out, check=False)
    assert written.out == out
    assert written.nbytes == sum(map(len, content(out).values()))
    assert content(out) != first
    assert [path.name for path in tmp_path.iterdir()] == [name]
    if out.is_file():
        assert out.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("existing", [False, True])
def test_a_cancel_leaves_what_was_there(
    name: str, existing: bool, tmp_path: Path
) -> None:
    out = tmp_path / name
    if existing:
        export(plain(a=np.ones(3)), out, check=False)
    before = content(out)
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 5

    tree, values = tree_of(plain(a=np.ones(40 * MIB // 8)))
    values.rows = MIB
    with pytest.raises(CancelledError):
        export_tree(
            tree, Uncancelled(values), ExportRequest(out), lambda *_: None, cancelled
        )
    assert asked == 6
    assert content(out) == before
    assert [path.name for path in tmp_path.iterdir()] == [name] * existing


class Uncancelled:
    """Values that leave a cancel to whoever takes them."""

    def __init__(self, values: MemoryValues) -> None:
        self.values = values

    def blocks(self, leaf: Leaf, cancelled: Check) -> Iterator[np.ndarray]:
        del cancelled
        return self.values.blocks(leaf, never)

    def extent(self, leaf: Leaf) -> Extent | None:
        return self.values.extent(leaf)


@pytest.mark.parametrize("name", NAMES)
def test_progress_comes_every_8_mib_and_ends_at_the_total(
    name: str, tmp_path: Path
) -> None:
    tree, values = tree_of(plain(a=np.ones(30 * MIB // 8), b=np.ones((0, 3))))
    values.rows = 4 * MIB
    steps: list[tuple[int, int, str]] = []
    export_tree(
        tree,
        values,
        ExportRequest(tmp_path / name, lossy=True, check=False),
        lambda done, total, text: steps.append((done, total, text)),
        never,
    )
    done = [0, *(step[0] for step in steps)]
    assert max(after - before for before, after in itertools.pairwise(done)) <= (
        8 * MIB + 4096
    )
    assert done == sorted(done)
    assert steps[-1][0] == steps[-1][1] >= 30 * MIB
    assert "p/a" in {step[2] for step in steps}


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_leaves_what_was_there(name: str, tmp_path: Path) -> None:
    """A limit on file sizes stands for the disk; it is set in a process of its own."""
    out = tmp_path / name
    export(plain(a=np.ones(3)), out, check=False)
    before = content(out)
    program = (
        "import resource, sys, numpy as np; from pathlib import Path;"
        "from inspector.errors import WriteFileError;"
        "from tests.formats.export_trees import export;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20,) * 2)\n"
        "try: export({'a': np.ones(1 << 19)}, Path(sys.argv[1]), check=False)\n"
        "except WriteFileError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, out],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "The disk is full" in done.stdout
    assert "What was there before is unchanged" in done.stdout
    assert content(out) == before
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_no_room_is_seen_before_a_byte_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = os.statvfs(tmp_path)
    free = usage.f_bavail * usage.f_frsize
    tree = Branch({"a": Leaf(Kind.ARRAY, (free, 2), "int8", Stored("s", ("a",)))})
    monkeypatch.setattr(os, "open", None)
    with pytest.raises(WriteFileError, match="The export needs"):
        export_tree(
            tree,
            MemoryValues(),
            ExportRequest(tmp_path / "a.safetensors"),
            lambda *_: None,
            never,
        )


def test_leaves_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    good = Leaf(Kind.ARRAY, (2,), "int8", Stored("s", ("a",)))
    cases = {
        "cannot be read (its bytes are gone): a, c/d": Branch(
            {
                "a": Leaf(Kind.ARRAY, (2,), "int8", error="its bytes are gone"),
                "b": good,
                "c": Branch({"d": Leaf(Kind.ARRAY, error="its bytes are gone")}),
            }
        ),
        "have no value: a": Branch({"a": Leaf(Kind.ARRAY, (2,), "int8"), "b": good}),
        "have not been made: a": Branch(
            {"a": Leaf(Kind.ARRAY, (2,), "int8", Initial(("a",))), "b": good}
        ),
        "kind 'opaque': a": Branch({"a": Leaf(Kind.OPAQUE, value=Literal(None))}),
        "not known to this program: a": Branch(
            {"a": Leaf(Kind.KEY, (), "key<new>", Stored("s", ("a",)))}
        ),
        "hold no such object: a": Branch({"a": Leaf(Kind.INT, value=Literal("x"))}),
    }
    for problem, tree in cases.items():
        for name in ("orbax", "msgpack", "safetensors", "npz"):
            with pytest.raises(WriteFileError) as caught:
                plan_export(tree, name, lossy=True)
            assert caught.value.message.endswith(problem + "."), caught.value
            assert caught.value.hint


def test_a_long_list_of_paths_is_counted() -> None:
    tree = Branch({f"a{i}": Leaf(Kind.ARRAY, (2,), "int8") for i in range(130)})
    with pytest.raises(WriteFileError, match=r"a98, a99 and 30 more\."):
        plan_export(tree, "npz", lossy=False)


def test_a_dialog_can_plan_without_writing() -> None:
    tree, _ = tree_of({"a": (np.ones(100),)})
    with pytest.raises(LossyExportError):
        plan_export(tree, "orbax", lossy=False)
    plan = plan_export(tree, "orbax", lossy=True)
    assert plan.nbytes >= 800
    assert plan.warnings == ["Orbax: a tuple becomes a list: a."]


def test_a_number_is_written_as_its_kind_says(tmp_path: Path) -> None:
    tree = Branch(
        {
            "f": Leaf(Kind.FLOAT, value=Literal(3)),
            "c": Leaf(Kind.COMPLEX, value=Literal(0.5)),
            "i": Leaf(Kind.INT, value=Literal(True)),
        }
    )
    request = ExportRequest(tmp_path / "a.msgpack")
    export_tree(tree, MemoryValues(), request, lambda *_: None, never)
    checkpoint = open_checkpoint(str(tmp_path / "a.msgpack"))
    found = {path[0]: leaf.value for path, leaf in walk(checkpoint.tree)}
    checkpoint.close()
    assert repr(found) == repr(
        {"c": Literal(0.5 + 0j), "f": Literal(3.0), "i": Literal(1)}
    )


def test_a_format_can_be_given(tmp_path: Path) -> None:
    assert export(plain(), tmp_path / "weights", format="npz").format == "npz"
    assert np.load(tmp_path / "weights")["q"].tolist() == [0, 1, 2, 3]
    with pytest.raises(UsageError, match="no format 'h5'"):
        export(plain(), tmp_path / "w", format="h5")


def test_folders_above_are_made_and_taken_away_again(tmp_path: Path) -> None:
    tree, values = tree_of(plain())
    with pytest.raises(CancelledError):
        export_tree(
            tree,
            values,
            ExportRequest(tmp_path / "a/b/c.npz"),
            lambda *_: None,
            lambda: True,
        )
    assert list(tmp_path.iterdir()) == []
    export(plain(), tmp_path / "a/b/c.npz")
    assert (tmp_path / "a/b/c.npz").is_file()


def test_a_place_without_permission_is_an_error_with_a_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "there")

    monkeypatch.setattr(export_module, "put_in_place", refuse)
    with pytest.raises(WriteFileError, match="Permission denied") as caught:
        export(plain(), tmp_path / "a.npz")
    assert caught.value.where == "there"
    assert caught.value.hint == "Choose a place where you may write."
    assert list(tmp_path.iterdir()) == []


def stored_in(file: Path, array: np.ndarray) -> tuple[Branch, MemoryValues]:
    """Returns a tree of one leaf whose bytes lie in a file."""
    file.write_bytes(b"head" + array.tobytes())
    tree, values = tree_of({"a": array})
    assert isinstance(tree, Branch)
    values.extents[("a",)] = Extent(str(file), 4, array.nbytes)
    values.arrays.clear()
    return tree, values


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kernel", [True, False])
def test_bytes_that_lie_in_a_file_are_copied(
    name: str, kernel: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = np.arange(3 * MIB // 8 + 5).reshape(-1, 1)
    tree, values = stored_in(tmp_path / "source", array)
    if not kernel:

        def refuse(*_: object) -> int:
            raise OSError(errno.EXDEV, "other disk")

        monkeypatch.setattr(os, "copy_file_range", refuse)
    out = tmp_path / name
    request = ExportRequest(out, check=False)
    export_tree(tree, values, request, lambda *_: None, never)
    checkpoint = open_checkpoint(str(out))
    leaf = dict(walk(checkpoint.tree))[("a",)]
    assert leaf.shape == array.shape
    found = b"".join(block.tobytes() for block in checkpoint.blocks(("a",), never))
    checkpoint.close()
    assert found == array.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_source_that_ends_early_is_named(name: str, tmp_path: Path) -> None:
    tree, values = stored_in(tmp_path / "source", np.arange(999))
    with (tmp_path / "source").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(ReadLeafError, match="only") as caught:
        export_tree(
            tree, values, ExportRequest(tmp_path / name), lambda *_: None, never
        )
    assert caught.value.where == "a"
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


@pytest.mark.parametrize("name", NAMES)
def test_a_source_that_changes_meanwhile_is_noticed(name: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    tree, values = stored_in(source, np.arange(20 * MIB // 8))

    def overwrite(done: int, _total: int, _text: str) -> None:
        if done > MIB:
            os.utime(source, ns=(1, 1))

    with pytest.raises(ReadLeafError, match="written to while") as caught:
        export_tree(
            tree, values, ExportRequest(tmp_path / name, check=False), overwrite, never
        )
    assert caught.value.where == str(source)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


@pytest.mark.parametrize("extra", [-1, 1])
def test_blocks_that_do_not_fit_the_shape_are_an_error(
    extra: int, tmp_path: Path
) -> None:
    tree, values = tree_of({"a": np.ones(10)})
    values.arrays[("a",)] = np.ones(10 + extra)
    with pytest.raises(ReadLeafError, match=r"shape \(10,\) of float64 has 80"):
        export_tree(
            tree, values, ExportRequest(tmp_path / "a.npz"), lambda *_: None, never
        )


def test_memory_stays_at_a_few_pieces(tmp_path: Path) -> None:
    array = np.zeros(1)
    tree = Branch(
        {"a": Leaf(Kind.ARRAY, (200 * MIB // 8,), "float64", Stored("s", ()))}
    )

    class Zeros(MemoryValues):
        def blocks(self, leaf: Leaf, cancelled: Check) -> Iterator[np.ndarray]:
            for _ in range(25):
                yield np.broadcast_to(array, (MIB,))

    request = ExportRequest(tmp_path / "a.msgpack")
    tracemalloc.start()
    try:
        export_tree(tree, Zeros({(): array}), request, lambda *_: None, never)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * MIB


def test_many_small_leaves_are_few_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    write = os.write

    def count(descriptor: int, data: memoryview) -> int:
        nonlocal calls
        calls += 1
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", count)
    export({f"a{i}": np.ones(3) for i in range(2000)}, tmp_path / "a.msgpack")
    assert calls < 5


@pytest.mark.parametrize("prefix", ["", "ckpt_"])
def test_a_manager_gets_a_further_step_and_goes_on(prefix: str, tmp_path: Path) -> None:
    root = tmp_path / "run"
    if prefix:
        export({"w": np.zeros(2)}, root / "ckpt_00000007" / "default", check=False)
        assert export({"w": np.ones(2)}, root, check=False).out == (
            root / "ckpt_00000008"
        )
        return
    restore(("save step", root / "5"))
    written = export({"w": np.arange(3.0)}, root)
    assert written.out == root / "6"
    record = (root / "6/_CHECKPOINT_METADATA").read_text()
    assert '"item_handlers": {"default": "orbax.' in record
    assert (root / "6/default/_METADATA").is_file()
    found = restore(("manager", root / "6"), ("save step", root / "9"))[0]
    assert found["steps"] == [5, 6]
    assert found["tree"]["w"].tolist() == [0, 1, 2]
    assert sorted(path.name for path in root.iterdir()) == ["5", "6", "9"]
