from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools import check_system

LDD = """\
\tlinux-vdso.so.1 (0x00007ffd0a5f2000)
\tlibEGL.so.1 => not found
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f0b54e1f000)
\tlibxcb-cursor.so.0 => not found
\tlibnew.so.9 => not found
"""


class Machine:
    """A machine on which everything in `LDD` is missing until it is installed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, user: int) -> None:
        self.commands: list[list[str]] = []
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setattr("os.geteuid", lambda: user)
        monkeypatch.setattr("shutil.which", self.which)
        monkeypatch.setattr("subprocess.run", self.run)
        monkeypatch.setattr(check_system, "qt_folder", lambda _: Path("Qt"))
        monkeypatch.setattr(check_system, "is_there", self.is_there)

    @property
    def installed(self) -> list[str]:
        return [word for command in self.commands for word in command]

    def which(self, program: str) -> str | None:
        package = check_system.TEST_PROGRAMS.get(program, "")
        there = program == "apt-get" or package in self.installed
        return program if there else None

    def is_there(self, pattern: str) -> bool:
        return check_system.TEST_FILES[pattern] in self.installed

    def run(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        if command[0] != "ldd":
            self.commands.append(command)
        text = "".join(
            line
            for line in LDD.splitlines(keepends=True)
            if check_system.LIBRARY_PACKAGES.get(line.split()[0]) not in self.installed
        )
        return subprocess.CompletedProcess(command, 0, text, "")


def test_missing_libraries_are_read_from_ldd() -> None:
    found = check_system.missing_libraries(LDD)
    assert found == ["libEGL.so.1", "libxcb-cursor.so.0", "libnew.so.9"]


def test_root_installs_what_is_missing_without_questions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(check_system.LIBRARY_PACKAGES, "libnew.so.9", "libnew9")
    machine = Machine(monkeypatch, user=0)
    assert check_system.main(["python", "--tests"]) == 0
    update, install = machine.commands
    assert update == ["apt-get", "-qq", "update"]
    assert install[:4] == [*check_system.INSTALL]
    assert install[7:] == [
        *("at-spi2-core", "dbus", "gir1.2-atspi-2.0"),
        *("libegl1", "libnew9", "libxcb-cursor0"),
        *("openbox", "python3-gi", "x11-utils", "xdotool", "xvfb"),
    ]
    assert capsys.readouterr().err == ""


def test_others_are_told_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = Machine(monkeypatch, user=1000)
    assert check_system.main(["python"]) == 1
    text = capsys.readouterr().err
    assert machine.commands == []
    assert "libnew.so.9                  package unknown" in text
    assert (
        "    sudo apt-get install -y --no-install-recommends libegl1 libxcb-cursor0\n"
    ) in text


def test_this_interpreter_has_the_files_that_are_asked_about() -> None:
    qt = check_system.qt_folder(sys.executable)
    absent = [name for name in check_system.QT_FILES if not (qt / name).exists()]
    assert absent == []


def test_machine_that_runs_these_tests_lacks_nothing() -> None:
    assert check_system.main([sys.executable]) == 0


def test_files_are_found_by_pattern(tmp_path: Path) -> None:
    (tmp_path / "x86_64").mkdir()
    (tmp_path / "x86_64" / "Atspi.typelib").touch()
    assert check_system.is_there(f"{tmp_path}/*/Atspi.typelib")
    assert not check_system.is_there(f"{tmp_path}/*/Gtk.typelib")
