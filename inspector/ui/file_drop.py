"""Files dropped on the window from a file manager.

Any widget that does not take a drop itself leaves it to the window, which filters
its events through here.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

_RECIPE = ".recipe.json"


class FileDrop(QObject):
    """Sorts dropped files by what they are, judging by their names.

    Signals:
        sources_dropped: List of paths of checkpoints.
        module_dropped: Path of a Python file.
        recipe_dropped: Path of a recipe.
    """

    sources_dropped = Signal(object)
    module_dropped = Signal(str)
    recipe_dropped = Signal(str)

    def __init__(self, window: QWidget) -> None:
        """Takes the drops of a window."""
        super().__init__(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def take(self, paths: list[str]) -> None:
        """Does with files what dropping them does."""
        sources = []
        for path in paths:
            if path.endswith(".py"):
                self.module_dropped.emit(path)
            elif path.endswith(_RECIPE):
                self.recipe_dropped.emit(path)
            else:
                sources.append(path)
        if sources:
            self.sources_dropped.emit(sources)

    # Overrides of Qt.

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Accepts drags of local files and takes their drop."""
        del watched
        if isinstance(event, QDragEnterEvent | QDragMoveEvent):
            if _files(event):
                event.acceptProposedAction()
                return True
        elif isinstance(event, QDropEvent):
            paths = _files(event)
            if paths:
                event.acceptProposedAction()
                self.take(paths)
                return True
        return False


def _files(event: QDropEvent) -> list[str]:
    data = event.mimeData()
    if not data.hasUrls():
        return []
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
