"""How much memory the reader may take, so that no file takes the whole machine.

Called once, when the reader starts.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

LEAST_BYTES = 4 << 30
"""Below this, reservations of a few libraries' thread stacks and heaps would reach
the limit on their own."""

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory_limit() -> int:
    """Returns the bytes that the reader may take.

    Half of the memory there is, so that the model and the window keep theirs; an
    ordinary leaf is read by blocks of a few MiB, and only a single stored chunk
    larger than this cannot be read.
    """
    return max(LEAST_BYTES, _memory_bytes() // 2)


def _memory_bytes() -> int:
    """Returns the memory of the machine, or of the container when that is less."""
    memory = int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    with contextlib.suppress(OSError, ValueError):  # no cgroup, or the text "max"
        memory = min(memory, int(_CGROUP_LIMIT.read_text(encoding="ascii")))
    return memory


def limit_memory() -> int | None:
    """Limits this process and its children to `memory_limit`.

    The data segment is limited, not the address space: since Linux 4.7 it counts
    what a process can dirty, anonymous maps included, while maps of files that are
    only read are free, and a checkpoint of any size may be mapped. Beyond the limit
    an allocation fails: a MemoryError in numpy, the end of the process in libraries
    that do not expect it. Does nothing on other systems.

    Returns:
        The limit in bytes; None when there is none.
    """
    if sys.platform != "linux":
        return None
    import resource  # noqa: PLC0415 - does not exist on Windows

    limit = memory_limit()
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    for present in (soft, hard):
        if present != resource.RLIM_INFINITY:
            limit = min(limit, present)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    return limit
