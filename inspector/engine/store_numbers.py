"""Numbers, statistics and pictures of leaves: resolved here, read by the reader.

A leaf that still is an initial value is made first, by the model, when its module
has been loaded.
"""

from __future__ import annotations

import math

from inspector.engine.messages import reading, viewing
from inspector.engine.store_engines import OnProgress
from inspector.engine.store_initial import InitialValues
from inspector.engine.store_reader import ReaderSupervisor
from inspector.engine.store_state import StoreState
from inspector.engine.store_values import resolve_leaf
from inspector.engine.store_view import node_at
from inspector.errors import ReadLeafError
from inspector.variables import dtypes
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath, join
from inspector.variables.value import Initial, innermost

BLOCK_LIMIT = 128 << 10
"""Most decoded bytes of one `ReadNumbers`, so that its reply fits the pipe's bound."""


class NotAnArrayError(ReadLeafError):
    """Numbers were asked of something that has none."""

    def __init__(self, path: TreePath) -> None:
        """Names the path."""
        super().__init__("This node has no numbers", where=join(path))


class BlockTooLargeError(ReadLeafError):
    """A region is larger than one reply may be."""

    def __init__(self, path: TreePath, nbytes: int) -> None:
        """Names the path and the bytes asked for."""
        super().__init__(
            f"The region has {nbytes} bytes, more than {BLOCK_LIMIT} at once",
            where=join(path),
            hint="Ask for a smaller region.",
        )


class LeafReader:
    """Answers the queries about one leaf's numbers."""

    def __init__(
        self, state: StoreState, reader: ReaderSupervisor, initial: InitialValues
    ) -> None:
        """Takes its collaborators."""
        self._state = state
        self._reader = reader
        self._initial = initial

    async def statistics(
        self, body: viewing.ReadStatistics, progress: OnProgress
    ) -> object:
        """Answers exact statistics and a histogram."""
        leaf = await self._leaf(body.tree, body.path, progress)
        return await self._reader.ask(reading.LeafStatistics(leaf, body.bins), progress)

    async def numbers(self, body: viewing.ReadNumbers, progress: OnProgress) -> object:
        """Answers one region of numbers."""
        node = node_at(self._state.tree(body.tree), body.path)
        extents = [stop - start for start, stop in body.region]
        itemsize = dtypes.itemsize(node.dtype) if isinstance(node, Leaf) else 1
        nbytes = math.prod(extents) * itemsize
        if nbytes > BLOCK_LIMIT:
            raise BlockTooLargeError(body.path, nbytes)
        leaf = await self._leaf(body.tree, body.path, progress)
        return await self._reader.ask(reading.LeafNumbers(leaf, body.region))

    async def picture(self, body: viewing.ReadPicture, progress: OnProgress) -> object:
        """Answers a thinned 2-D slice."""
        leaf = await self._leaf(body.tree, body.path, progress)
        return await self._reader.ask(
            reading.LeafPicture(
                leaf,
                body.rows_axis,
                body.columns_axis,
                body.index,
                min(body.max_rows, 200),
                min(body.max_columns, 200),
            )
        )

    async def _leaf(self, tree: str, path: TreePath, progress: OnProgress) -> Leaf:
        """Returns the leaf as the reader can evaluate it."""
        leaf = node_at(self._state.tree(tree), path)
        if not isinstance(leaf, Leaf) or not leaf.dtype:
            raise NotAnArrayError(path)
        if leaf.error:
            raise UnreadableLeafError(path, leaf.error)
        inner = innermost(leaf.value)
        if isinstance(inner, Initial):
            await self._initial.ensure([inner.path], progress)
        return resolve_leaf(leaf, self._state.locators(), self._initial.table)


class UnreadableLeafError(ReadLeafError):
    """A leaf was found bad when its checkpoint was listed."""

    def __init__(self, path: TreePath, error: str) -> None:
        """Names the leaf and what is wrong with it."""
        super().__init__(error, where=join(path))
