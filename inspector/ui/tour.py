"""The main job on the sample, done step by step without a hand on the mouse.

``--tour DIR`` runs it where there is no display: it opens the sample, moves the
pretrained encoder with the same actions a person would use, exports, and tells what
it does; the pictures and the exported checkpoint are left in the folder. On the
window's thread; every step waits until the window has settled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, QObject, QTimer

from inspector.engine.messages.document import TARGET, Export
from inspector.engine.messages.reading import Exported
from inspector.errors import ErrorInfo
from inspector.ui.actions import ActionId
from inspector.ui.main_window import MainWindow
from inspector.ui.startup import Startup
from inspector.variables.path import TreePath

TIMEOUT_S = 120
"""Longest time of one step."""

ENCODER: TreePath = ("params", "encoder")
BACKBONE: TreePath = ("params", "backbone")

_LOOK_MS = 50
_CALM_LOOKS = 3


class Tour(QObject):
    """Runs the steps one after the other."""

    def __init__(
        self,
        window: MainWindow,
        startup: Startup,
        folder: Path,
        on_done: Callable[[str], None],
    ) -> None:
        """Begins to wait for the window.

        Args:
            window: The window, shown, on the sample.
            startup: What it opens.
            folder: Where pictures and export go; made when absent.
            on_done: Is given why the tour ended early; empty when it did not.
        """
        super().__init__(window)
        self._window, self._startup, self._folder = window, startup, folder
        self._on_done = on_done
        self._failure = ""
        self._pictures = 0
        self._calm = 0
        self._steps = self._tour()
        self._clock = QElapsedTimer()
        self._clock.start()
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    def _tour(self) -> Iterator[None]:
        """Does one step each time the window has settled."""
        window = self._window
        info = window.mirror.info
        source = info.sources[0]
        _say(f"1. Opened {source.name} ({source.format}): {source.leaves} leaves,")
        _say(f"   and {info.target.name}: {_counts(window)}. Nothing was allocated.")
        window.handlers.reveal(source.id, ENCODER)
        yield
        self._picture("opened")
        window.actions_[ActionId.COPY].trigger()
        window.handlers.reveal(TARGET, BACKBONE)
        yield
        _say("2. Copied params/encoder, pasted it onto params/backbone:")
        window.actions_[ActionId.PASTE].trigger()
        yield
        _say(f"   {_counts(window)}; batch_stats travelled along.")
        kernel: TreePath = (*BACKBONE, "conv2", "kernel")
        window.handlers.reveal(TARGET, kernel)
        yield
        self._picture("transferred")
        window.actions_[ActionId.UNDO].trigger()
        yield
        _say(f"3. Undo: {_counts(window)}.")
        window.actions_[ActionId.REDO].trigger()
        yield
        _say(f"   Redo: {_counts(window)}.")
        out = self._folder / "classifier"
        self._export(out)
        yield
        self._picture("exported")
        _say("   Plain Orbax has read it back and found it equal.")
        window.actions_[ActionId.RUN].trigger()
        yield
        report = window.run.results.report
        if report is None:
            self._failure = "the module did not run"
            return
        _say(f"5. Ran {report.signature} on {report.device}: {report.run_s:.3g} s,")
        _say(f"   compiled in {report.program.compile_s:.2f} s.")
        self._picture("run")

    def _export(self, out: Path) -> None:
        def on_reply(written: Exported) -> None:
            _say(f"4. Exported {written.leaves} leaves to {written.out}")
            _say(f"   ({written.format}, {written.nbytes:,} bytes).")

        def on_failure(error: ErrorInfo) -> None:
            self._failure = error.text()

        self._window.client.ask(
            Export(str(out)), owner=self, on_reply=on_reply, on_failure=on_failure
        )

    def _look(self) -> None:
        settled = self._startup.is_done and self._window.is_settled
        self._calm = self._calm + 1 if settled else 0
        if self._startup.errors:
            self._failure = self._startup.errors[0].text()
        if self._failure:
            self._end(self._failure)
        elif self._calm >= _CALM_LOOKS:
            self._calm = 0
            self._clock.restart()
            if next(self._steps, self) is self:
                self._end("")
        elif self._clock.elapsed() > 1000 * TIMEOUT_S:
            self._end(f"after {TIMEOUT_S} s the window has not settled")

    def _picture(self, name: str) -> None:
        self._pictures += 1
        path = self._folder / f"{self._pictures}-{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._window.grab().save(str(path))
        _say(f"   Picture: {path}")

    def _end(self, reason: str) -> None:
        self._timer.stop()
        self._on_done(reason)


def _counts(window: MainWindow) -> str:
    origins = window.mirror.info.target.origins
    return ", ".join(f"{count} {origin}" for origin, count in origins)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
