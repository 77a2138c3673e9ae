from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from inspector.engine.client import EngineClient
from inspector.engine.launch import ENGINES, clean_environment, engine_command
from inspector.engine.messages.envelope import Hello
from inspector.engine.messages.reading import FileStamp, StampFiles, Stamps
from tests.engine.waiting import ROOT


def test_our_own_interpreter_runs_a_boot_line() -> None:
    command = engine_command("store")
    assert command[:3] == [sys.executable, "-P", "-c"]
    assert command[4:] == ["store"]
    assert repr(str(ROOT)) in command[3]


@pytest.mark.parametrize("python", ["/opt/venv/bin/python", "python3.12"])
def test_a_chosen_interpreter_runs_the_same(python: str) -> None:
    assert engine_command("model", python) == [python, *engine_command("model")[1:]]


def test_a_frozen_program_calls_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "/opt/flax-inspector/flax-inspector")
    own = ["/opt/flax-inspector/flax-inspector", "engine", "model"]
    assert engine_command("model") == own
    assert engine_command("model", "") == own
    chosen = engine_command("model", "/usr/bin/python3")
    assert chosen[:3] == ["/usr/bin/python3", "-P", "-c"]


@pytest.mark.parametrize("name", ["models", "window", "reader; rm"])
def test_other_names_are_no_engines(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        engine_command(name)


def test_there_are_three_engines() -> None:
    assert ENGINES == ("store", "reader", "model")


def test_the_environment_loses_what_is_ours_alone() -> None:
    theirs = {"PATH": "/bin", "PYTHONPATH": "/theirs", "XLA_FLAGS": "--x", "HOME": "/h"}
    ours = {
        "_PYI_ARCHIVE_FILE": "a",
        "_MEIPASS2": "b",
        "PYINSTALLER_RESET_ENVIRONMENT": "1",
        "QT_PLUGIN_PATH": "c",
        "QT_QPA_PLATFORM": "offscreen",
        "PYSIDE6_OPTION_PYTHON_ENUM": "d",
    }
    assert clean_environment(theirs | ours) == theirs


@pytest.mark.parametrize(
    ("frozen", "before", "after"),
    [
        (False, {"LD_LIBRARY_PATH": "/cuda"}, {"LD_LIBRARY_PATH": "/cuda"}),
        (True, {"LD_LIBRARY_PATH": "/bundle"}, {}),
        (
            True,
            {"LD_LIBRARY_PATH": "/bundle", "LD_LIBRARY_PATH_ORIG": "/cuda"},
            {"LD_LIBRARY_PATH": "/cuda"},
        ),
        (True, {}, {}),
    ],
)
def test_the_library_path_is_the_persons_again(
    *, frozen: bool, before: dict[str, str], after: dict[str, str]
) -> None:
    assert clean_environment(before, frozen=frozen) == after


def test_an_engine_starts_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What lies in the folder must not be taken for our code or anybody's.
    for name in ("inspector.py", "numpy.py", "msgpack.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong module')\n")
    monkeypatch.chdir(tmp_path)
    events: list[object] = []
    log: list[str] = []
    client = EngineClient(
        engine_command("reader"),
        name="reader",
        env=clean_environment(),
        on_event=events.append,
        on_log=log.append,
    )
    try:
        missing = str(tmp_path / "missing")
        reply = client.call(StampFiles((missing,)), timeout=60)
        assert reply == Stamps((FileStamp(missing, -1, 0),))
        assert isinstance(events[0], Hello)
        assert events[0].engine == "reader"
    finally:
        client.close()
    assert log == []


def test_only_our_package_is_offered(tmp_path: Path) -> None:
    """Neighbours of our package are invisible to another interpreter."""
    boot = engine_command("reader")[3].splitlines()
    assert boot[-1] == "serve(sys.argv[1])"
    script = "\n".join(
        [
            *boot[:-1],
            "import inspector, importlib.util",
            "print(inspector.__file__)",
            "print(importlib.util.find_spec('tests'))",
            "print([place for place in sys.path if not place])",
        ]
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        str(ROOT / "inspector" / "__init__.py"),
        "None",
        "[]",
    ]


def test_an_engine_by_hand_ends_with_its_input() -> None:
    """As in ``ssh host flax-inspector engine reader``, without a group of its own."""
    done = subprocess.run(
        engine_command("reader"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert b"flax-inspector engine" in done.stdout
