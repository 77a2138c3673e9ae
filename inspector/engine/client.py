"""The owner's side of an engine: starts it, asks it, and always gets rid of it.

Used by the window and the command line (for the store) and by the store (for reader
and model), from any thread. Callbacks come on the client's own threads. It knows no
service: bodies are messages of `messages`, and which engine dies of what is for the
owner to judge. No Qt here; the window wraps this class.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from inspector.engine import codec
from inspector.engine.client_log import LogTail
from inspector.engine.client_process import (
    describe_end,
    end_process,
    kill_group,
    start_process,
    wait_unreaped,
)
from inspector.engine.messages.envelope import (
    Cancel,
    Event,
    Failure,
    Progress,
    Reply,
    Request,
)
from inspector.engine.pipe import Writer, frames, skip_to_greeting
from inspector.engine.pipe_end import PipeEnd
from inspector.errors import CancelledError, EngineError, ErrorInfo, RemoteError

OnReply = Callable[[object], None]
OnFailure = Callable[[ErrorInfo], None]
OnProgress = Callable[[Progress], None]

DRAIN_S = 0.5
"""Time that the last bytes of an ended engine may take; usually they are there."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Open:
    """Who waits for the answer of one request."""

    on_reply: OnReply
    on_failure: OnFailure
    on_progress: OnProgress | None


