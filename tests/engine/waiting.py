"""Waiting for conditions, and the toy engine, for the tests of this folder."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

DEADLINE_S = 30.0
"""A condition that is not true by then never will be."""

ROOT = Path(__file__).resolve().parents[2]

_TOY = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.engine.toy_engine import main
main()
"""


def wait_until(condition: Callable[[], bool]) -> None:
    """Returns as soon as the condition is true; fails at the deadline."""
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, "the condition did not come true"
        time.sleep(0.005)


def toy_command(*options: str) -> list[str]:
    """Returns the command of the toy engine."""
    return [sys.executable, "-P", "-c", _TOY, *options]
