"""What the dialogs share that start a longer task: naming, progress, buttons, errors.

`ExportDialog` and `ModuleDialog` derive from it; it knows no task. On the window's
thread.
"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QWidget

from inspector.ui.banner import ErrorBanner
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE
from inspector.ui.viewers.hairline import HairlineProgress

MARGINS = (4 * SPACE, 4 * SPACE, 4 * SPACE, 3 * SPACE)
"""Air around the content of a dialog, in pixels: left, top, right, bottom."""


class TaskDialog(QDialog):
    """A form, a line of progress, an error, and two buttons.

    Attributes:
        banner: What went wrong.
        progress: A hairline while the task runs.
        status: What is going on.
        start_button: Starts the task.
        cancel_button: Stops the task, or closes the dialog.
    """

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        parent: QWidget | None,
        *,
        name: str,
        title: str,
        button: str,
    ) -> None:
        """Makes the shared parts; the subclass lays them out.

        Args:
            client: The store.
            theme: Fonts and colours.
            parent: Owner.
            name: Object name; begins those of the parts.
            title: Title of the window and accessible name.
            button: Text of the button that starts the task.
        """
        super().__init__(parent)
        self._client, self._theme = client, theme
        self.setObjectName(f"{name}Dialog")
        self.setAccessibleName(title)
        self.setWindowTitle(title)
        self.banner = ErrorBanner(theme, self)
        self.progress = HairlineProgress(theme, self)
        self.status = QLabel(self)
        self.status.setProperty("look", "small")
        self.start_button = QPushButton(button, self)
        self.start_button.setProperty("look", "primary")
        self._starters = [self.start_button]
        self._left: tuple[QWidget | None, QWidget | None] = (None, None)
        self.cancel_button = QPushButton("Cancel", self)
        self.cancel_button.setAutoDefault(False)
        self.cancel_button.clicked.connect(self.reject)
        name_widgets(
            (
                (self.status, f"{name}Status", "What is going on"),
                (self.cancel_button, f"{name}Cancel", "Cancel"),
            )
        )

    def button_row(self, first: QWidget | None = None) -> QHBoxLayout:
        """Returns the last line: something at the left, the status, the buttons."""
        row = QHBoxLayout()
        row.setSpacing(2 * SPACE)
        if first is not None:
            row.addWidget(first)
        row.addWidget(self.status, 1)
        row.addWidget(self.cancel_button)
        row.addWidget(self.start_button)
        return row

    def add_starter(self, button: QPushButton) -> None:
        """Makes another button one that starts a task: not while one runs."""
        self._starters.append(button)

    def set_busy(self, text: str) -> None:
        """Shows that the task runs; it cannot be started twice."""
        self.status.setText(text)
        self.progress.start()
        before = self.focusWidget()
        for button in self._starters:
            button.setEnabled(False)
        # Qt moves the focus on when the widget that has it is disabled.
        self._left = (before, self.focusWidget())

    def set_idle(self) -> None:
        """Shows that nothing runs; the focus is where it was at the start."""
        self.status.setText("")
        self.progress.stop()
        for button in self._starters:
            button.setEnabled(True)
        (before, after), self._left = self._left, (None, None)
        # A person who went elsewhere meanwhile stays there.
        if before is not None and self.focusWidget() is after:
            before.setFocus()

    # Overrides of Qt.

    def event(self, event: QEvent) -> bool:
        """Grows with what is said: a layout alone would cut wrapped sentences."""
        # Asked first: another event may be the one that deletes the dialog.
        is_layout = event.type() == QEvent.Type.LayoutRequest
        handled = super().event(event)
        layout = self.layout() if is_layout else None
        if layout is not None:
            wanted = layout.totalHeightForWidth(self.width())
            room = self.screen().availableSize().height()
            if self.height() < wanted <= room:
                self.resize(self.width(), wanted)
        return handled


def name_widgets(entries: Iterable[tuple[QWidget, str, str]]) -> None:
    """Gives widgets their object names and what a screen reader says of them."""
    for widget, name, accessible in entries:
        widget.setObjectName(name)
        if isinstance(widget, QLabel):
            # A label's name is its text; another one would hide it.
            widget.setAccessibleDescription(accessible)
        else:
            widget.setAccessibleName(accessible)
