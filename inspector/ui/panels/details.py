"""The details panel: everything about the node that was chosen last.

The window calls `show_node`; the panel asks the store, lets the viewers show what
suits the node, and refreshes itself after `Changes`. Clicking around quickly drops
what an earlier click asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QLabel,
    QStackedLayout,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.document import TARGET, Changes
from inspector.engine.messages.reading import Numbers, StatisticsReply
from inspector.engine.messages.viewing import Describe, Details, ReadNumbers
from inspector.errors import ErrorInfo
from inspector.ui.panels.details_header import DetailsHeader
from inspector.ui.panels.details_page import ViewerPage
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE
from inspector.ui.viewers import registry
from inspector.ui.viewers.statistics_strip import StatisticsStrip
from inspector.ui.viewers.viewer import Viewer
from inspector.variables.path import TreePath, is_prefix, join

_INVITATION = "Choose a leaf on the left to see its numbers."


class DetailsPanel(QWidget):
    """Head, statistics and viewers of one node.

    Signals:
        node_chosen: (tree, path): the person wants to see another node.
    """

    node_chosen = Signal(str, object)

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        name_of: Callable[[str], str] = lambda _tree: "",
    ) -> None:
        """Starts with an invitation.

        Args:
            client: The store.
            theme: Colours and fonts.
            parent: Owner.
            name_of: Gives the name of a tree, the title of its root.
        """
        super().__init__(parent)
        self._name_of = name_of
        self._client = client
        self._theme = theme
        self._place: tuple[str, TreePath] | None = None
        self._details: Details | None = None
        self._statistics: StatisticsReply | None = None
        self._is_dirty = False
        self._is_arranging = False
        self._preferred = ""
        self._pages: dict[type[Viewer], ViewerPage] = {}
        self.header = DetailsHeader(theme, self)
        self.strip = StatisticsStrip(client, theme, self)
        self.tabs = QTabWidget(self)
        self._stack = QStackedLayout()
        self._lay_out()
        self.strip.arrived.connect(self._on_statistics)
        self.strip.make_asked.connect(self._on_make)
        self.tabs.currentChanged.connect(self._on_tab)
        client.changed.connect(self._on_changed)
        client.started.connect(self.refresh)

    def _lay_out(self) -> None:
        self.setObjectName("details")
        self.setAccessibleName("Details")
        self.tabs.setObjectName("detailTabs")
        self.tabs.setAccessibleName("Views of the node")
        self.tabs.setDocumentMode(True)
        invitation = QLabel(_INVITATION, self)
        invitation.setAlignment(Qt.AlignmentFlag.AlignCenter)
        invitation.setWordWrap(True)
        invitation.setProperty("look", "secondary")
        invitation.setObjectName("detailsInvitation")
        content = QWidget(self)
        column = QVBoxLayout(content)
        column.setContentsMargins(3 * SPACE, 2 * SPACE, 3 * SPACE, 2 * SPACE)
        column.setSpacing(2 * SPACE)
        column.addWidget(self.header)
        column.addWidget(self.strip)
        column.addWidget(self.tabs, 1)
        # Without tabs (an unreadable leaf) the head stays at the top.
        column.addStretch(0)
        self._stack.addWidget(invitation)
        self._stack.addWidget(content)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addLayout(self._stack)
        self.setMinimumWidth(300)

    @property
    def place(self) -> tuple[str, TreePath] | None:
        """(tree, path) of the node that is shown; None for none."""
        return self._place

    @property
    def details(self) -> Details | None:
        """What the store said of the node; None until it has answered."""
        return self._details

    @property
    def is_settled(self) -> bool:
        """Whether the viewer in front is made; what it asks for is known elsewhere."""
        page = self.tabs.currentWidget()
        viewer = page.viewer if isinstance(page, ViewerPage) else None
        return viewer is None or viewer.is_ready

    def show_node(self, tree: str, path: TreePath) -> None:
        """Shows a node: `document.TARGET` or the id of a source, and a path."""
        if self._place != (tree, path):
            self._place = (tree, path)
            self.header.show_path(path, self._name_of(tree))
        self._stack.setCurrentIndex(1)
        self.refresh()

    def show_nothing(self) -> None:
        """Goes back to the invitation."""
        self._place = self._details = None
        self._client.drop(self, "describe")
        self._clear_viewers()
        self._stack.setCurrentIndex(0)

    def refresh(self) -> None:
        """Asks for the node again; a hidden panel waits until it is seen."""
        self._is_dirty = not self.isVisible()
        if self._place is None or self._is_dirty:
            return
        tree, path = self._place
        self._client.ask(
            Describe(tree, path),
            owner=self,
            on_reply=self._on_details,
            on_failure=self._on_failure,
            slot="describe",
        )

    def viewer(self, title: str) -> Viewer | None:
        """Returns the viewer of a tab, None when it is not there or not made yet."""
        for page in self._pages.values():
            if page.kind.title == title and self.tabs.indexOf(page) >= 0:
                return page.viewer
        return None

    def _on_details(self, details: Details) -> None:
        self._details = details
        self.header.show_details(details, self._name_of(details.tree))
        for page in self._pages.values():
            page.is_stale = True
        self.strip.setVisible(details.has_numbers)
        self._arrange_tabs(details)
        if details.has_numbers:
            self.strip.show_details(details)
        else:
            self.strip.clear()
        self._show_current()

    def _arrange_tabs(self, details: Details) -> None:
        """Makes the tabs those that suit the node; the person's choice stays."""
        kinds = registry.fitting(details)
        shown = [self.tabs.widget(i) for i in range(self.tabs.count())]
        wanted = [self._page(kind) for kind in kinds]
        self._is_arranging = True
        if shown != wanted:
            self.tabs.clear()
            for page in wanted:
                self.tabs.addTab(page, page.kind.title)
            for page in self._pages.values():
                if page not in wanted and page.viewer is not None:
                    page.viewer.clear()
            titles = [kind.title for kind in kinds]
            best = registry.best(details)
            if self._preferred in titles:
                self.tabs.setCurrentIndex(titles.index(self._preferred))
            elif best is not None:
                self.tabs.setCurrentIndex(kinds.index(best))
        self._is_arranging = False
        # Numbers that have not been made yet leave nothing to look at.
        self.tabs.setVisible(
            bool(wanted) and (details.ready or not details.has_numbers)
        )

    def _page(self, kind: type[Viewer]) -> ViewerPage:
        if kind not in self._pages:
            self._pages[kind] = ViewerPage(kind, self)
        return self._pages[kind]

    def _show_current(self) -> None:
        page = self.tabs.currentWidget()
        if (
            not isinstance(page, ViewerPage)
            or self._details is None
            or not page.is_stale
        ):
            return
        is_new = page.viewer is None
        viewer = page.make_viewer(self._client, self._theme)
        if is_new:
            viewer.node_chosen.connect(self.node_chosen)
        page.is_stale = False
        viewer.show_details(self._details)
        viewer.show_statistics(self._statistics)

    def _clear_viewers(self) -> None:
        self.strip.clear()
        for page in self._pages.values():
            page.is_stale = True
            if page.viewer is not None:
                page.viewer.clear()

    def _on_failure(self, error: ErrorInfo) -> None:
        self._details = None
        self._clear_viewers()
        self.strip.hide()
        self.tabs.hide()
        self.header.show_failure(error)

    def _on_statistics(self, statistics: StatisticsReply | None) -> None:
        self._statistics = statistics
        page = self.tabs.currentWidget()
        if isinstance(page, ViewerPage) and page.viewer is not None:
            page.viewer.show_statistics(statistics)

    def _on_make(self) -> None:
        """Reads one number of an initial value, which makes the value first."""
        details = self._details
        if details is None:
            return
        self.strip.progress.start()
        self._client.ask(
            ReadNumbers(
                details.tree,
                details.path,
                tuple((0, min(1, n)) for n in details.row.shape),
            ),
            owner=self,
            on_reply=self._on_made,
            on_failure=self._on_not_made,
            on_cancelled=self.strip.progress.stop,
            slot="make",
            activity=f"Initial value of {join(details.path)}",
        )

    def _on_made(self, numbers: Numbers) -> None:
        del numbers
        self.strip.progress.stop()
        self.refresh()

    def _on_not_made(self, error: ErrorInfo) -> None:
        self.strip.progress.stop()
        self.header.banner.show_error(error)

    def _on_tab(self, index: int) -> None:
        if self._is_arranging or index < 0:
            return
        self._preferred = self.tabs.tabText(index)
        self._show_current()

    def _on_changed(self, changes: Changes) -> None:
        if self._place is None:
            return
        tree, path = self._place
        if tree != TARGET:
            concerned = changes.sources
        else:
            concerned = changes.base or (
                (changes.structure or changes.values) and _touches(changes.paths, path)
            )
        if concerned:
            self.refresh()

    # Qt overrides

    def showEvent(self, event: QShowEvent) -> None:
        """Overridden: catches up with what changed while the panel was hidden."""
        super().showEvent(event)
        if self._is_dirty:
            self.refresh()


def _touches(paths: tuple[TreePath, ...], path: TreePath) -> bool:
    """Returns whether any changed path lies above, at or below the shown one."""
    return not paths or any(
        is_prefix(changed, path) or is_prefix(path, changed) for changed in paths
    )
