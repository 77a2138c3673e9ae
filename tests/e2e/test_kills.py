"""What a crash leaves: nothing that runs, nothing half written, and every edit."""

from __future__ import annotations

import json
from pathlib import Path

import psutil

from tests.e2e.desktop import Desktop
from tests.e2e.hostile import write_modules
from tests.e2e.job import delete, drag_encoder, export, marks, start_export
from tests.e2e.program import SAMPLE, SAMPLE_ARGUMENTS, Program, running
from tests.e2e.waiting import wait_for

BIG_LEAF_BYTES = 1 << 30
"""Size of the leaf whose export is interrupted: more than a moment of writing."""

COMPILING_S = 3.0
"""Processor time after which an export that has to compile is in the compiler."""


def write_big(path: Path) -> None:
    """Writes a safetensors file with one big leaf of zeros, as a file with a hole."""
    leaf = {"dtype": "F32", "shape": [BIG_LEAF_BYTES // 4], "data_offsets": [0, 0]}
    leaf["data_offsets"] = [0, BIG_LEAF_BYTES]
    header = json.dumps({"params/big": leaf}).encode()
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + BIG_LEAF_BYTES)


def edits(program: Program) -> list[str]:
    """Returns the texts of the history, oldest first."""
    rows = program.table("historyList")
    return [row[0].removesuffix(", present") for row in rows]


def test_killed_window_leaves_nothing_and_offers_its_session_back(
    screen: Desktop, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with running(screen, *SAMPLE_ARGUMENTS, home=home) as program:
        drag_encoder(program)
        delete(program, "params", "head")
        done = edits(program)
        assert len(done) == 3
        # The third edit is on its way when the window dies; either way is right.
        program.click(program.place("targetTree", "params", "hidden"))
        program.key("Delete")
        program.kill_window()
        program.wait_gone()
    with running(screen, str(SAMPLE / "digits"), home=home) as program:
        program.wait_said("An earlier session", "digits → classifier.py:Classifier")
        program.press("restoreSession")
        wait_for(lambda: edits(program)[:3] == done, "the history", seen=lambda: done)
        assert program.row("targetTree", "params", "backbone").mark == "exact"
        assert marks(program, "batch_stats") == {"exact"}
        params = {path[1] for path in program.tree("targetTree") if len(path) > 1}
        left = {"backbone", "hidden"} if len(edits(program)) == 3 else {"backbone"}
        assert params == left
        assert program.engines("model") == [], "restoring ran the module"


def logged(program: Program) -> list[str]:
    """Returns the texts in the log."""
    program.key("ctrl+5")
    program.widget("logView")
    return [row[-1] for row in program.table("logView")]


def test_killed_engines_are_replaced_and_no_edit_is_lost(
    screen: Desktop, tmp_path: Path
) -> None:
    with running(screen, *SAMPLE_ARGUMENTS, home=tmp_path / "home") as program:
        drag_encoder(program)
        done = edits(program)
        kill(program, "reader")
        program.click(program.place("sourceTree", "digits", "params", "head", "bias"))
        program.key("Down")
        program.wait_said("float32[256,10]", "0.311", "−0.0117")
        program.wait_said("reader ready")
        assert len(program.engines("reader")) == 1
        kill(program, "model")
        export(program, tmp_path / "after.npz")
        kill(program, "store")
        program.wait_said("The store ended unexpectedly and was started anew")
        program.press("restoreSession")
        wait_for(lambda: edits(program) == done, "the history", seen=program.said)
        assert program.row("targetTree", "params", "backbone").mark == "exact"
        log = logged(program)
        assert "reader: The reader ended and was started again." in log
        assert "model: The model ended and a new one took over." in log


def writes_below(program: Program, folder: Path) -> bool:
    """Returns whether a reader has a file below a folder open."""
    files = [one.path for p in program.engines("reader") for one in p.open_files()]
    return any(Path(file).is_relative_to(folder) for file in files)


def kill(program: Program, name: str) -> None:
    """Ends every process that leads an engine of a name, and waits for their end."""
    victims = program.engines(name)
    assert victims, f"no {name} runs"
    for process in victims:
        process.kill()
    psutil.wait_procs(victims)


def test_export_that_is_killed_leaves_the_old_file_or_nothing(
    screen: Desktop, tmp_path: Path
) -> None:
    source, out = tmp_path / "big.safetensors", tmp_path / "out"
    out.mkdir()
    write_big(source)
    old = out / "old.msgpack"
    old.write_bytes(b"what was there before")
    with running(screen, str(source), home=tmp_path / "home") as program:
        program.click(program.place("sourceTree", "big.safetensors", "params", "big"))
        program.key("ctrl+shift+e")
        program.row("targetTree", "params", "big")
        start_export(program, old)
        # A request that was in a reader which died is tried once more.
        for _ in range(2):
            wait_for(lambda: writes_below(program, out), "the export to write")
            kill(program, "reader")
            assert old.read_bytes() == b"what was there before"
        program.wait_said("ended the reader process", str(old))
        assert program.row("targetTree", "params", "big").mark == "exact"
        program.key("Escape")
        wait_for(lambda: program.find("exportDialog") is None, "the dialog to close")
        start_export(program, out / "new.msgpack")
        wait_for(lambda: writes_below(program, out), "the export to write")
        program.kill_window()
        program.wait_gone()
    assert not (out / "new.msgpack").exists()
    assert old.read_bytes() == b"what was there before"


def test_nothing_is_left_of_a_window_killed_while_a_module_hangs(
    screen: Desktop, tmp_path: Path
) -> None:
    write_modules(tmp_path, "hangs.py")
    words = ["--model", f"{tmp_path / 'hangs.py'}:Net", "--input", "float32[1,4]"]
    with running(screen, *words, home=tmp_path / "home") as program:
        wait_for((tmp_path / "reached").exists, "the hanging call", seen=program.said)
        program.kill_window()
        program.wait_gone()


def test_compile_in_a_killed_model_and_in_a_killed_window(
    screen: Desktop, tmp_path: Path
) -> None:
    write_modules(tmp_path, "compiles.py")
    module, never = tmp_path / "compiles.py", tmp_path / "never.npz"
    words = ["--model", f"{module}:Net", "--input", "float32[1,64]"]
    with running(screen, *words, home=tmp_path / "home") as program:
        program.row("targetTree", "params", "kernel")
        compile_in_export(program, never).kill()
        program.wait_said("The model process ended while it worked", str(module))
        program.key("Escape")
        wait_for(lambda: program.find("exportDialog") is None, "the dialog to close")
        assert program.row("targetTree", "params", "kernel").mark == "initial"
        compile_in_export(program, never)
        program.kill_window()
        program.wait_gone()
    assert not never.exists()


def compile_in_export(program: Program, path: Path) -> psutil.Process:
    """Exports what has to be compiled first; returns the model that is at it."""
    models = {model: cpu_seconds(model) for model in program.engines("model")}

    def compiling() -> psutil.Process | None:
        busy = [m for m in models if cpu_seconds(m) > models[m] + COMPILING_S]
        return busy[0] if busy else None

    start_export(program, path)
    return wait_for(compiling, "the compile", seen=program.said)


def cpu_seconds(process: psutil.Process) -> float:
    """Returns the processor time that a process has used."""
    return float(process.cpu_times().user)
