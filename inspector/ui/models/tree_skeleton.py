"""The structure of a tree model: which rows there are, kept twice in step.

Qt's own standard model keeps rows, parents and which rows have children, because a
view walks all of it for every layout and in Python 100,000 rows would stall the
window for 0.3 s. What the rows say lives in plain `TreeNode` records. This module
joins the two; it asks nobody and shows nothing.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex
from PySide6.QtGui import QStandardItemModel

from inspector.engine.messages.viewing import ChildPage
from inspector.ui.models.roles import Column
from inspector.ui.models.tree_node import TreeNode

Index = QModelIndex | QPersistentModelIndex


class TreeSkeleton(QStandardItemModel):
    """Rows below an invisible root, each with a `TreeNode` or still unknown.

    Attributes:
        root: The node of the invisible root.
    """

    def __init__(self, root: TreeNode, parent: QObject) -> None:
        """Makes a model without rows below an invisible root."""
        super().__init__(0, len(Column), parent)
        self.root = root
        self._nodes: dict[int, TreeNode] = {}
        # Ours run before those of any view, so a view never sees the two halves
        # of the model disagree.
        self.rowsInserted.connect(self._on_rows_inserted)
        self.rowsRemoved.connect(self._on_rows_removed)

    def parent_of(self, index: Index) -> TreeNode | None:
        """Returns the node above a valid index, known or unknown."""
        parent = self._nodes.get(index.internalId())
        if parent is None or index.row() >= len(parent.children):
            return None
        return parent

    def node(self, index: Index) -> TreeNode | None:
        """Returns the node of an index; None for a row still on its way."""
        if not index.isValid():
            return self.root
        parent = self.parent_of(index)
        return None if parent is None else parent.children[index.row()]

    def index_of(self, node: TreeNode, column: int = 0) -> QModelIndex:
        """Returns the index of a node; the invisible root has an invalid one."""
        if node.parent is None or node.gone:
            return QModelIndex()
        return self.index(node.position, column, self.index_of(node.parent))

    def agrees(self, node: TreeNode, start: int, page: ChildPage) -> bool:
        """Returns whether a page fits the rows that are there, key by key."""
        if page.total != len(node.children):
            return False
        for offset, row in enumerate(page.rows):
            child = node.children[start + offset]
            if child is not None and child.row is not None and child.row.key != row.key:
                return False
        return True

    def reconcile(self, node: TreeNode, start: int, page: ChildPage) -> None:
        """Makes Qt's rows those of the page, keeping the rows that stayed."""
        keys = [row.key for row in page.rows]
        old = [child.row.key for child in node.children if child and child.row]
        whole = start == 0 and len(keys) == page.total
        in_order = [key for key in old if key in set(keys)]
        kept = set(in_order)
        if not (
            whole
            and len(old) == len(node.children)
            and in_order == [key for key in keys if key in kept]
        ):
            if node.children:
                self.clear_below(node)
            self.resize(node, page.total)
            return
        for position in reversed(range(len(old))):
            if old[position] not in kept:
                self.removeRows(position, 1, self.index_of(node))
        for position, key in enumerate(keys):
            if key not in kept:
                self.insert(node, position, 1)

    def resize(self, node: TreeNode, total: int) -> None:
        """Adds unknown rows at the end, or removes the last ones."""
        count = len(node.children)
        if total > count:
            self.insert(node, count, total - count)
        elif total < count:
            self.removeRows(total, count - total, self.index_of(node))

    def clear_below(self, node: TreeNode) -> None:
        """Removes every row below a node."""
        if node.children:
            self.removeRows(0, len(node.children), self.index_of(node))

    def insert(self, node: TreeNode, position: int, count: int) -> None:
        """Adds unknown rows below a node."""
        index = self.index_of(node)
        if self.columnCount(index) < len(Column):
            self.insertColumns(0, len(Column), index)
        self.insertRows(position, count, index)

    def tell_changed(self, node: TreeNode, first: int, last: int) -> None:
        """Tells the views that rows below a node read differently."""
        parent = self.index_of(node)
        self.dataChanged.emit(
            self.index(first, 0, parent), self.index(last, len(Column) - 1, parent)
        )

    def _on_rows_inserted(self, parent: QModelIndex, first: int, last: int) -> None:
        node = self.node(parent)
        if node is None:
            return
        node.children[first:first] = [None] * (last - first + 1)
        node.shift(last + 1)
        if node.anchor is None:
            node.anchor = self.index(first, 0, parent).internalId()
            self._nodes[node.anchor] = node

    def _on_rows_removed(self, parent: QModelIndex, first: int, last: int) -> None:
        node = self.node(parent)
        if node is None:
            return
        for child in node.children[first : last + 1]:
            if child is not None:
                self._forget(child)
        del node.children[first : last + 1]
        node.shift(first)

    def _forget(self, node: TreeNode) -> None:
        for gone in (node, *node.known()):
            gone.gone = True
            # Qt may give the address of a removed item to another one.
            if gone.anchor is not None and self._nodes.get(gone.anchor) is gone:
                del self._nodes[gone.anchor]
