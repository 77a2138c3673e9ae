"""Stacks of typed or pasted numbers upon one leaf, kept short.

Used by `apply` in the store process. Every `SetNumbers` lays a block over what
was there; blocks that lie in, over or beside each other become one, so that a
table filled cell by cell is one block in the end.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from inspector.errors import EditError
from inspector.variables.value import Patched, Value

MAX_PATCHES = 128
"""Separate blocks upon one leaf; nested values deeper than that would not pass
the codecs of the pipes."""

Corner = tuple[int, ...]
"""An index on every axis."""


def patch(
    value: Value, start: Corner, shape: Corner, data: bytes, itemsize: int
) -> Value:
    """Returns a value with one more block of numbers laid over it.

    Args:
        value: What is there; may be a stack of patches already.
        start: First index of the block on every axis, within the leaf.
        shape: Extent on every axis.
        data: Elements in C order, ``prod(shape) * itemsize`` bytes.
        itemsize: Bytes of one element.

    Raises:
        EditError: More than `MAX_PATCHES` separate blocks would lie on the leaf.
    """
    if math.prod(shape) == 0:
        return value
    new = Patched(value, start, shape, data)
    below = value
    kept: list[Patched] = []
    while isinstance(below, Patched):
        union = _union(below, new)
        # A union in the place of `below` is right only if nothing between the
        # two lies over what it adds there.
        if union is not None and not any(_overlap(union, other) for other in kept):
            new = _merge(below, new, union, itemsize)
        elif not _covers(new, below):
            kept.append(below)
        below = below.of
    if len(kept) >= MAX_PATCHES:
        message = f"{MAX_PATCHES} separate blocks of numbers lie on this leaf already"
        hint = "Paste a larger block over them, or export and open the export."
        raise EditError(message, hint=hint)
    for other in reversed(kept):
        below = replace(other, of=below)
    return replace(new, of=below)


def _covers(outer: Patched, inner: Patched) -> bool:
    return all(
        a <= b and a + n >= b + m
        for a, n, b, m in zip(
            outer.start, outer.shape, inner.start, inner.shape, strict=True
        )
    )


def _overlap(box: tuple[Corner, Corner], other: Patched) -> bool:
    return all(
        a < b + m and b < a + n
        for a, n, b, m in zip(*box, other.start, other.shape, strict=True)
    )


def _union(old: Patched, new: Patched) -> tuple[Corner, Corner] | None:
    """Returns start and shape of the block both make, None when they make none."""
    if _covers(new, old):
        return new.start, new.shape
    if _covers(old, new):
        return old.start, old.shape
    axes = range(len(new.start))
    differing = [
        axis
        for axis in axes
        if (old.start[axis], old.shape[axis]) != (new.start[axis], new.shape[axis])
    ]
    if len(differing) != 1:
        return None
    axis = differing[0]
    first, last = sorted((old, new), key=lambda one: one.start[axis])
    if first.start[axis] + first.shape[axis] < last.start[axis]:
        return None
    end = max(
        first.start[axis] + first.shape[axis], last.start[axis] + last.shape[axis]
    )
    shape = list(new.shape)
    shape[axis] = end - first.start[axis]
    return first.start, tuple(shape)


def _merge(
    old: Patched, new: Patched, union: tuple[Corner, Corner], itemsize: int
) -> Patched:
    start, shape = union
    block = np.empty((*shape, itemsize), np.uint8)
    for one in (old, new):
        place = tuple(
            slice(a - b, a - b + n)
            for a, b, n in zip(one.start, start, one.shape, strict=True)
        )
        block[place] = np.frombuffer(one.data, np.uint8).reshape(*one.shape, itemsize)
    return Patched(new.of, start, shape, block.tobytes())
