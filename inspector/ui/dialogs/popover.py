"""A small dialog with one field, beside what it is about; it does not block."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from inspector.engine.messages.document import Changes
from inspector.errors import ErrorInfo
from inspector.ui import format as fmt
from inspector.ui.banner import ErrorBanner
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.variables.path import TreePath, join

_WIDTH = 340


class Popover(QDialog):
    """One question about target nodes; subclasses add the field and send the edit.

    Attributes:
        paths: What the edit is about.

    Signals:
        done_with: `Changes` of the edit that was made.
    """

    done_with = Signal(object)

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        paths: tuple[TreePath, ...],
        parent: QWidget | None = None,
        *,
        title: str,
        button: str,
    ) -> None:
        """Lays out title, field, error and buttons."""
        super().__init__(parent)
        self.client = client
        self.theme = theme
        self.paths = paths
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setWindowFlag(Qt.WindowType.Tool)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.about = QLabel(_about(paths), self)
        self.about.setProperty("look", "secondary")
        self.about.setWordWrap(True)
        self.about.setToolTip("\n".join(join(path) for path in paths))
        self.about.setObjectName("popoverAbout")
        self.note = QLabel(self)
        self.note.setProperty("look", "error")
        self.note.setWordWrap(True)
        self.note.setObjectName("popoverNote")
        self.note.setAccessibleDescription("What is wrong with it")
        self.banner = ErrorBanner(theme, self)
        self.apply_button = QPushButton(button, self)
        self.apply_button.setProperty("look", "primary")
        self.apply_button.setObjectName("popoverApply")
        self.apply_button.setAccessibleName(title)
        self.apply_button.setDefault(True)
        self.apply_button.clicked.connect(self.apply)
        self.cancel_button = QPushButton("Cancel", self)
        self.cancel_button.setObjectName("popoverCancel")
        self.cancel_button.setAccessibleName("Cancel")
        self.cancel_button.setAutoDefault(False)
        self.cancel_button.clicked.connect(self.reject)

    def lay_out(self, field: QWidget, *, name: str, accessible: str) -> None:
        """Puts the subclass's field into the dialog and goes to it."""
        field.setFont(self.theme.mono_font())
        field.setObjectName(name)
        field.setAccessibleName(accessible)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch(1)
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.apply_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.setSizeConstraint(QLayout.SizeConstraint.SetMinAndMaxSize)
        self.about.setFixedWidth(_WIDTH)
        column.addWidget(self.about)
        column.addWidget(field)
        column.addWidget(self.note)
        column.addWidget(self.banner)
        column.addLayout(buttons)
        self.show_problem("")
        field.setFocus()

    def apply(self) -> None:
        """Sends the edit."""
        raise NotImplementedError

    def send(self, operation: Callable[..., int]) -> None:
        """Starts an operation on the nodes; the popover goes when it is done.

        Args:
            operation: One of `operations.edits` that lacks only client, owner, paths
                and callbacks.
        """
        operation(
            self.client,
            owner=self,
            paths=self.paths,
            on_done=self.on_done,
            on_failure=self.on_failure,
        )

    def show_problem(self, text: str) -> None:
        """Says what is wrong with the field; empty for nothing."""
        self.note.setText(text)
        self.note.setVisible(bool(text))
        self.apply_button.setEnabled(not text)

    def on_done(self, changes: Changes) -> None:
        """Closes the popover once the edit is made."""
        self.done_with.emit(changes)
        self.accept()

    def on_failure(self, error: ErrorInfo) -> None:
        """Shows why the store refused."""
        self.banner.show_error(error)


def _about(paths: tuple[TreePath, ...]) -> str:
    if len(paths) == 1:
        return f"Every array at {join(paths[0])}" if paths[0] else "The whole target"
    return f"Every array at or below {fmt.plural(len(paths), 'chosen node')}"
