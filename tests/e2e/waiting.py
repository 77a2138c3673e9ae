"""Waiting for conditions, with a deadline that only a broken program reaches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import pytest

DEADLINE_S = 40.0
"""How long anything may take; generous, because machines that test are busy ones."""

T = TypeVar("T")


def wait_for(
    condition: Callable[[], T | None],
    what: str,
    *,
    timeout_s: float = DEADLINE_S,
    seen: Callable[[], object] | None = None,
) -> T:
    """Asks until the answer is true, and returns it; fails the test at the deadline.

    Args:
        condition: What is asked.
        what: What is waited for, for the failure.
        timeout_s: Deadline.
        seen: Gives what was there instead, for the failure.
    """
    end = time.monotonic() + timeout_s
    while not (answer := condition()):
        if time.monotonic() > end:
            there = "" if seen is None else f"; there was:\n{seen()}"
            pytest.fail(f"waited {timeout_s:g} s for {what}{there}")
        time.sleep(0.02)
    return answer
