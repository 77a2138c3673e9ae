"""Errors that a person reads: what happened, where, and what to do next.

Every room raises these; the engine boundary turns them into `ErrorInfo` (plain
data) and back. Nothing here imports anything beyond the standard library.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error as data, the only form in which one crosses a pipe.

    Attributes:
        kind: Class name of the error, e.g. ``"ReadFileTruncatedError"``.
        message: One sentence: what happened, with expected and found values.
        where: File, tree path or request that it is about; may be empty.
        hint: What the person can do next; may be empty.
        traceback: Full traceback text for ``--debug`` and the log; may be empty.
    """

    kind: str
    message: str
    where: str = ""
    hint: str = ""
    traceback: str = ""

    def text(self) -> str:
        """Returns the error as a person reads it: what, where, what to do."""
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.message}" + (f"\n{self.hint}" if self.hint else "")


class InspectorError(Exception):
    """Base of every error that is shown to a person.

    Attributes:
        message: One sentence: what happened.
        where: File, tree path or request that it is about; may be empty.
        hint: What the person can do next; may be empty.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        """Keeps the three parts apart so that each surface can lay them out."""
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        """Returns what, where and what to do, as `ErrorInfo.text` does."""
        return self.info().text()

    def info(self, traceback: str = "") -> ErrorInfo:
        """Returns the error as data.

        Args:
            traceback: Traceback text to carry along; empty to leave it out.
        """
        return ErrorInfo(
            type(self).__name__, self.message, self.where, self.hint, traceback
        )


class UsageError(InspectorError):
    """The request itself is malformed; the command line exits with status 2."""

    def info(self, traceback: str = "") -> ErrorInfo:
        """Returns the error as data, its kind the same for all errors of usage.

        So the command line knows it by its kind, whichever process found it.
        """
        return ErrorInfo(
            UsageError.__name__, self.message, self.where, self.hint, traceback
        )


class ReadFileError(InspectorError):
    """A file or folder could not be read as a checkpoint."""


class ReadLeafError(InspectorError):
    """One leaf of a checkpoint could not be read; the others can."""


class WriteFileError(InspectorError):
    """An export could not be written; the old file, or nothing, is there."""


class LossyExportError(WriteFileError):
    """The chosen format cannot say something the tree holds; needs ``--lossy``."""


class LoadModuleError(InspectorError):
    """The person's module could not be imported, constructed or traced."""


class TransferError(InspectorError):
    """A transfer names paths that are absent, or pairs that cannot fit."""


class EditError(InspectorError):
    """An edit does not fit the target, e.g. an absent path or a wrong shape."""


class RecipeError(InspectorError):
    """A recipe is damaged, of an unknown version, or no longer fits its sources."""


class ModuleNotImportedError(InspectorError):
    """Initial values are needed of a recorded module that nobody has run yet."""

    def __init__(self, file: str, leaves: int) -> None:
        """Names the file that would run and how many leaves need it."""
        super().__init__(
            f"{leaves} leaves keep the module's initial values, and making these "
            "runs the module's file",
            where=file,
            hint="Confirm that the file may run, or fill these leaves first.",
        )


class SessionError(InspectorError):
    """A session's journal cannot be written, read, or belongs to another program."""


class EngineError(InspectorError):
    """An engine process ended, or cannot be started."""


class RemoteError(InspectorError):
    """An error of another process, carried over a pipe with its own kind."""

    def __init__(self, error: ErrorInfo) -> None:
        """Takes the error as it came over the pipe."""
        super().__init__(error.message, where=error.where, hint=error.hint)
        self.error = error

    def info(self, traceback: str = "") -> ErrorInfo:
        """Returns the original error, so that passing it on changes nothing."""
        del traceback
        return self.error


class CancelledError(Exception):
    """The person cancelled the request; not an error, nothing is shown."""
