"""Files dropped on the window from a file manager.

Any widget that does not take a drop itself leaves it to the window, which hands its
events on to here.
"""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
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

    def consider(self, event: QDragEnterEvent) -> None:
        """Accepts a drag of local files; leaves every other one alone."""
        if _files(event.mimeData()):
            event.acceptProposedAction()

    def drop(self, event: QDropEvent) -> None:
        """Takes dropped files."""
        paths = _files(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.take(paths)


def _files(data: QMimeData) -> list[str]:
    if not data.hasUrls():
        return []
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
