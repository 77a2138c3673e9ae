from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from inspector.engine.pipe import (
    FRAME_LIMIT,
    GREETING,
    UNREAD_LIMIT,
    Writer,
    frames,
    skip_to_greeting,
)
from inspector.engine.pipe_end import PipeEnd
from inspector.errors import EngineError
from tests.engine.waiting import wait_until


class Pieces:
    """Gives bytes in pieces of a few, as a pipe may."""

    def __init__(self, data: bytes, piece: int) -> None:
        self.data = data
        self.piece = piece

    def read(self, size: int) -> bytes:
        size = min(size, self.piece)
        given, self.data = self.data[:size], self.data[size:]
        return given


def framed(*contents: bytes) -> bytes:
    return b"".join(len(c).to_bytes(4, "little") + c for c in contents)


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1000])
def test_frames_come_whole_however_the_pipe_cuts_them(piece: int) -> None:
    contents = [b"", b"a", b"bc" * 50, b"", b"end"]
    data = framed(*contents)
    assert list(frames(Pieces(data, piece).read)) == contents
    assert list(frames(Pieces(data[9:], piece).read, data[:9])) == contents


@pytest.mark.parametrize("cut", [1, 3, 5])
def test_a_pipe_that_ends_within_a_frame_is_an_error(cut: int) -> None:
    reading = frames(Pieces(framed(b"whole", b"cut")[:-cut], 100).read)
    assert next(reading) == b"whole"
    with pytest.raises(EngineError, match="middle of a message"):
        next(reading)


def test_a_wrong_length_is_an_error_at_once() -> None:
    data = (FRAME_LIMIT + 1).to_bytes(4, "little")
    with pytest.raises(EngineError, match="out of step"):
        next(frames(Pieces(data, 100).read))


@pytest.mark.parametrize("piece", [1, 5, 1000])
def test_a_banner_before_the_greeting_is_told_and_skipped(piece: int) -> None:
    banners: list[bytes] = []
    pieces = Pieces(b"Welcome!\n\0" + GREETING + framed(b"x"), piece)
    rest = skip_to_greeting(pieces.read, banners.append)
    assert rest is not None
    assert banners == [b"Welcome!\n\0"]
    assert list(frames(pieces.read, rest)) == [b"x"]


def test_without_a_greeting_there_is_nothing_to_read() -> None:
    banners: list[bytes] = []
    pieces = Pieces(b"bash: no such command\n", 9)
    assert skip_to_greeting(pieces.read, banners.append) is None
    assert banners == [b"bash: no such command\n"]


def test_endless_noise_is_not_read_for_ever() -> None:
    assert skip_to_greeting(lambda size: b"y" * size, lambda _: None) is None


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


def closed(writer: Writer) -> bool:
    writer.close()
    return writer.join(10)


def test_a_writer_sends_in_order(pipe: tuple[int, int]) -> None:
    contents = [bytes([i % 256]) * (i * 37 % 9000) for i in range(200)]
    writer = Writer(lambda data: os.write(pipe[1], data), "w", b"hi")
    got: list[bytes] = []

    def read() -> None:
        assert os.read(pipe[0], 2) == b"hi"
        got.extend(frames(lambda size: os.read(pipe[0], size)))

    reader = threading.Thread(target=read)
    reader.start()
    assert all(writer.send(content) for content in contents)
    assert closed(writer)
    os.close(pipe[1])
    reader.join(10)
    assert got == contents


def test_a_sender_waits_while_too_much_is_unread(pipe: tuple[int, int]) -> None:
    writer = Writer(lambda data: os.write(pipe[1], data), "w")
    sent: list[int] = []
    block = bytes(1 << 20)

    def send() -> None:
        for number in range(12):
            writer.send(block)
            sent.append(number)

    sender = threading.Thread(target=send)
    sender.start()
    # The first four fill the queue; what the system takes lets in no more.
    wait_until(lambda: len(sent) >= UNREAD_LIMIT // len(block))
    assert len(sent) <= UNREAD_LIMIT // len(block) + 1
    assert sender.is_alive()
    # A thread that must never wait does not.
    before = time.monotonic()
    assert writer.post(b"urgent")
    assert time.monotonic() - before < 5
    reading = frames(lambda size: os.read(pipe[0], size))
    got = [len(next(reading)) for _ in range(13)]
    sender.join(10)
    assert sent == list(range(12))
    assert sorted(got) == [6] + [1 << 20] * 12
    assert closed(writer)


def test_a_reader_that_is_gone_ends_the_writer_quietly(pipe: tuple[int, int]) -> None:
    writer = Writer(lambda data: os.write(pipe[1], data), "w")
    blocked = threading.Thread(
        target=lambda: [writer.send(bytes(1 << 20)) for _ in range(20)]
    )
    blocked.start()
    os.close(pipe[0])
    blocked.join(10)
    assert not blocked.is_alive()
    wait_until(lambda: not writer.send(b"x"))
    assert writer.join(10)


def test_a_frame_beyond_the_limit_is_refused(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.engine.pipe.FRAME_LIMIT", 10)
    writer = Writer(lambda data: os.write(pipe[1], data), "w")
    with pytest.raises(EngineError, match="11 bytes is too large"):
        writer.send(bytes(11))
    assert closed(writer)


def test_a_waiting_read_can_be_ended(pipe: tuple[int, int]) -> None:
    end = PipeEnd(pipe[0])
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(end.read(10)))
    reader.start()
    end.interrupt()
    reader.join(10)
    assert got == [b""]
    end.close()
    end.close()
    end.interrupt()


def test_a_waiting_write_can_be_ended(pipe: tuple[int, int]) -> None:
    end = PipeEnd(pipe[1])
    written: list[int] = []

    def fill() -> None:
        while True:
            written.append(end.write(memoryview(bytes(1 << 16))))

    def write() -> None:
        with pytest.raises(BrokenPipeError):
            fill()

    writer = threading.Thread(target=write)
    writer.start()
    wait_until(lambda: bool(written))
    end.interrupt()
    writer.join(10)
    assert not writer.is_alive()
    end.close()


def test_taking_the_pipes_leaves_nothing_for_others() -> None:
    script = (
        "import os, sys\n"
        "from inspector.engine.pipe import take_pipes\n"
        "pipes = take_pipes()\n"
        "print('to stderr', flush=True)\n"
        "os.write(1, b'this too\\n')\n"
        "assert sys.stdin.read() == ''\n"
        "assert not os.get_inheritable(pipes.incoming)\n"
        "assert not os.get_inheritable(pipes.outgoing)\n"
        "assert pipes.read(100) == b'asked'\n"
        "assert pipes.write(memoryview(b'answer')) == 6\n"
        "assert pipes.read(100) == b''\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=b"asked", capture_output=True, check=True
    )
    assert done.stdout == b"answer"
    assert done.stderr == b"to stderr\nthis too\n"
