"""The store as a verb uses it: started, asked, and ended with the verb."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inspector.cli.output import ProgressLine
from inspector.engine.client import EngineClient
from inspector.engine.messages import document, viewing
from inspector.engine.start import start_store


class StoreSession:
    """One store process for the length of one verb; a context manager."""

    def __init__(self, *, python: str = "", state_dir: str = "") -> None:
        """Keeps the options; the process starts on entering."""
        self._python = python
        self._state_dir = state_dir
        self._client: EngineClient | None = None
        self._progress = ProgressLine()

    def __enter__(self) -> StoreSession:
        """Starts the store with a session of its own that leaves nothing behind."""
        self._client = start_store(
            state_dir=self._state_dir, python=self._python, private=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the store and its engines."""
        self._progress.clear()
        if self._client is not None:
            self._client.close()

    def ask(self, body: object) -> object:
        """Sends a request and waits for its answer, showing progress.

        Raises:
            RemoteError: The request failed there.
            EngineError: The store ended.
        """
        assert self._client is not None, "used as a context manager"
        try:
            return self._client.call(body, progress=self._progress)
        finally:
            self._progress.clear()

    def open_source(self, locator: str) -> document.SourceInfo:
        """Opens a checkpoint, relative paths from the present folder."""
        reply = self.ask(document.OpenSource(locator, str(Path.cwd())))
        assert isinstance(reply, document.SourceInfo)
        return reply

    def leaves(self, tree: str) -> Iterator[viewing.ListedLeaf]:
        """Yields every leaf of a tree in the order they are shown."""
        start = 0
        while True:
            page = self.ask(viewing.AskListing(tree, start))
            assert isinstance(page, viewing.ListingPage)
            yield from page.leaves
            start += len(page.leaves)
            if not page.leaves or start >= page.total:
                return

    def plan_rows(self, plan: int) -> Iterator[viewing.PlanLine]:
        """Yields every row of a plan."""
        start = 0
        while True:
            page = self.ask(viewing.AskPlanRows(plan, start=start))
            assert isinstance(page, viewing.PlanPage)
            yield from page.rows
            start += len(page.rows)
            if not page.rows or start >= page.total:
                return
