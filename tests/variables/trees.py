"""Short ways to write trees in tests."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import Key, TreePath
from inspector.variables.tree import Branch, Container, Node
from inspector.variables.value import Initial, Literal, Stored

Spec = Mapping[Key, "Spec"] | tuple[int, ...] | str | int | float | list["Spec"] | None


def tree(spec: Mapping[Key, Spec], source: str = "s1") -> Branch:
    """Makes a tree: shapes are float32 arrays, ``"int32 3,4"`` names a dtype."""
    made = _node(spec, (), source)
    assert isinstance(made, Branch)
    return made


def _node(spec: Spec, path: TreePath, source: str) -> Node:
    if isinstance(spec, Mapping):
        return Branch({k: _node(v, (*path, k), source) for k, v in spec.items()})
    if isinstance(spec, list):
        items: dict[Key, Node] = {
            i: _node(v, (*path, i), source) for i, v in enumerate(spec)
        }
        return Branch(items, Container.LIST)
    if isinstance(spec, tuple):
        return array(spec, "float32", path, source)
    if isinstance(spec, str):
        dtype, _, shape = spec.partition(" ")
        return array(tuple(int(n) for n in shape.split(",") if n), dtype, path, source)
    if spec is None:
        return Leaf(Kind.NONE, value=Literal(None))
    kind = Kind.INT if isinstance(spec, int) else Kind.FLOAT
    return Leaf(kind, value=Literal(spec))


def array(
    shape: tuple[int, ...], dtype: str, path: TreePath, source: str = "s1"
) -> Leaf:
    kind = Kind.KEY if dtype.startswith("key<") else Kind.ARRAY
    value = Stored(source, path) if source else Initial(path)
    return Leaf(kind, shape, dtype, value)
