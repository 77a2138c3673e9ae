"""Keeps what is expanded, chosen and scrolled to while a tree's rows come and go.

Rows arrive page by page and may be replaced; places are remembered by path and
taken up again as their rows arrive. Thousands of nodes are expanded over several
turns of the event loop. One for each tree view, window's thread.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QObject, QSignalBlocker
from PySide6.QtWidgets import QAbstractItemView, QTreeView

from inspector.engine.messages.viewing import Locate, Located
from inspector.ui.models.tree_model import TreeModel
from inspector.ui.models.tree_node import PAGE, TreeNode
from inspector.ui.turns import Turns
from inspector.variables.path import TreePath, is_prefix

Place = tuple[str, TreePath]
"""Tree and path."""

_SMALL_TREE = 60
_FILTER_BUDGET = 300
_WHOLE_ROWS = 2000
_MANY = 20
_SLICE_S = 0.01
"""How long nodes are expanded in one turn; the layout that follows takes as long."""


class TreeState(QObject):
    """Remembers the places of one view."""

    def __init__(self, view: QTreeView, model: TreeModel) -> None:
        """Watches a view and its model."""
        super().__init__(view)
        self._view, self._model = view, model
        self._expanded: set[Place] = set()
        self._collapsed: set[Place] = set()
        self._whole: dict[Place, int] = {}
        self._current: Place | None = None
        self._wanted: Place | None = None
        self._budget = _FILTER_BUDGET
        self._waiting: list[TreeNode] = []
        self._is_expanding = False
        self._is_walking = False
        self._turns = Turns(self)
        self._walk = Turns(self)
        view.expanded.connect(self._on_expanded)
        view.collapsed.connect(self._on_collapsed)
        view.selectionModel().currentChanged.connect(self._on_current)
        model.rows_loaded.connect(self._on_rows_loaded)
        model.modelReset.connect(self._on_reset)

    def expand_all_below(self, tree: str, path: TreePath, limit: int) -> None:
        """Expands everything below a node, at most ``limit`` branches of it."""
        top = self._model.find(tree, path)
        if top is None:
            return
        self._whole[tree, path] = limit
        self._collapsed = {
            place
            for place in self._collapsed
            if place[0] != tree or not is_prefix(path, place[1])
        }
        steps = self._walk_below(top)
        next(steps, None)
        self._walk.run(steps)

    def _walk_below(self, top: TreeNode) -> Iterator[None]:
        """Expands what is known below a node, from the top, a slice at a time."""
        stack = [top]
        end = time.perf_counter() + _SLICE_S
        # With a layout already due, expanding only notes; else each lays out anew.
        self._view.scheduleDelayedItemsLayout()
        while stack:
            node = stack.pop()
            if node.gone or not node.children:
                continue
            if self._in_whole((node.tree, node.path)):
                # Its children come next here, so that nobody else need look at them.
                self._is_walking = True
                self._view.expand(self._model.index_of(node))
                self._is_walking = False
                self._want_below(node)
                stack += [child for child in reversed(node.children) if child]
            if time.perf_counter() > end:
                yield
                end = time.perf_counter() + _SLICE_S
                self._view.scheduleDelayedItemsLayout()

    def _want_below(self, node: TreeNode) -> None:
        """Asks for rows that are never painted and so would never be there."""
        for row in range(0, min(len(node.children), _WHOLE_ROWS), PAGE):
            self._model.want(node, row)

    def collapse_all(self) -> None:
        """Collapses every node; what was expanded stays collapsed after changes."""
        self._walk.stop()
        self._waiting.clear()
        known = [node for node in self._model.root.known() if node.children]
        # Told node by node, thousands of them would hold the window.
        with QSignalBlocker(self._view):
            self._view.collapseAll()
        self._collapsed |= {(node.tree, node.path) for node in known if node.tree}
        self._expanded.clear()
        self._whole.clear()

    def reveal(self, tree: str, path: TreePath) -> None:
        """Makes a node current as soon as its row is there."""
        self._wanted = (tree, path)
        self._collapsed -= {(tree, path[:length]) for length in range(len(path))}
        self._expanded |= {(tree, path[:length]) for length in range(len(path))}
        self._follow()

    def forget_query(self) -> None:
        """Begins a new filter: its matches may be expanded anew."""
        self._budget = _FILTER_BUDGET

    def _follow(self) -> None:
        """Walks towards the wanted node, loading the page that is missing next."""
        if self._wanted is None:
            return
        tree, path = self._wanted
        for length in range(len(path) + 1):
            node = self._model.find(tree, path[:length])
            if node is None:
                self._locate(tree, path, length)
                return
            if length < len(path):
                self._expand_now(node)
        node = self._model.find(tree, path)
        self._wanted = None
        if node is not None:
            index = self._model.index_of(node)
            self._choose(index)
            self._view.scrollTo(index, QAbstractItemView.ScrollHint.EnsureVisible)

    def _locate(self, tree: str, path: TreePath, length: int) -> None:
        """Asks which row a key has, then for the page of that row."""
        parent = self._model.find(tree, path[: length - 1]) if length else None
        if parent is None:
            return

        def on_located(located: Located) -> None:
            if len(located.rows) < length:
                self._wanted = None
                return
            if located.rows[length - 1] < len(parent.children):
                self._model.want(parent, located.rows[length - 1])

        self._model.client.ask(
            Locate(tree, path, self._model.query),
            owner=self,
            on_reply=on_located,
            on_failure=lambda _error: None,
            slot="locate",
        )

    def _expand_now(self, node: TreeNode) -> None:
        index = self._model.index_of(node)
        if index.isValid() and not self._view.isExpanded(index) and node.children:
            # What is already there below may have been expanded before, too: the
            # signal of the view sees to that.
            self._view.expand(index)

    def _restore(self, parent: TreeNode, first: int, last: int) -> None:
        """Expands those children that were expanded before, or should be anyway."""
        children = parent.children[first : last + 1]
        wanted = [
            child
            for child in children
            if child is not None and child.children and self._wants_expanded(child)
        ]
        if wanted:
            self._waiting += reversed(wanted)
            self._expand_waiting()

    def _expand_waiting(self) -> None:
        """Expands what waits: a few nodes at once, many over several turns."""
        if not self._is_expanding and not self._turns.is_busy:
            steps = self._expand_slices()
            next(steps, None)
            if self._waiting:
                self._turns.run(steps)

    def _expand_slices(self) -> Iterator[None]:
        while self._waiting:
            if len(self._waiting) > _MANY:
                self._view.scheduleDelayedItemsLayout()
            end = time.perf_counter() + _SLICE_S
            self._is_expanding = True
            try:
                while self._waiting and time.perf_counter() < end:
                    # The last one is the topmost: what a person sees comes first.
                    node = self._waiting.pop()
                    if not node.gone:
                        self._expand_now(node)
            finally:
                self._is_expanding = False
            yield

    def _wants_expanded(self, node: TreeNode) -> bool:
        place = (node.tree, node.path)
        if place in self._collapsed:
            return False
        if place in self._expanded:
            return True
        row = node.row
        if self._model.query and row is not None:
            if row.matches or self._budget <= 0:
                return False
            self._budget -= 1
            return True
        if self._in_whole(place):
            self._want_below(node)
            return True
        return node.is_root or (row is not None and _is_shown_at_once(node))

    def _in_whole(self, place: Place) -> bool:
        tree, path = place
        for length in range(len(path) + 1):
            key = (tree, path[:length])
            if self._whole.get(key, 0) > 0:
                self._whole[key] -= 1
                return True
        return False

    def _place(self, index: QModelIndex) -> Place | None:
        node = self._model.node(index)
        return (node.tree, node.path) if node is not None and node.tree else None

    def _on_expanded(self, index: QModelIndex) -> None:
        place = self._place(index)
        node = self._model.node(index)
        if place is None or node is None:
            return
        self._collapsed.discard(place)
        if not self._model.query:
            self._expanded.add(place)
        if not self._is_walking:
            self._restore(node, 0, len(node.children) - 1)

    def _on_collapsed(self, index: QModelIndex) -> None:
        place = self._place(index)
        if place is not None:
            self._expanded.discard(place)
            self._whole.pop(place, None)
            self._collapsed.add(place)

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        place = self._place(current) if current.isValid() else None
        if place is not None:
            self._current = place

    def _on_rows_loaded(self, node: TreeNode, first: int, last: int) -> None:
        if node.gone:
            return
        if (self._model.query or self._whole) and last - first > _MANY:
            self._view.scheduleDelayedItemsLayout()
        if node.row is not None and node.children and self._wants_expanded(node):
            self._expand_now(node)
        self._restore(node, first, last)
        self._follow()
        if not self._view.currentIndex().isValid() and self._current is not None:
            found = self._model.find(*self._current)
            if found is not None:
                self._choose(self._model.index_of(found))

    def _choose(self, index: QModelIndex) -> None:
        """Selects one row alone, whatever keys are held meanwhile.

        The view's own `setCurrentIndex` adds to the selection while Ctrl is down, as
        it is right after a paste.
        """
        flags = QItemSelectionModel.SelectionFlag
        self._view.selectionModel().setCurrentIndex(
            index, flags.ClearAndSelect | flags.Rows
        )

    def _on_reset(self) -> None:
        self._wanted = None
        self._waiting.clear()


def _is_aside(path: TreePath) -> bool:
    """Whether a place is the optimizer's, which few look for and which is long."""
    return bool(path) and str(path[0]).startswith(("opt_state", "optimizer"))


def _is_shown_at_once(node: TreeNode) -> bool:
    return _is_small(node) and not _is_aside(node.path)


def _is_small(node: TreeNode) -> bool:
    """Whether the whole tree of a node is small enough to show at once."""
    top = node
    while top.parent is not None and not top.is_root:
        top = top.parent
    rows = [top.row] if top.row else [c.row for c in top.children if c is not None]
    return sum(row.leaves for row in rows if row is not None) <= _SMALL_TREE
