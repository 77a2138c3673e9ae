"""What the panels of sources and target share: title, filter, banners, tree.

The subclasses in `sources` and `target` say what the tree is about.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QMenu,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.document import Changes
from inspector.ui import format as fmt
from inspector.ui.actions import ActionId, ActionSet, Scope
from inspector.ui.banner_stack import BannerStack
from inspector.ui.dock_title import DockTitle
from inspector.ui.document_mirror import DocumentMirror
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE
from inspector.ui.tree_view import TreeView
from inspector.ui.welcome import Invitation
from inspector.variables.path import TreePath, quote

FILTER_DELAY_MS = 150
"""How long typing must pause before the filter is asked for."""


_FILTER_HINT = "Filter: name, */kernel, **/Conv_*"
_MOST_SENTENCES = 3


class FilterField(QLineEdit):
    """A search field; Escape empties it, Down goes to the tree.

    Signals:
        settled: The text, when typing paused.
        left: The person wants to go on in the tree.
    """

    settled = Signal(str)
    left = Signal()

    def __init__(self, placeholder: str, name: str, parent: QWidget) -> None:
        """Starts empty."""
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(placeholder)
        self.setPlaceholderText(placeholder)
        self.setClearButtonEnabled(True)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(FILTER_DELAY_MS)
        self._timer.timeout.connect(self._on_pause)
        self.textChanged.connect(self._on_text)

    @property
    def is_settled(self) -> bool:
        """Whether what is typed has been asked for."""
        return not self._timer.isActive()

    def _on_text(self, _text: str) -> None:
        self._timer.start()

    def _on_pause(self) -> None:
        self.settled.emit(self.text().strip())

    # Overrides of Qt.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handles Escape, Return and Down; types everything else."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() in {Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class TreePanel(QFrame):
    """A panel around a tree.

    Attributes:
        client: Whom it asks.
        theme: Colours and fonts.
        mirror: What the document is.
        actions_: Actions for context menus.
        banners: Messages above the tree.
        filter: The search field.
        title: What the window shows above the panel.

    Signals:
        node_chosen: (tree, path) became the current node.
    """

    node_chosen = Signal(str, object)

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        mirror: DocumentMirror,
        actions: ActionSet,
        parent: QWidget,
        *,
        caption: str,
    ) -> None:
        """Makes the parts; a subclass calls `mount` with its tree."""
        super().__init__(parent)
        self.client, self.theme, self.mirror = client, theme, mirror
        self.actions_ = actions
        self.setProperty("look", "panel")
        self.setObjectName(f"{caption.lower()}Panel")
        self.setAccessibleName(caption)
        self.banners = BannerStack(theme, self)
        self.title = DockTitle(theme, caption, parent)
        self._content = QWidget(self)
        self._stack = QStackedLayout(self._content)
        self._stack.setContentsMargins(0, 0, 0, 0)

    def mount(
        self,
        tree: TreeView,
        end: QWidget,
        *,
        name: str,
        invitation: str,
        actions: tuple[ActionId, ...],
    ) -> None:
        """Lays the panel out, without anything to list yet.

        Args:
            tree: The tree.
            end: Widget at the right end of the title.
            name: Begins the object names of the tree and its filter.
            invitation: What to say while there is nothing to list.
            actions: A button each below the invitation.
        """
        caption = self.accessibleName()
        tree.setObjectName(f"{name}Tree")
        tree.setAccessibleName(f"Tree of the {caption.lower()}")
        filter_field = FilterField(_FILTER_HINT, f"{name}Filter", self)
        filter_field.setAccessibleName(f"Filter of the {caption.lower()}")
        empty = Invitation(
            self.theme,
            invitation,
            tuple(self.actions_[action_id] for action_id in actions),
            parent=self,
            name=f"{caption.lower()}Empty",
        )
        self.tree_view, self.filter, self._empty = tree, filter_field, empty
        self._stack.addWidget(tree)
        self._stack.addWidget(empty)
        self.title.add_end(end)
        column = QVBoxLayout(self)
        # The tree reaches further out than the field: its rows bring air of their own.
        column.setContentsMargins(SPACE, 2 * SPACE, SPACE, 2 * SPACE)
        column.setSpacing(SPACE)
        head = QVBoxLayout()
        head.setContentsMargins(SPACE, 0, SPACE, 0)
        head.setSpacing(2 * SPACE)
        head.addWidget(filter_field)
        head.addWidget(self.banners)
        column.addLayout(head)
        column.addWidget(self._content, 1)
        tree.chosen.connect(self.node_chosen)
        tree.customContextMenuRequested.connect(self._on_menu)
        filter_field.settled.connect(self._on_filter)
        filter_field.left.connect(self._on_filter_left)
        for action in self.actions_.scoped(Scope.TREES):
            tree.addAction(action)
        self.set_empty(empty=True)
        self.client.changed.connect(self.on_changes)
        self.mirror.updated.connect(self.on_document)

    def set_empty(self, *, empty: bool) -> None:
        """Shows the invitation in place of the tree, or the tree again."""
        self._stack.setCurrentWidget(self._empty if empty else self.tree_view)
        self.filter.setEnabled(not empty)

    @property
    def is_dirty(self) -> bool:
        """Whether what is shown is still on its way."""
        return self.tree_view.tree_model.is_loading or not self.filter.is_settled

    def focus_filter(self) -> None:
        """Goes to the search field."""
        self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.filter.selectAll()

    def focus_tree(self) -> None:
        """Goes to the tree, choosing its first row when none is."""
        view = self.tree_view
        if not view.currentIndex().isValid():
            view.setCurrentIndex(view.model().index(0, 0))
        view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def copy_path(self) -> None:
        """Copies the path of the current node as the command line takes it."""
        current = self.tree_view.current()
        if current is not None:
            QApplication.clipboard().setText(quote(current[1]) or "/")

    def menu_ids(self) -> tuple[ActionId | None, ...]:
        """Returns what the context menu of a node offers; None separates."""
        raise NotImplementedError

    def extend_menu(self, menu: QMenu) -> None:
        """Adds what depends on the node to its context menu."""

    def on_changes(self, changes: Changes) -> None:
        """Refreshes after a change; called by the client."""
        raise NotImplementedError

    def on_document(self) -> None:
        """Refreshes titles and counts; called by the mirror."""
        raise NotImplementedError

    def reveal(self, tree: str, path: TreePath) -> None:
        """Shows a node, taking the filter away when it is hidden by it."""
        if self.filter.text():
            self.filter.clear()
            self._on_filter("")
        self.tree_view.reveal(tree, path)

    def _on_filter(self, query: str) -> None:
        self.tree_view.state_keeper.forget_query()
        self.tree_view.tree_model.set_query(query)

    def _on_filter_left(self) -> None:
        self.focus_tree()

    def _on_menu(self, position: QPoint) -> None:
        index = self.tree_view.indexAt(position)
        if not index.isValid():
            return
        menu = QMenu(self)
        menu.setObjectName(f"{self.tree_view.objectName()}Menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action_id in self.menu_ids():
            action: QAction | None = None
            if action_id is not None:
                action = self.actions_[action_id]
            if action is None:
                menu.addSeparator()
            else:
                menu.addAction(action)
        self.extend_menu(menu)
        menu.popup(self.tree_view.viewport().mapToGlobal(position))


def first_of(sentences: tuple[str, ...], noun: str) -> str:
    """Returns the first few sentences, a line each; the log has them all.

    Args:
        sentences: What there is to say.
        noun: What one of them is called.
    """
    lines = list(sentences[:_MOST_SENTENCES])
    if len(sentences) > len(lines):
        more = fmt.plural(len(sentences) - len(lines), f"more {noun}")
        lines.append(f"… and {more}; the log has them all.")
    return "\n".join(lines)
