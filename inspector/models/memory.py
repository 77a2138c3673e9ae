"""How much memory and disk there is, so that a request can be refused in time."""

from __future__ import annotations

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int | None:
    """Returns the memory that can still be taken; None where the system hides it.

    The smaller of what Linux estimates for the machine and of what the control
    group of a container leaves.
    """
    found = [size for size in (_of_machine(), _of_group()) if size is not None]
    return min(found, default=None)


def _of_machine() -> int | None:
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return None


def _of_group() -> int | None:
    try:
        limit = (_CGROUP / "memory.max").read_text(encoding="ascii").strip()
        used = (_CGROUP / "memory.current").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if limit == "max" else max(0, int(limit) - int(used))


def free_disk_bytes(folder: Path) -> int | None:
    """Returns the bytes that can be written in a folder; None when unknown."""
    if not hasattr(os, "statvfs"):
        return None
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def readable(size: int) -> str:
    """Returns a number of bytes as text, e.g. ``"3.2 GiB"``."""
    step = max(0, min((size.bit_length() - 1) // 10, len(_UNITS) - 1))
    value = size / (1 << (10 * step))
    return f"{value:.1f} {_UNITS[step]}" if step else f"{size} B"
