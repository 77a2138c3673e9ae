"""The real program on a desktop, and the hands that work with it.

A `Program` is the window's process with its engines. Widgets are found by object
name through AT-SPI; the mouse and the keyboard are those of the X server.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.e2e.accessible import Rect, Row, Widget
from tests.e2e.desktop import Desktop, marked, private_environment
from tests.e2e.waiting import DEADLINE_S, wait_for

ROOT = Path(__file__).parents[2]
"""The checkout."""

SAMPLE = ROOT / "resources" / "sample"
"""Folder of the sample."""

SAMPLE_ARGUMENTS = (
    *(str(SAMPLE / "digits"), "--model", f"{SAMPLE / 'classifier.py'}:Classifier"),
    *("--input", "float32[1,8,8,1]"),
)
"""What ``make run`` opens."""

DRAG_STEPS = 8
"""Moves of the mouse on the way of a drag; Qt begins one only when it sees it move."""

_WHEEL_PIXELS = 100
"""More than what one step of the wheel scrolls."""

MAIN = (sys.executable, str(ROOT / "main.py"))
"""Command that starts the program from the checkout."""


class Program:
    """One run of a program.

    Attributes:
        pid: Process of the window.
        home: Its home, with the state of its sessions.
    """

    def __init__(
        self,
        desktop: Desktop,
        arguments: Sequence[str],
        home: Path,
        *,
        command: Sequence[str] = MAIN,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Starts it.

        Args:
            desktop: Where its window appears.
            arguments: Command line.
            home: Its home; a later run with the same one finds its state.
            command: What is run; the program from the checkout.
            env: Further environment.
        """
        self.desktop, self.home = desktop, home
        self._token = uuid.uuid4().hex
        environment = private_environment(home, self._token)
        for name in ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS"):
            environment[name] = desktop.env[name]
        environment["FLAX_INSPECTOR_STATE"] = str(home / "inspector")
        self.log = home / f"output-{self._token[:8]}.txt"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, *arguments],
                env=environment | dict(env or {}),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=home,
                start_new_session=True,
            )
        self.pid = self._process.pid

    # What there is.

    def find(self, name: str) -> Widget | None:
        """Returns the visible widget of an object name; None without one."""
        return self.desktop.probe.find(self.pid, name)

    def widget(self, name: str, timeout_s: float = DEADLINE_S) -> Widget:
        """Waits for the visible widget of an object name."""
        return wait_for(
            lambda: self.find(name), f"“{name}”", timeout_s=timeout_s, seen=self.said
        )

    def wait_focus(self, name: str) -> Widget:
        """Waits until the keys go to the widget of an object name."""
        return wait_for(
            lambda: w if (w := self.find(name)) and "focused" in w.states else None,
            f"the focus of “{name}”",
            seen=self.said,
        )

    def tree(self, name: str) -> dict[tuple[str, ...], Row]:
        """Returns the rows of a tree by their path, in their order."""
        return self.desktop.probe.tree(self.pid, name)

    def row(self, tree: str, *path: str) -> Row:
        """Waits for a row of a tree, expanding what leads there."""

        def look() -> Row | None:
            rows = self.tree(tree)
            if path not in rows:
                self._expand(tree, rows, path)
            return rows.get(path)

        return wait_for(
            look,
            f"{'/'.join(path)} in {tree}",
            seen=lambda: f"{sorted(self.tree(tree))}\n{self.said()}",
        )

    def place(self, tree: str, *path: str) -> Rect:
        """Scrolls to a row of a tree with the wheel; returns where it comes to rest."""
        self.row(tree, *path)
        view = self.widget(tree).rect

        def rests() -> Rect | None:
            row = self.tree(tree).get(path)
            if row is None:
                return None
            (_, y), (_, middle) = row.rect.center, view.center
            if abs(y - middle) < view.height // 2 - 5 * row.rect.height // 4:
                again = self.tree(tree).get(path)
                return row.rect if again and again.rect == row.rect else None
            clicks = max(1, (abs(y - middle) - view.height // 2) // _WHEEL_PIXELS)
            wheel = 5 if y > middle else 4
            self.desktop.xdotool("mousemove", *view.center)
            self.desktop.xdotool("click", "--repeat", clicks, "--delay", 5, wheel)
            return None

        return wait_for(rests, f"{'/'.join(path)} in sight", seen=self.said)

    def _expand(
        self, tree: str, rows: Mapping[tuple[str, ...], Row], path: tuple[str, ...]
    ) -> None:
        """Expands the lowest row above a path that is there and collapsed."""
        above = (path[:length] for length in range(len(path) - 1, 0, -1))
        known = next((one for one in above if one in rows), None)
        if known is not None and "expanded" not in rows[known].states:
            self.click(self.place(tree, *known))
            self.key("Right")

    def table(self, name: str) -> list[list[str]]:
        """Returns the texts of a table or list, row by row."""
        return [list(row.texts) for row in self.desktop.probe.rows(self.pid, name)]

    def arrays(self, tree: str) -> list[str]:
        """Returns the second column of a tree: shapes and dtypes; no empty cells."""
        return [row[1] for row in self.table(tree) if row[1]]

    def said(self) -> str:
        """Returns every text that the program shows outside of its tables."""
        widgets = self.desktop.probe.walk(self.pid)
        return "\n".join(widget.said for widget in widgets if widget.said)

    def wait_said(self, *parts: str, timeout_s: float = DEADLINE_S) -> str:
        """Waits until the program shows all of the texts; returns all it shows."""

        def look() -> str:
            text = self.said()
            return text if all(part in text for part in parts) else ""

        return wait_for(look, f"the texts {parts}", timeout_s=timeout_s, seen=self.said)

    def output(self) -> str:
        """Returns what the program wrote to its standard output and error."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    # What a hand does.

    def click(self, rect: Rect, *, button: int = 1, times: int = 1) -> None:
        """Clicks into the middle of a rectangle."""
        self.desktop.xdotool("mousemove", *rect.center)
        self.desktop.xdotool("click", "--repeat", times, "--delay", 20, button)

    def press(self, name: str) -> None:
        """Waits for a widget that can be used, and clicks it."""
        ready = wait_for(
            lambda: w if (w := self.find(name)) and "enabled" in w.states else None,
            f"“{name}” to be usable",
            seen=self.said,
        )
        self.click(ready.rect)

    def key(self, *keys: str) -> None:
        """Presses keys, e.g. ``ctrl+e``, one after the other."""
        self.desktop.xdotool("key", "--clearmodifiers", *keys)

    def type(self, text: str) -> None:
        """Types a text where the focus is."""
        self.desktop.xdotool("type", "--clearmodifiers", "--delay", 2, text)

    def drag(self, start: Rect, end: Rect, hovering: Callable[[], object]) -> None:
        """Drags from one rectangle to another with the left button.

        Args:
            start: Where the button goes down, in its middle.
            end: Where it is let go.
            hovering: Called over the end before that; waits for what has to show.
        """
        (x0, y0), (x1, y1) = start.center, end.center
        mouse = self.desktop.xdotool
        mouse("mousemove", x0, y0, "mousedown", 1)
        for step in range(1, DRAG_STEPS + 1):
            x = x0 + (x1 - x0) * step // DRAG_STEPS
            y = y0 + (y1 - y0) * step // DRAG_STEPS
            mouse("mousemove", x, y)
        try:
            # A drag tells its target only of moves, also of small ones.
            mouse("mousemove", x1 + 1, y1)
            hovering()
        finally:
            mouse("mouseup", 1)

    # Its processes.

    def processes(self) -> list[psutil.Process]:
        """Returns everything of this run that is alive: window, engines, children."""
        return marked(self._token)

    def engines(self, name: str) -> list[psutil.Process]:
        """Returns the processes that lead an engine of a name, oldest first."""
        found = [p for p in self.processes() if _is_engine(p, name)]
        return sorted(found, key=lambda process: float(process.create_time()))

    def kill_window(self) -> None:
        """Ends the window as a crash does."""
        os.kill(self.pid, signal.SIGKILL)
        self._process.wait()

    def wait_gone(self, timeout_s: float = DEADLINE_S) -> None:
        """Waits until nothing of this run is alive."""
        wait_for(
            lambda: not self.processes(),
            "the end of every process",
            timeout_s=timeout_s,
            seen=lambda: [" ".join(p.cmdline())[-80:] for p in self.processes()],
        )

    @property
    def status(self) -> int | None:
        """Exit status of the window's process; None while it runs."""
        return self._process.poll()

    def wait_exit(self) -> int:
        """Waits until the window's process has ended by itself."""
        return self._process.wait(DEADLINE_S)

    def close(self) -> None:
        """Ends what is left of it."""
        self._process.kill()
        self._process.wait()
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self.wait_gone()


@contextmanager
def running(
    desktop: Desktop,
    *arguments: str,
    home: Path,
    env: Mapping[str, str] | None = None,
) -> Iterator[Program]:
    """Runs the program for the body and ends what is left of it.

    When the body fails, the failure names a picture of the screen.
    """
    program = Program(desktop, arguments, home, env=env)
    try:
        yield program
    except BaseException as error:
        picture = home / "screen.png"
        desktop.picture().save(str(picture))
        ended = program.status
        error.add_note(f"The screen: {picture}\nThe window's exit status: {ended}")
        error.add_note(f"The output:\n{program.output()}")
        raise
    finally:
        program.close()


def _is_engine(process: psutil.Process, name: str) -> bool:
    try:
        leads = os.getpgid(process.pid) == process.pid
        return bool(leads and process.cmdline()[-1:] == [name])
    except (psutil.Error, ProcessLookupError):
        return False
