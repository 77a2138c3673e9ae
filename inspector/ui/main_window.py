"""The main window: puts the parts together and passes their signals on.

Made by `app`. Everything that decides about models lives in a panel, a controller
or an operation; here stands only who hears whom.
"""

from __future__ import annotations

from PySide6.QtCore import QSettings, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QMainWindow

from inspector.engine.messages.document import (
    Changes,
    EngineStatus,
    Notice,
    SourceInfo,
)
from inspector.engine.messages.viewing import PlanInfo
from inspector.errors import ErrorInfo
from inspector.ui import window_layout as layout
from inspector.ui.actions import ActionSet, UiContext
from inspector.ui.banner_stack import BannerStack
from inspector.ui.document_mirror import DocumentMirror
from inspector.ui.drag_data import from_mime, leave_text_on_clipboard
from inspector.ui.file_drop import FileDrop
from inspector.ui.notices import Notices
from inspector.ui.panels.details import DetailsPanel
from inspector.ui.panels.history import HistoryPanel
from inspector.ui.panels.log import LogPanel
from inspector.ui.panels.plan import PlanPanel
from inspector.ui.panels.run import RunPanel
from inspector.ui.panels.sources import SourcesPanel
from inspector.ui.panels.target import TargetPanel
from inspector.ui.recheck import RecheckOnReturn
from inspector.ui.reload import ReloadOffer
from inspector.ui.session_bar import SessionOffer
from inspector.ui.status_bar import StatusBar
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE
from inspector.ui.window_actions import Parts, WindowActions


