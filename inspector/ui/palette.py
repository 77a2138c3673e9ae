"""The command palette: any command, node or recent file by a few letters.

Opened by Ctrl+K or a click on the search field; keyboard only is enough. Actions come
from the window's table, nodes from the store's search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.viewing import Hits, Search
from inspector.ui.models.palette_model import (
    ENTRY_ROLE,
    EntryKind,
    PaletteEntry,
    PaletteModel,
)
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.variables.path import join

_WIDTH, _HEIGHT, _ROW = 560, 420, 28
_LEAST_QUERY = 2
_MOST_HITS = 40


class _Delegate(QStyledItemDelegate):
    """A row: text at the left, hint at the right."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        """Keeps the theme for colours and fonts."""
        super().__init__(parent)
        self._theme = theme

    # Qt overrides

    def sizeHint(
        self,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> QSize:
        """Overridden: rows of one height."""
        del index
        return QSize(option.rect.width(), _ROW)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Overridden: paints surface, text and hint."""
        entry: PaletteEntry = index.data(ENTRY_ROLE)
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, self._theme.color("selection"))
        area = option.rect.adjusted(12, 0, -12, 0)
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("secondary" if entry.enabled else "disabled"))
        hint_width = painter.fontMetrics().horizontalAdvance(entry.hint)
        painter.drawText(
            area,
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
            entry.hint,
        )
        is_node = entry.kind is EntryKind.NODE
        painter.setFont(self._theme.mono_font() if is_node else self._theme.font())
        painter.setPen(self._theme.color("text" if entry.enabled else "disabled"))
        room = area.adjusted(0, 0, -hint_width - 16, 0)
        text = painter.fontMetrics().elidedText(
            entry.text, Qt.TextElideMode.ElideMiddle, room.width()
        )
        painter.drawText(
            room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text
        )
        painter.restore()


