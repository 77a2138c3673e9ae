"""Modules that behave as a person's code does, and their own environments."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.e2e.desktop import Desktop
from tests.e2e.hostile import write_modules
from tests.e2e.program import MAIN, Program, running
from tests.e2e.second_python import MODULE, ONLY_THERE, make_environment
from tests.e2e.waiting import wait_for


def checkpoint(folder: Path, features: int) -> Path:
    """Writes what fits `nn.Dense` with four inputs; returns the file."""
    path = folder / "dense.npz"
    kernel = np.arange(4 * features, dtype=np.float32).reshape(4, features)
    arrays: dict[str, Any] = {"params/Dense_0/kernel": kernel}
    np.savez(path, **arrays)
    return path


def transfer(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs the verb ``transfer``."""
    words = [str(argument) for argument in arguments]
    return subprocess.run(
        [*MAIN, "transfer", *words],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def target_names(program: Program) -> set[str]:
    """Returns the paths of the target that are shown."""
    return {"/".join(path) for path in program.tree("targetTree")}


@pytest.fixture(scope="module")
def second_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp("second") / "venv")


def test_module_that_reads_prints_and_starts_a_child_changes_nothing(
    screen: Desktop, tmp_path: Path
) -> None:
    write_modules(tmp_path, "noisy.py")
    source = checkpoint(tmp_path, 3)
    words = [str(source), "--model", f"{tmp_path / 'noisy.py'}:Net"]
    words += ["--input", "float32[1,4]"]
    with running(screen, *words, home=tmp_path / "home") as program:
        program.row("targetTree", "params", "Dense_0", "kernel")
        assert target_names(program) >= {
            "params/Dense_0/bias",
            "params/Dense_0/kernel",
        }
        start = program.place("sourceTree", "dense.npz", "params")
        end = program.place("targetTree", "params")
        program.drag(start, end, lambda: program.wait_said("would fill 1 exact"))
        wait_for(
            lambda: (
                program.row("targetTree", "params", "Dense_0", "kernel").mark == "exact"
            ),
            "the transfer",
            seen=program.said,
        )


def test_module_of_another_environment_needs_its_python(
    tmp_path: Path, second_python: Path
) -> None:
    module, source = tmp_path / "net.py", checkpoint(tmp_path, 5)
    module.write_text(MODULE, encoding="utf-8")
    words = (source, "--model", f"{module}:Net", "--input", "float32[1,4]", "--json")
    refused = transfer(*words)
    assert refused.returncode == 1
    assert ONLY_THERE in refused.stderr
    assert str(module) in refused.stderr
    assert "Traceback" not in refused.stderr
    done = transfer(*words, "--python", second_python)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"]["exact"] == 1


def test_window_runs_the_module_on_the_python_it_is_given(
    screen: Desktop, tmp_path: Path, second_python: Path
) -> None:
    module = tmp_path / "net.py"
    module.write_text(MODULE, encoding="utf-8")
    words = ["--model", f"{module}:Net", "--input", "float32[1,4]"]
    words += ["--python", str(second_python)]
    with running(screen, *words, home=tmp_path / "home") as program:
        program.row("targetTree", "params", "Dense_0", "kernel")
        assert "float32[4,5]" in program.arrays("targetTree")
        (model, *_) = program.engines("model")
        assert model.cmdline()[0] == str(second_python)
        assert Path(program.processes()[0].cmdline()[0]) == Path(sys.executable)
