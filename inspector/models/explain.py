"""What went wrong in the person's module, in words: what, which line, what to do.

Everything that runs the person's code turns its exceptions into `LoadModuleError`
here. The original exception stays as the cause, so the full traceback can be shown.
The known mistakes and their cures are a table, `explain_rules`, and a few that need
the frames of the traceback, `explain_found`. Nothing here runs foreign code.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from inspector.errors import InspectorError, LoadModuleError
from inspector.models.explain_found import found_in_frames
from inspector.models.explain_rules import RULES
from inspector.models.user_code import is_library

_LONGEST = 600


def failure(
    error: BaseException,
    roots: Sequence[Path],
    *,
    doing: str,
    where: str = "",
    hint: str = "",
) -> LoadModuleError:
    """Returns what to raise in place of an exception of the person's code.

    Args:
        error: What the code raised; `SystemExit` and `KeyboardInterrupt` too.
        roots: Folders whose files are the person's own.
        doing: What was being done, e.g. ``"Importing net.py"``.
        where: Place to name when no line of theirs is in the traceback.
        hint: What to do when the mistake is none of the known ones.
    """
    if isinstance(error, LoadModuleError):
        return error
    place = user_line(error, roots) or where
    words, cure = known(error, roots)
    happened = _happened(error)
    if words:
        happened = f"failed: {words} ({type(error).__name__})."
    cure = cure or _hint(error, roots) or hint
    return LoadModuleError(f"{doing} {happened}", where=place, hint=cure)


def known(error: BaseException, roots: Sequence[Path]) -> tuple[str, str]:
    """Returns what happened in our words, and what to do, for a known mistake.

    Args:
        error: What the code raised.
        roots: Folders whose files are the person's own.

    Returns:
        A clause and a hint; the clause is empty where the exception's own text says
        it best, both when the mistake is none of the known ones.
    """
    try:
        found = found_in_frames(error, lambda file: is_users(file, roots))
    except Exception:  # foreign objects in the frames may raise on being looked at
        found = None
    if found is not None:
        return found
    text = str(error)
    every = (rule.explained(error, text) for rule in RULES)
    return next((one for one in every if one is not None), ("", ""))


def _happened(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"called sys.exit({'' if error.code is None else repr(error.code)})."
    if isinstance(error, KeyboardInterrupt):
        return "was interrupted (KeyboardInterrupt)."
    text = first_paragraph(error)
    return f"failed: {type(error).__name__}" + (f": {text}" if text else "")


def first_paragraph(error: BaseException) -> str:
    """Returns the first paragraph of an exception's message as one line."""
    if isinstance(error, SyntaxError):
        line = (error.text or "").strip()
        return (error.msg or "") + (f" in “{line}”" if line else "")
    if isinstance(error, InspectorError):
        return error.message
    text = " ".join(str(error).strip().split("\n\n")[0].split())
    text = re.sub(r"\s*\(https?://\S+\)$", "", text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def user_line(error: BaseException, roots: Sequence[Path]) -> str:
    """Returns ``file:line`` of the last frame in the person's files, or nothing.

    An allow list: frames of Flax, of JAX and of our own lie around theirs.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno or 1}"
    seen: BaseException | None = error
    while seen is not None:
        frames = traceback.extract_tb(seen.__traceback__)
        for frame in reversed(frames):
            if is_users(frame.filename, roots):
                return f"{frame.filename}:{frame.lineno}"
        seen = seen.__cause__ or seen.__context__
    return ""


def is_users(file: str, roots: Sequence[Path]) -> bool:
    """Returns whether a file is one of the person's, and none of a library's."""
    path = Path(file)
    return any(
        path.is_relative_to(root)
        and (not is_library(path) or is_library(root / "x.py"))
        for root in roots
    )


def _hint(error: BaseException, roots: Sequence[Path]) -> str:
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return (
            'Put what only a program should do below `if __name__ == "__main__":`; '
            "loading a module runs the file."
        )
    if isinstance(error, ModuleNotFoundError):
        return _missing(error, roots)
    if isinstance(error, ImportError | AttributeError) and (
        match := re.search(r"(?:from|module) '((?:jax|flax)[\w.]*)'", str(error))
    ):
        package = match[1].partition(".")[0]
        version = getattr(sys.modules.get(package), "__version__", "unknown")
        return (
            f"The code was written for another version of {package} than {version}: "
            "change the line, or choose the environment it runs in with --python."
        )
    return ""


def _missing(error: ModuleNotFoundError, roots: Sequence[Path]) -> str:
    package = (error.name or "").partition(".")[0]
    for root in roots:
        if (root / package).is_dir() or (root / f"{package}.py").is_file():
            return f"“{package}” lies in {root}, but {error.name} is not in it."
    return (
        f"“{package}” is not installed for {sys.executable}. Choose the environment "
        "that has it with --python, or install it there."
    )
