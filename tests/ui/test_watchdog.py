from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from inspector.ui.watchdog import VARIABLE, Watchdog, start_if_asked


def _hold_the_window() -> None:
    end = time.perf_counter() + 0.2
    while time.perf_counter() < end:
        pass


def test_a_stall_is_found_with_its_stack(
    qtbot: QtBot,
    expect_log: Callable[[str], AbstractContextManager[None]],
) -> None:
    owner = QObject()
    watchdog = Watchdog(owner)
    try:
        # Again and again: on a busy machine the watching thread may miss one.
        holder = QTimer(owner)
        holder.timeout.connect(_hold_the_window)
        with expect_log("the window was held for"):
            holder.start(0)
            qtbot.waitUntil(
                lambda: any("_hold" in s.stack for s in watchdog.stalls),
                timeout=30_000,
            )
            holder.stop()
    finally:
        watchdog.stop()
    stall = next(s for s in watchdog.stalls if "_hold" in s.stack)
    assert stall.duration_s > 0.1


def test_off_unless_asked(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = QObject()
    monkeypatch.delenv(VARIABLE, raising=False)
    assert start_if_asked(owner) is None
    monkeypatch.setenv(VARIABLE, "1")
    watchdog = start_if_asked(owner)
    assert watchdog is not None
    watchdog.stop()
    assert logging.getLogger("inspector.ui.watchdog").name
