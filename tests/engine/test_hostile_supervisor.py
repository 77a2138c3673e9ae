"""Who is to blame when an engine dies: the supervisors on engines made for the test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest

from inspector.engine.client import EngineClient, OnFailure, OnProgress, OnReply
from inspector.engine.messages import document, module, reading
from inspector.engine.store_ends import (
    EndedExportError,
    EndedModelError,
    EndedReaderError,
)
from inspector.engine.store_model import ModelSupervisor
from inspector.engine.store_reader import ReaderSupervisor
from inspector.errors import CancelledError, ErrorInfo, RemoteError
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.plain import PlainTree
from inspector.variables.value import Filled, Stored

KILLED = ErrorInfo("EngineEndedError", "The reader was killed by SIGKILL.")


class FakeEngine:
    """An engine whose end and answers the test decides.

    Attributes:
        open: Requests that wait for an answer.
        asked: Every request that came.
    """

    def __init__(self, on_closed: Callable[[ErrorInfo], None]) -> None:
        self.closed: ErrorInfo | None = None
        self.open: list[tuple[object, OnReply, OnFailure]] = []
        self.asked: list[object] = []
        self.cancelled: list[int] = []
        self._on_closed = on_closed

    def request(
        self,
        body: object,
        *,
        on_reply: OnReply,
        on_failure: OnFailure,
        on_progress: OnProgress | None = None,
    ) -> int:
        del on_progress
        self.asked.append(body)
        if self.closed is not None:
            on_failure(self.closed)
        else:
            self.open.append((body, on_reply, on_failure))
        return len(self.asked)

    def cancel(self, number: int) -> None:
        self.cancelled.append(number)

    def answer(self) -> None:
        waiting, self.open = self.open, []
        for body, on_reply, _ in waiting:
            on_reply(("answer", body))

    def refuse(self, error: ErrorInfo) -> None:
        waiting, self.open = self.open, []
        for _, _, on_failure in waiting:
            on_failure(error)

    def die(self, *, told: bool = True) -> None:
        """Dies as `EngineClient` does: requests fail first, then the owner is told."""
        self.closed = KILLED
        self.refuse(KILLED)
        if told:
            self.tell()

    def tell(self) -> None:
        self._on_closed(KILLED)

    def kill(self) -> None:
        self.die()

    def close(self) -> None:
        self.closed = self.closed or KILLED


class Stage:
    """A supervisor's engines, in the order they were started, and its events."""

    def __init__(self) -> None:
        self.engines: list[FakeEngine] = []
        self.events: list[object] = []

    def start(
        self,
        on_event: Callable[[object], None],
        on_closed: Callable[[ErrorInfo], None],
    ) -> EngineClient:
        del on_event
        self.engines.append(FakeEngine(on_closed))
        return cast("EngineClient", self.engines[-1])

    def reader(self) -> ReaderSupervisor:
        return ReaderSupervisor(self.start, self.events.append)

    def model(self) -> ModelSupervisor:
        return ModelSupervisor(lambda _: self.start, self.events.append)

    async def until_open(self, *counts: int) -> None:
        """Waits until each engine has so many open requests."""
        async with asyncio.timeout(10):
            while tuple(len(engine.open) for engine in self.engines) != counts:
                await asyncio.sleep(0)


def statistics(*path: str, source: str = "/data/a.npz") -> reading.LeafStatistics:
    leaf = Leaf(Kind.ARRAY, (2,), "float32", Stored(source, path))
    return reading.LeafStatistics(leaf)


def numbers(*path: str) -> reading.LeafNumbers:
    return reading.LeafNumbers(statistics(*path).leaf, ((0, 1),))


def export(out: str = "/data/out.npz") -> reading.WriteExport:
    return reading.WriteExport(PlainTree(), out)


def play(scene: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scene())


def started(texts: list[object]) -> int:
    return sum(isinstance(event, document.EngineStatus) for event in texts)


