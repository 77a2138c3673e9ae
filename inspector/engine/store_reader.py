"""The reader as the store uses it: started, blamed, started again.

A request that ends the reader is found out by trying what was in it once more, each
alone, and is not repeated. On the store's event loop.
"""

from __future__ import annotations

import asyncio

from inspector.engine.messages import reading
from inspector.engine.messages.document import EngineStatus
from inspector.engine.store_ends import (
    EndedExportError,
    EndedReaderError,
    EngineEndedError,
)
from inspector.engine.store_engines import AsyncEngine, Notify, OnProgress, StartEngine
from inspector.errors import ErrorInfo
from inspector.variables.path import join
from inspector.variables.value import Stored, innermost


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

    def warm(self) -> None:
        """Starts the reader before anybody asks for it."""
        self._live()

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
        case reading.LayOut() | reading.CompareTrees():
            # Of whole trees, each asked anew: too much to be told apart by content.
            return object()
        case reading.DecodeImage():
            return ("image", body.path)
        case _:
            return (type(body).__name__, repr(body))


def _what(body: object) -> str:
    match body:
        case (
            reading.ListCheckpoint(locator=name)
            | reading.WriteExport(out=name)
            | reading.DecodeImage(path=name)
        ):
            return name
        case (
            reading.LeafStatistics(leaf=leaf)
            | reading.LeafNumbers(leaf=leaf)
            | reading.LeafPicture(leaf=leaf)
        ):
            inner = innermost(leaf.value)
            if isinstance(inner, Stored):
                return f"{inner.source}: {join(inner.path)}"
            return f"{leaf.dtype}[{','.join(str(extent) for extent in leaf.shape)}]"
        case reading.LayOut() | reading.CompareTrees():
            return "the variables of a run"
        case _:
            return ""
