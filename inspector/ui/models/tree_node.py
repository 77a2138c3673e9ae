"""The plain half of a tree model: nodes that know their rows and pages.

No Qt here. `tree_model` keeps Qt's structure in step with these nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.engine.messages.viewing import Row
from inspector.variables.path import TreePath

PAGE = 200
"""Children asked for at once; well below the 500 that the store allows."""


class TreeNode:
    """A branch or leaf as far as the window knows it.

    Attributes:
        tree: `document.TARGET` or the id of a source; empty above the sources.
        parent: The node above; None for the invisible root.
        row: What the store said of it; None for an invisible root.
        position: Its row below the parent.
        children: Its children, None where the row is still on its way.
        pages: Page of children -> revision of the document it was read at.
        failed: Page of children -> why it could not be read.
        anchor: Id that Qt's indexes of its children carry; None without any.
        is_root: Whether its path is ``()``, i.e. it stands for a whole tree.
        gone: Whether it was removed from the model.
    """

    __slots__ = (
        "anchor", "children", "failed", "gone", "is_root", "pages", "parent",
        "position", "row", "tree",
    )  # fmt: skip

    def __init__(
        self,
        tree: str,
        parent: TreeNode | None,
        row: Row | None,
        *,
        position: int = 0,
        is_root: bool = False,
    ) -> None:
        """Makes a node without known children."""
        self.tree = tree
        self.parent = parent
        self.row = row
        self.position = position
        self.children: list[TreeNode | None] = []
        self.pages: dict[int, int] = {}
        self.failed: dict[int, str] = {}
        self.anchor: int | None = None
        self.is_root = is_root
        self.gone = False

    @property
    def path(self) -> TreePath:
        """Key path inside its own tree."""
        keys = []
        node: TreeNode | None = self
        while node is not None and not node.is_root and node.row is not None:
            keys.append(node.row.key)
            node = node.parent
        return tuple(reversed(keys))

    def page_rows(self, page: int) -> range:
        """Returns the rows of a page that exist."""
        return range(page * PAGE, min((page + 1) * PAGE, len(self.children)))

    def shift(self, start: int) -> None:
        """Renumbers the children from ``start`` on, after rows came or went."""
        for position in range(start, len(self.children)):
            child = self.children[position]
            if child is not None:
                child.position = position

    def known(self) -> Iterator[TreeNode]:
        """Yields every known node below, parents first."""
        for child in self.children:
            if child is not None:
                yield child
                yield from child.known()
