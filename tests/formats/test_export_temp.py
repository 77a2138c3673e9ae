from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.formats import export_temp
from inspector.formats.export_temp import (
    clean,
    leftovers,
    put_in_place,
    temporary_name,
)


def folder(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "file").write_text(text)
    return path


def dead_name(target: Path, kind: str) -> Path:
    """Returns the temporary name that a process which has ended would have given."""
    program = (
        "import sys; from pathlib import Path;"
        "from inspector.formats.export_temp import temporary_name;"
        "print(temporary_name(Path(sys.argv[1]), sys.argv[2]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, target, kind],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(done.stdout.strip())


def test_the_name_says_whose_it_is(tmp_path: Path) -> None:
    name = temporary_name(tmp_path / "model.npz")
    assert name.parent == tmp_path
    assert name.name.startswith(".model.npz.")
    assert f"-{os.getpid()}-" in name.name
    assert name.suffix == ".part"
    assert temporary_name(tmp_path / "model.npz") != name


def test_a_name_of_full_length_still_fits(tmp_path: Path) -> None:
    name = temporary_name(tmp_path / ("é" * 127))
    assert len(name.name.encode()) <= 255
    name.touch()
    (found,) = leftovers(tmp_path)
    assert found.alive


def test_only_what_dead_exports_left_is_removed(tmp_path: Path) -> None:
    target = folder(tmp_path / "o", "new")
    folder(mine := temporary_name(target), "mine")
    folder(dead_name(target, "part"), "half")
    folder(dead_name(target, "old"), "old")
    foreign = tmp_path / ".o.00000000-1-00000000.part"
    foreign.touch()
    (tmp_path / ".o.part").touch()
    clean(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["o", mine.name, foreign.name, ".o.part"]
    )


def test_an_old_folder_without_its_new_one_is_put_back(tmp_path: Path) -> None:
    target = tmp_path / "o"
    folder(dead_name(target, "old"), "old")
    folder(dead_name(target, "part"), "half")
    clean(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["o"]
    assert (target / "file").read_text() == "old"


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_folder_takes_the_place_of_another(
    can_exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_exchange:
        monkeypatch.setattr(export_temp, "_exchange", lambda *_: False)
    target = folder(tmp_path / "o", "old")
    put_in_place(folder(temporary_name(target), "new"), target)
    assert (target / "file").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["o"]


def test_a_failed_rename_puts_the_old_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_temp, "_exchange", lambda *_: False)
    target = folder(tmp_path / "o", "old")
    with pytest.raises(FileNotFoundError):
        put_in_place(tmp_path / "absent", target)
    assert (target / "file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["o"]


def test_a_kill_in_the_middle_leaves_the_old_one(tmp_path: Path) -> None:
    """The process ends itself between the last byte and the rename."""
    target = folder(tmp_path / "o", "old")
    program = (
        "import os, sys, numpy as np; from pathlib import Path;"
        "from inspector.formats import export;"
        "from tests.formats.export_trees import export as write;"
        "export.put_in_place = lambda *_: os.kill(os.getpid(), 9);"
        "write({'a': np.ones(9)}, Path(sys.argv[1]), check=False)"
    )
    (target / "file").rename(target / "_METADATA")
    done = subprocess.run(
        [sys.executable, "-c", program, target],
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == -9
    assert (target / "_METADATA").read_text() == "old"
    (left,) = leftovers(tmp_path)
    assert (left.target, left.alive, left.replaced) == (target, False, False)
    assert clean(tmp_path) == [left.path]
