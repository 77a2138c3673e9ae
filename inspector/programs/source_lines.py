"""Where an equation comes from: the module it belongs to, the line that made it.

Modules are known by marks: `mark` opens a scope whose name no person's scope can
have, and the innermost of them around an equation is its module. Inner programs know
the part below their call only, so the frames around are asked too. On the thread of
the model process that runs the person's code.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import jax

from inspector.models import compat
from inspector.programs.interpreter import Frame
from inspector.variables.path import TreePath

_OPEN, _CLOSE = "\u27ea", "\u27eb"

IsUsers = Callable[[str], bool]
"""Whether a file is one of the person's."""


class Marks:
    """The marks of one trace: a number for every module path."""

    def __init__(self) -> None:
        """Knows no module yet."""
        self._numbers: dict[TreePath, int] = {}
        self._paths: list[TreePath] = []

    def mark(self, path: TreePath) -> AbstractContextManager[None]:
        """Returns a context in which every equation belongs to a module."""
        if path not in self._numbers:
            self._numbers[path] = len(self._paths)
            self._paths.append(path)
        name = f"{_OPEN}{self._numbers[path]}{_CLOSE}"
        context: AbstractContextManager[None] = jax.named_scope(name)
        return context

    def module_of(self, frame: Frame) -> TreePath | None:
        """Returns the module an equation belongs to; None when no mark is around."""
        for one in frame.outwards():
            for kind, name in reversed(compat.scopes(one.equation)):
                if kind == "scope" and name[:1] == _OPEN and name[-1:] == _CLOSE:
                    return self._paths[int(name[1:-1])]
        return None


def is_backward(frame: Frame) -> bool:
    """Returns whether an equation belongs to the backward pass of a gradient."""
    return any(
        kind == "transform" and name == "transpose"
        for one in frame.outwards()
        for kind, name in compat.scopes(one.equation)
    )


def line_of(frame: Frame, is_users: IsUsers) -> tuple[str, str]:
    """Returns the person's ``file:line`` of an equation and the code on that line.

    Both are empty when no line of theirs is known, as in a program that JAX traced
    before and keeps; the equations around are tried then.
    """
    for one in frame.outwards():
        for file, number in compat.user_frames(one.equation):
            if is_users(file):
                return f"{file}:{number}", linecache.getline(file, number).strip()
    return "", ""


def short(source: str) -> str:
    """Returns ``file.py:12`` of ``/a/file.py:12``, for sentences."""
    file, _, number = source.rpartition(":")
    return f"{Path(file).name}:{number}" if file else source


def steps_of(frame: Frame) -> str:
    """Returns where inside loops an equation ran, outermost first; may be empty."""
    steps = [one.step for one in frame.outwards() if one.step]
    return ", ".join(reversed(steps))
