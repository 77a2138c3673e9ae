"""The view of a tree: looks, keyboard, and keeping its place.

`TreeView` is what source and target share; `SourceTreeView` lets nodes be dragged
out, `TargetTreeView` is dragged onto. What a drop does belongs to `drag`.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import (
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QPainter,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from inspector.ui import format as fmt
from inspector.ui.delegates import TreeDelegate
from inspector.ui.drag_data import DraggedNodes, from_mime
from inspector.ui.models.roles import Column, Role
from inspector.ui.models.tree_model import TreeModel
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE
from inspector.ui.tree_columns import NAME_COMFORT, WIDTHS, fitting_widths
from inspector.ui.tree_state import TreeState
from inspector.variables.path import TreePath

_EXPAND_DELAY_MS = 500


class TreeView(QTreeView):
    """A tree of the store.

    Signals:
        chosen: (tree, path) of the node that became the current one.
    """

    chosen = Signal(str, object)

    def __init__(self, model: TreeModel, theme: Theme, parent: QWidget) -> None:
        """Shows a model; the view keeps its place when the model changes."""
        super().__init__(parent)
        self.theme = theme
        self.setModel(model)
        self.delegate = TreeDelegate(theme, self)
        self.setItemDelegate(self.delegate)
        self.setUniformRowHeights(True)
        self.setMouseTracking(True)
        self.setIndentation(3 * SPACE)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setAutoExpandDelay(_EXPAND_DELAY_MS)
        self.setAutoScroll(True)
        self.setDropIndicatorShown(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._set_up_header()
        self.state_keeper = TreeState(self, model)
        self.selectionModel().currentChanged.connect(self._on_current)
        model.refreshed.connect(self.viewport().update)
        theme.changed.connect(self.viewport().update)

    @property
    def tree_model(self) -> TreeModel:
        """The model, as what it is."""
        model = self.model()
        assert isinstance(model, TreeModel)
        return model

    def current(self) -> tuple[str, TreePath] | None:
        """Returns tree and path of the current node; None without one."""
        node = self.tree_model.node(self.currentIndex())
        if node is None or not self.currentIndex().isValid():
            return None
        return node.tree, node.path

    def selected_paths(self) -> list[TreePath]:
        """Returns the paths of the selected nodes, without those below another."""
        paths = [
            path
            for index in self.selectionModel().selectedRows()
            if (path := index.data(Role.PATH)) is not None
        ]
        chosen = set(paths)
        return [
            path
            for path in paths
            if not any(path[:length] in chosen for length in range(len(path)))
        ]

    def visible_paths(self) -> list[TreePath]:
        """Returns the paths of the rows in the viewport."""
        paths: list[TreePath] = []
        index = self.indexAt(QPoint(1, 1))
        bottom = self.viewport().rect().bottom()
        while index.isValid() and self.visualRect(index).top() <= bottom:
            path = index.data(Role.PATH)
            if path is not None:
                paths.append(path)
            index = self.indexBelow(index)
        return paths

    def expand_below(self, index: QModelIndex, limit: int = 1000) -> None:
        """Expands a node and what is below it, as far as pages arrive."""
        node = self.tree_model.node(index)
        if node is not None and not node.gone:
            self.state_keeper.expand_all_below(node.tree, node.path, limit)

    def reveal(self, tree: str, path: TreePath) -> None:
        """Makes a node the current one, expanding and loading what leads there."""
        self.state_keeper.reveal(tree, path)

    def _set_up_header(self) -> None:
        self._widths = dict(WIDTHS)
        self._is_fitting = False
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionsMovable(False)
        header.setHighlightSections(False)
        header.setMinimumSectionSize(48)
        header.setSectionResizeMode(Column.NAME, QHeaderView.ResizeMode.Stretch)
        for column, width in WIDTHS.items():
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            header.resizeSection(column, width)
        header.sectionResized.connect(self._on_resized)

    def _on_resized(self, section: int, _old: int, new: int) -> None:
        """Keeps the width that the person gave a column."""
        if not self._is_fitting and new and section != Column.NAME:
            self._widths[Column(section)] = new

    def _fit_columns(self) -> None:
        """Hides counts, then narrows the shape, where the names want the room."""
        wanted = fitting_widths(self.viewport().width(), self._widths)
        self._is_fitting = True
        for column in WIDTHS:
            self.setColumnHidden(column, column not in wanted)
            if column in wanted:
                self.header().resizeSection(column, wanted[column])
        self._is_fitting = False

    def _on_current(self, current: QModelIndex, _previous: QModelIndex) -> None:
        node = self.tree_model.node(current)
        if node is not None and current.isValid():
            self.chosen.emit(node.tree, node.path)

    # Overrides of Qt.

    def drawRow(
        self,
        painter: QPainter,
        options: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paints the surface of a selected row from edge to edge."""
        if self.selectionModel().isSelected(index):
            name = "selection" if self.hasFocus() else "selection_quiet"
            painter.fillRect(options.rect, self.theme.color(name))
        super().drawRow(painter, options, index)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Selects the current row where Qt would make it current alone."""
        super().focusInEvent(event)
        current = self.currentIndex()
        if current.isValid() and not self.selectionModel().hasSelection():
            self.setCurrentIndex(QModelIndex())
            self.setCurrentIndex(current)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shows as many columns as fit."""
        super().resizeEvent(event)
        self._fit_columns()

    def sizeHint(self) -> QSize:
        """Asks for room for the names and all columns."""
        return QSize(NAME_COMFORT + sum(WIDTHS.values()), 400)


