"""Rows, pages and details of a tree as the window shows them.

Pure functions over immutable trees: the store runs them on its view workers, tests
and the fake store of the window's tests call them directly. No state, no I/O.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from inspector.engine.messages import viewing
from inspector.engine.store_query import Visible, apply_query
from inspector.errors import InspectorError
from inspector.variables.leaf import ORIGIN_ORDER, SCALAR_KINDS, Leaf
from inspector.variables.path import Key, TreePath, join
from inspector.variables.tree import Branch, Node, get, totals_of, walk
from inspector.variables.value import (
    Cast,
    Filled,
    Initial,
    Kept,
    Literal,
    Patched,
    Raw,
    Scalar,
    Stored,
    Unset,
    Value,
    innermost,
)

PAGE_LIMIT = 500
"""Most rows of one page, so that it stays below the bound of the window's pipe."""

ROW_TEXT = 160
"""Characters of any other text in a row of a tree."""

VALUE_TEXT = 80
"""Characters of a scalar leaf's value in a row."""

LITERAL_TEXT = 32 << 10
"""Characters of a scalar leaf's value in its details."""

Names = Mapping[str, str]
"""Id of a source -> its name for a person."""


class NodeAbsentError(InspectorError):
    """A query names a path at which the tree has nothing (any more)."""

    def __init__(self, path: TreePath) -> None:
        """Names the path."""
        super().__init__(
            "There is nothing at this path any more",
            where=join(path),
            hint="The tree has changed since; choose the node again.",
        )


class FilteredTree:
    """A tree under one filter; made once per (tree, query) and then asked often.

    Attributes:
        tree: Root of the tree.
        query: The filter; empty shows everything.
    """

    def __init__(self, tree: Node, query: str = "") -> None:
        """Finds what the filter leaves; walks the tree once when there is one."""
        self.tree = tree
        self.query = query
        self._visible = apply_query(tree, query)

    def keys(self, path: TreePath) -> list[Key]:
        """Returns the visible children of the node at an exact path, in order."""
        node = get(self.tree, path)
        if not isinstance(node, Branch):
            return []
        visible = self._part(path)
        return node.sorted_keys() if visible is None else list(visible.keys)

    def matches(self, path: TreePath) -> bool:
        """Returns whether the node itself matches the filter."""
        visible = self._part(path[:-1]) if path else None
        return visible is not None and path[-1] in visible.matches

    def locate(self, path: TreePath) -> tuple[int, ...]:
        """Returns the row number of each key, up to the first hidden one."""
        rows: list[int] = []
        for depth, key in enumerate(path):
            try:
                rows.append(self.keys(path[:depth]).index(key))
            except ValueError:
                break
        return tuple(rows)

    def _part(self, path: TreePath) -> Visible | None:
        """What is visible of a branch; None: all of it."""
        part = self._visible
        for key in path:
            if part is None:
                return None
            part = part.below.get(key)
        return part


def children_page(
    filtered: FilteredTree,
    request: viewing.AskChildren,
    names: Names,
    *,
    with_origin: bool,
) -> viewing.ChildPage:
    """Makes a page of the children of a node.

    Args:
        filtered: The tree under the request's filter.
        request: Parent, first row and number of rows.
        names: Names of the sources.
        with_origin: Whether rows carry origins (the target does).

    Raises:
        NodeAbsentError: There is nothing at the path.
    """
    parent = node_at(filtered.tree, request.path)
    keys = filtered.keys(request.path)
    count = min(request.count, PAGE_LIMIT)
    rows = []
    for key in keys[request.start : request.start + count]:
        path = (*request.path, key)
        child = parent.children[key] if isinstance(parent, Branch) else parent
        row = make_row(key, child, names, with_origin=with_origin)
        if isinstance(child, Branch):
            row = replace(row, children=len(filtered.keys(path)))
        rows.append(
            replace(
                row,
                matches=filtered.matches(path),
                source=_cut(row.source),
                sharding=_cut(row.sharding),
                error=_cut(row.error),
            )
        )
    return viewing.ChildPage(tuple(rows), len(keys))


def _cut(text: str) -> str:
    """Keeps a page small; the details have the whole text."""
    return text if len(text) <= ROW_TEXT else f"{text[: ROW_TEXT - 1]}…"


def node_at(tree: Node, path: TreePath) -> Node:
    """Returns the node at an exact path.

    Raises:
        NodeAbsentError: There is nothing there.
    """
    node = get(tree, path)
    if node is None:
        raise NodeAbsentError(path)
    return node


def make_row(key: Key, node: Node, names: Names, *, with_origin: bool) -> viewing.Row:
    """Makes the row of one node."""
    totals = totals_of(node)
    origins = origin_counts(node) if with_origin else ()
    worst = origins[-1][0] if origins else ""
    if isinstance(node, Branch):
        return viewing.Row(
            key,
            str(node.container),
            children=len(node.children),
            leaves=totals.leaves,
            parameters=totals.parameters,
            nbytes=totals.nbytes,
            origin=worst,
            origins=origins,
            errors=totals.errors,
        )
    return viewing.Row(
        key,
        str(node.kind),
        shape=node.shape,
        dtype=node.dtype,
        parameters=totals.parameters,
        nbytes=totals.nbytes,
        origin=worst,
        origins=origins,
        source=value_source(node.value, names) if with_origin else "",
        sharding=node.sharding,
        value=literal_text(node, VALUE_TEXT),
        error=node.error,
        errors=totals.errors,
        variable=node.variable,
    )