def test_of_three_requests_only_the_one_to_blame_is_answered_with_an_error() -> None:
    async def scene() -> None:
        stage = Stage()
        reader = stage.reader()
        bodies = [statistics("a"), statistics("hostile"), numbers("c")]
        tasks = [asyncio.create_task(reader.ask(body)) for body in bodies]
        await stage.until_open(3)
        stage.engines[0].die()
        await stage.until_open(0, 1)
        assert stage.engines[1].asked == bodies[:1]
        stage.engines[1].answer()
        await stage.until_open(0, 1)
        assert stage.engines[1].asked == bodies[:2]
        stage.engines[1].die()
        await stage.until_open(0, 0, 1)
        assert stage.engines[2].asked == bodies[2:]
        stage.engines[2].answer()
        assert await tasks[0] == ("answer", bodies[0])
        assert await tasks[2] == ("answer", bodies[2])
        with pytest.raises(EndedReaderError) as caught:
            await tasks[1]
        assert caught.value.where == "/data/a.npz: hostile"
        assert "killed by SIGKILL" in caught.value.message
        assert "not tried again in this session" in caught.value.hint
        assert started(stage.events) == 2

    play(scene)


def test_the_culprit_is_refused_and_everything_else_goes_on() -> None:
    async def scene() -> None:
        stage = Stage()
        reader = stage.reader()
        task = asyncio.create_task(reader.ask(statistics("hostile")))
        for number in range(2):
            await stage.until_open(*(0,) * number, 1)
            stage.engines[number].die()
        with pytest.raises(EndedReaderError):
            await task
        # Whatever is asked of this leaf, it is the same bytes that are read.
        for body in (statistics("hostile"), numbers("hostile")):
            with pytest.raises(EndedReaderError):
                await reader.ask(body)
        assert len(stage.engines) == 2
        other = asyncio.create_task(reader.ask(statistics("fine")))
        await stage.until_open(0, 0, 1)
        stage.engines[2].answer()
        assert await other == ("answer", statistics("fine"))

    play(scene)


def test_a_death_whose_news_comes_late_blames_nobody() -> None:
    """The requests fail before the owner hears that the engine is gone."""

    async def scene() -> None:
        stage = Stage()
        reader = stage.reader()
        task = asyncio.create_task(reader.ask(statistics("a")))
        await stage.until_open(1)
        stage.engines[0].die(told=False)
        await stage.until_open(0, 1)
        stage.engines[0].tell()
        stage.engines[1].answer()
        assert await task == ("answer", statistics("a"))

    play(scene)


def test_a_killer_that_slipped_in_does_not_make_an_innocent_the_culprit() -> None:
    async def scene() -> None:
        stage = Stage()
        reader = stage.reader()
        innocent = asyncio.create_task(reader.ask(statistics("a")))
        await stage.until_open(1)
        # Queued before the waiting task hears of the death, so it runs first.
        stage.engines[0].die()
        killer = asyncio.create_task(reader.ask(statistics("hostile")))
        await stage.until_open(0, 1)
        assert stage.engines[1].asked == [statistics("hostile")]
        stage.engines[1].die()
        await stage.until_open(0, 0, 1)
        assert stage.engines[2].asked == [statistics("a")]
        stage.engines[2].answer()
        await stage.until_open(0, 0, 1)
        stage.engines[2].die()
        assert await innocent == ("answer", statistics("a"))
        with pytest.raises(EndedReaderError):
            await killer

    play(scene)


def test_requests_that_come_meanwhile_wait_for_the_verdict() -> None:
    async def scene() -> None:
        stage = Stage()
        reader = stage.reader()
        suspects = [
            asyncio.create_task(reader.ask(statistics(name))) for name in ("a", "b")
        ]
        await stage.until_open(2)
        stage.engines[0].die()
        await stage.until_open(0, 1)
        late = asyncio.create_task(reader.ask(statistics("late")))
        stage.engines[1].answer()
        await stage.until_open(0, 1)
        assert stage.engines[1].asked == [statistics("a"), statistics("b")]
        stage.engines[1].answer()
        await stage.until_open(0, 1)
        stage.engines[1].answer()
        assert await late == ("answer", statistics("late"))
        assert [await task for task in suspects] == [
            ("answer", statistics("a")),
            ("answer", statistics("b")),
        ]

    play(scene)


def test_the_same_killer_asked_twice_ends_one_more_reader_and_not_two() -> None:
    async def scene() -> None:
        stage = Stage()
        reader = stage.reader()
        tasks = [asyncio.create_task(reader.ask(statistics("x"))) for _ in range(2)]
        await stage.until_open(2)
        stage.engines[0].die()
        await stage.until_open(0, 1)
        stage.engines[1].die()
        for task in tasks:
            with pytest.raises(EndedReaderError):
                await task
        assert len(stage.engines) == 2

    play(scene)


