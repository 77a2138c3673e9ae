"""Lets plain Orbax read an export before it gets its final name.

Owns the child process that does it (`orbax_check_child`): its command, its
environment, its batches and its end. Runs in the reader process, on the thread of the
export; Orbax and JAX are imported in the child alone, which is gone afterwards.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import google_crc32c
import msgpack

from inspector.errors import WriteFileError
from inspector.formats.checkpoint import stop_if
from inspector.formats.write_orbax_records import (
    EMPTY_TYPES,
    OrbaxLeaf,
)
from inspector.formats.write_stream import Job, object_array
from inspector.variables import dtypes
from inspector.variables.leaf import Kind
from inspector.variables.path import TreePath, quote
from inspector.variables.value import Literal

BATCH_BYTES = 512 << 20
"""Decoded bytes that the child holds at once; a larger leaf is its own batch."""

_POLL_SECONDS = 0.05
_LENGTH = struct.Struct(">I")
_KEPT_VARIABLES = (
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT",
    "TEMP", "TMP", "TMPDIR", "USERPROFILE",
)  # fmt: skip


def check_with_orbax(
    path: Path,
    leaves: Sequence[OrbaxLeaf],
    digests: Mapping[TreePath, int],
    job: Job,
) -> None:
    """Restores a written tree with plain Orbax, and compares every leaf.

    Args:
        path: The folder of the tree, absolute.
        leaves: What was written.
        digests: CRC32C of each array and random key, by path.
        job: Counts the bytes of each batch once it is found equal.

    Raises:
        WriteFileError: Orbax cannot read it, or a leaf differs; names the leaf.
        CancelledError: The person cancelled; the child is gone.
    """
    job.advance(0, "Reading it back with Orbax")
    job.report()
    request = msgpack.packb(
        {
            "path": str(path),
            "leaves": [_expected(item, digests) for item in _stored(leaves)],
            "empties": [
                (_keys(item), EMPTY_TYPES[item.leaf.kind])
                for item in leaves
                if item.leaf.kind in EMPTY_TYPES
            ],
            "batches": _batches(leaves),
        }
    )
    with tempfile.TemporaryFile() as log:
        child = Child(log)
        try:
            child.send(request)
            _follow(child, job, log)
        finally:
            child.end()


def _stored(leaves: Sequence[OrbaxLeaf]) -> Iterator[OrbaxLeaf]:
    return (item for item in leaves if item.leaf.kind not in EMPTY_TYPES)


def _keys(item: OrbaxLeaf) -> list[str | int]:
    """Returns the keys as they come back: positions as integers, others as text."""
    return [
        int(key) if position else key
        for key, position in zip(item.keys, item.sequence, strict=True)
    ]


def _expected(item: OrbaxLeaf, digests: Mapping[TreePath, int]) -> list[object]:
    """Returns the fields that the child compares, as it takes them."""
    leaf = item.leaf
    keys = _keys(item)
    if leaf.kind is Kind.ARRAY:
        return [keys, "array", leaf.shape, leaf.dtype, digests.get(item.path, 0), None]
    if leaf.kind is Kind.KEY:
        implementation, _ = dtypes.KEY_IMPLEMENTATIONS[leaf.dtype]
        digest = digests.get(item.path, 0)
        return [keys, "key", leaf.shape, leaf.dtype, digest, implementation]
    value = leaf.value.value if isinstance(leaf.value, Literal) else None
    if isinstance(value, complex | bytes):
        dtype, shape, data = object_array(value)
        return [keys, "array", shape, dtype, google_crc32c.value(data), None]
    return [keys, "object", (), "", 0, value]


def _batches(leaves: Sequence[OrbaxLeaf]) -> list[list[int]]:
    """Groups leaves, in order, to at most `BATCH_BYTES` of decoded numbers."""
    batches: list[list[int]] = [[]]
    held = 0
    for index, item in enumerate(_stored(leaves)):
        nbytes = item.leaf.nbytes
        if batches[-1] and held + nbytes > BATCH_BYTES:
            batches.append([])
            held = 0
        batches[-1].append(index)
        held += nbytes
    return batches


def _follow(child: Child, job: Job, log: IO[bytes]) -> None:
    """Listens to the child until it has an answer.

    Raises:
        WriteFileError: The answer is not that all is equal.
        CancelledError: The person cancelled.
    """
    for answer in child.answers(job):
        kind = answer.get("kind")
        if kind == "progress":
            job.advance(int(answer["nbytes"]))
        elif kind == "equal":
            return
        elif kind == "different":
            keys = tuple(answer["keys"])
            raise WriteFileError(
                message=f"Plain Orbax reads this leaf back otherwise: it "
                f"{answer['message']}.",
                where=quote(keys),
                hint="Nothing was replaced. The disk or the memory may be faulty; "
                "export again, and report it if it happens twice.",
            )
        else:
            raise WriteFileError(
                message=f"Plain Orbax cannot read the export: {answer.get('message')}",
                hint="Nothing was replaced. Choose another format, and please report "
                "this with the log.",
            )
    raise WriteFileError(
        message=f"The process that reads the export back with Orbax ended "
        f"(status {child.status()}). {_tail(log)}",
        hint="Nothing was replaced. It may have run out of memory; export again with "
        "other programs closed.",
    )


def _tail(log: IO[bytes]) -> str:
    """Returns the last lines that the child printed."""
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - 2000))
    return log.read().decode(errors="replace").strip()


def child_command() -> list[str]:
    """Returns the command of the child: a frozen program starts itself.

    A frozen program has no interpreter to give ``-c`` to; its main module answers to
    ``engine orbax-check``.
    """
    if getattr(sys, "frozen", False):
        return [sys.executable, "engine", "orbax-check"]
    code = Path(__file__).resolve().parents[2]
    boot = (
        f"import sys; sys.path.insert(0, {str(code)!r}); "
        "from inspector.formats.orbax_check_child import main; main()"
    )
    return [sys.executable, "-P", "-c", boot]


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns what the child needs of the environment, and JAX on the CPU alone."""
    kept = {name: environment[name] for name in _KEPT_VARIABLES if name in environment}
    return {**kept, "JAX_PLATFORMS": "cpu", "PYTHONDONTWRITEBYTECODE": "1"}