class MainWindow(QMainWindow):
    """The window of one document.

    Attributes:
        client: The store.
        theme: Colours and fonts.
        notices: What has no place of its own.
        mirror: What the document is.
        actions_: Every action.
        handlers: What the actions do.
        sources: Panel of the sources.
        target: Panel of the target.
        details: Panel of one node.
        plan: Panel of a plan.
        run: Panel of a call and its results.
        history: Panel of the history.
        log: Panel of the log.
        docks: The docks around the target.
        sessions: Offers back what a crash left behind.
        reload: Offers to load a module again whose file changed.

    Signals:
        closing: The window was closed; its store is to end.
    """

    closing = Signal()

    def __init__(
        self, client: StoreClient, theme: Theme, notices: Notices, settings: QSettings
    ) -> None:
        """Makes every part; asks nothing by itself."""
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("Flax Inspector")
        self.client, self.theme, self.notices = client, theme, notices
        self._settings = settings
        self._model_state = ""
        self.mirror = DocumentMirror(client, self)
        self.actions_ = ActionSet(self, theme)
        self._make_panels()
        self._lay_out()
        self.handlers = WindowActions(self.actions_, self._parts())
        self.sessions = SessionOffer(client, self.banners)
        self.reload = ReloadOffer(client, self.banners, notices)
        self._connect()
        RecheckOnReturn(self, self.sources.recheck_quietly)
        self._is_placed = layout.restore(self, settings, self.docks)
        self._update_context()

    @property
    def is_settled(self) -> bool:
        """Whether everything that was asked for is shown."""
        return not (
            self.client.open_requests
            or self.sources.is_dirty
            or self.target.is_dirty
            or self.plan.is_dirty
            or not self.run.is_settled
            or not self.details.is_settled
        )

    def show_panel(self, name: str) -> None:
        """Brings a panel to the front by its name.

        Raises:
            KeyError: There is no such panel.
        """
        docks = {
            "sources": self.docks.sources,
            "details": self.docks.details,
            "plan": self.docks.plan,
            "history": self.docks.history,
            "log": self.docks.log,
        }
        if name == "target":
            self.target.focus_tree()
            return
        if name == "run":
            layout.open_high(self, self.docks.run)
            return
        docks[name].show()
        docks[name].raise_()

    def _make_panels(self) -> None:
        client, theme = self.client, self.theme
        self.banners = BannerStack(theme, self)
        self.sources = SourcesPanel(client, theme, self.mirror, self.actions_, self)
        self.target = TargetPanel(client, theme, self.mirror, self.actions_, self)
        self.details = DetailsPanel(client, theme, self, name_of=self.mirror.name_of)
        self.plan = PlanPanel(client, theme, self)
        self.run = RunPanel(client, theme, self.mirror, self._settings, self)
        self.history = HistoryPanel(client, theme, self)
        self.log = LogPanel(client, theme, self, notices=self.notices)
        self.status = StatusBar(client, theme, self)
        self.files = FileDrop(self)

    def _lay_out(self) -> None:
        layout.make_toolbar(self, self.actions_)
        self.setStatusBar(self.status)
        self.setCentralWidget(
            layout.make_center(self.target, self.target.title, self.banners, self)
        )
        self.docks = layout.make_docks(
            self,
            self.theme,
            sources=(self.sources, self.sources.title),
            details=self.details,
            lower={
                "Plan": self.plan,
                "Run": self.run,
                "History": self.history,
                "Log": self.log,
            },
        )
        layout.fill_menus(self.menuBar(), self.actions_, self.docks)
        self.setContentsMargins(2 * SPACE, 0, 2 * SPACE, 0)

    def _parts(self) -> Parts:
        return Parts(
            self,
            self.client,
            self.theme,
            self._settings,
            self.mirror,
            self.notices,
            self.sources,
            self.target,
            self.details,
            self.run,
            self.docks,
        )

    def _connect(self) -> None:
        self.sources.node_chosen.connect(self.details.show_node)
        self.target.node_chosen.connect(self.details.show_node)
        self.details.node_chosen.connect(self.handlers.reveal)
        # A tab that comes to the front is no show event for its panel.
        self.docks.run.visibilityChanged.connect(self.run.look_soon)
        self.run.node_chosen.connect(self.details.show_node)
        self.run.module_wanted.connect(self.handlers.open_module)
        self.run.state_changed.connect(self._update_context)
        self.sources.opened.connect(self._on_opened)
        self.sources.logged.connect(self.log.add)
        self.files.sources_dropped.connect(self.handlers.open_paths)
        self.files.module_dropped.connect(self.handlers.open_module)
        self.files.recipe_dropped.connect(self.handlers.open_recipe)
        transfer = self.target.transfer
        transfer.said.connect(self.status.hold)
        transfer.plan_opened.connect(self._on_plan)
        transfer.applied.connect(self._on_plan_done)
        transfer.failed.connect(self._on_transfer_failed)
        self.plan.apply_wanted.connect(transfer.apply)
        self.plan.closed.connect(self._on_plan_done)
        self.client.noticed.connect(self.notices.post)
        self.notices.posted.connect(self._on_notice)
        self.client.engine_changed.connect(self._on_engine)
        self.client.changed.connect(self._on_changed)
        self.mirror.updated.connect(self._update_context)
        for panel in (self.sources, self.target):
            panel.tree_view.selectionModel().selectionChanged.connect(
                self._update_context
            )
        QApplication.clipboard().dataChanged.connect(self._update_context)

    def _update_context(self) -> None:
        info = self.mirror.info
        history = info.history
        self.actions_.update_enabled(
            UiContext(
                sources=len(info.sources),
                target_kind=info.target.kind,
                can_undo=history.can_undo,
                can_redo=history.can_redo,
                source_selected=self.sources.view.current() is not None,
                target_selected=len(self.target.view.selected_paths()),
                clipboard=_clipboard_has_nodes(),
                model_running=self._model_state in {"starting", "ready", "busy"},
                # Not isVisible(): another tab may lie over it.
                plan_open=self.docks.plan.toggleViewAction().isChecked(),
                can_run=self.run.has_module,
                is_run_on=self.run.is_running,
            )
        )
        local = history.position - history.first
        texts = history.texts
        self.actions_.set_history(
            texts[local - 1] if history.can_undo and 0 < local <= len(texts) else "",
            texts[local] if history.can_redo and 0 <= local < len(texts) else "",
        )
        name = info.target.name or (info.sources[0].name if info.sources else "")
        changed = "" if info.saved or not history.count else " •"
        self.setWindowTitle(
            f"{name}{changed} — Flax Inspector" if name else "Flax Inspector"
        )

    def _on_opened(self, source: SourceInfo) -> None:
        self.status.say(
            f"Opened {source.name}: {source.format}, {source.leaves:,} leaves"
        )

    def _on_plan(self, info: PlanInfo) -> None:
        layout.open_plan(self, self.docks)
        self.plan.show_plan(info)
        self._update_context()

    def _on_plan_done(self) -> None:
        layout.close_plan(self, self.docks)
        self.target.view.setFocus()
        self._update_context()

    def _on_transfer_failed(self, error: ErrorInfo) -> None:
        if self.docks.plan.isVisible():
            self.plan.show_error(error)

    def _on_notice(self, notice: Notice) -> None:
        self.status.say(notice.error.message)
        if notice.level == "error":
            self.banners.show_error("notice", notice.error)

    def _on_engine(self, status: EngineStatus) -> None:
        if status.engine == "model" and status.state != self._model_state:
            self._model_state = status.state
            self._update_context()

    def _on_changed(self, changes: Changes) -> None:
        if changes.base and self.docks.plan.isVisible():
            # The plan was for another target.
            self.plan.cancel()

    # Overrides of Qt.

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Takes files of a file manager; panels have taken what is theirs."""
        self.files.consider(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Opens dropped files."""
        self.files.drop(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Gives the docks their room at the first start."""
        super().showEvent(event)
        if not self._is_placed:
            self._is_placed = True
            layout.share_out(self, self.docks)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Keeps the layout; who made the window ends the store."""
        layout.remember(self, self._settings)
        leave_text_on_clipboard()
        super().closeEvent(event)
        self.closing.emit()


def _clipboard_has_nodes() -> bool:
    return from_mime(QGuiApplication.clipboard().mimeData()) is not None
