"""The tree of a source or of the target, fetched page by page.

A row that is painted before its page is there shows "…" and asks for the page;
pages arrive later and only rows that differ change, so expansion, selection and
scroll place stay. Used on the window's thread by the two tree panels; what a drag
or an action means belongs to them, the structure to `tree_skeleton`. What may be
dragged or edited is a matter of the views: a view asks for the flags of every row it
lays out, and flags in Python would cost 0.6 s for 100,000 rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import (
    QMimeData,
    QObject,
    Qt,
    QTimer,
    Signal,
)

from inspector.engine.messages.document import TARGET
from inspector.engine.messages.viewing import AskChildren, ChildPage, Row
from inspector.errors import ErrorInfo
from inspector.ui.drag_data import MIME_TYPE
from inspector.ui.models.roles import HEADERS, Column, Role
from inspector.ui.models.tree_node import PAGE, TreeNode
from inspector.ui.models.tree_skeleton import Index, TreeSkeleton
from inspector.ui.models.tree_text import display, tooltip
from inspector.ui.store_client import StoreClient
from inspector.variables.path import Key, TreePath

_IN_FLIGHT = 4
_REMEMBERED = 48


class TreeModel(TreeSkeleton):
    """Rows of one or several trees of the store.

    Attributes:
        client: Whom it asks.
        query: The filter in force.

    Signals:
        rows_loaded: (node, first, last): rows below a node are there or anew.
        refreshed: What is shown may be old; repainting asks for it.
        renamed: (path, new name): a person typed another name.
    """

    rows_loaded = Signal(object, int, int)
    refreshed = Signal()
    renamed = Signal(object, str)

    def __init__(self, client: StoreClient, root: TreeNode, parent: QObject) -> None:
        """Makes a model without rows below an invisible root."""
        super().__init__(root, parent)
        self.client = client
        self.query = ""
        self._revision = 0
        self._generation = 0
        self._wanted: dict[tuple[int, int], tuple[TreeNode, int]] = {}
        self._needed: dict[tuple[int, int], tuple[TreeNode, int]] = {}
        self._asking: set[tuple[int, int]] = set()
        self._plan_marks: dict[TreePath, str] = {}
        self._fetch = QTimer(self)
        self._fetch.setSingleShot(True)
        self._fetch.setInterval(0)
        self._fetch.timeout.connect(self._ask_wanted)

    @property
    def is_loading(self) -> bool:
        """Whether pages are on their way or about to be asked for."""
        return bool(self._asking or self._wanted or self._needed)

    def find(self, tree: str, path: TreePath) -> TreeNode | None:
        """Returns the node at a path if it is loaded."""
        node = self._tree_root(tree)
        for key in path:
            if node is None:
                return None
            node = _child(node, key)
        return node

    def set_query(self, query: str) -> None:
        """Filters the rows; the store does the work."""
        if query != self.query:
            self.query = query
            self.reload()

    def reload(self) -> None:
        """Forgets every row and asks anew, e.g. for another base or filter."""
        self._generation += 1
        self._wanted.clear()
        self._needed.clear()
        self._asking.clear()
        self._plan_marks = {}
        self.clear_below(self.root)
        self.root.pages.clear()
        self._start()

    def refresh(self, *, structure: bool = False) -> None:
        """Marks every row as old; what is painted is asked for again.

        Args:
            structure: Rows may have come or gone: ask for loaded pages at once,
                painted or not.
        """
        self._revision += 1
        if structure:
            for node in [self.root, *self.root.known()]:
                for page in list(node.pages):
                    self._want(node, page, painted=False)
        self.refreshed.emit()

    def want(self, node: TreeNode, row: int) -> None:
        """Asks for the page of a row unless it is there, painted or not."""
        self._want(node, row // PAGE, painted=False)

    def set_plan_marks(self, marks: dict[TreePath, str]) -> None:
        """Shows what a plan in the air would do; an empty mapping shows none."""
        if marks != self._plan_marks:
            self._plan_marks = marks
            self.refreshed.emit()

    def _start(self) -> None:
        """Asks for the first rows; the target's model has one tree at the root."""
        self._want(self.root, 0)

    def _tree_root(self, tree: str) -> TreeNode | None:
        return self.root if self.root.tree == tree else None

    def _want(self, node: TreeNode, page: int, *, painted: bool = True) -> None:
        key = (id(node), page)
        if node.gone or key in self._asking or not node.tree:
            return
        if node.pages.get(page) == self._revision:
            return
        if not painted:
            self._needed.setdefault(key, (node, page))
        else:
            self._wanted.pop(key, None)
            self._wanted[key] = (node, page)
        while len(self._wanted) > _REMEMBERED:
            # Rows that were scrolled past; painting them again asks again.
            self._wanted.pop(next(iter(self._wanted)))
        if not self._fetch.isActive():
            self._fetch.start()

    def _ask_wanted(self) -> None:
        while (self._wanted or self._needed) and len(self._asking) < _IN_FLIGHT:
            # What was painted last is what the person looks at.
            key, (node, page) = (self._wanted or self._needed).popitem()
            if not node.gone and key not in self._asking:
                self._asking.add(key)
                self._ask(node, page)

    def _ask(self, node: TreeNode, page: int) -> None:
        generation, revision = self._generation, self._revision

        def on_reply(reply: ChildPage) -> None:
            if self._answered(node, page, generation):
                node.pages[page] = revision
                node.failed.pop(page, None)
                self._fill(node, page * PAGE, reply)

        def on_failure(error: ErrorInfo) -> None:
            if self._answered(node, page, generation):
                node.pages[page] = revision
                self._fail(node, page, error)

        body = AskChildren(node.tree, node.path, self.query, page * PAGE, PAGE)
        self.client.ask(body, owner=self, on_reply=on_reply, on_failure=on_failure)

    def _answered(self, node: TreeNode, page: int, generation: int) -> bool:
        if generation != self._generation:
            return False
        self._asking.discard((id(node), page))
        if self._wanted or self._needed:
            self._fetch.start()
        return not node.gone

    def _fail(self, node: TreeNode, page: int, error: ErrorInfo) -> None:
        node.failed[page] = error.text()
        if not node.children and node.parent is None:
            self.resize(node, 1)
        rows = node.page_rows(page)
        if rows:
            self.tell_changed(node, rows.start, rows.stop - 1)
        if node.parent is not None and not node.is_root:
            # The node itself may be gone from the store; its parent's page says so.
            above = node.position // PAGE
            if node.parent.pages.get(above) != self._revision:
                self._want(node.parent, above)

    def _fill(self, node: TreeNode, start: int, page: ChildPage) -> None:
        """Puts a page of rows below a node and tells the views what changed."""
        if not self.agrees(node, start, page):
            self.reconcile(node, start, page)
        for offset, row in enumerate(page.rows):
            self._put(node, start + offset, row)
        last = start + len(page.rows) - 1
        if last >= start:
            self.tell_changed(node, start, last)
        self.rows_loaded.emit(node, start, last)

    def _put(self, node: TreeNode, position: int, row: Row) -> None:
        child = node.children[position]
        if child is None:
            child = TreeNode(node.tree, node, row, position=position)
            node.children[position] = child
        elif child.row is not None and child.row.key == row.key:
            child.row = row
        if row.children != len(child.children):
            if child.pages and row.children:
                self._want_again(child)
            else:
                self.resize(child, row.children)

    def _want_again(self, node: TreeNode) -> None:
        pages = list(node.pages)
        node.pages.clear()
        for page in pages:
            self._want(node, page)

    # Overrides of Qt.

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Says what a row shows; a row that is not there yet is asked for."""
        if not index.isValid():
            return None
        parent = self.parent_of(index)
        if parent is None:
            return None
        page = index.row() // PAGE
        if parent.tree and parent.pages.get(page) != self._revision:
            self._want(parent, page)
        node = parent.children[index.row()]
        if node is None or node.row is None:
            return _missing(role, index.column(), parent.failed.get(page, ""))
        accessor = _ACCESSORS.get(role)
        if accessor is None:
            return None
        return accessor(self, node, node.row, Column(index.column()))

    def plan_mark(self, node: TreeNode) -> str:
        """Returns the verdict that a plan in the air gives a node, or ``""``."""
        return self._plan_marks.get(node.path, "") if self._plan_marks else ""

    def setData(
        self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        """Tells that a person typed another name; the store decides on it."""
        node = self.node(index)
        if role != Qt.ItemDataRole.EditRole or index.column() != Column.NAME:
            return False
        if node is None or node.row is None or node.tree != TARGET:
            return False
        name = str(value).strip()
        if name and name != str(node.row.key):
            self.renamed.emit(node.path, name)
        return False

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """Names the columns."""
        if orientation != Qt.Orientation.Horizontal or section not in HEADERS:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADERS[Column(section)]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight
            if section in {Column.NAME, Column.SHAPE}:
                side = Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def mimeTypes(self) -> list[str]:
        """Returns what is dragged out of the sources and onto the target."""
        return [MIME_TYPE]

    def supportedDropActions(self) -> Qt.DropAction:
        """A drop copies; nothing is ever moved out of a source."""
        return Qt.DropAction.CopyAction

    def dropMimeData(
        self,
        data: QMimeData,
        action: Qt.DropAction,
        row: int,
        column: int,
        parent: Index,
    ) -> bool:
        """Changes nothing: the target's view hands a drop to the store."""
        del data, action, row, column, parent
        return False


