from __future__ import annotations

import sys
import threading

import pytest
from pytestqt.qtbot import QtBot

from inspector.engine.messages.document import Notice
from inspector.errors import EditError
from inspector.ui.notices import Notices


def test_posts_from_any_thread_arrive_on_the_window_thread(qtbot: QtBot) -> None:
    notices = Notices()
    heard: list[tuple[Notice, int]] = []
    notices.posted.connect(lambda notice: heard.append((notice, threading.get_ident())))
    thread = threading.Thread(target=notices.warning, args=("Disk is nearly full.",))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: len(heard) == 1)
    assert heard[0][0].error.message == "Disk is nearly full."
    assert heard[0][0].level == "warning"
    assert heard[0][1] == threading.get_ident()


@pytest.mark.parametrize("in_thread", [False, True])
def test_uncaught_exceptions_end_here(qtbot: QtBot, *, in_thread: bool) -> None:
    notices = Notices()
    heard: list[Notice] = []
    notices.posted.connect(heard.append)
    error = ZeroDivisionError("division by zero")
    notices.install_hooks()
    try:
        if in_thread:
            args = (ZeroDivisionError, error, None, None)
            threading.excepthook(threading.ExceptHookArgs(args))
        else:
            sys.excepthook(ZeroDivisionError, error, None)
    finally:
        notices.remove_hooks()
    qtbot.waitUntil(lambda: len(heard) == 1)
    assert heard[0].level == "error"
    assert "ZeroDivisionError: division by zero" in heard[0].error.message
    assert "ZeroDivisionError" in heard[0].error.traceback
    assert sys.excepthook is sys.__excepthook__


def test_our_own_errors_keep_their_words(qtbot: QtBot) -> None:
    notices = Notices()
    heard: list[Notice] = []
    notices.posted.connect(heard.append)
    error = EditError("The name is taken.", where="params/head", hint="Choose another.")
    notices.install_hooks()
    try:
        sys.excepthook(EditError, error, None)
    finally:
        notices.remove_hooks()
    qtbot.waitUntil(lambda: len(heard) == 1)
    assert heard[0].error.text() == ("params/head: The name is taken.\nChoose another.")
