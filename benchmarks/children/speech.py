"""How a child hears what is wanted and tells what it found.

Imported by every program of this folder; standard library only, so that it does not
add to what is measured.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def wanted() -> dict[str, Any]:
    """Returns the JSON object that the benchmark wrote to our stdin."""
    job: dict[str, Any] = json.load(sys.stdin)
    return job


def tell(**facts: object) -> None:
    """Writes a line for the benchmark."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def tell_painted() -> None:
    """Tells when the first picture was there, and the processor time it took."""
    tell(painted=now_ns(), cpu_s=time.process_time())


def now_ns() -> int:
    """Returns the time that all processes of the machine share, in nanoseconds."""
    return time.monotonic_ns()


def peak_bytes(*, of_children: bool = False) -> int:
    """Returns the most memory that this process, or one of its children, has held.

    Only as far as the system tells: 0 on Windows.
    """
    if sys.platform == "win32":
        return 0
    if sys.platform == "linux" and not of_children:
        # What getrusage says of us also covers the parent we were forked from.
        status = Path("/proc/self/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if "VmHWM" in line)
        return int(line.split()[1]) * 1024
    import resource  # noqa: PLC0415 - does not exist on Windows

    who = resource.RUSAGE_CHILDREN if of_children else resource.RUSAGE_SELF
    peak = resource.getrusage(who).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
