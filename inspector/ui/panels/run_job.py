"""The head of a page of results: a sentence, a button that starts, one that cancels.

Every long job of the results side runs through `JobStrip`: it asks the store, shows
progress as a hairline, can be cancelled, and says a failure in the page's banners
with the next step. On the window's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from inspector.engine.messages.envelope import Progress
from inspector.errors import ErrorInfo, ModuleNotImportedError
from inspector.ui.banner_stack import BannerStack
from inspector.ui.store_client import StoreClient
from inspector.ui.theme import Theme
from inspector.ui.tokens import SPACE
from inspector.ui.viewers.elided_label import ElidedLabel
from inspector.ui.viewers.hairline import HairlineProgress

_CANCEL_AFTER_MS = 300
"""A job that is done sooner shows no button to cancel it, so that none flashes."""


class JobStrip(QWidget):
    """Sentence, widgets of the page, Cancel, and the button that starts the job.

    Attributes:
        label: The sentence; can be copied.
        start_button: Starts the job.
        banners: Where failures are said; the page lays it out below the strip.

    Signals:
        started: The person asked for the job.
        busy_changed: A job began or ended.
    """

    started = Signal()
    busy_changed = Signal()

    def __init__(
        self,
        client: StoreClient,
        theme: Theme,
        parent: QWidget,
        *,
        name: str,
        button: str,
        accessible: str,
        is_wide: bool = False,
    ) -> None:
        """Starts idle.

        Args:
            client: The store.
            theme: Colours.
            parent: The page.
            name: Beginning of the object names, e.g. ``"record"`` for
                ``recordButton`` and ``recordCancel``.
            button: Text of the start button; empty for a strip without one.
            accessible: Its accessible name.
            is_wide: Whether the page's widgets need the whole row, so that the
                sentence goes below them.
        """
        super().__init__(parent)
        self._client = client
        self._ticket: int | None = None
        self._can_start = True
        self.banners = BannerStack(theme, parent)
        self.label = ElidedLabel(
            self, mode=Qt.TextElideMode.ElideRight, copy_name="this line"
        )
        self.label.setObjectName(f"{name}Text")
        self.progress = HairlineProgress(theme, self)
        self.start_button = QPushButton(button, self)
        self.start_button.setObjectName(f"{name}Button")
        self.start_button.setAccessibleName(accessible)
        self.start_button.setVisible(bool(button))
        self.start_button.clicked.connect(self.started)
        self.cancel_button = QPushButton("Cancel", self)
        self.cancel_button.setObjectName(f"{name}Cancel")
        self.cancel_button.setAccessibleName(f"Cancel: {accessible}")
        self.cancel_button.setProperty("look", "flat")
        self.cancel_button.clicked.connect(self.cancel)
        self.cancel_button.hide()
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(_CANCEL_AFTER_MS)
        self._late.timeout.connect(self.cancel_button.show)
        self._lay_out(is_wide=is_wide)

    def _lay_out(self, *, is_wide: bool) -> None:
        self._row = QHBoxLayout()
        self._below = QHBoxLayout()
        for row in (self._row, self._below):
            row.setContentsMargins(2 * SPACE, SPACE, 0, 0)
            row.setSpacing(2 * SPACE)
        if is_wide:
            self._row.addStretch(1)
            self._below.addWidget(self.label, 3)
        else:
            self._row.addWidget(self.label, 1)
        self._row.addWidget(self.cancel_button)
        self._row.addWidget(self.start_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._row)
        if is_wide:
            column.addLayout(self._below)
        column.addSpacing(SPACE)
        column.addWidget(self.progress)
        self._is_wide = is_wide

    @property
    def is_busy(self) -> bool:
        """Whether a job is running."""
        return self._ticket is not None

    def add_widget(self, widget: QWidget) -> None:
        """Adds a widget of the page, left of the buttons."""
        # A wide strip keeps its room between the widgets and the buttons.
        behind = 3 if self._is_wide else 2
        self._row.insertWidget(self._row.count() - behind, widget)

    def add_below(self, widget: QWidget) -> None:
        """Adds a widget beside the sentence of a wide strip."""
        self._below.addWidget(widget, 2)

    def say(self, text: str, *, tool_tip: str = "", look: str = "") -> None:
        """Shows a sentence; ``look`` is ``""``, ``"secondary"`` or ``"warning"``."""
        self.label.show_text(text, tool_tip=tool_tip, copy_text=tool_tip)
        if self.label.property("look") != look:
            self.label.setProperty("look", look)
            self.label.style().unpolish(self.label)
            self.label.style().polish(self.label)

    def set_can_start(self, *, can_start: bool) -> None:
        """Decides whether there is something to start."""
        self._can_start = can_start
        self._show_can_start()

    def run(
        self,
        body: Any,
        on_reply: Callable[[Any], object],
        *,
        activity: str,
        on_failure: Callable[[ErrorInfo], object] | None = None,
    ) -> None:
        """Asks the store; an older job of this strip is dropped.

        Args:
            body: The message.
            on_reply: Gets the answer.
            activity: What is being done, for the strip and the status bar.
            on_failure: Called too when it fails; the banner is shown anyhow.
        """
        self.banners.remove("error")
        self.say(f"{activity}…", look="secondary")

        def replied(answer: Any) -> None:
            self._end()
            on_reply(answer)

        def failed(error: ErrorInfo) -> None:
            self._end()
            self.say("")
            self._show_failure(error, body, lambda again: self.run(
                again, on_reply, activity=activity, on_failure=on_failure
            ))  # fmt: skip
            if on_failure is not None:
                on_failure(error)

        ticket = self._client.ask(
            body,
            owner=self,
            on_reply=replied,
            on_failure=failed,
            on_progress=self._on_progress,
            on_cancelled=self._on_cancelled,
            slot="job",
            activity=activity,
        )
        self._begin(ticket)

    def cancel(self) -> None:
        """Stops the job."""
        if self._ticket is not None:
            self._client.cancel(self._ticket)

    def drop(self) -> None:
        """Stops the job and says nothing of it: what it is about is gone."""
        self._client.drop(self, "job")
        self._end()
        self.say("")
        self.banners.remove("error")

    def show_error(self, error: ErrorInfo) -> None:
        """Says a failure of the page that is none of the job."""
        self.banners.show_error("error", error)

    def _begin(self, ticket: int) -> None:
        self._ticket = ticket
        self.progress.start()
        self._show_can_start()
        self._late.start()
        self.busy_changed.emit()

    def _end(self) -> None:
        self._ticket = None
        self._late.stop()
        self.progress.stop()
        self.cancel_button.hide()
        self._show_can_start()
        self.busy_changed.emit()

    def _show_can_start(self) -> None:
        self.start_button.setEnabled(self._can_start and not self.is_busy)

    def _show_failure(
        self, error: ErrorInfo, body: Any, again: Callable[[Any], None]
    ) -> None:
        banner = self.banners.show_message("error", "", "error")
        if error.kind == ModuleNotImportedError.__name__ and hasattr(body, "fresh"):
            name = PurePath(error.where).name or "the module"
            banner.show_error(
                error,
                action=f"Run {name}",
                on_action=lambda: again(replace(body, fresh=True)),
            )
        else:
            banner.show_error(error, action="Try again", on_action=lambda: again(body))

    def _on_progress(self, progress: Progress) -> None:
        self.progress.set_progress(progress.done, progress.total)
        if progress.text:
            self.say(f"{progress.text}…", look="secondary")

    def _on_cancelled(self) -> None:
        self._end()
        self.say("Stopped.", look="secondary")
