"""From values of the document to values the reader can evaluate.

Pure functions: ids of sources become locators, initial values that have been made
become raw bytes in scratch, kept values those of their files.
Used by the store for reading and for export.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath
from inspector.variables.tree import Branch, Node
from inspector.variables.value import (
    Cast,
    Initial,
    Kept,
    Patched,
    Raw,
    Stored,
    Value,
)

Locators = Mapping[str, str]
"""Id of a source -> its absolute locator; `KEPT` -> the folder of kept values."""

KEPT = "kept:"
"""Stands for the folder of kept values among locators; no source has this id."""

KEPT_SUFFIX = ".bin"
"""What the file of a kept value is called after its digest."""

InitialTable = Mapping[TreePath, Raw]
"""Path in the base's own tree -> where its initial value lies."""


def resolve_value(value: Value, locators: Locators, initial: InitialTable) -> Value:
    """Returns the value with locators and raw bytes in place of ids and `Initial`.

    An initial value that has not been made stays `Initial`; the reader says so.
    Iterative, since a leaf may carry many patches.
    """
    layers: list[Cast | Patched] = []
    while isinstance(value, Cast | Patched):
        layers.append(value)
        value = value.of
    if isinstance(value, Stored):
        value = Stored(locators.get(value.source, value.source), value.path)
    elif isinstance(value, Initial):
        value = initial.get(value.path, value)
    elif isinstance(value, Kept) and KEPT in locators:
        value = kept_raw(locators[KEPT], value)
    for layer in reversed(layers):
        value = replace(layer, of=value)
    return value


def kept_raw(folder: str, kept: Kept) -> Raw:
    """Returns where the bytes of a kept value lie, whether they are there or not."""
    return Raw(f"{folder}/{kept.digest}{KEPT_SUFFIX}", 0, kept.shape, kept.dtype)


def resolve_leaf(leaf: Leaf, locators: Locators, initial: InitialTable) -> Leaf:
    """Returns the leaf with its value resolved."""
    return replace(leaf, value=resolve_value(leaf.value, locators, initial))


def resolve_tree(tree: Node, locators: Locators, initial: InitialTable) -> Node:
    """Returns a tree with every leaf resolved."""
    if isinstance(tree, Leaf):
        return resolve_leaf(tree, locators, initial)
    children = {
        key: resolve_tree(child, locators, initial)
        for key, child in tree.children.items()
    }
    return Branch(children, tree.container)
