from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.document import journal as journal_module
from inspector.document.journal import (
    FILE_NAME,
    Journal,
    discard,
    read_operations,
    sessions,
)
from inspector.document.journal_lines import Operation, decode, encode
from inspector.errors import SessionError

OPERATIONS: list[Operation] = [
    {"op": "open", "path": "/data/ü\ud800\n", "title": "digits"},
    {"op": "edit", "edit": {"edit": "rename", "path": ["a", 0], "name": "b"}},
    {"op": "undo"},
    {"op": "edit", "number": 1.5},
]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal.create(tmp_path, "empty")
    yield made
    made.close()


def _abandon(state_dir: Path, operations: list[Operation]) -> str:
    made = Journal.create(state_dir, "digits → module")
    for operation in operations:
        made.append(operation).result(10)
    made.close(keep=True)
    return made.folder.name


def test_what_is_answered_is_in_the_file(tmp_path: Path, journal: Journal) -> None:
    for operation in OPERATIONS:
        journal.append(operation).result(10)
        found = read_operations(tmp_path, journal.folder.name)
        assert found[-1] == operation
    assert read_operations(tmp_path, journal.folder.name) == OPERATIONS


def test_any_cut_gives_a_prefix() -> None:
    lines = [encode(number, one) for number, one in enumerate(OPERATIONS)]
    data = b"".join(lines)
    ends = [sum(map(len, lines[:count])) for count in range(len(lines) + 1)]
    for cut in range(len(data) + 1):
        operations, length = decode(data[:cut])
        count = sum(end <= cut for end in ends) - 1
        assert operations == OPERATIONS[:count]
        assert length == ends[count]


def test_any_damaged_byte_gives_a_prefix() -> None:
    lines = [encode(number, one) for number, one in enumerate(OPERATIONS)]
    data = bytearray(b"".join(lines))
    for position in range(len(data)):
        damaged = bytes([*data[:position], data[position] ^ 1, *data[position + 1 :]])
        operations, _ = decode(damaged)
        assert operations == OPERATIONS[: len(operations)]
        assert len(operations) < len(OPERATIONS)


def test_lines_out_of_order_end_the_reading() -> None:
    data = encode(0, OPERATIONS[0]) + encode(2, OPERATIONS[1])
    assert decode(data)[0] == OPERATIONS[:1]
    assert decode(encode(0, OPERATIONS[0]) * 2)[0] == OPERATIONS[:1]


def test_a_living_session_is_nobody_elses(tmp_path: Path, journal: Journal) -> None:
    journal.append(OPERATIONS[1]).result(10)
    assert sessions(tmp_path) == []
    with pytest.raises(SessionError, match="open in another window"):
        Journal.resume(tmp_path, journal.folder.name)
    with pytest.raises(SessionError, match="open in another window"):
        discard(tmp_path, journal.folder.name)


def test_a_session_that_ended_leaves_nothing(tmp_path: Path) -> None:
    made = Journal.create(tmp_path)
    made.append(OPERATIONS[1])
    made.close()
    made.close()
    assert sessions(tmp_path) == []
    assert list((tmp_path / "sessions").iterdir()) == []
    with pytest.raises(SessionError, match="the session has ended"):
        made.append(OPERATIONS[1]).result(10)


def test_abandoned_sessions_are_listed(tmp_path: Path) -> None:
    first = _abandon(tmp_path, OPERATIONS)
    second = _abandon(tmp_path, OPERATIONS[1:2])
    os.utime(tmp_path / "sessions" / first / FILE_NAME, (1000, 1000))
    os.utime(tmp_path / "sessions" / second / FILE_NAME, (2000, 2000))
    found = sessions(tmp_path)
    assert [(one.id, one.title, one.edits, one.ended) for one in found] == [
        (second, "digits → module", 1, 2000.0),
        (first, "digits", 2, 1000.0),
    ]
    discard(tmp_path, second)
    assert [one.id for one in sessions(tmp_path)] == [first]


