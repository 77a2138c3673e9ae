"""The reader and the model as the store's coroutines see them.

Owned by the store process, on its event loop; the engines' clients call back on
threads of their own and everything is brought to the loop here. What an engine's
death means is decided here too: the reader's culprit is found and not repeated, a
model is replaced by its spare.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from inspector.engine.client import EngineClient
from inspector.engine.client_process import CLOSED
from inspector.engine.launch_python import probe_python
from inspector.engine.messages import module, reading
from inspector.engine.messages.document import EngineStatus, Notice
from inspector.engine.messages.envelope import Progress
from inspector.engine.store_ends import (
    EndedExportError,
    EndedModelError,
    EndedReaderError,
    EngineEndedError,
)
from inspector.errors import CancelledError, ErrorInfo, RemoteError
from inspector.variables.path import join
from inspector.variables.value import Stored, innermost

CLEAR_AWAY_S = 1.0
"""Time that cancelled requests have before their engine is ended."""

OnProgress = Callable[[int, int, str], None]
"""Takes (done, total, text)."""

Notify = Callable[[object], None]
"""Sends an event to the window."""


class StartEngine(Protocol):
    """Starts one engine process."""

    def __call__(
        self,
        on_event: Callable[[object], None],
        on_closed: Callable[[ErrorInfo], None],
    ) -> EngineClient:
        """Returns the client of the new process; callbacks come on its thread."""


class AsyncEngine:
    """One engine process; created and used on the event loop alone.

    Attributes:
        ended: How it ended; None while it lives.
    """

    def __init__(
        self,
        start: StartEngine,
        on_event: Notify,
        on_ended: Callable[[ErrorInfo], None] = lambda _: None,
    ) -> None:
        """Starts the process.

        Args:
            start: Starts it.
            on_event: Is given every event's body, on the loop.
            on_ended: Is told on the loop when it ends by itself while nothing is
                asked of it; a request says such an end to whoever asked.
        """
        self._loop = asyncio.get_running_loop()
        self._on_event = on_event
        self._on_ended = on_ended
        self._asked = 0
        self._unanswered = 0
        self._answered = asyncio.Event()
        self._answered.set()
        self.ended: ErrorInfo | None = None
        self._client = start(self._event_came, self._closed_came)

    async def ask(self, body: object, progress: OnProgress | None = None) -> object:
        """Sends a request and waits; cancelling the task cancels the request.

        Raises:
            EngineEndedError: The process ended before it answered.
            RemoteError: The request failed there.
        """
        if self.ended is not None:
            raise EngineEndedError(self.ended)
        future: asyncio.Future[object] = self._loop.create_future()

        def settle(settled: Callable[[], None]) -> None:
            def on_loop() -> None:
                self._unanswered -= 1
                if not self._unanswered:
                    self._answered.set()
                if not future.done():
                    settled()

            self._loop.call_soon_threadsafe(on_loop)

        def report(message: Progress) -> None:
            if progress is not None:
                self._loop.call_soon_threadsafe(
                    progress, message.done, message.total, message.text
                )

        self._unanswered += 1
        self._answered.clear()
        ticket = self._client.request(
            body,
            on_reply=lambda reply: settle(lambda: future.set_result(reply)),
            on_failure=lambda error: settle(
                lambda: future.set_exception(RemoteError(error))
            ),
            on_progress=report,
        )
        self._asked += 1
        try:
            return await future
        except asyncio.CancelledError:
            self._client.cancel(ticket)
            raise
        except RemoteError as error:
            if self._client.closed is None:
                raise
            # Known here before `_closed_came` is: whoever asks again right away
            # must not be given the dead process.
            self.ended = self._client.closed
            raise EngineEndedError(error.error) from None
        finally:
            self._asked -= 1

    async def close(self) -> None:
        """Ends the process, gently first; waits beside the loop.

        What was cancelled has a moment to clear away what it began: an export its
        partial file.
        """
        if self.ended is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._answered.wait(), CLEAR_AWAY_S)
        await asyncio.to_thread(self._client.close)

    def kill(self) -> None:
        """Ends the process and its whole group at once."""
        self._client.kill()

    def _event_came(self, body: object) -> None:
        self._loop.call_soon_threadsafe(self._on_event, body)

    def _closed_came(self, error: ErrorInfo) -> None:
        def mark() -> None:
            is_news = self.ended is None and not self._asked
            self.ended = error
            if is_news and error.kind != CLOSED:
                self._on_ended(error)

        self._loop.call_soon_threadsafe(mark)


class ReaderSupervisor:
    """The reader, started when first needed and again after each death."""

    def __init__(self, start: StartEngine, notify: Notify) -> None:
        """Keeps how to start it; nothing runs yet."""
        self._start = start
        self._notify = notify
        self._engine: AsyncEngine | None = None
        self._culprits: dict[object, ErrorInfo] = {}
        self._suspects = 0
        self._calm = asyncio.Event()
        self._calm.set()
        self._alone = asyncio.Lock()
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def ask(self, body: object, progress: OnProgress | None = None) -> object:
        """Asks the reader; whatever ends it is found out and refused from then on.

        When the reader dies, every request that was in it is tried once more, each
        alone, so that only the one to blame is answered with an error. Requests that
        come meanwhile wait until the last of these is judged.

        Raises:
            EndedReaderError: This very request ends the reader.
            EndedExportError: It is an export, and ended the reader twice.
            RemoteError: The request failed there.
        """
        key = _key(body)
        self._refuse_culprit(key, body)
        while self._suspects:
            await self._calm.wait()
        try:
            return await self._try(body, progress)
        except EngineEndedError:
            self._suspects += 1
            self._calm.clear()
        try:
            return await self._try_alone(key, body, progress)
        finally:
            self._suspects -= 1
            if not self._suspects:
                self._calm.set()

    async def _try(self, body: object, progress: OnProgress | None) -> object:
        self._running += 1
        self._idle.clear()
        try:
            return await self._live().ask(body, progress)
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()

    async def _try_alone(
        self, key: object, body: object, progress: OnProgress | None
    ) -> object:
        """Tries a request that was in a reader when it died."""
        async with self._alone:
            # One that slipped in between the death and its news is let out first,
            # else its own fault would be this one's.
            await self._idle.wait()
            self._refuse_culprit(key, body)
            try:
                return await self._try(body, progress)
            except EngineEndedError as error:
                if isinstance(body, reading.WriteExport):
                    raise EndedExportError(body.out, error.error) from None
                self._culprits[key] = error.error
                raise EndedReaderError(_what(body), error.error) from None

    def _refuse_culprit(self, key: object, body: object) -> None:
        if key in self._culprits:
            raise EndedReaderError(_what(body), self._culprits[key])

    def _live(self) -> AsyncEngine:
        if self._engine is None or self._engine.ended is not None:
            if self._engine is not None:
                text = "The reader ended and was started again."
                self._notify(EngineStatus("reader", "starting", text))
            self._engine = AsyncEngine(self._start, self._notify, self._ended_idle)
        return self._engine

    def _ended_idle(self, error: ErrorInfo) -> None:
        text = f"{error.message} It is started again when it is needed."
        self._notify(EngineStatus("reader", "ended", text))

    async def close(self) -> None:
        """Ends the reader."""
        if self._engine is not None:
            await self._engine.close()


def _key(body: object) -> object:
    """What makes two requests the same for blame: what is read, not how much."""
    match body:
        case reading.ListCheckpoint():
            return ("list", body.cwd, body.locator)
        case (
            reading.LeafStatistics(leaf=leaf)
            | reading.LeafNumbers(leaf=leaf)
            | reading.LeafPicture(leaf=leaf)
        ):
            inner = innermost(leaf.value)
            # Who reads a file is to blame for the file, who makes numbers for their
            # size.
            extent = () if isinstance(inner, Stored) else leaf.shape
            return ("leaf", inner, extent)
        case reading.WriteExport():
            # Every export is a person's new decision, and none of theirs is lost
            # because memory was short once.
            return object()
        case _:
            return (type(body).__name__, repr(body))


def _what(body: object) -> str:
    match body:
        case reading.ListCheckpoint():
            return body.locator
        case (
            reading.LeafStatistics(leaf=leaf)
            | reading.LeafNumbers(leaf=leaf)
            | reading.LeafPicture(leaf=leaf)
        ):
            inner = innermost(leaf.value)
            if isinstance(inner, Stored):
                return f"{inner.source}: {join(inner.path)}"
            return f"{leaf.dtype}[{','.join(str(extent) for extent in leaf.shape)}]"
        case reading.WriteExport():
            return body.out
        case _:
            return ""


def _spec(body: object) -> str:
    """Returns the spec of the module that a request to the model is about."""
    match body:
        case module.LoadModule(module=spec) | module.MakeInitial(module=spec):
            return spec.spec
        case module.ListModules():
            return body.spec
        case _:
            return ""


class ModelSupervisor:
    """The model and its spare; one job at a time, Stop ends the process.

    Attributes:
        python: Interpreter of the model; empty is our own.
    """

    def __init__(
        self, start: Callable[[str], StartEngine], notify: Notify, python: str = ""
    ) -> None:
        """Keeps how to start one; nothing runs until the first module is asked for."""
        self._start = start
        self._notify = notify
        self.python = python
        self._probed = ""
        self._engine: AsyncEngine | None = None
        self._spare: AsyncEngine | None = None
        self._busy = asyncio.Lock()

    async def use_python(self, python: str) -> None:
        """Chooses the interpreter; a model on another one is ended."""
        if python == self.python:
            return
        if python:
            await asyncio.to_thread(probe_python, python)
        self.python = python
        engines = [engine for engine in (self._engine, self._spare) if engine]
        self._engine = self._spare = None
        for engine in engines:
            engine.kill()

    async def ask(self, body: object, progress: OnProgress | None = None) -> object:
        """Asks the model; cancelling the task ends the process, the spare takes over.

        Raises:
            ChoosePythonError: The chosen interpreter cannot run it.
            EndedModelError: The process ended before it answered.
            CancelledError: The person stopped the model.
            RemoteError: The request failed there.
        """
        async with self._busy:
            await self._probe()
            engine = self._live()
            self._notify(EngineStatus("model", "busy"))
            try:
                reply = await engine.ask(body, progress)
            except asyncio.CancelledError:
                self.stop()
                raise
            except EngineEndedError as error:
                if engine is not self._engine:
                    # It was stopped or replaced on purpose, which is no error.
                    raise CancelledError from None
                self._notify(EngineStatus("model", "ended", str(error)))
                raise EndedModelError(_spec(body), error.error) from None
            else:
                self._notify(EngineStatus("model", "ready"))
                return reply
            finally:
                self._warm()

    async def _probe(self) -> None:
        """Asks a chosen interpreter once whether it can run the model."""
        if self.python in {"", self._probed}:
            return
        info = await asyncio.to_thread(probe_python, self.python)
        self._probed = self.python
        for text in info.warnings:
            self._notify(Notice("warning", ErrorInfo("PythonWarning", text, info.path)))

    def stop(self) -> None:
        """Ends the model with its whole process group."""
        if self._engine is not None:
            self._engine.kill()
            self._engine = None
            self._notify(EngineStatus("model", "ended", "The model was stopped."))

    def _live(self) -> AsyncEngine:
        if self._engine is not None and self._engine.ended is not None:
            text = "The model ended and a new one took over."
            self._notify(EngineStatus("model", "starting", text))
        for engine in (self._engine, self._spare):
            if engine is not None and engine.ended is None:
                if engine is self._spare:
                    self._spare = None
                self._engine = engine
                return engine
        self._notify(EngineStatus("model", "starting"))
        self._engine = self._new(self._notify)
        return self._engine

    def _new(self, on_event: Notify) -> AsyncEngine:
        """Starts a model; its end while nothing is asked of it is told."""

        def ended(error: ErrorInfo) -> None:
            if engine is self._engine:
                text = f"{error.message} Another one takes over when it is needed."
                self._notify(EngineStatus("model", "ended", text))

        engine = AsyncEngine(self._start(self.python), on_event, ended)
        return engine

    def _warm(self) -> None:
        """Starts a spare: jax and flax imported, no backend, nothing loaded."""
        if self._spare is None or self._spare.ended is not None:
            self._spare = self._new(lambda _: None)

    async def close(self) -> None:
        """Ends the model and its spare."""
        for engine in (self._engine, self._spare):
            if engine is not None:
                engine.kill()
                await engine.close()
