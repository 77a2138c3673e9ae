"""Everything a person should read that no panel has a place for.

One object logs and emits; the status bar, the log panel and the window's banner
listen. Uncaught exceptions of any thread end here. Called on any thread.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from types import TracebackType

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal

from inspector.engine.messages.document import Notice
from inspector.errors import ErrorInfo, InspectorError

_LOG = logging.getLogger("inspector.window")

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING,
           "error": logging.ERROR}  # fmt: skip


class Notices(QObject):
    """The one way from any thread to the person's eyes.

    Signals:
        posted: `Notice`, always on the window's thread.
    """

    posted = Signal(object)
    _arrived = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Makes the door; `install_hooks` lets uncaught exceptions through it."""
        super().__init__(parent)
        self._arrived.connect(self._on_arrived, Qt.ConnectionType.AutoConnection)

    def info(self, message: str, where: str = "") -> None:
        """Tells something that went well."""
        self.post(Notice("info", ErrorInfo("Info", message, where)))

    def warning(self, message: str, where: str = "", hint: str = "") -> None:
        """Tells something that the person may want to change."""
        self.post(Notice("warning", ErrorInfo("Warning", message, where, hint)))

    def error(self, error: ErrorInfo) -> None:
        """Tells what could not be done."""
        self.post(Notice("error", error))

    def post(self, notice: Notice) -> None:
        """Tells a notice, from any thread."""
        if shiboken6.isValid(self):
            self._arrived.emit(notice)

    def install_hooks(self) -> None:
        """Lets every uncaught exception end here, with its traceback in the log."""
        sys.excepthook = self._on_uncaught
        threading.excepthook = self._on_thread_uncaught

    def remove_hooks(self) -> None:
        """Puts the interpreter's own hooks back."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__

    def _on_arrived(self, notice: Notice) -> None:
        level = _LEVELS.get(notice.level, logging.INFO)
        # A notice is shown to the person; the log keeps it for a report.
        _LOG.log(min(level, logging.INFO), "%s: %s", notice.level, notice.error.text())
        if notice.error.traceback:
            _LOG.debug("%s", notice.error.traceback)
        self.posted.emit(notice)

    def _on_uncaught(
        self,
        kind: type[BaseException],
        value: BaseException,
        trace: TracebackType | None,
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, value, trace)
            return
        self.error(_describe(value, trace))

    def _on_thread_uncaught(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not issubclass(args.exc_type, SystemExit):
            self.error(_describe(args.exc_value, args.exc_traceback))


def _describe(value: BaseException, trace: TracebackType | None) -> ErrorInfo:
    text = "".join(traceback.format_exception(type(value), value, trace))
    if isinstance(value, InspectorError):
        return value.info(text)
    frames = traceback.extract_tb(trace)
    where = f"{frames[-1].name}, line {frames[-1].lineno}" if frames else ""
    return ErrorInfo(
        type(value).__name__,
        f"Something went wrong in the window: {type(value).__name__}: {value}",
        where,
        "The program goes on. The log has the details; please report them.",
        text,
    )
