"""Two ways for an engine to end with everything it started.

`end_group` is how an engine ends itself and its children. The guard does the same
from outside: a reading thread needs Python's global lock to notice that the owner is
gone, and user code (or a C library that hangs) may hold that lock for ever. The
guard is a bare fork that waits in the kernel for the end of the owner or of the
engine, and then kills what is left of the group.

Linux could deliver a signal at the owner's death (``PR_SET_PDEATHSIG``), but it kills
the engine alone, before that can end its children, and it fires when the *thread*
that started the engine ends. Called once, at the start of an engine, while it has one
thread; standard library only.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import NoReturn

from inspector.engine.pipe import Pipes

GRACE_S = 0.4
"""Time that an engine has to end by itself before its guard does it."""


def owns_group() -> bool:
    """Returns whether this process leads a session that was made for it.

    Only then may it kill its group: an engine started by hand shares a group with
    the person's shell commands.
    """
    if sys.platform == "win32":
        return False
    return os.getsid(0) == os.getpgrp() == os.getpid()


def end_group(status: int = 0) -> NoReturn:
    """Ends this process and its group at once; nothing is flushed.

    Args:
        status: Exit status where the group is not ours; else SIGKILL is seen.
    """
    if sys.platform != "win32" and owns_group():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(status)


def start_guard(pipes: Pipes, grace_s: float = GRACE_S) -> None:
    """Starts the guard of this engine; does nothing where the group is not ours.

    The guard belongs to the engine's group and is no child of the engine, so user
    code that waits for any child does not meet it.

    Args:
        pipes: The engine's pipes; the guard watches ``incoming`` and never reads it.
        grace_s: How long the engine may take once the owner is gone.
    """
    if sys.platform == "win32" or not owns_group():
        return
    alive, engine = os.pipe()
    middle = os.fork()
    if middle:
        os.close(alive)  # ``engine`` stays open until this process ends
        os.waitpid(middle, 0)
        return
    try:
        if os.fork() == 0:
            os.close(engine)
            _guard(pipes.incoming, alive, os.getpgrp(), grace_s)
    finally:
        os._exit(0)


def _guard(owner: int, engine: int, group: int, grace_s: float) -> None:
    """Waits for an end of either and kills the group, this process included."""
    import select  # noqa: PLC0415 - no poll on Windows, where this never runs

    _close_all_but(owner, engine)
    poll = select.poll()
    # No events asked for: the kernel reports the end of the writers all the same,
    # also behind bytes that the engine has not read yet.
    poll.register(owner, 0)
    poll.register(engine, 0)
    ended = {descriptor for descriptor, _ in poll.poll()}
    if engine not in ended:
        waiting = select.poll()
        waiting.register(engine, 0)
        waiting.poll(grace_s * 1000)
    os.killpg(group, signal.SIGKILL)
    time.sleep(1)


def _close_all_but(*kept: int) -> None:
    """Closes every other descriptor, so that the guard keeps no pipe open."""
    low = 0
    for descriptor in sorted(kept):
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, max(256, low + 1))
