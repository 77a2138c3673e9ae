"""Children of a benchmark: starting them, hearing them, weighing and ending them.

Everything that a child starts carries its token in the environment, so that engines
are found wherever they hang in the tree of processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

import psutil

from benchmarks.workplace import ROOT

TOKEN = "INSPECTOR_BENCHMARK_TOKEN"
"""Environment variable that marks a child and all that it starts."""

_POLL_S = 0.002


class ChildError(RuntimeError):
    """A child ended before it told what it was asked for."""


class Child:
    """A running program of `benchmarks.children`.

    Attributes:
        started_ns: Monotonic time just before it was started.
        pid: Its process.
    """

    def __init__(
        self, name: str, wanted: Mapping[str, object], env: Mapping[str, str]
    ) -> None:
        """Starts it.

        Args:
            name: Its module in `benchmarks.children`.
            wanted: What it reads from its stdin.
            env: Environment beside ours.
        """
        self._token = uuid.uuid4().hex
        self._name = name
        command = [sys.executable, "-m", f"benchmarks.children.{name}"]
        self.started_ns = time.monotonic_ns()
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **env, TOKEN: self._token},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            text=True,
        )
        self.pid = self._process.pid
        assert self._process.stdin is not None  # it was asked for
        with self._process.stdin as stdin:
            json.dump(wanted, stdin)

    def hear(self) -> dict[str, Any]:
        """Waits for its next line.

        Raises:
            ChildError: It ended instead.
        """
        line = self._stdout().readline()
        if not line:
            message = f"{self._name} ended with status {self._process.wait()}"
            raise ChildError(message)
        facts: dict[str, Any] = json.loads(line)
        return facts

    def hear_all(self) -> list[dict[str, Any]]:
        """Waits for its end and returns every line it still wrote.

        Raises:
            ChildError: It ended with an error.
        """
        lines = [json.loads(line) for line in self._stdout()]
        status = self._process.wait()
        if status:
            message = f"{self._name} ended with status {status}"
            raise ChildError(message)
        return lines

    def _stdout(self) -> IO[str]:
        assert self._process.stdout is not None  # it was asked for
        return self._process.stdout

    def since_start_s(self, stamp_ns: int) -> float:
        """Returns the seconds from its start to a monotonic time."""
        return (stamp_ns - self.started_ns) / 1e9

    def processes(self) -> list[psutil.Process]:
        """Returns it and everything it started that is alive."""
        return [p for p in psutil.process_iter() if _token_of(p) == self._token]

    def kill(self) -> None:
        """Ends it as a crash does, alone."""
        self._process.kill()

    def close(self) -> None:
        """Ends what is left of it and of all that it started."""
        self._process.kill()
        self._process.wait()
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._stdout().close()


@contextmanager
def child(
    name: str,
    wanted: Mapping[str, object],
    env: Mapping[str, str] | None = None,
) -> Iterator[Child]:
    """Runs a child for the body and ends what is left of it."""
    started = Child(name, wanted, env or {})
    try:
        yield started
    finally:
        started.close()


def _token_of(process: psutil.Process) -> str:
    try:
        environ: Mapping[str, str] = process.environ()
        ended = process.status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return ""
    return "" if ended else environ.get(TOKEN, "")


def is_alive(process: psutil.Process) -> bool:
    """Returns whether a process still runs; one that only waits for its owner not."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def seconds_until_gone(processes: Iterable[psutil.Process], limit_s: float) -> float:
    """Waits until all processes have ended; returns how long that took.

    Raises:
        ChildError: Some still run after ``limit_s`` seconds.
    """
    start = time.perf_counter()
    left = [process for process in processes if is_alive(process)]
    while left:
        if time.perf_counter() - start > limit_s:
            message = f"{len(left)} processes still run after {limit_s:g} s"
            raise ChildError(message)
        time.sleep(_POLL_S)
        left = [process for process in left if is_alive(process)]
    return time.perf_counter() - start


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of several processes, in bytes.

    Attributes:
        rss: Sum of what is resident in each; shared pages count several times.
        pss: The same with shared pages divided among those that share them; equals
            ``rss`` where the system does not tell.
    """

    rss: int
    pss: int


def memory_of(processes: Iterable[psutil.Process]) -> Memory:
    """Weighs processes as they are now; those that have ended weigh nothing."""
    rss = pss = 0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            found = process.memory_full_info()
            rss += int(found.rss)
            pss += int(getattr(found, "pss", found.rss))
    return Memory(rss, pss)
