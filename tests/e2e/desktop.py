"""A desktop of its own: X server, window manager, message bus, accessibility.

Started once for all end-to-end tests and ended with everything it started. Nothing
of the person's own desktop is touched, and none is needed.
"""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import psutil
from PySide6.QtGui import QImage

from tests.e2e.accessible import Probe
from tests.e2e.waiting import wait_for

SCREEN = (1600, 1000)
"""Width and height of the screen, in pixels."""

TOKEN = "INSPECTOR_E2E_TOKEN"
"""Environment variable that marks what belongs to a desktop or to a program."""

_NOT_OURS = ("WAYLAND_", "XDG_", "DBUS_", "QT_", "GTK_", "AT_SPI", "DISPLAY", "SESSION")


class Desktop:
    """A screen with what a window needs of a desktop.

    Attributes:
        env: Environment of what runs on it.
        probe: Answers what is on the screen.
    """

    def __init__(self, folder: Path) -> None:
        """Starts it, below a folder that may be thrown away."""
        self._folder = folder
        self._log: IO[bytes] = (folder / "desktop.log").open("wb")
        self._started: list[subprocess.Popen[bytes]] = []
        self.token = uuid.uuid4().hex
        self.env = private_environment(folder / "home", self.token)
        try:
            self._start_display()
            self._start_bus()
            self.probe = Probe(self.env, self._log)
        except BaseException:
            self.close()
            raise

    def _start_display(self) -> None:
        size = f"{SCREEN[0]}x{SCREEN[1]}x24"
        # -fbdir puts the picture of the screen into a file, which `picture` reads.
        number = self._start_telling(
            ("Xvfb", "-screen", "0", size, "-nolisten", "tcp", "-noreset"),
            ("-fbdir", str(self._folder), "-displayfd"),
        )
        self.env["DISPLAY"] = f":{number}"
        self._start(["openbox", "--sm-disable"])
        wait_for(self._has_window_manager, "the window manager")

    def _start_bus(self) -> None:
        self.env["DBUS_SESSION_BUS_ADDRESS"] = self._start_telling(
            ("dbus-daemon", "--session", "--nofork", "--nopidfile"),
            ("--print-address",),
        )

    def _start(self, command: Sequence[str], told: int | None = None) -> None:
        self._started.append(
            subprocess.Popen(
                command,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                pass_fds=() if told is None else (told,),
            )
        )

    def _start_telling(self, command: Sequence[str], option: Sequence[str]) -> str:
        """Starts what writes its address to a descriptor, and returns the address."""
        reading, writing = os.pipe()
        number = str(writing)
        last = option[-1]
        # Two customs: ``-displayfd 5`` and ``--print-address=5``.
        joined = [f"{last}={number}"] if last.startswith("--") else [last, number]
        try:
            self._start([*command, *option[:-1], *joined], writing)
        finally:
            os.close(writing)
        with os.fdopen(reading, "rb") as answer:
            return answer.readline().decode().strip()

    def _has_window_manager(self) -> bool:
        done = subprocess.run(
            ["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"],
            env=self.env,
            capture_output=True,
            check=False,
        )
        return b"window id" in done.stdout

    def xdotool(self, *words: object) -> None:
        """Moves the mouse, presses buttons and keys, as a hand would."""
        command = ["xdotool", *(str(word) for word in words)]
        done = subprocess.run(command, env=self.env, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()

    def picture(self) -> QImage:
        """Returns a picture of the screen."""
        data = (self._folder / "Xvfb_screen0").read_bytes()
        # An XWD file: a header of big-endian words, colours, then the pixels.
        words = [int.from_bytes(data[i : i + 4], "big") for i in range(0, 100, 4)]
        start, width, height, stride = words[0] + 12 * words[19], *words[4:6], words[12]
        rgb = QImage.Format.Format_RGB32
        return QImage(data[start:], width, height, stride, rgb).copy()

    def close(self) -> None:
        """Ends it; afterwards nothing that it started is left."""
        if hasattr(self, "probe"):
            self.probe.close()
        for process in reversed(self._started):
            process.kill()
            process.wait()
        # Services of the bus are nobody's children any more.
        for left in marked(self.token):
            with suppress(psutil.NoSuchProcess):
                left.kill()
        wait_for(lambda: not marked(self.token), "the end of the desktop")
        self._log.close()


@contextmanager
def desktop(folder: Path) -> Iterator[Desktop]:
    """A desktop for the body."""
    one = Desktop(folder)
    try:
        yield one
    finally:
        one.close()


def private_environment(home: Path, token: str) -> dict[str, str]:
    """Returns an environment in which nobody's desktop and no settings are found.

    Args:
        home: Folder that is made the home.
        token: Marks every process that gets it, and what that starts.
    """
    for name in ("runtime", "config", "cache", "data", "state"):
        (home / name).mkdir(parents=True, exist_ok=True)
    (home / "runtime").chmod(0o700)
    env = {k: v for k, v in os.environ.items() if not k.startswith(_NOT_OURS)}
    return env | {
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(home / "runtime"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "LC_ALL": "C.UTF-8",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        TOKEN: token,
    }


def marked(token: str) -> list[psutil.Process]:
    """Returns the running processes that carry a token in their environment."""
    return [p for p in psutil.process_iter() if token_of(p) == token]


def token_of(process: psutil.Process) -> str:
    """Returns the token of a process, empty for strangers and for ended ones."""
    try:
        environ: Mapping[str, str] = process.environ()
        ended = process.status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return ""
    return "" if ended else environ.get(TOKEN, "")