class Child:
    """The running child, in a process group of its own."""

    def __init__(self, log: IO[bytes]) -> None:
        """Starts it.

        Args:
            log: Takes what Orbax prints.

        Raises:
            OSError: It cannot be started.
        """
        self._process = subprocess.Popen(
            child_command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=child_environment(os.environ),
            start_new_session=sys.platform != "win32",
        )
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._listener = threading.Thread(
            target=self._listen, name="orbax-check", daemon=True
        )
        self._listener.start()

    def send(self, request: bytes) -> None:
        """Sends the request; a child that is gone shows as the end of answers."""
        pipe = self._process.stdin
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.write(_LENGTH.pack(len(request)) + request)
                pipe.flush()

    def close_requests(self) -> None:
        """Closes the pipe, upon which the child ends by itself."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def answers(self, job: Job) -> Iterator[dict[str, Any]]:
        """Yields answers until the child ends; looks at the cancel flag meanwhile.

        Raises:
            CancelledError: The person cancelled.
        """
        while True:
            try:
                answer = self._answers.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                stop_if(job.cancelled)
                continue
            if answer is None:
                return
            yield answer

    def status(self) -> int:
        """Returns the exit status of a child that has closed its answers."""
        return self._process.wait()

    def end(self) -> None:
        """Ends the child with all that it started, and waits until it is gone."""
        if self._process.poll() is None:
            if sys.platform == "win32":
                self._process.kill()
            else:
                # It may end by itself at this moment.
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _listen(self) -> None:
        pipe = self._process.stdout
        while pipe is not None:
            head = pipe.read(_LENGTH.size)
            if len(head) < _LENGTH.size:
                break
            (length,) = _LENGTH.unpack(head)
            data = pipe.read(length)
            if len(data) < length:
                break
            self._answers.put(msgpack.unpackb(data))
        self._answers.put(None)