def test_a_cancelled_suspect_lets_the_others_go_on() -> None:
    async def scene() -> None:
        stage = Stage()
        reader = stage.reader()
        first = asyncio.create_task(reader.ask(statistics("a")))
        second = asyncio.create_task(reader.ask(statistics("b")))
        await stage.until_open(2)
        stage.engines[0].die()
        await stage.until_open(0, 1)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert stage.engines[1].cancelled == [1]
        await stage.until_open(0, 2)
        stage.engines[1].answer()
        assert await second == ("answer", statistics("b"))
        third = asyncio.create_task(reader.ask(statistics("c")))
        await stage.until_open(0, 1)
        stage.engines[1].answer()
        assert await third == ("answer", statistics("c"))

    play(scene)


def test_an_export_that_ended_the_reader_may_be_asked_again() -> None:
    async def scene() -> None:
        stage = Stage()
        reader = stage.reader()
        task = asyncio.create_task(reader.ask(export()))
        for number in range(2):
            await stage.until_open(*(0,) * number, 1)
            stage.engines[number].die()
        with pytest.raises(EndedExportError) as caught:
            await task
        assert caught.value.where == "/data/out.npz"
        assert "What was there before is unchanged" in caught.value.message
        again = asyncio.create_task(reader.ask(export()))
        await stage.until_open(0, 0, 1)
        stage.engines[2].answer()
        assert await again == ("answer", export())

    play(scene)


def test_blame_for_made_numbers_is_not_spread_over_all_of_them() -> None:
    def filled(*shape: int) -> reading.LeafStatistics:
        return reading.LeafStatistics(
            Leaf(Kind.ARRAY, shape, "float32", Filled(0.5)),
        )

    async def scene() -> None:
        stage = Stage()
        reader = stage.reader()
        huge = asyncio.create_task(reader.ask(filled(1 << 40)))
        for number in range(2):
            await stage.until_open(*(0,) * number, 1)
            stage.engines[number].die()
        with pytest.raises(EndedReaderError) as caught:
            await huge
        assert caught.value.where == "float32[1099511627776]"
        small = asyncio.create_task(reader.ask(filled(3)))
        await stage.until_open(0, 0, 1)
        stage.engines[2].answer()
        assert await small == ("answer", filled(3))

    play(scene)


def test_an_error_of_a_living_reader_is_passed_on_and_blames_nobody() -> None:
    async def scene() -> None:
        stage = Stage()
        reader = stage.reader()
        for _ in range(2):
            task = asyncio.create_task(reader.ask(statistics("a")))
            await stage.until_open(1)
            stage.engines[0].refuse(ErrorInfo("ReadLeafError", "It is damaged."))
            with pytest.raises(RemoteError, match="It is damaged"):
                await task

    play(scene)


LOAD = module.LoadModule(module.ModuleSpec("/data/net.py:Net"))


def test_a_model_that_died_says_for_which_module_and_its_spare_takes_over() -> None:
    async def scene() -> None:
        stage = Stage()
        model = stage.model()
        task = asyncio.create_task(model.ask(LOAD))
        await stage.until_open(1)
        stage.engines[0].die()
        with pytest.raises(EndedModelError) as caught:
            await task
        assert caught.value.where == "/data/net.py:Net"
        assert "killed by SIGKILL" in caught.value.message
        assert "a new model is ready" in caught.value.hint
        again = asyncio.create_task(model.ask(LOAD))
        await stage.until_open(0, 1)
        stage.engines[1].answer()
        assert await again == ("answer", LOAD)

    play(scene)


def test_stop_answers_as_a_cancel_and_not_as_an_error() -> None:
    async def scene() -> None:
        stage = Stage()
        model = stage.model()
        task = asyncio.create_task(model.ask(LOAD))
        await stage.until_open(1)
        model.stop()
        with pytest.raises(CancelledError):
            await task
        assert stage.events[-1] == document.EngineStatus(
            "model", "ended", "The model was stopped."
        )

    play(scene)


def test_a_job_that_waits_behind_a_stopped_one_runs_on_the_spare() -> None:
    async def scene() -> None:
        stage = Stage()
        model = stage.model()
        first = asyncio.create_task(model.ask(LOAD))
        await stage.until_open(1)
        second = asyncio.create_task(model.ask(LOAD))
        model.stop()
        with pytest.raises(CancelledError):
            await first
        await stage.until_open(0, 1)
        stage.engines[1].answer()
        assert await second == ("answer", LOAD)

    play(scene)
