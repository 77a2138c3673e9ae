from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path

import flax.serialization
import numpy as np
import psutil
import pytest

from inspector.cli import output
from inspector.cli.output import WriteOutputError, json_number, printable
from tests.cli.verbs import Verb, finished, layers, program
from tests.engine.waiting import wait_until


class Full(io.RawIOBase):
    """A file on a disk without room."""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        del data
        raise OSError(28, "No space left on device")


def stdout(monkeypatch: pytest.MonkeyPatch, encoding: str) -> io.BytesIO:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding))
    return raw


def test_numbers_that_are_not_finite_are_strings() -> None:
    assert json_number(float("nan")) == "nan"
    assert json_number(float("-inf")) == "-inf"
    assert json_number((1.0, float("inf"))) == [1.0, "inf"]
    assert json_number(2**70) == 2**70
    assert json_number(None) is None


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", '{"k": "ä\\udce4"}'),
        ("UTF8", '{"k": "ä\\udce4"}'),
        ("ascii", '{"k": "\\u00e4\\udce4"}'),
        ("cp1252", '{"k": "\\u00e4\\udce4"}'),
    ],
)
def test_json_is_json_in_every_encoding(
    monkeypatch: pytest.MonkeyPatch, encoding: str, expected: str
) -> None:
    raw = stdout(monkeypatch, encoding)
    output.print_json({"k": "ä\udce4"})
    output.flush_output()
    assert raw.getvalue().decode(encoding) == expected + "\n"


def test_what_an_encoding_lacks_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = stdout(monkeypatch, "ascii")
    output.print_line("params/ä → b")
    output.flush_output()
    assert raw.getvalue() == b"params/\\xe4 \\u2192 b\n"


def test_a_key_can_neither_forge_a_row_nor_command_the_terminal(
    verb: Verb, tmp_path: Path
) -> None:
    assert printable("ä → b c") == "ä → b c"
    assert printable("\x1b[31m\n\u202e\udce4\x9b") == r"\x1b[31m\n\u202e\udce4\x9b"
    tree = {"a\nforged": np.ones(1), "\x1b[2J": {"\x1b]0;title\x07": "te\x1bxt"}}
    content = flax.serialization.msgpack_serialize(tree)
    (tmp_path / "w.msgpack").write_bytes(content)
    result = verb("ls", "w.msgpack")
    assert result.out.splitlines()[1:-1] == [
        r"\x1b[2J/\x1b]0;title\x07  str      te\x1bxt",
        r"a\nforged                 float64  [1]       8 B",
    ]
    assert "\x1b" not in result.out
    refused = verb("ls", "w.msgpack::\x1b[2J/x")
    refused.refused(r"no key path \x1b[2J/x in the checkpoint")
    assert "\x1b" not in refused.err


def test_output_that_cannot_be_written_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = io.TextIOWrapper(io.BufferedWriter(Full()), "utf-8")
    monkeypatch.setattr(sys, "stdout", full)
    output.print_line("text")
    with pytest.raises(WriteOutputError, match="No space left on device"):
        output.flush_output()
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(WriteOutputError, match="it is closed"):
        output.print_line("text")
    output.flush_output()
    # What the full disk did not take must not be tried again when it is collected.
    with pytest.raises(OSError, match="No space"):
        full.detach().detach().write(b"")


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals of POSIX")
def test_a_reader_of_stdout_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    content = flax.serialization.msgpack_serialize(layers(0))
    (tmp_path / "w.msgpack").write_bytes(content)
    process = program("ls", "w.msgpack", "--json", cwd=tmp_path)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait() == 1
    process.stderr.close()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_ends_the_verb_and_every_engine(tmp_path: Path) -> None:
    content = flax.serialization.msgpack_serialize(layers(0))
    (tmp_path / "w.msgpack").write_bytes(content)
    text = "import time, pathlib\npathlib.Path('began').touch()\ntime.sleep(1e9)\n"
    (tmp_path / "endless.py").write_text(text)
    model = ("--model", "endless.py:Net", "--input", "float32[1,3]")
    # A shell that runs the tests in the background has its children ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = program("transfer", "w.msgpack", *model, "--json", cwd=tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    wait_until((tmp_path / "began").exists)
    engines = psutil.Process(process.pid).children(recursive=True)
    assert len(engines) >= 3
    process.send_signal(signal.SIGINT)
    result = finished(process)
    assert (result.status, result.out, result.err) == (130, "", "")
    gone, alive = psutil.wait_procs(engines, timeout=10)
    assert not alive
    assert len(gone) == len(engines)
    assert not [path.name for path in (tmp_path / "state").glob("scratch-*")]