class CommandPalette(QFrame):
    """A field and a list over the window's top.

    Signals:
        node_chosen: (tree, path) of a node to show.
        file_chosen: Path of a recent file to open.
    """

    node_chosen = Signal(str, object)
    file_chosen = Signal(str)

    def __init__(
        self,
        parent: QWidget,
        actions: Iterable[QAction],
        client: StoreClient,
        theme: Theme,
    ) -> None:
        """Starts hidden.

        Args:
            parent: The window; the palette lies over it.
            actions: What it offers as commands, in the table's order.
            client: Searches nodes.
            theme: Colours and fonts.
        """
        super().__init__(parent, Qt.WindowType.Popup)
        self._window = parent
        self._actions = tuple(actions)
        self._client = client
        self._names: dict[str, str] = {}
        self._has_moved = False
        self._files: tuple[str, ...] = ()
        self.setObjectName("commandPalette")
        self.setAccessibleName("Command palette")
        self.setProperty("look", "panel")
        self.field = QLineEdit(self)
        self.field.setObjectName("paletteField")
        self.field.setAccessibleName("Search leaves and commands")
        self.field.setPlaceholderText("A command, a leaf, a recent file")
        self.field.textChanged.connect(self._on_text)
        self.field.installEventFilter(self)
        self.model = PaletteModel(self)
        self.list = QListView(self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(_Delegate(theme, self))
        self.list.setObjectName("paletteList")
        self.list.setAccessibleName("Matches")
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.clicked.connect(self._on_clicked)
        self.foot = QLabel(self)
        self.foot.setProperty("look", "small")
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(8)
        column.addWidget(self.field)
        column.addWidget(self.list, 1)
        column.addWidget(self.foot)
        self.resize(_WIDTH, _HEIGHT)

    def set_tree_names(self, names: dict[str, str]) -> None:
        """Sets what the trees are called: id of a source or "target" -> name."""
        self._names = dict(names)

    def set_recent_files(self, files: Sequence[str]) -> None:
        """Sets the files that were opened last, newest first."""
        self._files = tuple(files)

    def open_at(self, anchor: QRect | None = None) -> None:
        """Shows the palette, empty, below an area of the parent.

        Args:
            anchor: Area in the parent's coordinates; None for its top middle.
        """
        self.model.set_fixed([*self._commands(), *self._recent()])
        self.field.clear()
        self._on_text("")
        window = self._window
        width = min(_WIDTH, window.width() - 32)
        self.resize(width, min(_HEIGHT, window.height() - 64))
        middle = anchor.center().x() if anchor else window.width() // 2
        top = anchor.top() - 8 if anchor else 32
        left = min(max(16, middle - width // 2), window.width() - width - 16)
        self.move(window.mapToGlobal(QPoint(left, top)))
        self.show()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def _commands(self) -> list[PaletteEntry]:
        return [
            PaletteEntry(
                EntryKind.COMMAND,
                str(action.property("accessibleName") or _plain(action.text())),
                action.shortcut().toString(QKeySequence.SequenceFormat.NativeText),
                action,
                action.isEnabled(),
            )
            for action in self._actions
            if action.objectName() != "action.commandPalette"
        ]

    def _recent(self) -> list[PaletteEntry]:
        return [
            PaletteEntry(EntryKind.FILE, f"Open {Path(file).name}", _folder(file), file)
            for file in self._files
        ]

    def choose(self, index: QModelIndex) -> None:
        """Does what an entry stands for and closes."""
        if not index.isValid():
            return
        entry = self.model.entry(index.row())
        if not entry.enabled:
            return
        self.hide()
        if entry.kind is EntryKind.COMMAND:
            entry.key.trigger()
        elif entry.kind is EntryKind.NODE:
            self.node_chosen.emit(*entry.key)
        else:
            self.file_chosen.emit(entry.key)

    def _on_text(self, text: str) -> None:
        self._has_moved = False
        self.model.set_query(text)
        self._select_first()
        self.foot.setText("↑ ↓ to move, Enter to choose, Escape to close")
        if len(text.strip()) < _LEAST_QUERY:
            self._client.drop(self, "search")
            return
        self._client.ask(
            Search(text.strip(), _MOST_HITS),
            owner=self,
            on_reply=self._on_hits,
            on_failure=lambda error: self.foot.setText(error.message),
            slot="search",
        )

    def _on_hits(self, hits: Hits) -> None:
        chosen = self._current_key()
        self.model.set_nodes(
            [
                PaletteEntry(
                    EntryKind.NODE,
                    join(path),
                    self._names.get(tree, tree),
                    (tree, path),
                )
                for tree, path in hits.hits
            ]
        )
        self._select(chosen)
        if hits.total > len(hits.hits):
            self.foot.setText(f"{len(hits.hits)} of {hits.total:,} matching nodes")

    def _current_key(self) -> object:
        index = self.list.currentIndex()
        return self.model.entry(index.row()).key if index.isValid() else None

    def _select(self, key: object) -> None:
        """Keeps what the person had moved to, though better matches may come above."""
        for row in range(self.model.rowCount()):
            if self._has_moved and self.model.entry(row).key == key:
                self.list.setCurrentIndex(self.model.index(row))
                return
        self._select_first()

    def _select_first(self) -> None:
        self.list.setCurrentIndex(self.model.index(0))

    def _on_clicked(self, index: QModelIndex) -> None:
        self.choose(index)

    def _move(self, step: int) -> None:
        rows = self.model.rowCount()
        if rows:
            self._has_moved = True
            row = (self.list.currentIndex().row() + step) % rows
            self.list.setCurrentIndex(self.model.index(row))

    # Qt overrides

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Overridden: arrows and Enter in the field work on the list."""
        if watched is not self.field or not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        if event.type() != QEvent.Type.KeyPress:
            return False
        steps = {
            Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1,
            Qt.Key.Key_PageDown: 10, Qt.Key.Key_PageUp: -10,
        }  # fmt: skip
        key = Qt.Key(event.key())
        if key in steps:
            self._move(steps[key])
            return True
        if key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.choose(self.list.currentIndex())
            return True
        if key == Qt.Key.Key_Escape:
            self.hide()
            return True
        return False


def _plain(text: str) -> str:
    return text.replace("&", "").rstrip("…")


def _folder(file: str) -> str:
    return str(Path(file).parent)
