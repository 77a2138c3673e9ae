from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from inspector.ui.turns import Turns


def test_each_step_has_a_turn_of_its_own(qtbot: QtBot) -> None:
    owner = QObject()
    seen: list[str] = []

    def steps() -> Iterator[None]:
        for number in range(3):
            seen.append(f"step {number}")
            # What else the event loop has to do comes between this step and the next.
            QTimer.singleShot(0, owner, lambda: seen.append("else"))
            yield

    turns = Turns(owner)
    turns.run(steps())
    assert seen == []
    qtbot.waitUntil(lambda: not turns.is_busy and len(seen) == 6)
    assert seen[0] == "step 0"
    assert seen.index("else") < seen.index("step 2")


def test_new_steps_replace_older_ones(qtbot: QtBot) -> None:
    owner = QObject()
    seen: list[str] = []
    turns = Turns(owner)

    def newer() -> Iterator[None]:
        seen.append("newer")
        yield

    def older() -> Iterator[None]:
        seen.append("older")
        turns.run(newer())
        yield
        seen.append("never")

    turns.run(older())
    qtbot.waitUntil(lambda: not turns.is_busy)
    assert seen == ["older", "newer"]


def test_the_last_step_may_begin_with_others(qtbot: QtBot) -> None:
    owner = QObject()
    seen: list[str] = []
    turns = Turns(owner)

    def second() -> Iterator[None]:
        seen.append("second")
        yield

    def first() -> Iterator[None]:
        yield
        turns.run(second())

    turns.run(first())
    qtbot.waitUntil(lambda: not turns.is_busy)
    assert seen == ["second"]


def test_stopped_steps_are_not_taken(qtbot: QtBot) -> None:
    owner = QObject()
    turns = Turns(owner)
    turns.run(iter([1, 2]))
    turns.stop()
    assert not turns.is_busy
    done: list[int] = []
    QTimer.singleShot(0, owner, lambda: done.append(1))
    qtbot.waitUntil(lambda: bool(done))
    assert not turns.is_busy
