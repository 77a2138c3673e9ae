"""A message inside a panel or dialog: a sentence, and buttons for the next step.

Errors, warnings and offers are shown with it in the place where they happened; there
are no message boxes for errors. `Banner` is the message, `ErrorBanner` one that a
dialog keeps and fills again; a column of them is in `banner_stack`. On the window's
thread.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from inspector.errors import ErrorInfo
from inspector.ui.icons import icon
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE

_ICONS = {"banner": "info", "warning": "warning", "error": "error"}
_TOKENS = {"banner": "accent", "warning": "warning", "error": "error"}
_ICON_SIZE = 4 * SPACE
_TRACEBACK_HEIGHT = 35 * SPACE


class Banner(QFrame):
    """One message; it goes when it is closed or its reason is gone.

    Attributes:
        error: The error that is shown; None for a plain message.
        message: What happened.
        where: File or path that it is about.
        hint: What to do next.
    """

    def __init__(
        self,
        theme: Theme,
        text: str = "",
        kind: str = "banner",
        *,
        parent: QWidget | None,
        name: str = "banner",
    ) -> None:
        """Shows a message.

        Args:
            theme: Colours.
            text: Sentences for a person; plain text.
            kind: ``"banner"``, ``"warning"`` or ``"error"``.
            parent: The panel.
            name: Object name.
        """
        super().__init__(parent)
        self.error: ErrorInfo | None = None
        self.setObjectName(name)
        self.setProperty("look", kind)
        self._theme, self._kind = theme, kind
        self._is_closable = True
        self._icon = QLabel(self)
        self._icon.setFixedWidth(_ICON_SIZE)
        self.message = self._make_label("errorMessage", "What happened")
        self.where = self._make_label("errorWhere", "Where", look="mono")
        self.where.setFont(theme.mono_font("small"))
        self.hint = self._make_label("errorHint", "What to do", look="secondary")
        self._buttons: list[QPushButton] = []
        self._more = self._make_button("Show traceback", "errorMore")
        self._more.clicked.connect(self._on_more)
        self._traceback = self._make_traceback()
        self._copy = self._make_tool("Copy this message", "errorCopy")
        self._copy.clicked.connect(self._on_copy)
        self._close = self._make_tool("Close this message", f"{name}Close")
        self._close.clicked.connect(self.dismiss)
        self._lay_out()
        self.show_text(text)
        self._load_icons()
        theme.changed.connect(self._load_icons)

    @property
    def text(self) -> str:
        """Everything that it says, as a person reads it."""
        return self.error.text() if self.error is not None else self.message.text()

    def show_text(self, text: str) -> None:
        """Shows a plain message."""
        self._fill(text, "", "", "")
        self.error = None
        self._copy.hide()
        self.setAccessibleName(text or "Message")

    def show_error(
        self,
        error: ErrorInfo,
        *,
        action: str = "",
        on_action: Callable[[], None] | None = None,
    ) -> None:
        """Shows an error: what, where, what to do, the traceback one click off.

        Args:
            error: What happened.
            action: Text of a button that remedies it; empty for none.
            on_action: What that button does.
        """
        self._clear_buttons()
        self._fill(error.message, error.where, error.hint, error.traceback)
        self.error = error
        self._copy.show()
        self.setAccessibleName(f"Error: {error.text()}")
        if action and on_action is not None:
            self.add_button(action, on_action, name="errorAction")
        self.show()

    def add_button(
        self,
        text: str,
        action: Callable[[], object],
        *,
        name: str,
        primary: bool = False,
    ) -> QPushButton:
        """Adds a button for a next step."""
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setAutoDefault(False)
        if primary:
            button.setProperty("look", "primary")
        button.clicked.connect(lambda _checked=False: action())
        self._row.insertWidget(len(self._buttons), button)
        self._buttons.append(button)
        self._buttons_row.show()
        # Tab goes through the next steps before the tools at the edge.
        QWidget.setTabOrder(button, self._more)
        return button

    def set_closable(self, *, closable: bool) -> None:
        """Decides whether the person can put the message away."""
        self._is_closable = closable
        self._close.setVisible(closable)

    def dismiss(self) -> None:
        """Takes the message away."""
        self.hide()
        self.deleteLater()

    def _make_label(self, name: str, described: str, look: str = "") -> QLabel:
        label = QLabel(self)
        label.setWordWrap(True)
        # One long word would make the message wider than its panel, and with it push
        # the button that closes it out of sight.
        label.setMinimumWidth(1)
        label.setObjectName(name)
        # Not its name, which is the text: a name of its own would hide it.
        label.setAccessibleDescription(described)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if look:
            label.setProperty("look", look)
        return label

    def _make_button(self, text: str, name: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setProperty("look", "flat")
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setAutoDefault(False)
        return button

    def _make_tool(self, text: str, name: str) -> QToolButton:
        tool = QToolButton(self)
        tool.setObjectName(name)
        tool.setAccessibleName(text)
        tool.setToolTip(text)
        tool.setProperty("look", "icon")
        tool.setIconSize(QSize(3 * SPACE, 3 * SPACE))
        tool.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return tool

    def _make_traceback(self) -> QPlainTextEdit:
        field = QPlainTextEdit(self)
        field.setReadOnly(True)
        field.setFixedHeight(_TRACEBACK_HEIGHT)
        field.setFont(self._theme.mono_font("small"))
        field.setObjectName("errorTraceback")
        field.setAccessibleName("Traceback")
        field.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        field.setTabChangesFocus(True)
        return field

    def _lay_out(self) -> None:
        self._buttons_row = QWidget(self)
        self._row = QHBoxLayout(self._buttons_row)
        self._row.setContentsMargins(0, SPACE, 0, 0)
        self._row.setSpacing(2 * SPACE)
        self._row.addWidget(self._more)
        self._row.addStretch(1)
        column = QVBoxLayout()
        column.setSpacing(SPACE)
        for widget in (
            self.message, self.where, self.hint, self._buttons_row, self._traceback,
        ):  # fmt: skip
            column.addWidget(widget)
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * SPACE, 2 * SPACE, SPACE, 2 * SPACE)
        row.setSpacing(SPACE)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        for tool in (self._copy, self._close):
            row.addWidget(tool, 0, Qt.AlignmentFlag.AlignTop)

    def _fill(self, message: str, where: str, hint: str, traceback: str) -> None:
        self.message.setText(message)
        for label, text in ((self.where, where), (self.hint, hint)):
            label.setText(text)
            label.setVisible(bool(text))
        self._traceback.setPlainText(traceback)
        self._traceback.hide()
        self._more.setVisible(bool(traceback))
        self._more.setText("Show traceback")
        self._buttons_row.setVisible(bool(traceback or self._buttons))

    def _clear_buttons(self) -> None:
        for button in self._buttons:
            button.hide()
            button.deleteLater()
        self._buttons = []

    def _on_more(self) -> None:
        # Not isVisible(): that is false while a parent is hidden.
        shown = self._traceback.isHidden()
        self._traceback.setVisible(shown)
        self._more.setText("Hide traceback" if shown else "Show traceback")

    def _on_copy(self) -> None:
        traceback = self.error.traceback if self.error is not None else ""
        text = f"{self.text}\n\n{traceback}" if traceback else self.text
        QGuiApplication.clipboard().setText(text)

    def _load_icons(self) -> None:
        drawing = icon(_ICONS[self._kind], self._theme, _TOKENS[self._kind])
        self._icon.setPixmap(drawing.pixmap(_ICON_SIZE, _ICON_SIZE))
        self._copy.setIcon(icon("copy", self._theme, "secondary"))
        self._close.setIcon(icon("close", self._theme, "secondary"))

    # Overrides of Qt.

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape puts the message away while one of its buttons has the focus."""
        if event.key() == Qt.Key.Key_Escape and self._is_closable:
            self.dismiss()
        else:
            super().keyPressEvent(event)


class ErrorBanner(Banner):
    """A banner that stays where it is laid out and is hidden while nothing is wrong."""

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, *, closable: bool = False
    ) -> None:
        """Starts hidden; a ``closable`` one can be dismissed."""
        super().__init__(theme, kind="error", parent=parent, name="errorBanner")
        self.set_closable(closable=closable)
        self.hide()

    def clear(self) -> None:
        """Hides the banner."""
        self.error = None
        self.hide()

    def dismiss(self) -> None:
        """Overridden: it is used again."""
        self.clear()
