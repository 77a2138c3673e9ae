"""An engine for tests, whose requests are tuples: a verb and its arguments.

Run as a script. It does what services and user code do, the bad things included.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Verbs:
    """What the toy can do."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self.started: list[str] = []
        self.children: list[subprocess.Popen[bytes]] = []

    def answer(self, body: tuple[object, ...], job: object) -> object:
        verb, *arguments = body
        handler: Callable[..., object] = getattr(self, f"do_{verb}")
        return handler(job, *arguments)

    def do_echo(self, _job: object, body: object) -> object:
        return body

    def do_nothing(self, _job: object) -> None:
        return None

    def do_thread(self, _job: object) -> str:
        return threading.current_thread().name

    def do_environment(self, _job: object) -> tuple[object, ...]:
        return (Path.cwd().as_posix(), tuple(sys.argv), sys.flags.safe_path)

    def do_fail(self, _job: object, kind: str) -> None:
        if kind == "inspector":
            from inspector.errors import ReadFileError

            raise ReadFileError(message="It is torn.", where="/a/b", hint="Mend it.")
        if kind == "cancelled":
            from inspector.errors import CancelledError

            raise CancelledError
        if kind == "exit":
            raise SystemExit(3)
        raise ZeroDivisionError(kind)

    def do_unsendable(self, _job: object) -> object:
        return {1, 2}

    def do_progress(self, job: object, count: int) -> str:
        from inspector.engine.connection import Job

        assert isinstance(job, Job)
        for number in range(count):
            job.progress(number + 1, count, "counting")
        return "counted"

    def do_wait(self, job: object, name: str) -> None:
        """Runs until it is cancelled."""
        from inspector.engine.connection import Job
        from inspector.errors import CancelledError

        assert isinstance(job, Job)
        self.started.append(name)
        stop = threading.Event()
        job.on_cancel(stop.set)
        job.progress(0, 0, name)
        stop.wait()
        assert job.cancelled
        raise CancelledError

    def do_started(self, _job: object) -> tuple[str, ...]:
        return tuple(self.started)

    def do_noise(self, _job: object) -> str:
        """Everything that user code does to standard input and output."""
        print("from print", flush=True)  # noqa: T201 - that is the point
        os.write(1, b"from a descriptor\n")
        libc = ctypes.CDLL(None)
        libc.printf(b"from C\n")
        libc.fflush(None)
        try:
            asked = input("a question? ")
        except EOFError:
            asked = "nobody"
        script = "import sys; print('child', repr(sys.stdin.read()))"
        subprocess.run([sys.executable, "-c", script], check=True)
        return asked

    def do_child(self, _job: object) -> int:
        script = "import time; time.sleep(600)"
        self.children.append(subprocess.Popen([sys.executable, "-c", script]))
        return self.children[-1].pid

    def do_daemon(self, _job: object) -> int:
        """A child in a session of its own that keeps stderr open."""
        script = "import time; time.sleep(600)"
        child = subprocess.Popen(
            [sys.executable, "-c", script], start_new_session=True
        )
        self.children.append(child)
        return child.pid

    def do_sleep(self, job: object) -> None:
        self._say_busy(job)
        threading.Event().wait()

    def do_hold_lock(self, job: object) -> None:
        """Holds Python's global lock for ever, inside C."""
        self._say_busy(job)
        re.match(r"(a+)+$", "a" * 64 + "b")

    def do_compile(self, job: object) -> None:
        """A compile of XLA that takes minutes."""
        import jax
        import jax.numpy as jnp

        def steep(x: jax.Array) -> jax.Array:
            for _ in range(4000):
                x = jnp.sin(x @ x) + jnp.cumsum(x)[:, None]
            return x

        lowered = jax.jit(steep).lower(jnp.ones((8, 8)))
        self._say_busy(job)
        lowered.compile()

    def do_exit(self, _job: object, status: int) -> None:
        sys.stderr.write("one\ntwo\nthe last words\n")
        sys.stderr.flush()
        os._exit(status)

    def do_signal(self, _job: object, number: int) -> None:
        os.kill(os.getpid(), number)

    def do_garbage(self, _job: object) -> None:
        """Writes a wrong length on the pipe, as only a fault of ours could."""
        os.write(PIPES.outgoing, b"\xff\xff\xff\xff")
        threading.Event().wait()

    def do_flood(self, _job: object, count: int, size: int) -> int:
        for _ in range(count):
            CONNECTION.event(bytes(size))
        return count

    def _say_busy(self, job: object) -> None:
        from inspector.engine.connection import Job

        assert isinstance(job, Job)
        job.progress(0, 0, "busy")
        # The writer's thread needs a moment without the lock to send it.
        threading.Event().wait(0.2)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    from inspector.engine.connection import (
        Connection,
        PoolDispatcher,
        SerialDispatcher,
    )
    from inspector.engine.pipe import take_pipes
    from inspector.engine.pipe_guard import start_guard

    PIPES = take_pipes()
    start_guard(PIPES)
    if "banner" in sys.argv:
        os.write(PIPES.outgoing, b"Welcome to this host.\n")
    CONNECTION = Connection("reader", (("toy", "1"),), pipes=PIPES)
    HANDLERS = {tuple: Verbs().answer}
    if "serial" in sys.argv:
        CONNECTION.run(SerialDispatcher(HANDLERS))
    else:
        CONNECTION.run(PoolDispatcher(HANDLERS, workers=3))
