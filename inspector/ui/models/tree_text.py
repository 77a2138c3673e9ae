"""What a row of a tree says, column by column, and in its tool tip.

Plain functions of `viewing.Row`, called by the tree model while Qt paints.
"""

from __future__ import annotations

from collections.abc import Callable

from inspector.engine.messages.viewing import Row
from inspector.ui import format as fmt
from inspector.ui.models.roles import Column
from inspector.ui.tokens import MARKS, ORIGINS
from inspector.variables.path import TreePath

_CONTAINERS = frozenset({"dict", "list", "tuple"})
_ARRAYS = frozenset({"array", "random key"})


def is_leaf(row: Row) -> bool:
    """Returns whether the row is a leaf; a source's own row is none."""
    return (
        row.kind in _ARRAYS
        or bool(row.value)
        or row.kind not in (_CONTAINERS | {"orbax", "msgpack", "safetensors", "npz"})
    )


def display(row: Row, column: Column) -> str:
    """Returns the text of a cell."""
    return _ACCESSORS[column](row)


def tooltip(row: Row, path: TreePath) -> str:
    """Returns everything about a row, exact numbers included, a line each."""
    lines = [fmt.path(path, str(row.key))]
    if row.error:
        lines.append(f"Cannot be read: {row.error}")
    if row.kind in _ARRAYS:
        lines.append(fmt.array(row.dtype, row.shape))
    elif is_leaf(row):
        lines.append(f"{row.kind}: {row.value}" if row.value else row.kind)
    else:
        lines.append(fmt.plural(row.leaves, "leaf", "leaves"))
    if row.parameters or row.nbytes:
        lines.append(
            f"{fmt.plural(row.parameters, 'parameter')}, {fmt.exact_size(row.nbytes)}"
        )
    lines += _origin_lines(row)
    if row.sharding:
        lines.append(f"saved with {row.sharding}")
    if row.errors and not row.error:
        lines.append(fmt.plural(row.errors, "leaf", "leaves") + " cannot be read")
    return "\n".join(lines)


def _origin_lines(row: Row) -> list[str]:
    if not row.origin:
        return []
    if is_leaf(row):
        mark = MARKS[row.origin]
        line = f"{mark.glyph} {mark.meaning}"
        return [f"{line}: {row.source}" if row.source else line]
    counts = dict(row.origins)
    return [
        f"{MARKS[origin].glyph} {counts[origin]:,} {MARKS[origin].meaning}"
        for origin in ORIGINS
        if counts.get(origin)
    ]


def _shape(row: Row) -> str:
    if row.kind in _ARRAYS:
        return fmt.array(row.dtype, row.shape)
    if row.value:
        return row.value
    return row.kind if is_leaf(row) else ""


def _parameters(row: Row) -> str:
    if is_leaf(row) and row.kind != "array":
        return ""
    return fmt.count(row.parameters)


def _size(row: Row) -> str:
    return fmt.size(row.nbytes) if row.nbytes or not is_leaf(row) else ""


_ACCESSORS: dict[Column, Callable[[Row], str]] = {
    Column.NAME: lambda row: str(row.key),
    Column.SHAPE: _shape,
    Column.PARAMETERS: _parameters,
    Column.SIZE: _size,
}
