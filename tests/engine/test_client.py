from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from inspector.engine.client import EngineClient
from inspector.engine.messages.envelope import PROTOCOL, Done, Hello, Progress
from inspector.errors import CancelledError, EngineError, ErrorInfo, RemoteError
from tests.engine.waiting import toy_command, wait_until


class Toy:
    """A client of the toy engine that keeps what it is told."""

    def __init__(self, *options: str, env: dict[str, str] | None = None) -> None:
        self.events: list[object] = []
        self.closed: list[ErrorInfo] = []
        self.log: list[str] = []
        self.client = EngineClient(
            toy_command(*options),
            name="toy",
            env=env,
            on_event=self.events.append,
            on_closed=self.closed.append,
            on_log=self.log.append,
        )
        self.call = self.client.call


StartToy = Callable[..., Toy]


@pytest.fixture
def start_toy() -> Iterator[StartToy]:
    toys: list[Toy] = []

    def start(*options: str, env: dict[str, str] | None = None) -> Toy:
        toys.append(Toy(*options, env=env))
        return toys[-1]

    yield start
    for toy in toys:
        toy.client.kill()
        toy.client.close()


@pytest.fixture
def toy(start_toy: StartToy) -> Toy:
    return start_toy()


def open_descriptors() -> set[str]:
    return {str(entry) for entry in Path("/proc/self/fd").iterdir()}


