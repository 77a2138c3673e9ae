"""What the window opens when it starts, and what it does when the store ends.

The composition root says what was asked for; here it is asked of the store, in
order, and a store that ended by itself is followed by a new one with its session
offered back. On the window's thread.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

from PySide6.QtCore import QObject

from inspector.engine.messages.document import LoadTarget
from inspector.engine.messages.module import ModuleSpec
from inspector.errors import ErrorInfo, InspectorError
from inspector.ui.main_window import MainWindow
from inspector.ui.store_client import TransportFactory

_MOST_RESTARTS = 3
_RESTART_WINDOW_S = 60.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to open at the start.

    Attributes:
        sources: Locators of checkpoints.
        module: The module for the target; None for none.
        recipe: A recipe; empty for none.
        cwd: Folder that relative paths start from.
        offer_sessions: Whether sessions that a crash left are offered.
    """

    sources: tuple[str, ...] = ()
    module: ModuleSpec | None = None
    recipe: str = ""
    cwd: str = ""
    offer_sessions: bool = True


class Startup(QObject):
    """Starts the store of a window and keeps one running.

    Attributes:
        errors: What could not be opened, oldest first.
        is_done: Whether everything wanted was answered.
    """

    def __init__(
        self, window: MainWindow, factory: TransportFactory, wanted: Wanted
    ) -> None:
        """Keeps what is wanted; `begin` starts."""
        super().__init__(window)
        self.errors: list[ErrorInfo] = []
        self._window, self._factory, self._wanted = window, factory, wanted
        self._open = 0
        self._begun = False
        self._starts: deque[float] = deque(maxlen=_MOST_RESTARTS)
        window.client.closed.connect(self._on_closed)

    @property
    def is_done(self) -> bool:
        """Whether the store was started and everything wanted was answered."""
        return self._begun and self._open == 0

    def begin(self) -> None:
        """Starts the store and asks for what is wanted."""
        self._begun = True
        if not self._start():
            return
        wanted, window = self._wanted, self._window
        if wanted.offer_sessions:
            window.sessions.ask()
        if wanted.recipe:
            window.handlers.open_recipe(wanted.recipe)
        for locator in wanted.sources:
            window.sources.open_source(locator, wanted.cwd)
        if wanted.module is not None:
            self._load(wanted.module)

    def _start(self) -> bool:
        self._starts.append(time.monotonic())
        try:
            self._window.client.start(self._factory)
        except OSError as error:
            self._fail(ErrorInfo(type(error).__name__, str(error)))
        except InspectorError as error:
            self._fail(error.info())
        else:
            return True
        return False

    def _fail(self, error: ErrorInfo) -> None:
        self.errors.append(error)
        banner = self._window.banners.show_error("store", error)
        banner.add_button("Try again", self._again, name="restartStore")

    def _again(self) -> None:
        self._window.banners.remove("store")
        self._starts.clear()
        if self._start():
            self._window.sessions.ask()

    def _load(self, module: ModuleSpec) -> None:
        self._open += 1
        self._window.client.ask(
            LoadTarget(module),
            owner=self,
            on_reply=lambda _changes: self._answered(),
            on_failure=self._on_load_failed,
            on_cancelled=self._answered,
            activity=f"Loading {module.spec.rpartition('/')[2]}",
        )

    def _answered(self) -> None:
        self._open -= 1

    def _on_load_failed(self, error: ErrorInfo) -> None:
        self._answered()
        self.errors.append(error)
        banner = self._window.target.banners.show_error("load", error)
        spec = self._wanted.module.spec if self._wanted.module is not None else ""
        banner.add_button(
            "Change how it is loaded…",
            lambda: self._window.handlers.open_module(spec),
            name="changeModule",
        )

    def _on_closed(self, error: ErrorInfo) -> None:
        now = time.monotonic()
        often = len(self._starts) == _MOST_RESTARTS
        if often and now - self._starts[0] < _RESTART_WINDOW_S:
            self._fail(error)
            return
        self._window.mirror.forget()
        text = f"The store ended unexpectedly and was started anew. {error.text()}"
        self._window.banners.show_message("store", text, "warning")
        if self._start():
            self._window.sessions.ask()
