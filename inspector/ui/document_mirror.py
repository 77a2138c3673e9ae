"""What the window remembers of the document: sources, target, history.

One object asks the store for `DocumentInfo` after every change and tells every
panel, so that no panel asks for the same thing twice. On the window's thread.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from inspector.engine.messages.document import (
    TARGET,
    AskDocument,
    Changes,
    DocumentInfo,
    HistoryState,
    SourceInfo,
    TargetInfo,
)
from inspector.ui.store_client import StoreClient

EMPTY = DocumentInfo((), TargetInfo(), HistoryState())
"""A document without anything, as every program starts."""


class DocumentMirror(QObject):
    """The newest `DocumentInfo`.

    Attributes:
        info: The document as of the last answer.
        is_known: Whether the store has answered at all.

    Signals:
        updated: `info` is newer.
    """

    updated = Signal()

    def __init__(self, client: StoreClient, parent: QObject) -> None:
        """Begins with an empty document and asks once a store is there."""
        super().__init__(parent)
        self.info = EMPTY
        self.is_known = False
        self._client = client
        client.changed.connect(self._on_changed)
        client.started.connect(self.refresh)

    def refresh(self) -> None:
        """Asks the store; an older question is dropped."""
        self._client.ask(
            AskDocument(), owner=self, on_reply=self._on_info, slot="document"
        )

    def forget(self) -> None:
        """Shows an empty document: the store that knew it is gone."""
        self.info = EMPTY
        self.updated.emit()

    def source(self, source_id: str) -> SourceInfo | None:
        """Returns an open source by its id."""
        for source in self.info.sources:
            if source.id == source_id:
                return source
        return None

    def name_of(self, tree: str) -> str:
        """Returns the name of a tree for a person; empty when it is not open."""
        if tree == TARGET:
            return self.info.target.name
        source = self.source(tree)
        return source.name if source is not None else ""

    def _on_info(self, info: DocumentInfo) -> None:
        self.info = info
        self.is_known = True
        self.updated.emit()

    def _on_changed(self, _changes: Changes) -> None:
        self.refresh()
