"""The program's own window, told when it was painted and when a checkpoint is listed.

Wanted: ``{"argv": [...], "list": bool}``. Tells ``painted``; with ``list`` also
``listed``, when the rows below the source are on the screen, and ``filled``, when
everything was expanded and no row on the screen waits. Ends by itself, or with
``stay`` when its owner ends it.
"""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication

from benchmarks.children.painting import FirstPicture
from benchmarks.children.speech import now_ns, tell, tell_painted, wanted
from inspector.app import open_window
from inspector.ui.main_window import MainWindow
from inspector.ui.models.roles import Role
from inspector.ui.tree_view import TreeView

_EVERYTHING = 100_000


class _Listing(QObject):
    """Watches the source tree; looks at it after each of its pictures."""

    def __init__(self, window: MainWindow, *, stay: bool) -> None:
        super().__init__(window)
        self._window, self._stay = window, stay
        self._view: TreeView = window.sources.view
        self._is_listed = False
        self._view.viewport().installEventFilter(self)

    def _look(self) -> None:
        view = self._view
        top = view.model().index(0, 0)
        first = view.model().index(0, 0, top)
        if not self._is_listed and first.data(Role.ROW) is not None:
            self._is_listed = True
            tell(listed=now_ns())
            # What is expanded already is left as it is, so begin from the closed node.
            view.collapse(top)
            view.expand_below(top, _EVERYTHING)
        elif self._is_listed and self._is_full():
            self._view.viewport().removeEventFilter(self)
            tell(filled=now_ns())
            if not self._stay:
                self._window.close()
                QApplication.quit()

    def _is_full(self) -> bool:
        """Whether every row in the viewport is there and the last one is a leaf."""
        view = self._view
        below = view.indexAt(view.viewport().rect().bottomLeft())
        if not below.isValid():
            return self._window.is_settled
        return len(view.visible_paths()) > 1 and below.data(Role.ROW) is not None

    # Overrides of Qt.

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt
        """Looks once the picture is finished."""
        del watched
        if event.type() == QEvent.Type.Paint:
            QTimer.singleShot(0, self, self._look)
        return False


def main() -> None:
    """Shows the window."""
    job = wanted()
    app = QApplication(["flax-inspector"])
    wants_listing = bool(job.get("list"))

    def on_shown() -> None:
        tell_painted()
        if not wants_listing and not job.get("stay"):
            window.close()
            QTimer.singleShot(0, app.quit)

    FirstPicture(app, on_shown)
    window = open_window(job["argv"])
    listing = _Listing(window, stay=bool(job.get("stay"))) if wants_listing else None
    status = app.exec()
    del listing
    window.client.close()
    sys.exit(status)


if __name__ == "__main__":
    main()
