"""Wrong files and modules in the window: what, where, what to do; and it goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.e2e.desktop import Desktop
from tests.e2e.hostile import write_files, write_modules
from tests.e2e.program import Program, running
from tests.e2e.waiting import wait_for

FILES = {
    "pointer.msgpack": ("This is a git-lfs pointer", "git lfs pull"),
    "pickle.msgpack": ("This is a pickle; it was not executed.", "If you trust it"),
    "short.msgpack": ("The file ends early, at byte", "Copy or download it again"),
    "page.npz": ("This is a web page (HTML)", "Download the raw file"),
    "empty": ("The folder is empty.", "Open the folder or file that holds"),
}
"""Name of a file or folder to what the window says of it: what, and what to do."""

MODULES = {
    "syntax.py": ("syntax.py:1", "SyntaxError", "Correct the line"),
    "leaves.py": ("leaves.py:2", "called sys.exit(3)", '__name__ == "__main__"'),
}
"""Name of a file to what the dialog says of importing it: where, what, what to do."""


def import_module(program: Program, path: Path) -> None:
    """Names a module in its dialog and has it imported, with the keyboard."""
    program.click(program.widget("moduleSpec").rect)
    program.key("ctrl+a")
    program.type(str(path))
    program.key("Return")


def open_file(program: Program, path: Path) -> None:
    """Opens a checkpoint with the dialog, with the keyboard."""
    program.key("ctrl+o")
    program.wait_focus("fileNameEdit")
    program.type(str(path))
    program.key("Return")
    wait_for(lambda: program.find("openDialog") is None, "the dialog to close")


def test_files_that_are_no_checkpoints(screen: Desktop, tmp_path: Path) -> None:
    paths = write_files(tmp_path)
    last = paths.pop("short.msgpack")
    good = tmp_path / "good.npz"
    np.savez(good, kernel=np.ones((2, 3), np.float32))
    words = [str(path) for path in paths.values()]
    with running(screen, *words, home=tmp_path / "home") as program:
        for name, path in paths.items():
            program.wait_said(str(path), *FILES[name])
        open_file(program, last)
        program.wait_said(str(last), *FILES[last.name])
        open_file(program, good)
        program.row("sourceTree", "good.npz", "kernel")
        assert program.arrays("sourceTree") == ["float32[2,3]"]
    assert not (tmp_path / "executed").exists()


def test_modules_that_cannot_be_loaded(screen: Desktop, tmp_path: Path) -> None:
    write_modules(tmp_path, *MODULES, "raises.py", "fits.py")
    words = ["--model", f"{tmp_path / 'fits.py'}:Net", "--input", "float32[]"]
    with running(screen, *words, home=tmp_path / "home") as program:
        program.wait_said("fits.py:6", "inputs float32[]", "Check the inputs")
        program.key("ctrl+m")
        program.widget("moduleDialog")
        for name, said in MODULES.items():
            import_module(program, tmp_path / name)
            program.wait_said(*said)
        import_module(program, tmp_path / "raises.py")
        program.press("moduleLoad")
        program.wait_said("raises.py:7", "no net has this size", "Check")
        import_module(program, tmp_path / "fits.py")
        program.press("moduleLoad")
        program.wait_said("needs an input for x")
        program.press("moduleInputs.value0")
        program.type("float32[1,4]")
        program.press("moduleLoad")
        program.row("targetTree", "params", "Dense_0", "kernel")
        assert "float32[4,3]" in program.arrays("targetTree")
        assert program.find("moduleDialog") is None
