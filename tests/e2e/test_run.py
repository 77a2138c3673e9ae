"""A forward pass as a person runs it: mode, updates, undo, reload, Stop."""

from __future__ import annotations

import textwrap
from pathlib import Path

from tests.e2e.desktop import Desktop
from tests.e2e.program import Program, running
from tests.e2e.waiting import wait_for

NET = """
    import jax
    import jax.numpy as jnp
    from flax import linen as nn


    class Net(nn.Module):
        width: int = 4

        @nn.compact
        def __call__(self, x, train: bool = False, endless: bool = False):
            x = nn.Dense(self.width, name="first")(x)
            x = nn.BatchNorm(use_running_average=not train, name="norm")(x)
            x = nn.Dropout(0.5, deterministic=not train)(x)
            if endless:
                x = jax.lax.while_loop(lambda y: jnp.all(y < 9), lambda y: y * 0, x)
            return x
"""


def write(folder: Path, text: str = NET) -> Path:
    file = folder / "net.py"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return file


def outputs(program: Program) -> list[list[str]]:
    """Returns the rows of the outputs once their numbers are there."""

    def look() -> list[list[str]] | None:
        rows = program.table("outputTable")
        done = rows and all(row[2] and row[3] for row in rows)
        return rows if done else None

    return wait_for(look, "the numbers of the outputs", seen=program.said)


def mark(program: Program) -> str:
    return program.row("targetTree", "batch_stats", "norm", "mean").mark


def test_run_take_the_updates_undo_and_reload(screen: Desktop, tmp_path: Path) -> None:
    file = write(tmp_path)
    arguments = ["--model", f"{file}:Net", "--input", "float32[2,5]"]
    with running(screen, *arguments, home=tmp_path / "home") as program:
        program.row("targetTree", "params")
        program.key("ctrl+r")
        (row,) = outputs(program)
        assert row[:3] == ["output", "[2,4]", "float32"]
        program.press("modeToggle.train")
        program.press("runButton")
        wait_for(lambda: "train=True" in program.said(), "the run", seen=program.said)
        # From the outputs to the tab beside them.
        program.click(program.widget("outputTable").rect)
        program.key("ctrl+Tab")
        wait_for(
            lambda: len(program.table("updateTable")) == 2, "updates", seen=program.said
        )
        program.press("takeButton")
        wait_for(lambda: mark(program) == "run", "the mark of a run", seen=program.said)
        program.key("ctrl+z")
        wait_for(lambda: mark(program) == "initial", "the undo", seen=program.said)
        write(tmp_path, NET.replace("width: int = 4", "width: int = 6"))
        program.wait_said("net.py has changed on disk")
        program.press("reloadModule")
        program.row("targetTree", "params", "first", "kernel")
        wait_for(
            lambda: "float32[5,6]" in program.arrays("targetTree"),
            "the reloaded module",
            seen=program.said,
        )
        program.key("ctrl+q")
        assert program.wait_exit() == 0
        program.wait_gone()
        assert "Traceback" not in program.output()


def test_stop_an_endless_run_and_go_on(screen: Desktop, tmp_path: Path) -> None:
    file = write(tmp_path, NET.replace("endless: bool = False", "endless: bool = True"))
    arguments = ["--model", f"{file}:Net", "--input", "float32[2,5]"]
    with running(screen, *arguments, home=tmp_path / "home") as program:
        program.row("targetTree", "params")
        program.key("ctrl+r")
        wait_for(
            lambda: "enabled" in program.widget("stopButton").states,
            "the run to be on",
            seen=program.said,
        )
        program.wait_said("Running net.py:Net")
        program.press("stopButton")
        # The spare takes over and loads the module again.
        program.wait_said("model ready")
        wait_for(
            lambda: "enabled" in program.widget("runButton").states,
            "another run to be possible",
            seen=program.said,
        )
        program.row("targetTree", "params", "first", "kernel")
        program.key("ctrl+q")
        assert program.wait_exit() == 0
        program.wait_gone()
        assert "Traceback" not in program.output()
