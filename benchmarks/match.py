"""How long it takes to plan a transfer of 10,000 leaves onto 10,000.

The matching of the store, without its pipe. The reference is what people write by
hand: flatten both trees and compare shapes and dtypes under equal names.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from benchmarks import generate
from benchmarks.figures import Figure, Reference
from benchmarks.workplace import Workplace
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.plan import Plan, make_plan
from inspector.variables.tree import Node, build, walk
from inspector.variables.tree_index import TreeIndex
from inspector.variables.value import Stored

HOVER_S = 0.05
"""A plan is made while the mouse hovers."""

_THRESHOLDS = (50_000, 20, 50)


def run(place: Workplace) -> Iterator[Figure]:
    """Plans between equal trees and between trees whose names differ at the top."""
    with _collector_of_the_store():
        yield from _plans(place)


@contextmanager
def _collector_of_the_store() -> Iterator[None]:
    """Lets Python look for cycles as seldom as the store process does."""
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    yield
    gc.set_threshold(*before)


def _plans(place: Workplace) -> Iterator[Figure]:
    leaves = place.size(10_000, 1_000)
    runs = place.size(10, 3)
    shapes = generate.layers(leaves)
    source = _tree(shapes)
    inside = {("params", "backbone", *path[1:]): s for path, s in shapes.items()}
    deeper = {("params", "PretrainedModule_0", *p[1:]): s for p, s in shapes.items()}
    for name, target, start, end in (
        ("equal names", source, (), ()),
        ("onto a submodule", _tree(inside), ("params",), ("params", "backbone")),
        ("other name at the top", _tree(inside), (), ()),
        ("two different names at the top", _tree(inside), (), ()),
    ):
        tree = _tree(deeper) if name.startswith("two") else source
        yield _figure(f"{name}, {leaves:,} leaves", tree, target, (start, end), runs)


def _figure(
    name: str, source: Node, target: Node, ends: tuple[TreePath, TreePath], runs: int
) -> Figure:
    # The store keeps the index of a tree, so only its first plan pays for it.
    begin = time.perf_counter()
    indexes = TreeIndex(source), TreeIndex(target)
    plan = _plan(indexes, ends)
    first = time.perf_counter() - begin
    times = tuple(_seconds(lambda: _plan(indexes, ends)) for _ in range(runs))
    by_hand = tuple(_seconds(lambda: _compare(source, target)) for _ in range(runs))
    summary = ", ".join(f"{n:,} {verdict}" for verdict, n in plan.summary.items() if n)
    return Figure(
        name,
        times,
        target=HOVER_S,
        reference=Reference("flattened and compared by name", by_hand),
        note=f"{summary}; the first one indexes both trees: {first * 1e3:.0f} ms",
    )


def _plan(
    indexes: tuple[TreeIndex, TreeIndex], ends: tuple[TreePath, TreePath]
) -> Plan:
    return make_plan(
        *indexes,
        source_path=ends[0],
        target_path=ends[1],
        only=None,
        source_id="s1",
        source_name="source",
    )


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _tree(shapes: generate.Shapes) -> Node:
    return build(
        (path, Leaf(Kind.ARRAY, shape, "float32", Stored("s1", path)))
        for path, shape in shapes.items()
    )


def _compare(source: Node, target: Node) -> dict[str, str]:
    """Returns a verdict by name for every leaf of the target."""
    given = {"/".join(map(str, path)): leaf for path, leaf in walk(source)}
    found = {}
    for path, leaf in walk(target):
        name = "/".join(map(str, path))
        other = given.get(name)
        if other is None:
            found[name] = "missing"
        else:
            same = (other.shape, other.dtype) == (leaf.shape, leaf.dtype)
            found[name] = "exact" if same else "mismatch"
    return found
