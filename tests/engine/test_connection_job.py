from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from inspector.engine.connection_dispatch import (
    Handlers,
    PoolDispatcher,
    SerialDispatcher,
    run_job,
)
from inspector.engine.connection_job import CANCELLED, Job, describe
from inspector.engine.messages.envelope import Done, Failure, Progress, Reply
from inspector.errors import (
    CancelledError,
    EngineError,
    ErrorInfo,
    ReadFileError,
    RemoteError,
)
from tests.engine.waiting import wait_until


class Sent:
    """Keeps what a job sends."""

    def __init__(self) -> None:
        self.messages: list[Reply | Failure | Progress] = []
        self.waits: list[bool] = []

    def __call__(self, message: Reply | Failure | Progress, *, wait: bool) -> None:
        self.messages.append(message)
        self.waits.append(wait)


class Clock:
    """A clock that a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(
            "inspector.engine.connection_job.time.monotonic", lambda: self.now
        )


def test_a_job_is_answered_once() -> None:
    sent = Sent()
    job = Job(4, "body", sent)
    job.reply(("yes",))
    job.reply(("again",))
    job.fail(ValueError("late"))
    job.progress(1, 2)
    job.cancel()
    assert sent.messages == [Reply(4, ("yes",))]


def test_nothing_to_say_is_done() -> None:
    sent = Sent()
    Job(4, "body", sent).reply()
    assert sent.messages == [Reply(4, Done())]


def test_a_reply_that_cannot_be_sent_becomes_a_failure() -> None:
    messages: list[Reply | Failure | Progress] = []

    def send(message: Reply | Failure | Progress, *, wait: bool) -> None:
        assert wait
        if isinstance(message, Reply):
            raise EngineError(message="too large")
        messages.append(message)

    Job(4, "body", send).reply(b"much")
    (failure,) = messages
    assert isinstance(failure, Failure)
    assert failure.error.kind == "EngineError"
    assert failure.error.message == "too large"


def test_progress_is_sent_ten_times_a_second_and_never_lost_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    sent = Sent()
    job = Job(1, "body", sent)
    for number in range(1000):
        job.progress(number, 1000, "work")
        clock.now += 0.001
    job.reply()
    done = [m.done for m in sent.messages if isinstance(m, Progress)]
    assert done[0] == 0
    assert done[-1] == 999
    assert len(done) == 11
    assert isinstance(sent.messages[-1], Reply)


def test_a_cancelled_job_that_waits_is_answered_without_waiting() -> None:
    sent = Sent()
    job = Job(1, "body", sent)
    job.cancel()
    assert sent.messages == [Failure(1, CANCELLED)]
    assert sent.waits == [False]
    assert not job.begin()
    assert job.cancelled


def test_a_running_job_hears_the_cancel_and_answers_itself() -> None:
    sent = Sent()
    job = Job(1, "body", sent)
    heard: list[str] = []
    assert job.begin()
    job.on_cancel(lambda: heard.append("first"))
    job.cancel()
    job.cancel()
    job.on_cancel(lambda: heard.append("late"))
    assert heard == ["first", "late"]
    assert sent.messages == []
    job.fail(CancelledError())
    assert sent.messages == [Failure(1, CANCELLED)]
    job.on_cancel(lambda: heard.append("never"))
    assert "never" not in heard


def test_errors_keep_what_where_and_hint() -> None:
    error = describe(ReadFileError(message="torn", where="/f", hint="mend"))
    assert (error.kind, error.message, error.where, error.hint) == (
        "ReadFileError",
        "torn",
        "/f",
        "mend",
    )
    assert "ReadFileError" in error.traceback


def test_an_error_from_another_process_passes_unchanged() -> None:
    original = ErrorInfo("LoadModuleError", "m", "w", "h", "their traceback")
    assert describe(RemoteError(original)) is original


def test_other_errors_say_their_kind() -> None:
    assert describe(KeyError("x")).kind == "KeyError"
    assert describe(ValueError()).message == "ValueError was raised."
    assert describe(SystemExit(2)).message == "2"
    assert "memory" in describe(MemoryError()).message
    assert describe(CancelledError()) == CANCELLED


def raise_exit(_body: object, _job: Job) -> None:
    raise SystemExit(7)


def test_user_code_that_exits_is_a_failure() -> None:
    sent = Sent()
    run_job({str: raise_exit}, Job(1, "body", sent))
    (failure,) = sent.messages
    assert isinstance(failure, Failure)
    assert failure.error.kind == "SystemExit"


def test_a_body_that_nobody_answers_is_named() -> None:
    sent = Sent()
    run_job({}, Job(1, b"bytes", sent))
    (failure,) = sent.messages
    assert isinstance(failure, Failure)
    assert failure.error.message == "This engine does not answer bytes."


class Gate:
    """Handlers that wait until they are let go, and say when they run."""

    def __init__(self) -> None:
        self.running: list[object] = []
        self.ran: list[object] = []
        self.go = threading.Event()

    def slow(self, body: object, _job: Job) -> None:
        self.running.append(body)
        self.go.wait(30)
        self.ran.append(body)

    def quick(self, body: object, _job: Job) -> object:
        return body


@pytest.fixture
def gate() -> Gate:
    return Gate()


MakePool = Callable[..., PoolDispatcher]


@pytest.fixture
def make_pool(gate: Gate) -> Iterator[MakePool]:
    pools: list[PoolDispatcher] = []

    def make(
        handlers: Handlers, workers: int, slow: tuple[type, ...] = ()
    ) -> PoolDispatcher:
        pools.append(PoolDispatcher(handlers, workers, slow=slow))
        return pools[-1]

    yield make
    gate.go.set()
    for pool in pools:
        pool.close()


def test_a_quick_job_never_waits_for_slow_ones(gate: Gate, make_pool: MakePool) -> None:
    handlers: Handlers = {int: gate.slow, str: gate.quick}
    pool = make_pool(handlers, 3, slow=(int,))
    sent = Sent()
    for number in range(5):
        pool(Job(number, number, sent))
    wait_until(lambda: len(gate.running) == 2)
    for number in range(5, 25):
        pool(Job(number, "quick", sent))
    wait_until(lambda: len(sent.messages) == 20)
    assert gate.running == [0, 1]
    gate.go.set()
    wait_until(lambda: len(sent.messages) == 25)
    assert sorted(gate.running, key=str) == [0, 1, 2, 3, 4]


def test_a_cancelled_job_never_starts(gate: Gate, make_pool: MakePool) -> None:
    handlers: Handlers = {int: gate.slow}
    pool = make_pool(handlers, 1)
    sent = Sent()
    jobs = [Job(number, number, sent) for number in range(3)]
    for job in jobs:
        pool(job)
    wait_until(lambda: gate.running == [0])
    jobs[1].cancel()
    assert sent.messages == [Failure(1, CANCELLED)]
    gate.go.set()
    wait_until(lambda: len(sent.messages) == 3)
    assert gate.ran == [0, 2]


def test_serial_jobs_run_in_order_on_the_thread_that_runs_them() -> None:
    ran: list[tuple[object, str]] = []

    class Enough(BaseException):
        """Ends the endless loop from a job that no handler guards."""

    class Last(Job):
        def begin(self) -> bool:
            raise Enough

    def note(body: object, _job: Job) -> None:
        ran.append((body, threading.current_thread().name))

    serial = SerialDispatcher({str: note})
    for job in (Job(1, "a", Sent()), Job(2, "b", Sent()), Last(3, "c", Sent())):
        serial(job)
    with pytest.raises(Enough):
        serial.run()
    assert ran == [("a", "MainThread"), ("b", "MainThread")]
