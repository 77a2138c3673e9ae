"""The status line: what happened last, what runs, how the engines are.

Progress appears only when a job takes longer than half a second and then stays for
half a second at least, so quick jobs do not flicker. On the window's thread.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QStatusBar, QWidget

from inspector.engine.messages.document import Changes, EngineStatus
from inspector.ui.store_client import Activity, StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE
from inspector.ui.viewers.elided_label import ElidedLabel

SHOW_AFTER_MS = 500
"""A job shorter than this shows no progress."""

STAY_MS = 500
"""Progress that was shown stays at least this long."""

MESSAGE_MS = 8000
"""How long a message stays."""

_BAR_STEPS = 1000
_ACTIVITY_WIDTH = 260


class StatusBar(QStatusBar):
    """Message, progress, cancel, engines."""

    def __init__(self, client: StoreClient, theme: Theme, parent: QWidget) -> None:
        """Listens to the client from now on."""
        super().__init__(parent)
        self.setObjectName("statusBar")
        self.setSizeGripEnabled(False)
        self.setContentsMargins(2 * SPACE, 0, 2 * SPACE, 0)
        self._client, self._theme = client, theme
        self._states: dict[str, EngineStatus] = {}
        self._make_widgets()
        self._show_timer = self._timer(SHOW_AFTER_MS, self._show_progress)
        self._stay_timer = self._timer(STAY_MS, self._update_progress)
        client.activity_changed.connect(self._update_progress)
        client.engine_changed.connect(self._on_engine)
        client.changed.connect(self._on_changed)

    def say(self, text: str) -> None:
        """Shows a message for a while."""
        self.message.show_text(text)
        self._message_timer.start()

    def hold(self, text: str) -> None:
        """Shows a message until the next one, e.g. while something hovers."""
        self._message_timer.stop()
        self.message.show_text(text)

    def _make_widgets(self) -> None:
        # A long sentence is cut; a plain label would widen the window.
        self.message = ElidedLabel(self, mode=Qt.TextElideMode.ElideRight)
        self.message.setObjectName("statusMessage")
        # Its name is its text; a name of its own would hide it from a screen reader.
        self.message.setAccessibleDescription("Last message")
        self.activity = QLabel(self)
        self.activity.setObjectName("activityText")
        self.activity.setAccessibleDescription("What is running")
        self.progress = QProgressBar(self)
        self.progress.setObjectName("progressBar")
        self.progress.setAccessibleName("Progress of what is running")
        self.progress.setFixedWidth(160)
        self.progress.setTextVisible(False)
        self.cancel = QPushButton("Cancel", self)
        self.cancel.setObjectName("cancelButton")
        self.cancel.setAccessibleName("Cancel what is running")
        self.cancel.setProperty("look", "flat")
        self.cancel.clicked.connect(self._on_cancel)
        self.engines = QLabel(self)
        self.engines.setObjectName("engineStates")
        self.engines.setAccessibleDescription("State of the engines")
        self.engines.setProperty("look", "secondary")
        self.addWidget(self.message, 1)
        for widget in (self.activity, self.progress, self.cancel, self.engines):
            self.addPermanentWidget(widget)
        self._set_shown(shown=False)
        self._message_timer = self._timer(
            MESSAGE_MS, lambda: self.message.show_text("")
        )

    def _timer(self, interval_ms: int, action: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        timer.timeout.connect(action)
        return timer

    def _set_shown(self, *, shown: bool) -> None:
        for widget in (self.activity, self.progress, self.cancel):
            widget.setVisible(shown)

    @property
    def _current(self) -> Activity | None:
        activities = self._client.activities
        return activities[0] if activities else None

    def _update_progress(self) -> None:
        current = self._current
        shown = self.progress.isVisibleTo(self)
        if current is None:
            self._show_timer.stop()
            if shown and not self._stay_timer.isActive():
                self._set_shown(shown=False)
            return
        if not shown:
            if not self._show_timer.isActive():
                self._show_timer.start()
            return
        self._draw(current)

    def _show_progress(self) -> None:
        current = self._current
        if current is not None:
            self._draw(current)
            self._set_shown(shown=True)
            self._stay_timer.start()

    def _draw(self, current: Activity) -> None:
        more = len(self._client.activities) - 1
        text = current.text + (f" (+{more})" if more else "")
        self.activity.setToolTip(text)
        self.activity.setText(
            self.activity.fontMetrics().elidedText(
                text, Qt.TextElideMode.ElideMiddle, _ACTIVITY_WIDTH
            )
        )
        if current.total:
            self.progress.setRange(0, _BAR_STEPS)
            self.progress.setValue(int(_BAR_STEPS * current.done / current.total))
        else:
            self.progress.setRange(0, 0)
        self.cancel.setEnabled(current.can_cancel)

    def _on_cancel(self) -> None:
        current = self._current
        if current is not None:
            self._client.cancel(current.ticket)

    def _on_engine(self, status: EngineStatus) -> None:
        self._states[status.engine] = status
        shown = [
            f"{name} {self._states[name].state}"
            for name in ("store", "reader", "model")
            if name in self._states
        ]
        self.engines.setText(" · ".join(shown))
        self.engines.setToolTip(
            "\n".join(f"{s.engine}: {s.text or s.state}" for s in self._states.values())
        )

    def _on_changed(self, changes: Changes) -> None:
        if changes.text:
            self.say(changes.text[:1].upper() + changes.text[1:])
