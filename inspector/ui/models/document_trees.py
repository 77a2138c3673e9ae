"""The two trees of the window: all open sources, and the target.

Made by the panels of the same names; paging is in `tree_model`.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject

from inspector.engine.messages.document import TARGET, SourceInfo
from inspector.engine.messages.viewing import Row
from inspector.ui.models.tree_model import TreeModel
from inspector.ui.models.tree_node import TreeNode
from inspector.ui.store_client import StoreClient


class SourceTreeModel(TreeModel):
    """All open sources, one row each, with their trees below."""

    def __init__(self, client: StoreClient, parent: QObject) -> None:
        """Makes a model without sources."""
        super().__init__(client, TreeNode("", None, None), parent)
        self._sources: tuple[SourceInfo, ...] = ()

    def set_sources(self, sources: tuple[SourceInfo, ...]) -> None:
        """Shows these sources; rows of those that stay are kept."""
        old = self._sources
        self._sources = sources
        rows = tuple(_source_row(source) for source in sources)
        ids = [source.id for source in sources]
        if [s.id for s in old if s.id in ids] + [
            i for i in ids if i not in {s.id for s in old}
        ] != ids:
            self.clear_below(self.root)
        for position in reversed(range(len(self.root.children))):
            child = self.root.children[position]
            if child is not None and child.tree not in ids:
                self.removeRows(position, 1, QModelIndex())
        for position, source in enumerate(sources):
            self._put_source(position, source.id, rows[position])

    def _put_source(self, position: int, source: str, row: Row) -> None:
        if position == len(self.root.children):
            self.insert(self.root, position, 1)
        node = self.root.children[position]
        if node is None:
            node = TreeNode(source, self.root, row, position=position, is_root=True)
            self.root.children[position] = node
            self._want(node, 0)
        node.row = row
        self.tell_changed(self.root, position, position)

    def _start(self) -> None:
        self.set_sources(self._sources)

    def _tree_root(self, tree: str) -> TreeNode | None:
        for child in self.root.children:
            if child is not None and child.tree == tree:
                return child
        return None


class TargetTreeModel(TreeModel):
    """The target; its first keys are the rows at the top."""

    def __init__(self, client: StoreClient, parent: QObject) -> None:
        """Makes a model without rows; `reload` asks for them."""
        super().__init__(client, TreeNode(TARGET, None, None, is_root=True), parent)


def _source_row(source: SourceInfo) -> Row:
    return Row(
        source.name,
        source.format,
        leaves=source.leaves,
        parameters=source.parameters,
        nbytes=source.nbytes,
        error="",
    )