class SourceTreeView(TreeView):
    """The open sources; nodes are dragged out of it."""

    def __init__(self, model: TreeModel, theme: Theme, parent: QWidget) -> None:
        """Shows the sources."""
        super().__init__(model, theme, parent)
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)

    def dragged(self) -> DraggedNodes | None:
        """Returns what a drag or a copy of the current node carries."""
        node = self.tree_model.node(self.currentIndex())
        if node is None or node.row is None or not node.tree:
            return None
        top = node
        while not top.is_root and top.parent is not None:
            top = top.parent
        name = str(top.row.key) if top.row is not None else node.tree
        return DraggedNodes(node.tree, name, (node.path,))

    # Overrides of Qt.

    def startDrag(self, supported: Qt.DropAction) -> None:
        """Drags the current node under a label that names it."""
        del supported
        nodes = self.dragged()
        node = self.tree_model.node(self.currentIndex())
        if nodes is None or node is None or node.row is None:
            return
        drag = QDrag(self)
        drag.setMimeData(nodes.to_mime())
        text = f"{node.row.key}  ·  {fmt.plural(node.row.leaves, 'leaf', 'leaves')}"
        drag.setPixmap(_label(text, self.theme, self.devicePixelRatioF()))
        drag.setHotSpot(QPoint(-3 * SPACE, -2 * SPACE))
        drag.exec(Qt.DropAction.CopyAction)


class TargetTreeView(TreeView):
    """The target; nodes of sources are dragged onto it.

    Signals:
        hovered: (`DraggedNodes`, path): a drag is over the node, ``()`` for none.
        hover_ended: The drag left or was dropped.
        dropped: (`DraggedNodes`, path).
    """

    hovered = Signal(object, object)
    hover_ended = Signal()
    dropped = Signal(object, object)

    def __init__(self, model: TreeModel, theme: Theme, parent: QWidget) -> None:
        """Shows the target."""
        super().__init__(model, theme, parent)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setAcceptDrops(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DropOnly)
        self.setDragDropOverwriteMode(True)
        self._drop_index: QModelIndex | None = None

    def _path_at(self, position: QPoint) -> TreePath:
        index = self.indexAt(position)
        path = index.data(Role.PATH) if index.isValid() else None
        return path if path is not None else ()

    def _end_hover(self) -> None:
        self._drop_index = None
        self.stopAutoScroll()
        self.setState(QAbstractItemView.State.NoState)
        self.viewport().update()
        self.hover_ended.emit()

    # Overrides of Qt.

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Takes nodes of sources; everything else is for the window."""
        if from_mime(event.mimeData()) is None:
            event.ignore()
            return
        super().dragEnterEvent(event)
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Tells what the drag is over; Qt scrolls and expands meanwhile."""
        nodes = from_mime(event.mimeData())
        if nodes is None:
            event.ignore()
            return
        super().dragMoveEvent(event)
        position = event.position().toPoint()
        index = self.indexAt(position).siblingAtColumn(0)
        if self._drop_index is None or index != self._drop_index:
            self._drop_index = QModelIndex(index)
            self.viewport().update()
        self.hovered.emit(nodes, self._path_at(position))
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Ends the preview."""
        super().dragLeaveEvent(event)
        self._end_hover()

    def dropEvent(self, event: QDropEvent) -> None:
        """Hands the drop on; the model changes when the store says so."""
        nodes = from_mime(event.mimeData())
        if nodes is None:
            event.ignore()
            return
        path = self._path_at(event.position().toPoint())
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self._end_hover()
        self.dropped.emit(nodes, path)

    def drawRow(
        self,
        painter: QPainter,
        options: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Frames the row that a drag is over."""
        super().drawRow(painter, options, index)
        drop = self._drop_index
        if drop is None or not drop.isValid() or index != drop:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.theme.color("accent"), 1.5))
        frame = options.rect.adjusted(1, 1, -1, -1)
        frame.setLeft(max(frame.left(), self.visualRect(drop).left()))
        painter.drawRoundedRect(frame, SPACE, SPACE)
        painter.restore()


def _label(text: str, theme: Theme, ratio: float) -> QPixmap:
    """Returns the label that a drag carries under the mouse."""
    font = theme.font()
    probe = QPixmap(1, 1)
    painter = QPainter(probe)
    painter.setFont(font)
    width = painter.fontMetrics().horizontalAdvance(text) + 4 * SPACE
    height = painter.fontMetrics().height() + 2 * SPACE
    painter.end()
    pixmap = QPixmap(int(width * ratio), int(height * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(theme.color("accent"))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.drawRoundedRect(0, 0, width, height, 6, 6)
    painter.setFont(font)
    painter.setPen(theme.color("on_accent"))
    painter.drawText(0, 0, width, height, int(Qt.AlignmentFlag.AlignCenter), text)
    painter.end()
    return pixmap
