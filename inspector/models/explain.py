"""What went wrong in the person's module, in words: what, which line, what to do.

Everything that runs the person's code turns its exceptions into `LoadModuleError`
here. The original exception stays as the cause, so the full traceback can be shown.
The known mistakes and their cures are a table; nothing here runs foreign code.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from inspector.errors import InspectorError, LoadModuleError
from inspector.models.user_code import is_library

_LONGEST = 600

_HINTS = {
    "SyntaxError": "Correct the line and load the module again.",
    "IndentationError": "Correct the line and load the module again.",
    "SetAttributeInModuleSetupError": "A field cannot be assigned in setup: give the "
    "attribute another name.",
    "SetAttributeFrozenModuleError": "Attributes are assigned in setup only; in a "
    "compact method use a local name.",
    "AssignSubModuleError": "Create submodules in setup, or mark the method with "
    "@nn.compact.",
    "NameInUseError": "Give one of the two another name=.",
    "IncorrectPostInitOverrideError": "Call super().__post_init__() in __post_init__, "
    "and write no __init__.",
    "ReservedModuleAttributeError": "Rename the field: Flax uses this name itself.",
    "CallCompactUnboundModuleError": "A module can be called inside init and apply "
    "only.",
    "CallSetupUnboundModuleError": "Attributes of setup exist inside init and apply "
    "only.",
    "InvalidInstanceModuleError": "Make an instance first: Name() in place of Name.",
    "MultipleMethodsCompactError": "Mark one method with @nn.compact, move the rest "
    "of the submodules to setup.",
    "TracerBoolConversionError": "Shapes are found without values, so Python cannot "
    "branch on an array: use jnp.where or jax.lax.cond, or give the flag as a static "
    "argument (--call name=value).",
    "ConcretizationTypeError": "Shapes are found without values: take this number "
    "from a shape, a field, or a static argument (--call name=value).",
    "TracerIntegerConversionError": "Shapes are found without values: take this number "
    "from a shape, a field, or a static argument (--call name=value).",
    "TracerArrayConversionError": "Use jax.numpy in place of numpy on arrays inside "
    "the module.",
    "UnexpectedTracerError": "Use nn.jit, nn.vmap or nn.scan around submodules in "
    "place of jax.jit, jax.vmap or jax.lax.scan.",
    "JaxTransformError": "Use nn.jit, nn.vmap or nn.scan around submodules in place "
    "of jax.jit, jax.vmap or jax.lax.scan.",
    "InvalidRngError": "The module draws from an rng stream that was not given: give "
    "its seed, e.g. 0 (--rng NAME=0).",
    "RecursionError": "The module calls itself without end.",
    "MemoryError": "The module allocates more than there is; make arrays inside "
    "methods, where only their shapes are found.",
}
"""Class name of an exception -> what to do."""

_PATTERNS = (
    (
        r"mutable default",
        "Use a tuple in place of a list, or field(default_factory=…).",
    ),
    (r"non-default argument", "Put the fields without a default first."),
    (
        r"must be passed to the constructor or at call time",
        "Give the flag as a static argument of the call, e.g. deterministic=true "
        "(--call), or as a constructor argument.",
    ),
    (r"no attribute '__call__'", "Name the method that init runs (--method NAME)."),
    (
        r"defined in '\.setup\(\)'",
        "Attributes of setup exist inside init and apply only.",
    ),
    (r"must be initialized in", "Create it in setup, or mark the method @nn.compact."),
    (
        r"RESOURCE_EXHAUSTED|Out of memory",
        "The module allocates more than there is; make arrays inside methods, where "
        "only their shapes are found.",
    ),
)
"""Pattern in the message of an exception -> what to do."""


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
    return LoadModuleError(
        f"{doing} {_happened(error)}", where=place, hint=_hint(error, roots) or hint
    )


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
            if _is_users(frame.filename, roots):
                return f"{frame.filename}:{frame.lineno}"
        seen = seen.__cause__ or seen.__context__
    return ""


def _is_users(file: str, roots: Sequence[Path]) -> bool:
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
    for base in type(error).__mro__:
        if hint := _HINTS.get(base.__name__):
            return hint
    return next(
        (hint for pattern, hint in _PATTERNS if re.search(pattern, str(error))), ""
    )


def _missing(error: ModuleNotFoundError, roots: Sequence[Path]) -> str:
    package = (error.name or "").partition(".")[0]
    for root in roots:
        if (root / package).is_dir() or (root / f"{package}.py").is_file():
            return f"“{package}” lies in {root}, but {error.name} is not in it."
    return (
        f"“{package}” is not installed for {sys.executable}. Choose the environment "
        "that has it with --python, or install it there."
    )
