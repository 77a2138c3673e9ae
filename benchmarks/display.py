"""The platforms that a window is measured on: no display, and an X server.

The X server is one of its own, without a window manager: what is measured is the
program, not the placing of windows.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_SCREEN = "1600x1000x24"


@contextmanager
def platforms() -> Iterator[dict[str, Mapping[str, str]]]:
    """Gives each platform's name and environment; an X server only where Xvfb is."""
    found: dict[str, Mapping[str, str]] = {
        "offscreen": {"QT_QPA_PLATFORM": "offscreen"},
    }
    program = shutil.which("Xvfb")
    if program is None:
        yield found
        return
    reading, writing = os.pipe()
    server = subprocess.Popen(
        [
            *(program, "-screen", "0", _SCREEN, "-nolisten", "tcp", "-noreset"),
            *("-displayfd", str(writing)),
        ],
        pass_fds=(writing,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as answer:
            number = answer.readline().decode().strip()
        if number:
            found["xcb"] = {"QT_QPA_PLATFORM": "xcb", "DISPLAY": f":{number}"}
        yield found
    finally:
        server.kill()
        server.wait()
