"""What a viewer of the details panel is.

A viewer shows one aspect of one node. It says how well it suits a node before it is
made, is made on first use, and asks for its own data; it lives on the window's
thread. Adding one is a file here and a line in `registry`.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from inspector.engine.messages.reading import StatisticsReply
from inspector.engine.messages.viewing import Details
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme


class Viewer(QWidget):
    """Base of the viewers.

    Attributes:
        title: Text of its tab.

    Signals:
        changed_document: It made an edit; the text says which.
        node_chosen: (tree, path): the person wants to see another node.
    """

    title = ""

    changed_document = Signal(str)
    node_chosen = Signal(str, object)

    def __init__(
        self, client: StoreClient, theme: Theme, parent: QWidget | None = None
    ) -> None:
        """Keeps what every viewer needs; subclasses make their widgets."""
        super().__init__(parent)
        self.client = client
        self.theme = theme
        self.setObjectName(f"viewer.{self.title.lower()}")
        self.setAccessibleName(self.title)

    @property
    def is_ready(self) -> bool:
        """Whether all of it is made; a picture of the window waits for that."""
        return True

    @staticmethod
    def fitness(details: Details) -> int:
        """Returns how well the viewer suits a node; 0 means not at all."""
        raise NotImplementedError

    def show_details(self, details: Details) -> None:
        """Shows a node; called again for the same one when its values changed."""
        raise NotImplementedError

    def show_statistics(self, statistics: StatisticsReply | None) -> None:
        """Takes the statistics of the shown node; None when they are not known."""

    def clear(self) -> None:
        """Forgets the node; open requests are dropped."""
