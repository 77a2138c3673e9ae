"""What a branch holds: its dtypes and its children, in two small tables."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.viewing import AskChildren, ChildPage, Details, Row
from inspector.errors import ErrorInfo
from inspector.ui import format as fmt
from inspector.ui.models.summary_model import Cell, CellTable
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import ROW_HEIGHT
from inspector.ui.viewers.cell_delegate import CellDelegate
from inspector.ui.viewers.viewer import Viewer
from inspector.variables.path import Key
from inspector.variables.tree import Container

MOST_CHILDREN = 200
"""Children that are listed; the tree shows the others."""

_HEADER_HEIGHT = 26
_NAME_LEAST = 96
_WIDTHS = {"arrays": 60, "leaves": 60, "params": 64, "bytes": 76, "dtype": 80,
           "share": 68}  # fmt: skip
_HIDE_ORDER = ("share", "dtype", "leaves", "arrays", "params")
"""Columns in the order in which they go when the panel is narrow."""
_LEAST_PERCENT = 0.1


class _NarrowTable(QTableView):
    """A table of whole rows that hides columns rather than scroll sideways."""

    def __init__(self, model: CellTable, parent: QWidget) -> None:
        """Shows the table."""
        super().__init__(parent)
        self.setModel(model)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setFixedHeight(_HEADER_HEIGHT)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for column in range(1, model.columnCount()):
            header.resizeSection(column, _WIDTHS[model.header(column)])
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._model = model

    # Qt overrides

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Overridden: shows the columns that there is room for."""
        super().resizeEvent(event)
        columns = {
            self._model.header(column): column
            for column in range(1, self._model.columnCount())
        }
        shown = dict(columns)
        for name in _HIDE_ORDER:
            if _NAME_LEAST + sum(_WIDTHS[one] for one in shown) <= (
                self.viewport().width()
            ):
                break
            shown.pop(name, None)
        for name, column in columns.items():
            self.setColumnHidden(column, name not in shown)


class SummaryViewer(Viewer):
    """Totals of a branch by dtype and by child."""

    title = "Summary"

    def __init__(
        self, client: StoreClient, theme: Theme, parent: QWidget | None = None
    ) -> None:
        """Makes the tables, empty."""
        super().__init__(client, theme, parent)
        self._details: Details | None = None
        self._keys: tuple[Key, ...] = ()
        self.dtypes = CellTable(("dtype", "arrays", "params", "bytes", "share"), self)
        self.children_table = CellTable(
            ("child", "dtype", "leaves", "params", "bytes"), self, left_aligned=2
        )
        self._dtype_view = self._make_view(self.dtypes, "dtypeTable", "Dtypes")
        self._child_view = self._make_view(
            self.children_table, "childTable", "Children of the branch"
        )
        self._child_view.activated.connect(self._on_activated)
        self.note = QLabel(self)
        self.note.setProperty("look", "small")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._dtype_view)
        column.addWidget(self._child_view, 1)
        column.addWidget(self.note)

    def _make_view(self, model: CellTable, name: str, accessible: str) -> QTableView:
        view = _NarrowTable(model, self)
        view.setObjectName(name)
        view.setAccessibleName(accessible)
        view.setItemDelegate(CellDelegate(self.theme, view))
        return view

    @staticmethod
    def fitness(details: Details) -> int:
        """Branches."""
        return 100 if details.row.kind in set(Container) else 0

    def show_details(self, details: Details) -> None:
        """Overridden: shows the dtypes and asks for the children."""
        known = self._details
        if known is None or (known.tree, known.path) != (details.tree, details.path):
            self.children_table.set_rows(())
        self._details = details
        self.dtypes.set_rows(
            [
                (
                    Cell(dtype),
                    Cell(fmt.count(leaves), fmt.exact_count(leaves)),
                    Cell(fmt.count(elements), fmt.exact_count(elements)),
                    Cell(fmt.size(nbytes), fmt.exact_size(nbytes)),
                    Cell(_percent(nbytes, details.row.nbytes)),
                )
                for dtype, leaves, elements, nbytes in details.dtypes
            ]
        )
        rows = len(details.dtypes)
        self._dtype_view.setFixedHeight(_HEADER_HEIGHT + rows * ROW_HEIGHT + 2)
        self._dtype_view.setVisible(bool(rows))
        self.client.ask(
            AskChildren(details.tree, details.path, count=MOST_CHILDREN),
            owner=self,
            on_reply=self._on_children,
            on_failure=self._on_failure,
            slot="children",
        )

    def clear(self) -> None:
        """Overridden: forgets the branch."""
        self.client.drop(self, "children")
        self._details = None
        self.dtypes.set_rows(())
        self.children_table.set_rows(())

    def _on_children(self, page: ChildPage) -> None:
        self._keys = tuple(row.key for row in page.rows)
        self.children_table.set_rows([_child_cells(row) for row in page.rows])
        shown = len(page.rows)
        cut = f"the first {shown:,} of {page.total:,} children"
        self.note.setText(cut if shown < page.total else "")

    def _on_failure(self, error: ErrorInfo) -> None:
        self.note.setText(error.message)

    def _on_activated(self, index: QModelIndex) -> None:
        if self._details is not None and index.row() < len(self._keys):
            path = (*self._details.path, self._keys[index.row()])
            self.node_chosen.emit(self._details.tree, path)


def _child_cells(row: Row) -> tuple[Cell, ...]:
    kind = fmt.array(row.dtype, row.shape) if row.dtype else row.kind
    is_branch = row.kind in set(Container)
    return (
        Cell(str(row.key)),
        Cell("" if is_branch else (row.dtype or row.kind), "" if is_branch else kind),
        Cell(fmt.count(row.leaves), fmt.exact_count(row.leaves)),
        Cell(fmt.count(row.parameters), fmt.exact_count(row.parameters)),
        Cell(fmt.size(row.nbytes), fmt.exact_size(row.nbytes)),
    )


def _percent(part: int, whole: int) -> str:
    if not whole:
        return "–"
    percent = 100 * part / whole
    return "< 0.1 %" if 0 < percent < _LEAST_PERCENT else f"{percent:.1f} %"