def test_a_session_without_operations_is_not_offered(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / _abandon(tmp_path, [])
    assert folder.exists()
    assert sessions(tmp_path) == []
    assert not folder.exists()
    assert sessions(tmp_path / "absent") == []


def test_a_session_goes_on_after_a_torn_line(tmp_path: Path) -> None:
    name = _abandon(tmp_path, OPERATIONS)
    path = tmp_path / "sessions" / name / FILE_NAME
    path.write_bytes(path.read_bytes()[:-3])
    resumed, operations = Journal.resume(tmp_path, name)
    assert operations == OPERATIONS[:-1]
    resumed.append({"op": "redo"}).result(10)
    resumed.close(keep=True)
    assert read_operations(tmp_path, name) == [*OPERATIONS[:-1], {"op": "redo"}]
    assert sessions(tmp_path)[0].edits == 1


@pytest.mark.parametrize("name", ["..", "", "a/b", "absent"])
def test_sessions_that_are_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(SessionError) as caught:
        Journal.resume(tmp_path, name)
    assert caught.value.hint
    with pytest.raises(SessionError):
        read_operations(tmp_path, name)


def test_a_full_disk_fails_the_operation_and_no_other(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append(OPERATIONS[0]).result(10)
    write = os.write
    calls: list[int] = []

    def full(descriptor: int, data: bytes) -> int:
        calls.append(len(data))
        if len(calls) == 1:
            return write(descriptor, data[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    failed = journal.append(OPERATIONS[1])
    with pytest.raises(SessionError, match="No space left") as caught:
        failed.result(10)
    assert "space" in caught.value.hint
    monkeypatch.setattr(os, "write", write)
    journal.append(OPERATIONS[2]).result(10)
    expected = [OPERATIONS[0], OPERATIONS[2]]
    assert read_operations(tmp_path, journal.folder.name) == expected
    with pytest.raises(SessionError, match="not JSON serializable"):
        journal.append({"op": object()}).result(10)


def test_operations_are_synced_within_a_second(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = threading.Event()
    monkeypatch.setattr(journal_module, "SYNC_SECONDS", 0.02)
    fsync = os.fsync

    def watch(descriptor: int) -> None:
        fsync(descriptor)
        synced.set()

    monkeypatch.setattr(os, "fsync", watch)
    journal.append(OPERATIONS[0]).result(10)
    assert synced.wait(10)


def test_many_threads_keep_every_operation(tmp_path: Path, journal: Journal) -> None:
    def work(number: int) -> None:
        for count in range(50):
            journal.append({"op": "edit", "by": number, "count": count})

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.append({"op": "last"}).result(10)
    found = read_operations(tmp_path, journal.folder.name)
    assert len(found) == 201
    for number in range(4):
        counts = [one["count"] for one in found if one.get("by") == number]
        assert counts == list(range(50))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SessionError, match="cannot begin the session"):
        Journal.create(tmp_path / "file")


_CHILD = """
import sys
from pathlib import Path
from inspector.document.journal import Journal
journal = Journal.create(Path(sys.argv[1]), "child")
number = 0
while True:
    journal.append({"op": "edit", "number": number, "pad": "x" * 5000}).result()
    number += 1
    print(number, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_kill_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        answered = 0
        while answered < 20:
            answered = int(child.stdout.readline())
        assert sessions(tmp_path) == []
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split()
        child.wait()
    answered = max([answered, *(int(line) for line in rest if line.isdigit())])
    deadline = time.monotonic() + 10
    while not (found := sessions(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert found[0].title == "child"
    assert found[0].edits >= answered
    _, operations = resumed = Journal.resume(tmp_path, found[0].id)
    resumed[0].close()
    assert [one["number"] for one in operations] == list(range(len(operations)))
    assert sessions(tmp_path) == []


def test_lines_are_plain_json() -> None:
    line = encode(3, {"op": "undo"})
    checksum, _, body = line.partition(b" ")
    assert json.loads(body) == [3, {"op": "undo"}]
    assert len(checksum) == 8
