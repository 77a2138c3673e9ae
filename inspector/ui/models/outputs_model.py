"""The outputs of a run, a row for each leaf, fetched by page as they come into view.

Owned by the page of outputs. Statistics are asked for the rows that are painted.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QObject, QTimer, Signal

from inspector.engine.messages.viewing import AskListing, ListedLeaf, ListingPage
from inspector.errors import ErrorInfo
from inspector.ui import format as fmt
from inspector.ui.models.leaf_statistics import Found, LeafStatistics
from inspector.ui.models.record_table import Column, Index, RecordTable
from inspector.ui.models.statistics_columns import statistics_columns
from inspector.ui.store_client import StoreClient
from inspector.variables.path import TreePath, join

_ROOT = QModelIndex()
_PAGE = 200
_ARRAYS = frozenset({"array", "random key"})


@dataclass(frozen=True, slots=True)
class Output:
    """One output.

    Attributes:
        leaf: Its path and what the store says of it.
        found: Its statistics; None for what has none.
    """

    leaf: ListedLeaf
    found: Found | None


def _shape(output: Output) -> str:
    row = output.leaf.row
    return fmt.shape(row.shape) if row.kind in _ARRAYS else row.value


COLUMNS = (
    Column(
        "output",
        lambda output: fmt.path(output.leaf.path, "output"),
        lambda output: join(output.leaf.path),
        look="mono",
    ),
    Column("shape", _shape, width=96, look="mono"),
    Column(
        "dtype",
        lambda output: output.leaf.row.dtype or output.leaf.row.kind,
        width=72,
        look="mono",
        rank=3,
    ),
    *statistics_columns(lambda output: output.found),
)
"""Columns of the table of outputs."""


class OutputsModel(RecordTable):
    """Leaves of one tree.

    Signals:
        failed: `ErrorInfo`: rows could not be had, e.g. the run is gone.
    """

    failed = Signal(object)

    def __init__(self, client: StoreClient, parent: QObject) -> None:
        """Shows nothing until `show_tree`."""
        super().__init__(COLUMNS, parent, path_of=lambda output: output.leaf.path)
        self._client = client
        self._tree = ""
        self._leaves: list[ListedLeaf | None] = []
        self._row_of: dict[TreePath, int] = {}
        self._asked: set[int] = set()
        self._wanted: set[int] = set()
        self._open = 0
        self._generation = 0
        self.statistics = LeafStatistics(client, self, self._on_statistics)
        self._fetch = QTimer(self)
        self._fetch.setSingleShot(True)
        self._fetch.setInterval(0)
        self._fetch.timeout.connect(self._ask_wanted)

    @property
    def is_loading(self) -> bool:
        """Whether rows or statistics are on their way."""
        return bool(self._open or self._wanted or self.statistics.is_busy)

    def show_tree(self, tree: str, leaves: int) -> None:
        """Shows another tree of so many leaves; an empty name shows nothing."""
        self._generation += 1
        self._tree = tree
        self._open = 0
        self._asked.clear()
        self._wanted.clear()
        self._row_of.clear()
        self.statistics.show_tree(tree)
        self.beginResetModel()
        self._leaves = [None] * (leaves if tree else 0)
        self.endResetModel()

    def record(self, row: int) -> Output | None:
        """Returns an output; one that is not there yet is asked for."""
        if not 0 <= row < len(self._leaves):
            return None
        leaf = self._leaves[row]
        if leaf is None:
            self._want(row // _PAGE)
            return None
        return Output(leaf, self._found(leaf))

    def _found(self, leaf: ListedLeaf) -> Found | None:
        if leaf.row.error:
            return Found(why=leaf.row.error)
        return self.statistics.look_up(leaf.path) if leaf.row.kind == "array" else None

    def _want(self, page: int) -> None:
        if page not in self._asked:
            self._wanted.add(page)
            if not self._fetch.isActive():
                self._fetch.start()

    def _ask_wanted(self) -> None:
        for page in sorted(self._wanted):
            self._asked.add(page)
            self._ask_rows(page * _PAGE, min((page + 1) * _PAGE, len(self._leaves)))
        self._wanted.clear()

    def _ask_rows(self, start: int, end: int) -> None:
        generation = self._generation

        def on_reply(reply: ListingPage) -> None:
            if generation != self._generation:
                return
            self._open -= 1
            self._put(start, reply)
            # The store sends fewer than asked for when a page would be too large.
            following = start + len(reply.leaves)
            if reply.leaves and following < min(end, reply.total):
                self._ask_rows(following, end)

        def on_failure(error: ErrorInfo) -> None:
            if generation == self._generation:
                # Without its rows a table would ask for them for ever.
                self.show_tree("", 0)
                self.failed.emit(error)

        self._open += 1
        self._client.ask(
            AskListing(self._tree, start, end - start),
            owner=self,
            on_reply=on_reply,
            on_failure=on_failure,
        )

    def _put(self, start: int, reply: ListingPage) -> None:
        last = start - 1
        for row, leaf in enumerate(reply.leaves, start):
            if row < len(self._leaves):
                self._leaves[row] = leaf
                self._row_of[leaf.path] = last = row
        if last >= start:
            end = self.index(last, len(self.columns) - 1)
            self.dataChanged.emit(self.index(start, 0), end)

    def _on_statistics(self, path: TreePath) -> None:
        row = self._row_of.get(path)
        if row is not None:
            self.tell_row(row)

    # Overrides of Qt.

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Counts the leaves."""
        return 0 if parent.isValid() else len(self._leaves)
