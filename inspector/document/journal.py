"""The journal: every operation of a session, on disk before it is answered.

The store's state thread calls `Journal.append` and answers when the future is
done; a thread of the journal's own writes and syncs. A session is a folder with
one file, locked while its owner lives: a file that is there and not locked was
left by a crash, and is offered again. What operations mean belongs to the store.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from inspector.document.file_lock import try_lock
from inspector.document.journal_lines import Operation, decode, encode
from inspector.errors import SessionError

FILE_NAME = "journal.jsonl"
"""Name of the file in a session's folder."""

SYNC_SECONDS = 1.0
"""Longest time that an answered operation stays unsynced."""

BEGIN = "begin"
"""``"op"`` of the first operation, written by the journal itself."""

Recorded = Mapping[str, object] | Callable[[], Mapping[str, object]]
"""An operation, or what makes it when it is written."""

_MAKING = "new-"


@dataclass(frozen=True, slots=True)
class Session:
    """A session that did not end by itself.

    Attributes:
        id: Name of its folder.
        title: The last title that an operation gave.
        edits: Operations of kind ``"edit"``.
        ended: Time of its last write, seconds since the epoch.
    """

    id: str
    title: str
    edits: int
    ended: float


class Journal:
    """The journal of a living session; made by `create` or `resume`.

    Attributes:
        folder: The session's folder.
    """

    def __init__(self, folder: Path, descriptor: int, written: int, count: int) -> None:
        """Takes over a locked file.

        Args:
            folder: The session's folder.
            descriptor: The open and locked file.
            written: Bytes of its good lines.
            count: Operations in them.
        """
        self.folder = folder
        self._descriptor = descriptor
        self._written = written
        self._count = count
        self._synced = time.monotonic()
        self._dirty = False
        self._queue: queue.SimpleQueue[tuple[Recorded, Future[None]] | None]
        self._queue = queue.SimpleQueue()
        self._torn = False
        self._closed = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    @classmethod
    def create(cls, state_dir: Path, title: str = "") -> Journal:
        """Begins a session.

        Args:
            state_dir: Folder of the program's state; made when absent.
            title: What the session is called until an operation says otherwise.

        Raises:
            SessionError: The folder cannot be made or written.
        """
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"
        root = state_dir / "sessions"
        making = root / f"{_MAKING}{name}"
        try:
            making.mkdir(parents=True)
            descriptor = _open(making / FILE_NAME, os.O_CREAT | os.O_EXCL)
            # Locked before it has its name, so that nobody finds it unlocked.
            try_lock(descriptor)
            folder = making.rename(root / name)
        except OSError as error:
            raise _failed("begin", making, error) from error
        journal = cls(folder, descriptor, 0, 0)
        operation = {"op": BEGIN, "title": title, "time": time.time()}
        journal.append(operation | {"pid": os.getpid()}).result()
        return journal

    @classmethod
    def resume(cls, state_dir: Path, session: str) -> tuple[Journal, list[Operation]]:
        """Takes an abandoned session over; it goes on in the same file.

        Returns:
            The journal, and the operations of the session without its beginning.

        Raises:
            SessionError: It is not there, or another program has it open.
        """
        folder = _folder(state_dir, session)
        try:
            descriptor = _open(folder / FILE_NAME)
        except OSError as error:
            raise _failed("read", folder, error) from error
        if not try_lock(descriptor):
            os.close(descriptor)
            message = "the session is open in another window"
            raise SessionError(message, where=session, hint="Close that one first.")
        try:
            operations, length = decode((folder / FILE_NAME).read_bytes())
            # A torn line would end every later reading too.
            os.ftruncate(descriptor, length)
            os.lseek(descriptor, length, os.SEEK_SET)
        except OSError as error:
            os.close(descriptor)
            raise _failed("read", folder, error) from error
        journal = cls(folder, descriptor, length, len(operations))
        return journal, [one for one in operations if one.get("op") != BEGIN]

    def append(self, operation: Recorded) -> Future[None]:
        """Queues an operation for writing; returns at once, from any thread.

        Args:
            operation: Plain JSON with ``"op"``, or what makes it on the journal's
                thread; ``"title"`` renames the session. Nothing that it is made
                of may be changed afterwards.

        Returns:
            Done when the operation is with the system, where the death of the
            program cannot lose it; fails with `SessionError` when it could not
            be written.
        """
        future: Future[None] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            if not self._closed:
                self._queue.put((operation, future))
                return future
        message = "the session has ended"
        future.set_exception(SessionError(message, where=str(self.folder)))
        return future

    def close(self, *, keep: bool = False) -> None:
        """Ends the session after everything queued is written.

        Args:
            keep: Leave the journal, so that it is offered again; otherwise a
                session that ended by itself leaves nothing.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        if not keep:
            # Emptied while still locked: nobody can find it abandoned meanwhile.
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self) -> None:
        """Writes what is queued; syncs when a second has passed."""
        while True:
            try:
                item = self._queue.get(timeout=self._until_sync())
            except queue.Empty:
                self._sync()
                continue
            if item is None:
                self._sync()
                return
            operation, future = item
            try:
                self._write(operation() if callable(operation) else operation)
            except Exception as error:  # the thread must live: others wait on it
                future.set_exception(_failed("write", self.folder, error))
            else:
                future.set_result(None)
            if self._until_sync() == 0:
                self._sync()

    def _until_sync(self) -> float | None:
        if not self._dirty:
            return None
        return max(0.0, self._synced + SYNC_SECONDS - time.monotonic())

    def _write(self, operation: Mapping[str, object]) -> None:
        line = encode(self._count, operation)
        if self._torn:
            # Half a line, of a full disk, must not stay before the next one.
            os.ftruncate(self._descriptor, self._written)
            os.lseek(self._descriptor, self._written, os.SEEK_SET)
        self._torn = True
        view = memoryview(line)
        while view:
            view = view[os.write(self._descriptor, view) :]
        self._torn = False
        self._written += len(line)
        self._count += 1
        if not self._dirty:
            self._dirty = True
            self._synced = time.monotonic()

    def _sync(self) -> None:
        if self._dirty:
            with contextlib.suppress(OSError):
                os.fsync(self._descriptor)
            self._dirty = False
        self._synced = time.monotonic()


def _open(path: Path, flags: int = 0) -> int:
    binary = getattr(os, "O_BINARY", 0)
    return os.open(path, os.O_RDWR | os.O_CLOEXEC | binary | flags, 0o600)


def _failed(verb: str, folder: Path, error: Exception) -> SessionError:
    reason = getattr(error, "strerror", None) or error
    message = f"cannot {verb} the session: {reason}"
    hint = "Check the space and the permissions of the state folder."
    return SessionError(message, where=str(folder), hint=hint)


def _folder(state_dir: Path, session: str) -> Path:
    if Path(session).name != session or session in {"", ".", ".."}:
        message = f"“{session}” is no session"
        raise SessionError(message, hint="Choose one of the sessions listed.")
    return state_dir / "sessions" / session


def sessions(state_dir: Path) -> list[Session]:
    """Returns the sessions whose owner died, newest first.

    Sessions of living programs are left out. A session in which nothing was
    done yet is removed.
    """
    found: list[Session] = []
    root = state_dir / "sessions"
    try:
        folders = sorted(root.iterdir())
    except OSError:
        return []
    for folder in folders:
        if folder.name.startswith(_MAKING):
            continue
        with contextlib.suppress(OSError):
            session = _abandoned(folder)
            if session is not None:
                found.append(session)
    return sorted(found, key=lambda one: (-one.ended, one.id))


def _abandoned(folder: Path) -> Session | None:
    path = folder / FILE_NAME
    descriptor = _open(path)
    try:
        if not try_lock(descriptor):
            return None
        operations, _ = decode(path.read_bytes())
        ended = path.stat().st_mtime
        if all(one.get("op") == BEGIN for one in operations):
            shutil.rmtree(folder, ignore_errors=True)
            return None
    finally:
        os.close(descriptor)
    titles = [one["title"] for one in operations if one.get("title")]
    edits = sum(one.get("op") == "edit" for one in operations)
    return Session(folder.name, str(titles[-1]) if titles else "", edits, ended)


def read_operations(state_dir: Path, session: str) -> list[Operation]:
    """Returns the operations of a session without taking it over.

    Raises:
        SessionError: It cannot be read.
    """
    folder = _folder(state_dir, session)
    try:
        operations, _ = decode((folder / FILE_NAME).read_bytes())
    except OSError as error:
        raise _failed("read", folder, error) from error
    return [one for one in operations if one.get("op") != BEGIN]


def discard(state_dir: Path, session: str) -> None:
    """Forgets an abandoned session.

    Raises:
        SessionError: Another program has it open, or it cannot be removed.
    """
    journal, _ = Journal.resume(state_dir, session)
    journal.close()
