"""What the end of an engine means to whoever waited for it, as errors.

Raised by the supervisors in `store_engines`, on the store's loop. Whom to blame is
decided there.
"""

from __future__ import annotations

from inspector.errors import (
    EngineError,
    ErrorInfo,
    InspectorError,
    ReadFileError,
    WriteFileError,
)


class EngineEndedError(InspectorError):
    """The engine ended before it answered.

    Attributes:
        error: How it ended.
    """

    def __init__(self, error: ErrorInfo) -> None:
        """Takes what the client says of the end."""
        super().__init__(error.message, where=error.where, hint=error.hint)
        self.error = error


class _LastWordsError(InspectorError):
    """An end whose last words are for ``--debug``, in place of our own frames."""

    last_words: str

    def info(self, traceback: str = "") -> ErrorInfo:
        """Returns the error as data, with the engine's last words."""
        return super().info(self.last_words or traceback)


def _how(error: ErrorInfo) -> str:
    """Returns how an engine ended, without its last words, which are for us."""
    return error.message.partition(" Its last words:")[0].rstrip(".")


class EndedReaderError(_LastWordsError, ReadFileError):
    """A file ended the reader; it is not read again in this session."""

    def __init__(self, what: str, error: ErrorInfo) -> None:
        """Names what was read and how the reader ended."""
        super().__init__(
            f"Reading this ended the reader process: {_how(error)}.",
            where=what,
            hint="The file is damaged or hostile, or needs more memory than there is. "
            "It is not tried again in this session; everything else goes on.",
        )
        self.last_words = error.traceback


class EndedExportError(_LastWordsError, WriteFileError):
    """An export ended the reader twice; what was there before is unchanged."""

    def __init__(self, out: str, error: ErrorInfo) -> None:
        """Names the export and how the reader ended."""
        super().__init__(
            f"Writing this ended the reader process twice: {_how(error)}. What was "
            "there before is unchanged.",
            where=out,
            hint="Free memory and export again. When it stays so, the statistics of "
            "the leaves one by one show which of them cannot be read.",
        )
        self.last_words = error.traceback


class EndedModelError(_LastWordsError, EngineError):
    """The model ended before it answered."""

    def __init__(self, where: str, error: ErrorInfo) -> None:
        """Names the module it worked for and how it ended."""
        super().__init__(
            f"The model process ended while it worked for this module: {_how(error)}.",
            where=where,
            hint="Everything else goes on, and a new model is ready. Code that "
            "crashes, or memory that runs out, ends a process like this.",
        )
        self.last_words = error.traceback
