"""An engine for tests, whose requests are tuples: a verb and its arguments.

Does what services and user code do, the bad things included. Started by the command
that `tests.engine.waiting.toy_command` gives.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspector.engine.connection import (
    Connection,
    Job,
    PoolDispatcher,
    SerialDispatcher,
)
from inspector.engine.connection_dispatch import Handlers
from inspector.engine.pipe import Pipes, take_pipes
from inspector.engine.pipe_guard import start_guard
from inspector.errors import CancelledError, ReadFileError

SLEEPING = [sys.executable, "-c", "import time; time.sleep(600)"]

FAILURES: dict[str, BaseException] = {
    "inspector": ReadFileError(message="It is torn.", where="/a/b", hint="Mend it."),
    "cancelled": CancelledError(),
    "exit": SystemExit(3),
    "memory": MemoryError(),
    "plain": ZeroDivisionError("division by nothing"),
}


class Toy:
    """What the toy can do: a method for each verb."""

    def __init__(self, pipes: Pipes) -> None:
        self.pipes = pipes
        self.connection = Connection("reader", (("toy", "1"),), pipes=pipes)
        self.started: list[str] = []
        self.children: list[subprocess.Popen[bytes]] = []

    def answer(self, body: tuple[Any, ...], job: Job) -> object:
        verb, *arguments = body
        handler: Callable[..., object] = getattr(self, f"do_{verb}")
        return handler(job, *arguments)

    def do_echo(self, _job: Job, body: object) -> object:
        return body

    def do_nothing(self, _job: Job) -> None:
        return None

    def do_surroundings(self, _job: Job) -> tuple[object, ...]:
        thread = threading.current_thread().name
        return (str(Path.cwd()), thread, os.environ.get("TOY", ""))

    def do_fail(self, _job: Job, kind: str) -> None:
        raise FAILURES[kind]

    def do_unsendable(self, _job: Job) -> object:
        return {1, 2}

    def do_progress(self, job: Job, count: int) -> str:
        for number in range(count):
            job.progress(number + 1, count, "counting")
        return "counted"

    def do_wait(self, job: Job, name: str) -> None:
        """Runs until it is cancelled."""
        stop = threading.Event()
        job.on_cancel(stop.set)
        self.started.append(name)
        stop.wait()
        assert job.cancelled
        raise CancelledError

    def do_started(self, _job: Job) -> tuple[str, ...]:
        return tuple(self.started)

    def do_noise(self, _job: Job) -> str:
        """Everything that user code does to standard input and output."""
        print("from print", flush=True)  # noqa: T201 - that is the point
        os.write(1, b"from a descriptor\n")
        libc = ctypes.CDLL(None)
        libc.printf(b"from C\n")
        libc.fflush(None)
        try:
            asked = input("a question?\n")
        except EOFError:
            asked = "nobody"
        script = "import sys; print('a child read', repr(sys.stdin.read()))"
        subprocess.run([sys.executable, "-c", script], check=True)
        return asked

    def do_child(self, _job: Job) -> int:
        self.children.append(subprocess.Popen(SLEEPING))
        return self.children[-1].pid

    def do_daemon(self, _job: Job) -> int:
        """A child in a session of its own, which keeps stderr open."""
        self.children.append(subprocess.Popen(SLEEPING, start_new_session=True))
        return self.children[-1].pid

    def do_sleep(self, job: Job) -> None:
        self._say_busy(job)
        threading.Event().wait()

    def do_hold_lock(self, job: Job) -> None:
        """Holds Python's global lock for ever, inside C."""
        self._say_busy(job)
        re.match(r"(a+)+$", "a" * 64 + "b")

    def do_compile(self, job: Job) -> None:
        """A compile of XLA that takes minutes."""
        jax = importlib.import_module("jax")

        def steep(x: Any) -> Any:
            for _ in range(4000):
                x = jax.numpy.sin(x @ x) + jax.numpy.cumsum(x, axis=0)
            return x

        shape = jax.ShapeDtypeStruct((8, 8), "float32")
        lowered = jax.jit(steep).lower(shape)
        self._say_busy(job)
        lowered.compile()

    def do_exit(self, _job: Job, status: int) -> None:
        sys.stderr.write("one\ntwo\nthe last words\n")
        sys.stderr.flush()
        os._exit(status)

    def do_signal(self, _job: Job, number: int) -> None:
        os.kill(os.getpid(), number)
        threading.Event().wait()

    def do_garbage(self, _job: Job) -> None:
        """Writes a wrong length on the pipe, as only a fault of ours could."""
        os.write(self.pipes.outgoing, b"\xff\xff\xff\xff")
        threading.Event().wait()

    def do_hang_up(self, _job: Job) -> None:
        """Closes the pipe and lives on."""
        os.close(self.pipes.outgoing)
        threading.Event().wait()

    def do_flood(self, _job: Job, count: int, size: int) -> int:
        for _ in range(count):
            self.connection.event(bytes(size))
        return count

    def _say_busy(self, job: Job) -> None:
        job.progress(0, 0, "busy")
        # The writer's thread needs a moment without the lock to send it.
        threading.Event().wait(0.2)


def main() -> None:
    pipes = take_pipes()
    start_guard(pipes)
    if "banner" in sys.argv:
        os.write(pipes.outgoing, b"Welcome to this host.\n")
    toy = Toy(pipes)
    handlers: Handlers = {tuple: toy.answer}
    if "serial" in sys.argv:
        toy.connection.run(SerialDispatcher(handlers))
    toy.connection.run(PoolDispatcher(handlers, workers=3))
