"""The harness itself, on a window of which everything is known."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.desktop import SCREEN, Desktop
from tests.e2e.program import Program

TOY = (sys.executable, str(Path(__file__).with_name("toy_window.py")))


@pytest.fixture
def toy(screen: Desktop, tmp_path: Path) -> Iterator[Program]:
    program = Program(screen, (), tmp_path, command=TOY)
    yield program
    program.close()


def test_mouse_and_keyboard_reach_widgets_that_are_found_by_name(toy: Program) -> None:
    toy.row("sourceTree", "first", "below")
    assert toy.arrays("sourceTree") == ["8", "7", "8"]
    assert list(toy.tree("sourceTree")) == [
        ("first",),
        ("first", "below"),
        ("second",),
    ]
    toy.press("field")
    toy.type("/A_b.c")
    toy.wait_said("/A_b.c")


def test_drag_is_seen_by_what_it_is_over_and_dropped_on(toy: Program) -> None:
    start = toy.place("sourceTree", "first")
    end = toy.place("targetTree", "second")
    toy.drag(start, end, lambda: toy.wait_said("over second"))
    toy.wait_said("dropped on second")


def test_what_a_program_started_is_found_and_ended(
    toy: Program, screen: Desktop
) -> None:
    toy.widget("sourceTree")
    assert [process.pid for process in toy.processes()] == [toy.pid]
    image = screen.picture()
    assert (image.width(), image.height()) == SCREEN
    # Nothing covers the corner of the screen, and the window is no part of it.
    assert image.pixelColor(0, 0) != image.pixelColor(*toy.widget("label").rect.center)
    toy.kill_window()
    toy.wait_gone()
    assert toy.find("sourceTree") is None
