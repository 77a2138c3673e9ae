"""The reader's handlers behind the store's question, without a process."""

from __future__ import annotations

import asyncio

from inspector.engine.reader import ReaderService
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_reader import ReaderSupervisor
from tests.engine.readers import Asked


class InProcessReader(ReaderSupervisor):
    """Answers as the reader does, on a thread of this process.

    Attributes:
        asked: Everything that it was asked.
    """

    def __init__(self) -> None:
        self._service = ReaderService()
        self.asked: list[object] = []

    async def ask(self, body: object, progress: OnProgress | None = None) -> object:
        del progress
        self.asked.append(body)
        handler = self._service.handlers()[type(body)]
        return await asyncio.to_thread(handler, body, Asked(body).job)