class EngineClient:
    """One engine process and the pipe to it.

    Attributes:
        name: Name for messages, e.g. ``"reader"``.
        pid: Process id of the engine, and of its group.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str = "engine",
        env: Mapping[str, str] | None = None,
        on_event: Callable[[object], None] | None = None,
        on_closed: Callable[[ErrorInfo], None] | None = None,
        on_log: Callable[[str], None] | None = None,
    ) -> None:
        """Starts the process in a session and group of its own.

        Args:
            command: What to run, see `launch.engine_command`.
            name: Name of the engine for messages.
            env: Its environment; None for our own.
            on_event: Is given every event's body; Hello is the first.
            on_closed: Called once, after every open request has failed, with how the
                engine ended; also when this side ended it.
            on_log: Is given every line of the engine's stderr.

        Raises:
            EngineError: The program cannot be started.
        """
        self.name = name
        self._on_event = on_event
        self._on_closed = on_closed
        self._lock = threading.Lock()
        self._open: dict[int, _Open] = {}
        self._last_id = 0
        self._closing = False
        self._closed: ErrorInfo | None = None
        self._ended = threading.Event()
        self._process, descriptors = start_process(command, name, env)
        self.pid = self._process.pid
        self._ends = tuple(PipeEnd(descriptor) for descriptor in descriptors)
        self._stdin, self._stdout, self._stderr = self._ends
        self._tail = LogTail(on_log)
        self._writer = Writer(self._stdin.write, f"{name} client writer")
        self._reader = self._thread(self._read, "reader")
        self._logger = self._thread(self._tail.drain, "log", self._stderr.read)
        self._keeper = self._thread(self._keep, "keeper")

    def _thread(
        self, target: Callable[..., None], role: str, *args: object
    ) -> threading.Thread:
        thread = threading.Thread(
            target=target, args=args, name=f"{self.name} client {role}", daemon=True
        )
        thread.start()
        return thread

    @property
    def closed(self) -> ErrorInfo | None:
        """How the engine ended; None while it lives. Set before requests fail."""
        return self._closed

    def request(
        self,
        body: object,
        *,
        on_reply: OnReply,
        on_failure: OnFailure,
        on_progress: OnProgress | None = None,
    ) -> int:
        """Sends a request; exactly one of the two first callbacks answers it.

        Waits while the engine has too much unread. When the engine has ended
        already, ``on_failure`` is called before this returns.

        Args:
            body: What is wanted.
            on_reply: Is given the body of the reply.
            on_failure: Is given the error; its kind is ``"CancelledError"`` after a
                cancel, and `closed` is set when the engine ended.
            on_progress: Is given each Progress.

        Returns:
            The id, for `cancel`.

        Raises:
            EngineError: The body is no message.
        """
        with self._lock:
            self._last_id += 1
            number = self._last_id
        data = codec.encode(Request(number, body))
        with self._lock:
            closed = self._closed
            if closed is None:
                self._open[number] = _Open(on_reply, on_failure, on_progress)
        if closed is None:
            self._writer.send(data)
        else:
            on_failure(closed)
        return number

    def call(
        self,
        body: object,
        *,
        progress: OnProgress | None = None,
        timeout: float | None = None,
    ) -> object:
        """Sends a request and waits for its reply; not from a callback.

        Args:
            body: What is wanted.
            progress: Is given each Progress, on a thread of the client.
            timeout: Most seconds to wait; then the request is cancelled.

        Returns:
            The body of the reply.

        Raises:
            CancelledError: The request was cancelled.
            RemoteError: The request failed there.
            EngineError: The engine ended, or the time was up.
        """
        answered = threading.Event()
        replies: list[object] = []
        failures: list[ErrorInfo] = []

        def on_reply(reply: object) -> None:
            replies.append(reply)
            answered.set()

        def on_failure(error: ErrorInfo) -> None:
            failures.append(error)
            answered.set()

        number = self.request(
            body, on_reply=on_reply, on_failure=on_failure, on_progress=progress
        )
        try:
            in_time = answered.wait(timeout)
        except BaseException:  # Ctrl+C in the command line
            self.cancel(number)
            raise
        if not in_time:
            self.cancel(number)
            raise EngineError(
                message=f"The {self.name} did not answer {type(body).__name__}"
                f" within {timeout:g} s."
            )
        if replies:
            return replies[0]
        raise self._exception(failures[0])

    def _exception(self, error: ErrorInfo) -> Exception:
        if error is self._closed:
            return _EndedError(error)
        if error.kind == CancelledError.__name__:
            return CancelledError()
        return RemoteError(error)

    def cancel(self, number: int) -> None:
        """Asks the engine to stop a request; it still gets its one answer."""
        with self._lock:
            known = number in self._open
        if known:
            self._writer.post(codec.encode(Cancel(number)))

    def close(self, grace_s: float = 5.0) -> None:
        """Ends the engine: closes the pipe, waits, then SIGTERM, then SIGKILL.

        Afterwards no process, thread or descriptor of it is left. May be called
        again, and after `kill`; from a callback it does not wait for itself.

        Args:
            grace_s: Time that the engine has to end by itself.
        """
        self._closing = True
        self._writer.close()
        if not self._writer.join(grace_s):
            self._stdin.interrupt()
            self._writer.join()
        if threading.current_thread() in {self._reader, self._keeper, self._logger}:
            self.kill()
            return
        self._stdin.close()
        end_process(self._ended, self._signal, grace_s)
        self._keeper.join()

    def kill(self) -> None:
        """Ends the engine and its whole group at once; does not wait for it."""
        self._closing = True
        self._signal(None)

    def _signal(self, number: int | None) -> None:
        # The keeper frees the number of the process only after it took this lock.
        with self._lock:
            if not self._ended.is_set():
                kill_group(self.pid, number)

    def _read(self) -> None:
        try:
            rest = skip_to_greeting(self._stdout.read, self._tail.add)
            if rest is not None:
                for frame in frames(self._stdout.read, rest):
                    self._take(codec.decode(frame))
        except EngineError as error:
            self._tail.add(str(error).encode())
        # Without a reader an engine is of no use, whatever it is still doing.
        if not self._ended.wait(DRAIN_S):
            self._writer.close()
            self._stdin.interrupt()
            end_process(self._ended, self._signal, 0.0)

    def _take(self, message: object) -> None:
        try:
            self._deliver(message)
        except Exception:
            _log.exception("a callback of the %s client failed", self.name)

    def _deliver(self, message: object) -> None:
        if isinstance(message, Event):
            if self._on_event is not None:
                self._on_event(message.body)
            return
        if isinstance(message, Progress):
            with self._lock:
                waiting = self._open.get(message.id)
            if waiting is not None and waiting.on_progress is not None:
                waiting.on_progress(message)
            return
        if not isinstance(message, Reply | Failure):
            raise TypeError(type(message).__name__)
        with self._lock:
            waiting = self._open.pop(message.id, None)
        if waiting is None:
            return
        if isinstance(message, Reply):
            waiting.on_reply(message.body)
        else:
            waiting.on_failure(message.error)

    def _keep(self) -> None:
        """Waits for the end of the process and clears everything away."""
        wait_unreaped(self._process)
        with self._lock:
            # The leader is a zombie still, so its number is that of its group.
            kill_group(self.pid)
            self._ended.set()
        status = self._process.wait()
        self._writer.close()
        for thread in (self._reader, self._logger):
            thread.join(DRAIN_S)
        for end in self._ends:
            end.interrupt()
        for thread in (self._reader, self._logger):
            thread.join()
        self._writer.join()
        for end in self._ends:
            end.close()
        self._fail_all(
            describe_end(self.name, status, self._tail.lines(), asked=self._closing)
        )

    def _fail_all(self, error: ErrorInfo) -> None:
        with self._lock:
            self._closed = error
            waiting = list(self._open.values())
            self._open.clear()
        for one in waiting:
            self._call(one.on_failure, error)
        if self._on_closed is not None:
            self._call(self._on_closed, error)

    def _call(self, callback: OnFailure, error: ErrorInfo) -> None:
        try:
            callback(error)
        except Exception:
            _log.exception("a callback of the %s client failed", self.name)


class _EndedError(EngineError):
    """How an engine ended, as an exception that keeps its log for ``--debug``."""

    def __init__(self, error: ErrorInfo) -> None:
        """Takes what `describe_end` says."""
        super().__init__(error.message, where=error.where, hint=error.hint)
        self._error = error

    def info(self, traceback: str = "") -> ErrorInfo:
        """Returns what it was made of."""
        del traceback
        return self._error