def _child(node: TreeNode, key: Key) -> TreeNode | None:
    for child in node.children:
        if child is not None and child.row is not None and child.row.key == key:
            return child
    return None


def _missing(role: int, column: int, error: str) -> Any:
    if role == Qt.ItemDataRole.DisplayRole:
        if column == Column.NAME:
            return "could not be read" if error else "…"
        return ""
    if role in {Qt.ItemDataRole.ToolTipRole, Role.ERROR}:
        return error
    if role in {Role.MARK, Role.PLAN_MARK}:
        return ""
    return None


def _accessible(model: TreeModel, node: TreeNode, row: Row, column: Column) -> str:
    text = display(row, column)
    if column is not Column.NAME:
        return text
    verdict = model.plan_mark(node)
    would = f"would be {verdict}" if verdict else ""
    return ", ".join(filter(None, (text, row.origin, would)))


_ACCESSORS: dict[int, Callable[[TreeModel, TreeNode, Row, Column], Any]] = {
    int(Qt.ItemDataRole.DisplayRole): lambda _m, _n, row, column: display(row, column),
    int(Qt.ItemDataRole.EditRole): lambda _m, _n, row, _c: str(row.key),
    int(Qt.ItemDataRole.ToolTipRole): lambda _m, node, row, _c: tooltip(row, node.path),
    int(Qt.ItemDataRole.AccessibleTextRole): _accessible,
    Role.PATH: lambda _m, node, _r, _c: node.path,
    Role.TREE: lambda _m, node, _r, _c: node.tree,
    Role.ROW: lambda _m, _n, row, _c: row,
    Role.MARK: lambda _m, _n, row, _c: row.origin,
    Role.PLAN_MARK: lambda model, node, _r, _c: model.plan_mark(node),
    Role.ERROR: lambda _m, _n, row, _c: row.error,
}
"""What answers each role of a row that is there."""
