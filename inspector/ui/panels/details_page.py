"""One tab of the details panel and the viewer in it.

Made by `details`; the viewer itself belongs to `viewers`.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.viewers.viewer import Viewer


class ViewerPage(QScrollArea):
    """A tab that makes its viewer when it is looked at for the first time.

    In a low window the viewer keeps its least height and is scrolled; otherwise it
    fills the tab.

    Attributes:
        kind: Class of the viewer.
        viewer: The viewer, None until it was needed.
        is_stale: Whether the viewer shows an older state than the panel.
    """

    def __init__(self, kind: type[Viewer], parent: QWidget) -> None:
        """Starts without a viewer."""
        super().__init__(parent)
        self.kind = kind
        self.viewer: Viewer | None = None
        self.is_stale = True
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)

    def make_viewer(self, client: StoreClient, theme: Theme) -> Viewer:
        """Returns the viewer, making it when there is none."""
        if self.viewer is None:
            self.viewer = self.kind(client, theme, self)
            self.setWidget(self.viewer)
            self.viewer.setAutoFillBackground(False)
        return self.viewer
