"""Answers the store's queries about trees on worker threads.

Trees are immutable, so a query needs no lock: the loop hands a worker the tree as it
is now, and a filter over 100,000 leaves delays no edit. Filtered trees are kept, for
a scrolling window asks for page after page of the same one.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from inspector.engine.messages import viewing
from inspector.engine.store_bounds import few_hits
from inspector.engine.store_query import find
from inspector.engine.store_state import StoreState
from inspector.engine.store_view import (
    PAGE_LIMIT,
    FilteredTree,
    all_leaves,
    children_page,
    listing_page,
    make_details,
)
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath
from inspector.variables.tree import Node

_KEPT = 8

_T = TypeVar("_T")


class ViewWorkers:
    """Runs view queries beside the loop."""

    def __init__(self, state: StoreState) -> None:
        """Starts no thread until the first query."""
        self._state = state
        self._pool = ThreadPoolExecutor(2, "view")
        self._filtered: OrderedDict[tuple[int, str], FilteredTree] = OrderedDict()
        self._listed: tuple[Node, list[tuple[TreePath, Leaf]]] | None = None

    async def run(self, work: Callable[[], _T]) -> _T:
        """Runs something on a worker and waits for it."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def children(self, body: viewing.AskChildren) -> viewing.ChildPage:
        """Answers a page of children."""
        tree = self._state.tree(body.tree)
        names = self._state.names()
        target = self._state.is_target(body.tree)

        def work() -> viewing.ChildPage:
            filtered = self._filter(tree, body.query)
            return children_page(filtered, body, names, with_origin=target)

        return await self.run(work)

    async def locate(self, body: viewing.Locate) -> viewing.Located:
        """Answers the row numbers of a path."""
        tree = self._state.tree(body.tree)
        return await self.run(
            lambda: viewing.Located(self._filter(tree, body.query).locate(body.path))
        )

    async def search(self, body: viewing.Search) -> viewing.Hits:
        """Answers nodes of all trees whose path matches."""
        trees = self._state.trees()

        def work() -> viewing.Hits:
            hits: list[tuple[str, TreePath]] = []
            total = 0
            limit = min(body.limit, PAGE_LIMIT)
            for name, tree in trees:
                found, count = find(tree, body.query, limit - len(hits))
                hits.extend((name, path) for path in found)
                total += count
            return viewing.Hits(few_hits(hits), total)

        return await self.run(work)

    async def describe(self, body: viewing.Describe) -> viewing.Details:
        """Answers one node in full."""
        tree = self._state.tree(body.tree)
        names = self._state.names()
        target = self._state.is_target(body.tree)
        details = await self.run(
            lambda: make_details(body.tree, tree, body.path, names, is_target=target)
        )
        return self._state.with_readiness(details)

    async def listing(self, body: viewing.AskListing) -> viewing.ListingPage:
        """Answers a page of leaves."""
        tree = self._state.tree(body.tree)
        names = self._state.names()
        target = self._state.is_target(body.tree)

        def work() -> viewing.ListingPage:
            if self._listed is None or self._listed[0] is not tree:
                self._listed = (tree, all_leaves(tree))
            return listing_page(self._listed[1], body, names, is_target=target)

        return await self.run(work)

    def _filter(self, tree: Node, query: str) -> FilteredTree:
        key = (id(tree), query)
        kept = self._filtered.get(key)
        # An id alone could be that of a tree long gone; the kept one holds its tree.
        if kept is None or kept.tree is not tree:
            kept = FilteredTree(tree, query)
            self._filtered[key] = kept
            while len(self._filtered) > _KEPT:
                self._filtered.popitem(last=False)
        return kept

    def close(self) -> None:
        """Ends the workers."""
        self._pool.shutdown(wait=False, cancel_futures=True)
