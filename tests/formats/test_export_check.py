from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from inspector.errors import CancelledError, WriteFileError
from inspector.formats import orbax_check
from inspector.formats.checkpoint import never
from inspector.formats.export import ExportRequest, export_tree
from inspector.formats.orbax_check import check_with_orbax, child_environment
from inspector.formats.write_orbax import OrbaxWriter
from inspector.formats.write_sources import SourceFiles
from inspector.formats.write_stream import Job, WriteContext
from inspector.variables.path import TreePath
from tests.formats.export_trees import RandomKey, export, odd_tree, tree_of

KEY = RandomKey("key<rbg>", np.arange(8, dtype=np.uint32).reshape(2, 4))


class Progress:
    """Keeps what a job reported."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int, str]] = []

    def __call__(self, done: int, total: int, text: str) -> None:
        self.steps.append((done, total, text))


def written(value: Any, folder: Path) -> tuple[OrbaxWriter, dict[TreePath, int]]:
    """Writes a tree without the check; returns what the check needs."""
    tree, values = tree_of(value)
    writer = OrbaxWriter(tree, lossy=False)
    digests: dict[TreePath, int] = {}
    with SourceFiles() as files:
        context = WriteContext(values, files, Job(1, Progress(), never), digests)
        writer.write(folder, context)
    return writer, digests


def test_batches_hold_what_they_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orbax_check, "BATCH_BYTES", 400)
    tree = odd_tree() | {"k": KEY, "s": "text", "n": 3, "nan": float("nan")}
    writer, digests = written(tree, tmp_path / "o")
    progress = Progress()
    job = Job(10_000, progress, never)
    check_with_orbax(tmp_path / "o", writer.leaves, digests, job)
    assert job.done == sum(item.leaf.nbytes for item in writer.leaves)
    assert progress.steps[0] == (0, 10_000, "Reading it back with Orbax")


@pytest.mark.parametrize("where", ["data", "inline"])
def test_a_changed_byte_is_found_and_named(where: str, tmp_path: Path) -> None:
    tree = {"a": np.arange(900.0), "b": {"c": np.full(3, 258, np.int16)}}
    writer, digests = written(tree, tmp_path / "o")
    (data,) = (tmp_path / "o/d").iterdir()
    content = bytearray(data.read_bytes())
    if where == "data":
        content[100] ^= 1
        data.write_bytes(content)
        expected = ("otherwise", "a")
    else:
        # The numbers of b/c lie in a tree node, which has a checksum of its own.
        content[content.index(b"\x02\x01\x02\x01\x02\x01")] ^= 1
        data.write_bytes(content)
        expected = ("cannot read", "")
    with pytest.raises(WriteFileError, match=expected[0]) as caught:
        check_with_orbax(
            tmp_path / "o", writer.leaves, digests, Job(1, Progress(), never)
        )
    assert caught.value.where == expected[1]
    assert "Nothing was replaced" in caught.value.hint


@pytest.mark.parametrize(
    ("written_tree", "claimed"),
    [
        ({"a": np.ones(2)}, {"a": np.ones(2), "b": np.ones(1)}),
        ({"a": np.ones(2), "b": np.ones(1)}, {"a": np.ones(2)}),
        ({"a": np.ones(2)}, {"a": np.ones(2, np.float32)}),
        ({"a": np.ones(2)}, {"a": np.ones((2, 1))}),
        ({"a": "x"}, {"a": "y"}),
        ({"a": 1}, {"a": True}),
        ({"a": {}}, {"a": []}),
    ],
)
def test_another_tree_is_no_match(
    written_tree: dict[str, Any], claimed: dict[str, Any], tmp_path: Path
) -> None:
    extra = {"z": np.ones(3)}
    written(written_tree | extra, tmp_path / "o")
    writer, digests = written(claimed | extra, tmp_path / "p")
    with pytest.raises(WriteFileError, match="Plain Orbax"):
        check_with_orbax(
            tmp_path / "o", writer.leaves, digests, Job(1, Progress(), never)
        )


def test_an_export_that_fails_the_check_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "o"
    export({"a": np.ones(2)}, out)
    before = sorted(path.name for path in out.iterdir())
    keep = OrbaxWriter.write

    def spoil(self: OrbaxWriter, path: Path, context: WriteContext) -> None:
        keep(self, path, context)
        (path / "_METADATA").write_text("{}")

    monkeypatch.setattr(OrbaxWriter, "write", spoil)
    with pytest.raises(WriteFileError, match="cannot read the export"):
        export({"b": np.ones(2)}, out)
    assert sorted(path.name for path in out.iterdir()) == before
    assert "'a'" in (out / "_METADATA").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["o"]


def children() -> list[psutil.Process]:
    found: list[psutil.Process] = psutil.Process().children(recursive=True)
    return found


def test_a_cancel_ends_the_child(tmp_path: Path) -> None:
    tree, values = tree_of({"a": np.ones(2)})
    seen: list[int] = []

    def cancelled() -> bool:
        seen.extend(child.pid for child in children())
        return bool(seen)

    with pytest.raises(CancelledError):
        export_tree(tree, values, ExportRequest(tmp_path / "o"), Progress(), cancelled)
    assert not psutil.pid_exists(seen[0])
    assert list(tmp_path.iterdir()) == []


def test_a_child_that_is_killed_is_an_error(tmp_path: Path) -> None:
    tree, values = tree_of({"a": np.ones(2)})
    killed = threading.Event()

    def kill() -> bool:
        for child in children() if not killed.is_set() else ():
            child.kill()
            killed.set()
        return False

    with pytest.raises(WriteFileError, match=r"ended \(status -9\)"):
        export_tree(tree, values, ExportRequest(tmp_path / "o"), Progress(), kill)
    assert list(tmp_path.iterdir()) == []


def test_the_child_ends_when_its_owner_closes_the_pipe() -> None:
    with Path(os.devnull).open("wb") as log:
        child = orbax_check.Child(log)
        child.close_requests()
        assert child.status() == 3
        child.end()


def test_the_child_gets_a_clean_environment() -> None:
    given = {"PATH": "p", "PYTHONPATH": "x", "XLA_FLAGS": "y", "JAX_PLATFORMS": "gpu"}
    assert child_environment(given) == {
        "PATH": "p",
        "JAX_PLATFORMS": "cpu",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def test_it_works_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "elsewhere"
    trap.mkdir()
    for name in ("orbax", "inspector", "json"):
        (trap / f"{name}.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(trap)
    assert export({"a": np.ones(2)}, Path("../o")).out == tmp_path / "o"
