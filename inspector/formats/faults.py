"""What can be wrong with a file, as errors that a person understands.

Raised by every reader of this package. `LeafFault` stays inside: the opened
checkpoint turns it into a `ReadLeafError` that names the leaf.
"""

from __future__ import annotations

from pathlib import Path

from inspector.errors import ReadFileError

_FETCH_AGAIN = "Copy or download it again and compare the sizes."


class ReadFileTruncatedError(ReadFileError):
    """A file ends before what its own header promises."""

    def __init__(self, path: Path, *, ends_at: int, promised: int) -> None:
        """Words the error.

        Args:
            path: The file.
            ends_at: Its size in bytes.
            promised: Bytes that it needs to have by its own account.
        """
        super().__init__(
            f"The file ends early, at byte {ends_at:,} of {promised:,}.",
            where=str(path),
            hint=f"It was not written or copied to the end. {_FETCH_AGAIN}",
        )


class ReadFileDamagedError(ReadFileError):
    """The bytes of a file contradict its own format."""

    def __init__(self, path: Path, *, problem: str, hint: str = "") -> None:
        """Words the error.

        Args:
            path: The file.
            problem: One sentence without a full stop: what contradicts what.
            hint: What to do; by default to fetch the file again.
        """
        super().__init__(
            f"The file is damaged: {problem}.",
            where=str(path),
            hint=hint or f"The file was changed or not copied whole. {_FETCH_AGAIN}",
        )


class ReadFileForeignError(ReadFileError):
    """The file is something else than a checkpoint that this program opens."""

    def __init__(self, path: Path, *, what: str, hint: str) -> None:
        """Words the error.

        Args:
            path: The file or folder.
            what: One sentence: what it is.
            hint: What to do instead.
        """
        super().__init__(what, where=str(path), hint=hint)


class ReadFileTooManyError(ReadFileForeignError):
    """A file holds more values than a tree can be shown of in reasonable time."""

    def __init__(self, path: Path, *, most: int) -> None:
        """Words the error.

        Args:
            path: The file.
            most: Values that are listed of one file.
        """
        super().__init__(
            path,
            what=f"The file holds more than {most:,} values, the most that one "
            "checkpoint may have here.",
            hint="Stack the arrays of equal layers, or write its parts as files of "
            "their own.",
        )


class ReadFileUnknownError(ReadFileForeignError):
    """Nothing in the file tells what it is."""

    def __init__(self, path: Path) -> None:
        """Words the error for one file."""
        super().__init__(
            path,
            what="This is no checkpoint that this program knows.",
            hint="It opens Orbax folders, Flax msgpack, safetensors and npz files.",
        )


class ReadFileLfsPointerError(ReadFileForeignError):
    """A repository was cloned without git-lfs; the file only names the real one."""

    def __init__(self, path: Path) -> None:
        """Words the error for one pointer file."""
        super().__init__(
            path,
            what="This is a git-lfs pointer, not the file itself.",
            hint="Run `git lfs install` and `git lfs pull` in the repository.",
        )


class ReadFileAccessError(ReadFileError):
    """The operating system does not let the file be read."""

    def __init__(self, path: Path, *, error: OSError) -> None:
        """Words the error.

        Args:
            path: The file or folder.
            error: What the operating system said.
        """
        denied = isinstance(error, PermissionError)
        reason = error.strerror or type(error).__name__
        super().__init__(
            "There is no permission to read it."
            if denied
            else f"The system cannot read it: {reason}.",
            where=str(path),
            hint="Change its permissions, or open a copy of your own."
            if denied
            else "Check that its disk is there and that no link leads round in a "
            "circle, or open a copy.",
        )


class LeafFault(Exception):  # noqa: N818 - never shown; becomes a ReadLeafError
    """The bytes of one leaf are absent, damaged or do not fit its shape.

    Attributes:
        problem: One sentence: what is wrong, without the leaf's name.
    """

    def __init__(self, *, problem: str) -> None:
        """Keeps the sentence; the leaf is named by whoever knows it."""
        super().__init__(problem)
        self.problem = problem
