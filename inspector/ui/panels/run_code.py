"""The tab that shows the call as a Python program, before anything has run.

Asks the store for the program when it is looked at and the call is another one. On
the window's thread.
"""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from inspector.engine.messages.calling import Call
from inspector.errors import ErrorInfo
from inspector.ui.banner_stack import BannerStack
from inspector.ui.operations import runs
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE

_REST_MS = 250
"""How long the call has to rest before its program is asked for."""

_INCOMPLETE = "# The call is not complete yet."


class CodePage(QWidget):
    """A call as a program that makes the same numbers."""

    def __init__(self, client: StoreClient, theme: Theme, parent: QWidget) -> None:
        """Starts empty."""
        super().__init__(parent)
        self._client, self._theme = client, theme
        self._call: Call | None = None
        self._is_dirty = False
        self._is_asked = False
        self.setObjectName("runCode")
        self.banners = BannerStack(theme, self)
        self.text = QPlainTextEdit(self)
        self.text.setObjectName("callCode")
        self.text.setAccessibleName("The call as a Python program")
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self._load_font()
        theme.changed.connect(self._load_font)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._ask)
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * SPACE, 2 * SPACE, 2 * SPACE, 2 * SPACE)
        column.setSpacing(SPACE)
        column.addWidget(self.banners)
        column.addWidget(self.text, 1)
        column.addStretch(0)

    @property
    def is_busy(self) -> bool:
        """Whether what is in sight is on its way."""
        return self.isVisible() and (self._is_asked or self._is_dirty)

    def show_call(self, call: Call | None) -> None:
        """Shows another call; None for one that is incomplete."""
        self._call = call
        self._is_dirty = True
        if self.isVisible():
            self._rest.start()

    def refresh(self) -> None:
        """Asks again: the module or what it runs on is another one."""
        self.show_call(self._call)

    def clear(self) -> None:
        """Forgets the call."""
        self._client.drop(self, "code")
        self._rest.stop()
        self._call, self._is_dirty, self._is_asked = None, False, False
        self.banners.remove("code")
        self.text.clear()

    def _ask(self) -> None:
        self._is_dirty = False
        if self._call is None:
            self.text.setPlainText(_INCOMPLETE)
            return
        self._is_asked = True
        runs.ask_code(
            self._client,
            owner=self,
            call=self._call,
            on_done=self._on_code,
            on_failure=self._on_failure,
        )

    def _on_code(self, text: str) -> None:
        self._is_asked = False
        self.banners.remove("code")
        self.text.show()
        self.text.setPlainText(text)

    def _on_failure(self, error: ErrorInfo) -> None:
        self._is_asked = False
        self.text.hide()
        self.banners.show_error("code", error)

    def _load_font(self) -> None:
        self.text.setFont(self._theme.mono_font("small"))

    # Overrides of Qt.

    def showEvent(self, event: QShowEvent) -> None:
        """Overridden: asks for what was left for the first look."""
        super().showEvent(event)
        if self._is_dirty:
            self._rest.start()
