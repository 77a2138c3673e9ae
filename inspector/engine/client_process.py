"""Starting, waiting for and ending an engine's process and its group.

Called by the client alone. On Linux and macOS an engine leads a session of its own,
so that one signal reaches it with everything that it started.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence

from inspector.errors import EngineError, ErrorInfo

TERM_S = 0.5
"""Time between SIGTERM and SIGKILL."""

_TAIL_LINES = 3

CLOSED = "EngineClosedError"
"""Kind of the end that this side asked for; no news to anybody."""


def start_process(
    command: Sequence[str], name: str, env: Mapping[str, str] | None
) -> tuple[subprocess.Popen[bytes], tuple[int, int, int]]:
    """Starts a process with three pipes, in a session and group of its own.

    Returns:
        The process, and our descriptors of its stdin, stdout and stderr. They are
        not files of the process object, which would close them a second time.

    Raises:
        EngineError: The program cannot be started.
    """
    (stdin, to_stdin), (from_stdout, stdout), (from_stderr, stderr) = (
        os.pipe() for _ in range(3)
    )
    try:
        process = subprocess.Popen(
            list(command),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=None if env is None else dict(env),
            start_new_session=True,
        )
    except OSError as error:
        for descriptor in (to_stdin, from_stdout, from_stderr):
            os.close(descriptor)
        raise EngineError(
            message=f"The {name} cannot be started: {error.strerror or error}.",
            where=str(command[0]),
            hint="Choose another Python for it, or install the program again.",
        ) from error
    finally:
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
    return process, (to_stdin, from_stdout, from_stderr)


def wait_unreaped(process: subprocess.Popen[bytes]) -> None:
    """Waits for the end of a process and leaves it as a zombie where that is possible.

    As long as it is one, nobody else can get its number.
    """
    if sys.platform == "win32" or not hasattr(os, "waitid"):
        process.wait()
        return
    with contextlib.suppress(ChildProcessError):  # somebody ignores SIGCHLD
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


def kill_group(pid: int, number: int | None = None) -> None:
    """Sends a signal to a group; one that is gone already is no error.

    Args:
        pid: Number of the leader, which is that of the group.
        number: Signal; None for the strongest of the system.
    """
    # macOS answers EPERM for a group of which only zombies are left.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            os.kill(pid, number or signal.SIGTERM)
        else:
            os.killpg(pid, number or signal.SIGKILL)


def end_process(
    ended: threading.Event, send: Callable[[int | None], None], grace_s: float
) -> None:
    """Waits for the end of a process, then asks for it, then makes it end.

    Args:
        ended: Set by the one who waits for the process, once it has ended.
        send: Sends a signal to its group, None the strongest; must do nothing when
            the process has ended.
        grace_s: Time that it has before it is asked.
    """
    if ended.wait(grace_s):
        return
    send(signal.SIGTERM)
    if not ended.wait(TERM_S):
        send(None)


def describe_end(
    name: str, status: int, tail: Sequence[str], *, asked: bool
) -> ErrorInfo:
    """Returns how an engine ended, for its open requests and for the person.

    Args:
        name: Name of the engine.
        status: Exit status, negative for a signal.
        tail: Last lines of its stderr.
        asked: Whether this side ended it.
    """
    if asked:
        return ErrorInfo(CLOSED, f"The {name} was ended.")
    if status < 0:
        how = f"was killed by {_signal_name(-status)}"
    else:
        how = f"ended with status {status}"
    last = "\n".join(line for line in tail[-_TAIL_LINES:] if line)
    return ErrorInfo(
        "EngineEndedError",
        f"The {name} {how}." + (f" Its last words:\n{last}" if last else ""),
        traceback="\n".join(tail),
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
