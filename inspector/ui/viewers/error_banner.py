"""An error where it happened: what, where, what to do, and the traceback one click off.

Used inside panels and dialogs; there are no message boxes for errors.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from inspector.errors import ErrorInfo
from inspector.ui.theme import Theme

_TRACEBACK_HEIGHT = 140


class ErrorBanner(QFrame):
    """Shows one error; hidden while there is none.

    Attributes:
        error: The error that is shown.
    """

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, *, closable: bool = False
    ) -> None:
        """Starts hidden; a ``closable`` one can be dismissed."""
        super().__init__(parent)
        self.error: ErrorInfo | None = None
        self._theme = theme
        self.setProperty("look", "error")
        self.setObjectName("errorBanner")
        self.setAccessibleName("Error")
        self.message = self._make_label("errorMessage", "What happened")
        self.where = self._make_label("errorWhere", "Where", look="mono")
        self.where.setFont(theme.mono_font("small"))
        self.hint = self._make_label("errorHint", "What to do", look="secondary")
        self._traceback = QPlainTextEdit(self)
        self._traceback.setReadOnly(True)
        self._traceback.setFixedHeight(_TRACEBACK_HEIGHT)
        self._traceback.setFont(theme.mono_font("small"))
        self._traceback.setObjectName("errorTraceback")
        self._traceback.setAccessibleName("Traceback")
        self._traceback.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._on_action: Callable[[], None] | None = None
        self._action = self._make_button("", "errorAction")
        self._action.clicked.connect(self._on_remedy)
        self._more = self._make_button("Show traceback", "errorMore")
        self._more.clicked.connect(self._on_more)
        self._copy = self._make_button("Copy", "errorCopy")
        self._copy.clicked.connect(self._on_copy)
        self._close = self._make_button("Dismiss", "errorDismiss")
        self._close.clicked.connect(self.clear)
        self._close.setVisible(closable)
        self._lay_out()
        self.hide()

    def _make_label(self, name: str, accessible: str, look: str = "") -> QLabel:
        label = QLabel(self)
        label.setWordWrap(True)
        label.setObjectName(name)
        # Not its name, which is the text: a name of its own would hide it.
        label.setAccessibleDescription(accessible)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if look:
            label.setProperty("look", look)
        return label

    def _make_button(self, text: str, name: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setProperty("look", "flat")
        button.setObjectName(name)
        button.setAccessibleName(text or "Remedy")
        button.setAutoDefault(False)
        return button

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(4)
        for button in (self._action, self._more, self._copy, self._close):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 4)
        column.setSpacing(4)
        for widget in (self.message, self.where, self.hint):
            column.addWidget(widget)
        column.addLayout(buttons)
        column.addWidget(self._traceback)

    def show_error(
        self,
        error: ErrorInfo,
        *,
        action: str = "",
        on_action: Callable[[], None] | None = None,
    ) -> None:
        """Shows an error.

        Args:
            error: What happened.
            action: Text of a button that remedies it; empty for none.
            on_action: What that button does.
        """
        self.error = error
        self.message.setText(error.message)
        self.where.setText(error.where)
        self.where.setVisible(bool(error.where))
        self.hint.setText(error.hint)
        self.hint.setVisible(bool(error.hint))
        self._traceback.setPlainText(error.traceback)
        self._traceback.hide()
        self._more.setVisible(bool(error.traceback))
        self._more.setText("Show traceback")
        self._set_action(action, on_action)
        self.show()

    def _set_action(self, text: str, handler: Callable[[], None] | None) -> None:
        self._action.setText(text)
        self._action.setAccessibleName(text or "Remedy")
        self._action.setVisible(bool(text))
        self._on_action = handler

    def clear(self) -> None:
        """Hides the banner."""
        self.error = None
        self.hide()

    def _on_remedy(self) -> None:
        if self._on_action is not None:
            self._on_action()

    def _on_more(self) -> None:
        # Not isVisible(): that is false while a parent is hidden.
        shown = self._traceback.isHidden()
        self._traceback.setVisible(shown)
        self._more.setText("Hide traceback" if shown else "Show traceback")

    def _on_copy(self) -> None:
        if self.error is not None:
            text = self.error.text()
            if self.error.traceback:
                text += f"\n\n{self.error.traceback}"
            QGuiApplication.clipboard().setText(text)
