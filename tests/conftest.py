"""What holds for every test: its surroundings, and that it leaves nothing behind.

A test fails when it logs a warning that it does not expect, or when a process or a
thread that it started is still there. Helpers that only some tests need do not
belong here but in a module beside those tests.
"""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import psutil
import pytest

# Before anything imports Qt or JAX: no test needs a display or an accelerator. The
# end-to-end tests give their programs an X server of their own.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

GRACE_S = 10.0
"""How long what a test started may take to end; it is waited for, not slept through."""

QUIET_LOGGERS = {
    "absl": "Orbax, the reference of format tests, gives advice on its own defaults.",
    "orbax": "As above, for the parts of Orbax that log under their own name.",
}
"""Loggers of others whose warnings say nothing about our code, each with the reason."""

LASTING_THREADS = {
    "Dummy-": "A thread of C++ (Qt, XLA, tensorstore) that called Python once.",
}
"""Beginnings of names of threads that others keep, each with the reason."""

ExpectLog = Callable[[str], AbstractContextManager[None]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test that needs a QApplication with ``gui``."""
    for item in items:
        names = getattr(item, "fixturenames", ())
        if "qapp" in names or "qtbot" in names:
            item.add_marker(pytest.mark.gui)


@pytest.fixture(scope="session", autouse=True)
def _private_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps journals and settings of the person at the machine out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("state")
        patch.setenv("FLAX_INSPECTOR_STATE", str(folder))
        patch.delenv("FLAX_INSPECTOR_PYTHON", raising=False)
        yield


@pytest.fixture(autouse=True)
def _platform_of_programs(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lets the programs of an end-to-end test choose xcb, as they do for a person."""
    if request.node.get_closest_marker("e2e"):
        monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)


class _Warnings(logging.Handler):
    """Collects what is logged as a warning or worse."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] not in QUIET_LOGGERS:
            self.records.append(record)


@pytest.fixture(autouse=True)
def _warnings() -> Iterator[_Warnings]:
    """Fails a test that logs a warning outside of ``expect_log``."""
    handler = _Warnings()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)
    if handler.records:
        lines = (f"{r.levelname} {r.name}: {r.getMessage()}" for r in handler.records)
        pytest.fail("unexpected log records:\n" + "\n".join(lines), pytrace=False)


@pytest.fixture
def expect_log(_warnings: _Warnings) -> ExpectLog:
    """Gives ``with expect_log(pattern):``, which wants a matching warning inside it."""

    @contextmanager
    def expecting(pattern: str) -> Iterator[None]:
        before = len(_warnings.records)
        yield
        inside = _warnings.records[before:]
        rest = [r for r in inside if not re.search(pattern, r.getMessage())]
        assert len(rest) < len(inside), f"nothing logged that matches {pattern!r}"
        _warnings.records[before:] = rest

    return expecting


def _children() -> dict[int, psutil.Process]:
    """Returns the processes below this one that run, ended ones left out."""
    found = {}
    for child in psutil.Process().children(recursive=True):
        try:
            if child.status() != psutil.STATUS_ZOMBIE:
                found[child.pid] = child
        except psutil.NoSuchProcess:
            continue
    return found


def _threads() -> set[threading.Thread]:
    """Returns the threads of this process that are ours to end."""
    lasting = tuple(LASTING_THREADS)
    return {t for t in threading.enumerate() if not t.name.startswith(lasting)}


def _wait_until_gone(left: Callable[[], list[str]]) -> list[str]:
    """Waits until nothing is left; returns what is after the time of grace."""
    end = time.monotonic() + GRACE_S
    while (names := left()) and time.monotonic() < end:
        time.sleep(0.02)
    return names


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    """Fails a test whose processes or threads outlive it, and ends the processes."""
    children, threads = set(_children()), _threads()
    yield

    def left() -> list[str]:
        new = (child for pid, child in _children().items() if pid not in children)
        return [_describe(child) for child in new] + [
            f"thread {thread.name}" for thread in _threads() - threads
        ]

    names = _wait_until_gone(left)
    for pid, child in _children().items():
        if pid not in children:
            child.kill()
    if names:
        pytest.fail("left behind: " + "; ".join(names), pytrace=False)


def _describe(child: psutil.Process) -> str:
    """Returns a process as a person recognises it."""
    try:
        return f"process {child.pid} {' '.join(child.cmdline())[:200]}"
    except psutil.Error:
        return f"process {child.pid}"
