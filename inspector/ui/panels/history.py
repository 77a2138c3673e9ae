"""The history panel: every edit in a list; a click goes to its state."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QAbstractItemView, QListView, QVBoxLayout, QWidget

from inspector.engine.messages.document import AskDocument, Changes, DocumentInfo
from inspector.errors import ErrorInfo
from inspector.ui.banner import ErrorBanner
from inspector.ui.models.history_model import POSITION_ROLE, HistoryModel
from inspector.ui.operations import edits
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme


class HistoryPanel(QWidget):
    """The list of edits, as `Changes` bring it."""

    def __init__(
        self, client: StoreClient, theme: Theme, parent: QWidget | None = None
    ) -> None:
        """Asks for the history once the store is there."""
        super().__init__(parent)
        self._client = client
        self.model = HistoryModel(theme, self)
        self.banner = ErrorBanner(theme, self, closable=True)
        self.list = QListView(self)
        self.list.setModel(self.model)
        self.list.setObjectName("historyList")
        self.list.setAccessibleName("History")
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.clicked.connect(self._on_chosen)
        self.list.activated.connect(self._on_chosen)
        self.setObjectName("history")
        self.setAccessibleName("History")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.banner)
        column.addWidget(self.list)
        client.changed.connect(self._on_changed)
        client.started.connect(self.refresh)
        if client.is_running:
            self.refresh()

    def refresh(self) -> None:
        """Asks the store for the history, e.g. after it was started anew."""
        self._client.ask(
            AskDocument(), owner=self, on_reply=self._on_document, slot="history"
        )

    def _on_document(self, info: DocumentInfo) -> None:
        self.model.set_base(has_base=info.target.kind != "none")
        self.model.set_state(info.history)
        self._follow()

    def _on_changed(self, changes: Changes) -> None:
        self.banner.clear()
        if changes.base:
            self.refresh()
        self.model.set_state(changes.history)
        self._follow()

    def _follow(self) -> None:
        """Marks the present state and keeps it in view."""
        index = self.model.index(self.model.current_row())
        self.list.setCurrentIndex(index)
        if index.isValid():
            self.list.scrollTo(index)

    def _on_chosen(self, index: QModelIndex) -> None:
        position = index.data(POSITION_ROLE)
        if position == self.model.state.position:
            return
        edits.go_to(
            self._client,
            owner=self,
            position=position,
            on_done=lambda _changes: None,
            on_failure=self._on_failure,
        )

    def _on_failure(self, error: ErrorInfo) -> None:
        self.banner.show_error(error)
        self._follow()
