"""Key paths: the exact form inside the program, the text form at its edge.

A path is a tuple of keys and never a joined string, because keys may hold any
character. Text is parsed once where it is given and formatted once where it is
shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

Key = str | int
"""One step of a path: a mapping's key, or a position in a list or tuple."""

TreePath = tuple[Key, ...]
"""Keys from the root; ``()`` is the root itself."""

# Python refuses to make a number of more than 4,300 digits of a hostile name.
_NUMBER = re.compile(r"(\d{1,4000})")


def join(path: TreePath) -> str:
    """Returns the plain join with ``/`` that JSON calls ``path``; not reversible."""
    return "/".join(str(key) for key in path)


def quote(path: TreePath) -> str:
    r"""Returns the text that `parse` reads back: ``/`` and ``\`` are escaped."""
    return "/".join(str(key).replace("\\", "\\\\").replace("/", "\\/") for key in path)


def parse(text: str) -> TreePath:
    r"""Splits the text of a path at ``/``; ``\/`` and ``\\`` are literal.

    Args:
        text: E.g. ``"params/Dense_0/kernel"``; leading and trailing slashes are
            ignored, the empty text is the root.

    Returns:
        A path of strings only; `variables.tree.resolve` finds the integers.
    """
    keys: list[str] = []
    current: list[str] = []
    characters = iter(text)
    for character in characters:
        if character == "\\":
            current.append(next(characters, "\\"))
        elif character == "/":
            keys.append("".join(current))
            current = []
        else:
            current.append(character)
    keys.append("".join(current))
    while keys and not keys[0]:
        keys.pop(0)
    while keys and not keys[-1]:
        keys.pop()
    return tuple(keys)


def sort_key(key: Key) -> tuple[tuple[int, int | str], ...]:
    """Returns a sort key under which names with digits sort by number.

    ``layer_2`` comes before ``layer_10``, and the integer 2 beside the text "2".
    """
    parts = _NUMBER.split(str(key))
    return tuple(
        (0, int(part)) if index % 2 else (1, part)
        for index, part in enumerate(parts)
        if part
    )


def is_prefix(prefix: TreePath, path: TreePath) -> bool:
    """Returns whether ``path`` is ``prefix`` or lies below it."""
    return path[: len(prefix)] == prefix


def common_prefix(paths: Iterable[TreePath]) -> TreePath:
    """Returns the longest path that all ``paths`` begin with; ``()`` for none."""
    iterator = iter(paths)
    prefix = next(iterator, ())
    for path in iterator:
        length = 0
        for left, right in zip(prefix, path, strict=False):
            if left != right:
                break
            length += 1
        prefix = prefix[:length]
    return prefix
