"""The main job in the real window: open, drag, export, load elsewhere, undo.

The exported files are judged by `plain_check`, a program that does not know ours.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import psutil

from tests.e2e.desktop import Desktop
from tests.e2e.job import drag_encoder, export, marks
from tests.e2e.program import SAMPLE, SAMPLE_ARGUMENTS, Program, running
from tests.e2e.waiting import wait_for

LIBRARIES = ("jaxlib", "tensorstore", "h5py")
"""Native libraries that the window and the store must not load. JAX, Flax and Orbax
cannot be imported without the first one."""

PLAIN_CHECK = Path(__file__).with_name("plain_check.py")


def seed_shown(program: Program) -> str:
    """Returns the seed of the initial values, as the dialog of the export shows it."""
    program.key("ctrl+e")
    seed = program.widget("seed.params").text
    program.key("Escape")
    wait_for(lambda: program.find("exportDialog") is None, "the dialog to close")
    return seed


def native_libraries(process: psutil.Process) -> set[str]:
    """Returns which of `LIBRARIES` a process has loaded."""
    files = [one.path for one in process.memory_maps()]
    return {name for name in LIBRARIES for file in files if f"/{name}/" in file}


def judge(exported: Path, seed: str, folder: Path) -> subprocess.Popen[str]:
    """Starts the check of an exported file; nothing leads it to our package."""
    words = [str(PLAIN_CHECK), str(exported), str(SAMPLE), seed]
    return subprocess.Popen(
        [sys.executable, "-P", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )


def test_dragged_encoder_gives_the_same_numbers_in_training_code(
    screen: Desktop, tmp_path: Path
) -> None:
    files = [tmp_path / "classifier", tmp_path / "classifier.msgpack"]
    with running(screen, *SAMPLE_ARGUMENTS, home=tmp_path / "home") as program:
        drag_encoder(program)
        assert program.row("targetTree", "params", "head").mark == "initial"
        assert program.row("targetTree", "batch_stats", "backbone").mark == "exact"
        assert program.row("targetTree", "params").mark == "initial"
        assert len(program.table("historyList")) == 2
        seed = seed_shown(program)
        for file in files:
            export(program, file)
        program.key("ctrl+z")
        wait_for(lambda: marks(program) == {"initial"}, "the undo", seen=program.said)
        (store,) = program.engines("store")
        (reader,) = program.engines("reader")
        assert native_libraries(psutil.Process(program.pid)) == set()
        assert native_libraries(store) == set()
        assert native_libraries(reader) <= {"tensorstore"}
        assert any("jaxlib" in native_libraries(p) for p in program.engines("model"))
        program.key("ctrl+q")
        assert program.wait_exit() == 0
        program.wait_gone()
        assert "Traceback" not in program.output()
    checks = [judge(file, seed, tmp_path) for file in files]
    for check in checks:
        answer, said = check.communicate()
        assert check.returncode == 0, said
        assert json.loads(answer) == {
            "differing": [],
            "leaves": 19,
            "same_features": True,
            "same_outputs": True,
            "shape": [360, 2],
            "knows_inspector": False,
        }
