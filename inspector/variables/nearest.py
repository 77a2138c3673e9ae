"""“Did you mean”: the nearest names to one that is not there.

Used by edits and plans for their error messages, in the store process.
"""

from __future__ import annotations

import difflib
import itertools

from inspector.variables.path import Key, TreePath, join
from inspector.variables.tree import Branch, Node

_LOOK_AT = 2_000


def nearest_paths(tree: Node, path: TreePath, count: int = 3) -> list[TreePath]:
    """Returns existing paths that ``path`` may mean, best first.

    The longest part of the path that exists is kept; the key after it is
    compared with the keys that are there, capital letters aside.

    Args:
        tree: Where the path was looked for.
        path: A path that is not in the tree.
        count: How many to return at most.
    """
    node = tree
    for depth, key in enumerate(path):
        if not isinstance(node, Branch):
            return [path[:depth]]
        if key not in node.children:
            return [(*path[:depth], name) for name in _close(node, key, count)]
        node = node.children[key]
    return []


def _close(branch: Branch, key: Key, count: int) -> list[Key]:
    by_text: dict[str, Key] = {}
    for name in itertools.islice(branch.children, _LOOK_AT):
        by_text.setdefault(str(name).lower(), name)
    close = difflib.get_close_matches(str(key).lower(), by_text, count, 0.5)
    return [by_text[text] for text in close]


def did_you_mean(tree: Node, path: TreePath) -> str:
    """Returns a hint that names the nearest paths, or what is there instead."""
    near = nearest_paths(tree, path)
    if near:
        return f"Did you mean {' or '.join(join(one) or 'the root' for one in near)}?"
    node, depth = tree, 0
    while depth < len(path) and isinstance(node, Branch):
        if path[depth] not in node.children:
            break
        node, depth = node.children[path[depth]], depth + 1
    if not isinstance(node, Branch) or not node.children:
        return "Nothing lies there."
    names = [str(key) for key in itertools.islice(node.sorted_keys(), 6)]
    more = ", …" if len(node.children) > len(names) else ""
    place = join(path[:depth]) or "the root"
    return f"Below {place} are {', '.join(names)}{more}."
