"""No engine outlives its owner, whatever it is doing when the owner is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from tests.engine.waiting import ROOT, wait_until

OWNER = f"""
import sys, threading
sys.path.insert(0, {str(ROOT)!r})
from inspector.engine.client import EngineClient
from tests.engine.waiting import toy_command
client = EngineClient(toy_command(sys.argv[1]))
child = client.call(("child",))
client.request(
    (sys.argv[2],),
    on_reply=lambda reply: None,
    on_failure=lambda error: print("failed", error, flush=True),
    on_progress=lambda told: print(client.pid, child, flush=True),
)
threading.Event().wait()
"""


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    owners: list[subprocess.Popen[str]] = []
    yield owners
    for owner in owners:
        owner.kill()
        owner.wait()
        if owner.stdout is not None:
            owner.stdout.close()


def alive(pids: list[int]) -> list[int]:
    found = []
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
        except psutil.NoSuchProcess:
            continue
    return found


@pytest.mark.parametrize(
    ("dispatcher", "busy"),
    [
        ("pool", "sleep"),
        ("pool", "hold_lock"),
        ("serial", "hold_lock"),
        ("serial", "compile"),
    ],
)
def test_killing_the_owner_leaves_no_process(
    started: list[subprocess.Popen[str]], dispatcher: str, busy: str
) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, dispatcher, busy],
        stdout=subprocess.PIPE,
        text=True,
    )
    started.append(owner)
    assert owner.stdout is not None
    engine, child = (int(word) for word in owner.stdout.readline().split())
    group = [
        process.pid
        for process in psutil.process_iter()
        if process.pid != owner.pid and os.getpgid(process.pid) == engine
    ]
    assert {engine, child} < set(group)
    assert alive(group) == group
    owner.send_signal(signal.SIGKILL)
    wait_until(lambda: alive(group) == [])


def test_the_guard_is_gone_with_its_engine(
    started: list[subprocess.Popen[str]],
) -> None:
    """Killing the engine alone ends its children and its guard as well."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, "pool", "sleep"],
        stdout=subprocess.PIPE,
        text=True,
    )
    started.append(owner)
    assert owner.stdout is not None
    engine, child = (int(word) for word in owner.stdout.readline().split())
    os.kill(engine, signal.SIGKILL)
    assert "SIGKILL" in owner.stdout.readline()
    wait_until(lambda: alive([engine, child]) == [])
