"""A window in which a checkpoint is opened, clicked, scrolled and filtered.

Wanted: ``{"argv": [...]}`` with one checkpoint. Tells, for each phase, how long the
window's thread was held at most.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from benchmarks.children.heart import Heart, Late
from benchmarks.children.painting import FirstPicture
from benchmarks.children.speech import tell, wanted
from inspector.app import open_window
from inspector.engine.messages.document import CopyTarget
from inspector.ui.main_window import MainWindow
from inspector.ui.models.roles import Role
from inspector.ui.models.tree_text import is_leaf

_LIMIT_S = 120.0
_SCROLLS = 150
_FRAME_S = 0.016
_EVERYTHING = 100_000
_KEPT_FRAMES = 6


class _Hand:
    """What a person does to the window, a phase each."""

    def __init__(self, window: MainWindow, heart: Heart) -> None:
        self._window, self._heart = window, heart
        self._view = window.sources.view

    def settle(self, what: str) -> None:
        """Waits until nothing is asked for and all is shown, twice in a row."""
        calm = 0

        def is_calm() -> bool:
            nonlocal calm
            calm = calm + 1 if self._window.is_settled else 0
            return calm > 4

        self._heart.wait(is_calm, what, _LIMIT_S)

    def open(self) -> None:
        """Waits until the checkpoint of the command line is listed."""
        first = self._window.sources.model.index
        self._heart.wait(
            lambda: first(0, 0, first(0, 0)).data(Role.ROW) is not None,
            "the checkpoint",
            _LIMIT_S,
        )
        self.settle("the checkpoint")

    def expand(self) -> None:
        """Expands everything, from the closed source on."""
        top = self._view.model().index(0, 0)
        self._view.collapse(top)
        self._view.expand_below(top, _EVERYTHING)
        self.settle("the expanded tree")

    def click(self, number: int) -> None:
        """Clicks on a leaf on the screen and waits for its numbers."""
        leaves = self._leaves()
        index = leaves[number % len(leaves)]
        place = self._view.visualRect(index).center()
        button = Qt.MouseButton.LeftButton
        QTest.mouseClick(self._view.viewport(), button, pos=place)
        details = self._window.details
        self._heart.wait(lambda: details.details is not None, "the leaf", _LIMIT_S)
        self.settle("the leaf")

    def _leaves(self) -> list[QModelIndex]:
        found = []
        view = self._view
        index = view.indexAt(view.viewport().rect().topLeft())
        while index.isValid() and view.viewport().rect().contains(
            view.visualRect(index).center()
        ):
            row = index.data(Role.ROW)
            if row is not None and is_leaf(row):
                found.append(index)
            index = view.indexBelow(index)
        return found

    def scroll(self) -> None:
        """Scrolls to the end in steps, as a wheel that is turned quickly."""
        bar = self._view.verticalScrollBar()
        for step in range(1, _SCROLLS + 1):
            bar.setValue(bar.maximum() * step // _SCROLLS)
            self._heart.rest(_FRAME_S)
        self.settle("the end of the tree")

    def filter(self, text: str) -> None:
        """Types a filter and waits for what it leaves."""
        self._window.sources.filter.setText(text)
        self.settle(f"the filter {text!r}")

    def copy(self) -> None:
        """Makes the checkpoint the target."""
        done: list[object] = []
        source = self._window.mirror.info.sources[0].id
        self._window.client.ask(
            CopyTarget(source), owner=self._window, on_reply=done.append
        )
        self._heart.wait(lambda: bool(done), "the copy", _LIMIT_S)
        self.settle("the target")


def _drive(window: MainWindow, heart: Heart) -> None:
    hand = _Hand(window, heart)
    for name, action in (
        ("open", hand.open),
        ("expand all", hand.expand),
        ("first click on a leaf", lambda: hand.click(0)),
        ("second click", lambda: hand.click(1)),
        ("scroll to the end", hand.scroll),
        ("filter", lambda: hand.filter("kernel")),
        ("filter by pattern", lambda: hand.filter("**/bias")),
        ("filter cleared", lambda: hand.filter("")),
        ("editable copy", hand.copy),
    ):
        with heart.phase() as late:
            action()
        _tell(name, late)


def _tell(phase: str, late: Late) -> None:
    tell(
        phase=phase,
        wall_s=late.wall_s,
        cpu_s=late.cpu_s,
        seconds=late.seconds,
        stack=[_short(line) for line in late.stack if _is_ours(line)][-_KEPT_FRAMES:],
    )


def _is_ours(line: str) -> bool:
    return f"{Path('inspector').absolute()}" in line


def _short(line: str) -> str:
    """Returns a frame with its file below the checkout."""
    return line.removeprefix(f"{Path.cwd()}/")


def main() -> None:
    """Shows the window and drives it once it is painted."""
    job = wanted()
    app = QApplication(["flax-inspector"])
    driven: list[bool] = []

    def drive() -> None:
        heart = Heart(window)
        try:
            _drive(window, heart)
        finally:
            heart.stop()
            window.close()
            app.quit()
        driven.append(True)

    FirstPicture(app, lambda: QTimer.singleShot(0, window, drive))
    window = open_window(job["argv"])
    app.exec()
    window.client.close()
    # An exception in a slot of Qt is printed and forgotten; its owner must know.
    sys.exit(0 if driven else 1)


if __name__ == "__main__":
    main()