def group_of(pid: int) -> list[int]:
    """Returns the processes of a group that still run."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == pid and process.status() != "zombie":
                found.append(process.pid)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def runs(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_hello_comes_first(toy: Toy) -> None:
    toy.call(("nothing",))
    python = "{}.{}.{}".format(*sys.version_info[:3])
    assert toy.events == [
        Hello(PROTOCOL, "reader", toy.client.pid, python, (("toy", "1"),))
    ]


def test_calls_are_answered(toy: Toy) -> None:
    body = ("a", 1, b"\0", None, (2**70, 1j))
    assert toy.call(("echo", body)) == body
    assert toy.call(("nothing",)) == Done()


def test_the_environment_is_the_one_given(start_toy: StartToy) -> None:
    toy = start_toy(env={**os.environ, "TOY": "given"})
    assert toy.call(("surroundings",))[2] == "given"  # type: ignore[index]  # a tuple


def test_serial_jobs_run_on_the_main_thread(start_toy: StartToy) -> None:
    toy = start_toy("serial")
    assert toy.call(("surroundings",))[1] == "MainThread"  # type: ignore[index]  # as above


def test_a_banner_does_no_harm(start_toy: StartToy) -> None:
    toy = start_toy("banner")
    assert toy.call(("echo", 1)) == 1
    assert toy.log == ["Welcome to this host."]


def test_an_error_comes_with_all_its_parts(toy: Toy) -> None:
    with pytest.raises(RemoteError) as caught:
        toy.call(("fail", "inspector"))
    error = caught.value.error
    assert (error.kind, error.message, error.where, error.hint) == (
        "ReadFileError",
        "It is torn.",
        "/a/b",
        "Mend it.",
    )
    assert "do_fail" in error.traceback


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("plain", "ZeroDivisionError", "division by nothing"),
        ("exit", "SystemExit", "3"),
        ("memory", "MemoryError", "There was not enough memory for this request."),
    ],
)
def test_errors_of_others_end_nothing(
    toy: Toy, kind: str, name: str, message: str
) -> None:
    with pytest.raises(RemoteError) as caught:
        toy.call(("fail", kind))
    assert (caught.value.error.kind, caught.value.message) == (name, message)
    assert toy.call(("echo", 1)) == 1


def test_a_reply_that_cannot_be_written_is_an_error(toy: Toy) -> None:
    with pytest.raises(RemoteError, match="set is no message"):
        toy.call(("unsendable",))
    assert toy.call(("echo", 1)) == 1


def test_a_request_that_cannot_be_written_is_an_error(toy: Toy) -> None:
    with pytest.raises(EngineError, match="set is no message"):
        toy.call(("echo", {1}))
    assert toy.call(("echo", 1)) == 1


def test_big_messages(toy: Toy) -> None:
    body = os.urandom(1 << 20) * 40
    assert toy.call(("echo", body)) == body


def test_a_flood_of_events_arrives_whole(toy: Toy) -> None:
    assert toy.call(("flood", 300, 100_000)) == 300
    assert [len(event) for event in toy.events[1:] if isinstance(event, bytes)] == (
        [100_000] * 300
    )


def test_progress_comes_before_the_reply_first_and_last(toy: Toy) -> None:
    told: list[Progress] = []
    assert toy.call(("progress", 20_000), progress=told.append) == "counted"
    assert told[0].done == 1
    assert told[-1].done == 20_000
    assert (told[0].total, told[0].text) == (20_000, "counting")
    assert len(told) < 100


def test_a_running_request_is_cancelled(toy: Toy) -> None:
    failures: list[ErrorInfo] = []
    number = toy.client.request(
        ("wait", "a"), on_reply=lambda _: None, on_failure=failures.append
    )
    wait_until(lambda: toy.call(("started",)) == ("a",))
    toy.client.cancel(number)
    wait_until(lambda: bool(failures))
    assert failures[0].kind == "CancelledError"
    toy.client.cancel(number)
    toy.client.cancel(12345)
    assert toy.call(("echo", 1)) == 1


def test_a_waiting_request_is_cancelled_and_never_starts(start_toy: StartToy) -> None:
    toy = start_toy("serial")
    failures: list[ErrorInfo] = []
    numbers = [
        toy.client.request(
            ("wait", name), on_reply=lambda _: None, on_failure=failures.append
        )
        for name in ("a", "b")
    ]
    toy.client.cancel(numbers[1])
    wait_until(lambda: len(failures) == 1)
    toy.client.cancel(numbers[0])
    wait_until(lambda: len(failures) == 2)
    assert {error.kind for error in failures} == {"CancelledError"}
    assert toy.call(("started",)) == ("a",)


def test_a_call_that_was_cancelled_raises(toy: Toy) -> None:
    with pytest.raises(CancelledError):
        toy.call(("fail", "cancelled"))


def test_a_call_has_a_time_limit(toy: Toy) -> None:
    with pytest.raises(EngineError, match=r"did not answer tuple within 0\.01 s"):
        toy.call(("wait", "a"), timeout=0.01)
    # It was cancelled as well: the worker is free again.
    for name in "bcd":
        with pytest.raises(EngineError):
            toy.call(("wait", name), timeout=0.01)
    assert toy.call(("echo", 1), timeout=30) == 1


def test_noise_of_user_code_changes_nothing(toy: Toy) -> None:
    assert toy.call(("noise",)) == "nobody"
    wait_until(lambda: "a child read ''" in toy.log)
    assert toy.log == [
        "from print",
        "from a descriptor",
        "from C",
        "a question?",
        "a child read ''",
    ]
    assert toy.call(("echo", 1)) == 1


def test_death_fails_every_open_request_and_says_how(toy: Toy) -> None:
    failures: list[ErrorInfo] = []
    for name in ("a", "b"):
        toy.client.request(
            ("wait", name), on_reply=lambda _: None, on_failure=failures.append
        )
    with pytest.raises(EngineError) as caught:
        toy.call(("exit", 3))
    assert caught.value.message == (
        "The toy ended with status 3. Its last words:\none\ntwo\nthe last words"
    )
    wait_until(lambda: bool(toy.closed))
    assert [error.kind for error in failures] == ["EngineEndedError"] * 2
    assert toy.client.closed == toy.closed[0] == failures[0]
    assert failures[0].traceback.endswith("the last words")
    # Afterwards every request fails at once.
    with pytest.raises(EngineError, match="ended with status 3"):
        toy.call(("echo", 1))
    assert len(toy.closed) == 1


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGABRT"])
def test_death_by_a_signal_names_it(toy: Toy, name: str) -> None:
    with pytest.raises(EngineError, match=f"The toy was killed by {name}"):
        toy.call(("signal", int(signal.Signals[name])))


def test_a_pipe_out_of_step_ends_the_engine(toy: Toy) -> None:
    with pytest.raises(EngineError, match="out of step"):
        toy.call(("garbage",))
    assert not runs(toy.client.pid)


def test_an_engine_that_hangs_up_is_ended(toy: Toy) -> None:
    with pytest.raises(EngineError, match="SIGTERM"):
        toy.call(("hang_up",))
    assert not runs(toy.client.pid)


def test_close_leaves_nothing() -> None:
    threads, descriptors = set(threading.enumerate()), open_descriptors()
    toy = Toy()
    toy.call(("echo", 1))
    toy.client.close()
    assert set(threading.enumerate()) == threads
    assert open_descriptors() == descriptors
    assert group_of(toy.client.pid) == []
    assert [error.kind for error in toy.closed] == ["EngineClosedError"]
    toy.client.close()
    toy.client.kill()
    with pytest.raises(EngineError, match="The toy was ended"):
        toy.call(("echo", 1))


def test_kill_ends_the_whole_group_at_once(toy: Toy) -> None:
    child = toy.call(("child",))
    assert isinstance(child, int)
    failures: list[ErrorInfo] = []
    toy.client.request(("sleep",), on_reply=lambda _: None, on_failure=failures.append)
    assert runs(child)
    toy.client.kill()
    wait_until(lambda: bool(failures))
    wait_until(lambda: group_of(toy.client.pid) == [])
    assert not runs(child)
    assert failures[0].kind == "EngineClosedError"


def test_close_ends_an_engine_that_ignores_the_end_of_its_pipe(toy: Toy) -> None:
    told: list[Progress] = []
    toy.client.request(
        ("hold_lock",),
        on_reply=lambda _: None,
        on_failure=lambda _: None,
        on_progress=told.append,
    )
    wait_until(lambda: bool(told))
    toy.client.close(grace_s=0.05)
    assert group_of(toy.client.pid) == []


def test_a_child_that_keeps_stderr_open_does_not_keep_the_client(toy: Toy) -> None:
    daemon = toy.call(("daemon",))
    assert isinstance(daemon, int)
    toy.client.close()
    assert toy.closed
    assert runs(daemon)
    os.kill(daemon, signal.SIGKILL)
    wait_until(lambda: not runs(daemon))


def test_children_of_an_engine_that_died_are_ended(toy: Toy) -> None:
    child = toy.call(("child",))
    assert isinstance(child, int)
    with pytest.raises(EngineError, match="SIGKILL"):
        toy.call(("signal", int(signal.SIGKILL)))
    wait_until(lambda: not runs(child))


def test_close_from_a_callback_does_not_wait_for_itself(start_toy: StartToy) -> None:
    toy = start_toy()
    toy.client.request(
        ("echo", 1),
        on_reply=lambda _: toy.client.close(),
        on_failure=lambda _: None,
    )
    wait_until(lambda: bool(toy.closed))


def test_a_callback_that_fails_is_logged_and_ends_nothing(
    toy: Toy, caplog: pytest.LogCaptureFixture, expect_log: Callable[[str], object]
) -> None:
    def fail(_reply: object) -> None:
        raise ZeroDivisionError

    with expect_log("a callback of the toy client failed"):  # type: ignore[attr-defined]  # a context manager
        toy.client.request(("echo", 1), on_reply=fail, on_failure=lambda _: None)
        wait_until(lambda: bool(caplog.records))
    assert toy.call(("echo", 1)) == 1


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    descriptors = open_descriptors()
    missing = str(tmp_path / "python")
    with pytest.raises(
        EngineError, match="The toy cannot be started: No such"
    ) as caught:
        EngineClient([missing], name="toy")
    assert caught.value.where == missing
    assert open_descriptors() == descriptors


def test_a_program_that_is_no_engine_is_an_error() -> None:
    client = EngineClient(
        [sys.executable, "-c", "print('no engine'); raise SystemExit(4)"], name="toy"
    )
    with pytest.raises(EngineError, match=r"ended with status 4.*\nno engine"):
        client.call(("echo", 1))
    client.close()