def literal_of(leaf: Leaf) -> Scalar:
    """Returns the Python object that a scalar leaf is; None for anything else."""
    value = leaf.value
    return value.value if isinstance(value, Literal) else None


def literal_text(leaf: Leaf, limit: int) -> str:
    """Returns a scalar leaf's value as text, at most ``limit`` characters."""
    if leaf.kind not in SCALAR_KINDS:
        return ""
    value = literal_of(leaf)
    if isinstance(value, bytes):
        text = value[: limit // 2 + 1].hex()
    elif isinstance(value, str):
        text = value[: limit + 1]
    else:
        text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def value_source(value: Value, names: Names) -> str:
    """Returns the source and path that a value reads, ``"name:path"``, or ``""``."""
    inner = innermost(value)
    if not isinstance(inner, Stored):
        return ""
    return f"{names.get(inner.source, inner.source)}:{join(inner.path)}"


def value_text(value: Value, names: Names) -> str:
    """Says in words where a value comes from, one step a line, outermost last."""
    lines: list[str] = []
    while isinstance(value, Cast | Patched):
        if isinstance(value, Cast):
            lines.append(f"cast {value.from_dtype} → {value.dtype}")
        else:
            lines.append(_patch_text(value))
        value = value.of
    lines.append(_base_text(value, names))
    return "\n".join(reversed(lines))


def _patch_text(value: Patched) -> str:
    index = ", ".join(str(start) for start in value.start)
    if math.prod(value.shape) == 1:
        return f"1 number typed at [{index}]"
    block = " × ".join(str(extent) for extent in value.shape)
    return f"{block} numbers typed at [{index}]"


def _base_text(value: Value, names: Names) -> str:  # noqa: PLR0911 - one return a kind
    match value:
        case Stored():
            name = names.get(value.source, value.source)
            return f"from {name} : {join(value.path)}"
        case Initial():
            return "initial value of the module"
        case Filled():
            return f"filled with {value.number}"
        case Kept():
            return "taken from a run"
        case Raw():
            return "initial value of the module, made"
        case Unset():
            return "no value and no initialiser"
        case _:
            return "a Python object"


def make_details(
    tree_name: str, tree: Node, path: TreePath, names: Names, *, is_target: bool
) -> viewing.Details:
    """Describes one node in full.

    Raises:
        NodeAbsentError: There is nothing at the path.
    """
    node = node_at(tree, path)
    row = make_row(path[-1] if path else "", node, names, with_origin=is_target)
    if isinstance(node, Branch):
        return viewing.Details(tree_name, path, row, dtypes=dtype_totals(node))
    pending = isinstance(innermost(node.value), Initial | Unset)
    return viewing.Details(
        tree_name,
        path,
        row,
        text=value_text(node.value, names) if is_target else "",
        stored_bytes=node.stored_bytes,
        note=" · ".join(filter(None, (node.variable, node.note))),
        literal=literal_text(node, LITERAL_TEXT),
        has_numbers=node.has_numbers and not node.error,
        editable=is_target and node.has_numbers,
        ready=not pending,
    )


def dtype_totals(tree: Node) -> tuple[tuple[str, int, int, int], ...]:
    """Returns (dtype, leaves, elements, bytes) of all arrays, most bytes first."""
    sums: dict[str, tuple[int, int, int]] = {}
    for _, leaf in walk(tree):
        if leaf.dtype:
            leaves, elements, nbytes = sums.get(leaf.dtype, (0, 0, 0))
            sums[leaf.dtype] = (
                leaves + 1,
                elements + leaf.size,
                nbytes + leaf.nbytes,
            )
    ordered = sorted(sums.items(), key=lambda item: (-item[1][2], item[0]))
    return tuple((dtype, *counts) for dtype, counts in ordered)


def listing_page(
    leaves: list[tuple[TreePath, Leaf]],
    request: viewing.AskListing,
    names: Names,
    *,
    is_target: bool,
) -> viewing.ListingPage:
    """Makes a page of leaves with their paths."""
    count = min(request.count, PAGE_LIMIT)
    page = []
    for path, leaf in leaves[request.start : request.start + count]:
        row = make_row(path[-1] if path else "", leaf, names, with_origin=is_target)
        page.append(viewing.ListedLeaf(path, row, shortened(literal_of(leaf))))
    return viewing.ListingPage(tuple(page), len(leaves))


def shortened(value: Scalar) -> Scalar:
    """Cuts text and bytes to 1 KiB, so that a page stays small."""
    if isinstance(value, str | bytes) and len(value) > 1024:  # noqa: PLR2004 - KiB
        return value[:1024]
    return value


def all_leaves(tree: Node) -> list[tuple[TreePath, Leaf]]:
    """Returns every (path, leaf) in the order they are shown."""
    return list(walk(tree))


def origin_counts(tree: Node) -> tuple[tuple[str, int], ...]:
    """Returns (origin, leaves) of a tree, best first; empty nodes are left out."""
    counts = totals_of(tree).origins
    return tuple(
        (str(origin), counts[origin]) for origin in ORIGIN_ORDER if counts.get(origin)
    )
