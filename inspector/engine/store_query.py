"""Filters of trees: what a person types into a filter field or a search.

Used by the store's view workers on immutable trees; no I/O, no state.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from inspector.variables.leaf import Leaf
from inspector.variables.path import Key, TreePath, join
from inspector.variables.tree import Branch, Node

Matcher = Callable[[str], bool]
"""Says whether the plain join of a path matches."""


def compile_query(query: str) -> Matcher | None:
    """Makes a matcher of what was typed.

    A query with ``*`` is a pattern over whole keys that may begin at any key: ``*``
    stands for anything within one key, ``**`` for any number of keys. A leading
    ``/`` ties it to the root. Anything else is a substring. Case does not matter.
    The type of an NNX variable (``Param``) matches like a key path.

    Args:
        query: Text as typed; blanks around it are ignored.

    Returns:
        The matcher, None when the query is empty and everything matches.
    """
    text = query.strip()
    if not text:
        return None
    if "*" not in text:
        needle = text.lower()
        return lambda path: needle in path.lower()
    return _compile_pattern(text)


def _compile_pattern(text: str) -> Matcher:
    anchored = text.startswith("/")
    parts = re.split(r"(\*\*/?|\*)", text.strip("/"))
    body = "".join(_translate(part) for part in parts)
    start = "" if anchored else "(?:.*/)?"
    expression = re.compile(f"{start}{body}", re.IGNORECASE | re.DOTALL)
    return lambda path: expression.fullmatch(path) is not None


def _translate(part: str) -> str:
    if part == "**/":
        return "(?:.*/)?"
    if part == "**":
        return ".*"
    if part == "*":
        return "[^/]*"
    return re.escape(part)


@dataclass(frozen=True, slots=True)
class Visible:
    """What a filter leaves of one branch.

    Attributes:
        keys: Visible children in the order they are shown.
        below: For a visible branch that is shown in part: what is left of it. A
            visible branch that is not listed is shown whole.
        matches: Visible children whose own path matches.
        hits: Matching nodes at or below, for the search's total.
    """

    keys: tuple[Key, ...]
    below: dict[Key, Visible] = field(default_factory=dict)
    matches: frozenset[Key] = frozenset()
    hits: int = 0


def apply_query(tree: Node, query: str) -> Visible | None:
    """Finds what a query leaves of a tree.

    Args:
        tree: Root of the tree.
        query: As for `compile_query`.

    Returns:
        What is visible of the root, None when everything is.
    """
    matcher = compile_query(query)
    if matcher is None or not isinstance(tree, Branch):
        return None
    return _apply(tree, "", matcher)


def _apply(branch: Branch, prefix: str, matcher: Matcher) -> Visible:
    keys: list[Key] = []
    below: dict[Key, Visible] = {}
    matches: set[Key] = set()
    hits = 0
    for key in branch.sorted_keys():
        child = branch.children[key]
        path = f"{prefix}/{key}" if prefix else str(key)
        if matcher(path) or _is_of_type(child, matcher):
            keys.append(key)
            matches.add(key)
            hits += 1
        elif isinstance(child, Branch):
            part = _apply(child, path, matcher)
            if part.keys:
                keys.append(key)
                below[key] = part
                hits += part.hits
    return Visible(tuple(keys), below, frozenset(matches), hits)


def _is_of_type(node: Node, matcher: Matcher) -> bool:
    """Whether the type of an NNX variable matches, which is its collection."""
    return isinstance(node, Leaf) and bool(node.variable) and matcher(node.variable)


def find(tree: Node, query: str, limit: int) -> tuple[list[TreePath], int]:
    """Finds the outermost nodes whose path matches.

    Args:
        tree: Root of the tree.
        query: As for `compile_query`; an empty one finds nothing.
        limit: Most paths to return.

    Returns:
        The first paths in the order they are shown, and how many there are in all.
    """
    visible = apply_query(tree, query)
    if visible is None:
        return [], 0
    found: list[TreePath] = []
    _collect(visible, (), found, limit)
    return found, visible.hits


def _collect(
    visible: Visible, prefix: TreePath, found: list[TreePath], limit: int
) -> None:
    for key in visible.keys:
        if len(found) >= limit:
            return
        if key in visible.matches:
            found.append((*prefix, key))
        elif key in visible.below:
            _collect(visible.below[key], (*prefix, key), found, limit)


def nearest(tree: Node, path: TreePath) -> str:
    """Returns the plain join of the deepest part of ``path`` that exists."""
    node = tree
    exact: list[Key] = []
    for key in path:
        if not isinstance(node, Branch) or key not in node.children:
            break
        exact.append(key)
        node = node.children[key]
    return join(tuple(exact))
