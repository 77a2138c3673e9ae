"""What flat formats cannot say about a tree: the JSON entry ``inspector.tree``.

safetensors and npz store named arrays. This module owns the names that the leaves
of a tree get in them, and the one JSON object that keeps the rest: lists, tuples,
integer keys, nodes without arrays, Python objects, dtypes the format has no name
for, and the kind of random keys. The writers call `entry_names` and `describe`, the
readers `restore`; both run in the reader process. No I/O happens here.

The object (version 1; every part but ``version`` may be left out)::

    {"version": 1,
     "containers": [[keys, "list" | "tuple"], ...],
     "entries": {name: {"keys": keys, "dtype": "bfloat16" | "key<fry>" | ...}},
     "nodes": [{"keys": keys, "kind": Kind, "value": JSON}, ...]}

``keys`` is the exact path, strings and integers told apart. An entry that is not
named in ``entries`` has the path that its name splits into at ``/``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from inspector.errors import ReadFileError
from inspector.variables import dtypes
from inspector.variables.leaf import EMPTY_KINDS, SCALAR_KINDS, Kind, Leaf
from inspector.variables.path import Key, TreePath, join, quote
from inspector.variables.tree import (
    Branch,
    Container,
    Node,
    build,
    empty_leaf,
    walk,
)
from inspector.variables.value import Literal, Scalar

NAME = "inspector.tree"
"""Name of the entry: a metadata key in safetensors, a member in npz."""

VERSION = 1
"""The only version there is; a higher one is refused, not guessed at."""

ROOT_NAME = "value"
"""Entry name of a tree that is one array without any key."""

_RESERVED = frozenset({NAME, "__metadata__"})


class _MalformedError(ValueError):
    """A description from a file does not say a tree; `restore` words it."""

    def __init__(self, *, problem: str) -> None:
        super().__init__(problem)


Entries = Mapping[str, Leaf]
"""Stored arrays by their name in the file."""


def entry_names(tree: Node) -> dict[TreePath, str]:
    """Returns the name of the entry of every array and random key of a tree.

    The name is the plain join with ``/``. Where two paths join to one name (the
    keys ``1`` and ``"1"``, a ``/`` inside a key), the later ones get a name of
    their own, which `describe` records.

    Args:
        tree: The tree that is written.

    Returns:
        Exact path -> name, in the order the tree is shown.
    """
    names: dict[TreePath, str] = {}
    taken = set(_RESERVED)
    for path, leaf in walk(tree):
        if leaf.kind not in {Kind.ARRAY, Kind.KEY}:
            continue
        name = join(path) if path else ROOT_NAME
        if name in taken:
            name = quote(path)
        number = 2
        while name in taken:
            name = f"{join(path)}~{number}"
            number += 1
        taken.add(name)
        names[path] = name
    return names


def describe(
    tree: Node, names: Mapping[TreePath, str], native: Collection[str]
) -> dict[str, Any]:
    """Returns the JSON object of a tree, ``{}`` when the names say everything.

    Opaque leaves and leaves without a value are the writer's to refuse; they are
    left out.

    Args:
        tree: The tree that is written.
        names: What `entry_names` gave for it.
        native: Dtype names that the format itself can tell apart.
    """
    containers: list[list[object]] = []
    _collect_containers(tree, (), containers)
    entries: dict[str, dict[str, object]] = {}
    nodes: list[dict[str, object]] = []
    for path, leaf in walk(tree):
        if path in names:
            entry = _describe_entry(path, leaf, names[path], native)
            if entry:
                entries[names[path]] = entry
        elif leaf.kind in EMPTY_KINDS or isinstance(leaf.value, Literal):
            nodes.append(_describe_node(path, leaf))
    parts = {"containers": containers, "entries": entries, "nodes": nodes}
    said = {key: part for key, part in parts.items() if part}
    return {"version": VERSION, **said} if said else {}


def dumps(description: Mapping[str, Any]) -> str:
    """Returns a description as ASCII JSON, the same text for the same tree."""
    return json.dumps(description, separators=(",", ":"), allow_nan=False)


def _collect_containers(node: Node, path: TreePath, into: list[list[object]]) -> None:
    if not isinstance(node, Branch):
        return
    if node.container is not Container.DICT:
        into.append([list(path), node.container.value])
    for key, child in node.children.items():
        _collect_containers(child, (*path, key), into)


def _describe_entry(
    path: TreePath, leaf: Leaf, name: str, native: Collection[str]
) -> dict[str, object]:
    entry: dict[str, object] = {}
    if path != _split(name):
        entry["keys"] = list(path)
    if leaf.dtype not in native:
        entry["dtype"] = leaf.dtype
    return entry


def _describe_node(path: TreePath, leaf: Leaf) -> dict[str, object]:
    node: dict[str, object] = {"keys": list(path), "kind": leaf.kind.value}
    if leaf.kind in SCALAR_KINDS and isinstance(leaf.value, Literal):
        node["value"] = _encode(leaf.value.value)
    return node


def _encode(value: Scalar) -> object:
    """Returns a Python scalar as strict JSON; `_decode` with its kind reverses it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, complex):
        return [_encode(value.real), _encode(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def _decode(kind: Kind, value: Any) -> Scalar:
    """Returns the Python scalar of a kind.

    Raises:
        ValueError: The JSON value does not fit the kind.
    """
    if kind is Kind.BOOL and isinstance(value, bool):
        return value
    if kind is Kind.INT and isinstance(value, int) and not isinstance(value, bool):
        return value
    if kind is Kind.STR and isinstance(value, str):
        return value
    if kind is Kind.FLOAT and isinstance(value, int | float | str):
        return float(value)
    if kind is Kind.BYTES and isinstance(value, str):
        return bytes.fromhex(value)
    if kind is Kind.COMPLEX and isinstance(value, list):
        real, imaginary = value
        return complex(float(real), float(imaginary))
    raise _MalformedError(problem=f"{value!r} is no {kind}")


def restore(
    entries: Entries, description: Mapping[str, Any] | None = None
) -> tuple[Node, dict[TreePath, str]]:
    """Makes the tree of named arrays again.

    Names split at ``/`` into levels. A name that would need a leaf to have
    children (``a`` beside ``a/b``) stays one key as it is.

    Args:
        entries: Leaves by name, as the format itself tells them.
        description: The JSON object of `describe`, from a file and so not trusted;
            None when the file has none. Entries it names but the file lacks are
            passed over.

    Returns:
        The tree, and the entry name of every array leaf by its exact path.

    Raises:
        ReadFileError: The description is malformed, or of another version.
    """
    description = description or {"version": VERSION}
    if description.get("version") != VERSION:
        raise ReadFileError(
            message=f"The tree description has version {description.get('version')!r}; "
            f"this program knows version {VERSION}.",
            where=NAME,
            hint="Open the file with a newer version of this program.",
        )
    try:
        return _restore(entries, description)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise ReadFileError(
            message=f"The tree description is malformed: {error}.",
            where=NAME,
            hint="The arrays can still be shown under the plain names of the file.",
        ) from error


def _restore(
    entries: Entries, description: Mapping[str, Any]
) -> tuple[Node, dict[TreePath, str]]:
    described: Mapping[str, Any] = description.get("entries", {})
    leaves: dict[TreePath, Leaf] = {}
    for node in description.get("nodes", []):
        leaves[_keys(node["keys"])] = _restore_node(node)
    names: dict[TreePath, str] = {}
    plain: list[str] = []
    for name, leaf in entries.items():
        entry = described.get(name, {})
        if "dtype" in entry:
            leaf = _with_dtype(leaf, str(entry["dtype"]))  # noqa: PLW2901 - refined
        if "keys" in entry:
            path = _keys(entry["keys"])
        else:
            path = _split(name)
            plain.append(name)
        if path in leaves:
            raise _MalformedError(problem=f"two nodes at {quote(path)!r}")
        leaves[path] = leaf
        names[path] = name
    _unsplit(leaves, names, plain)
    containers = {
        _keys(keys): Container(kind) for keys, kind in description.get("containers", [])
    }
    return _assemble(leaves, containers), names


def _unsplit(
    leaves: dict[TreePath, Leaf], names: dict[TreePath, str], plain: Iterable[str]
) -> None:
    """Gives names that lead through another leaf back as one key."""
    for name in plain:
        path = _split(name)
        if any(path[:length] in leaves for length in range(len(path))):
            leaves[(name,)] = leaves.pop(path)
            names[(name,)] = names.pop(path)


def _assemble(
    leaves: Mapping[TreePath, Leaf], containers: Mapping[TreePath, Container]
) -> Node:
    """Builds the tree; lists and tuples are so only with the keys 0, 1, …."""
    counts: dict[TreePath, set[Key]] = {}
    for path in leaves:
        for length in range(len(path)):
            if path[:length] in leaves:
                raise _MalformedError(problem=f"{quote(path)!r} leads through a leaf")
            if path[:length] in containers:
                counts.setdefault(path[:length], set()).add(path[length])
    for path, keys in counts.items():
        if keys != set(range(len(keys))):
            raise _MalformedError(problem=f"the positions of {quote(path)!r} have gaps")
    if not leaves and () in containers:
        return empty_leaf(containers[()])
    return build(leaves.items(), containers)


def _restore_node(node: Mapping[str, Any]) -> Leaf:
    kind = Kind(node["kind"])
    if kind in EMPTY_KINDS:
        return Leaf(kind, value=Literal(None))
    if kind in SCALAR_KINDS:
        return Leaf(kind, value=Literal(_decode(kind, node["value"])))
    raise _MalformedError(problem=f"a node cannot be of the kind {kind.value!r}")


def _with_dtype(leaf: Leaf, dtype: str) -> Leaf:
    """Returns the leaf under the dtype that its bytes really are of.

    Raises:
        ValueError: The stored elements have another size than that dtype's.
    """
    if dtypes.is_key(dtype):
        words = dtypes.words_of(dtype)
        if leaf.dtype != "uint32" or leaf.shape[-1:] != (words,):
            raise _MalformedError(
                problem=f"{leaf.dtype}{list(leaf.shape)} holds no {dtype}"
            )
        return replace(leaf, kind=Kind.KEY, dtype=dtype, shape=leaf.shape[:-1])
    elements = math.prod(leaf.shape)
    if elements * dtypes.itemsize(dtype) != leaf.stored_bytes:
        raise _MalformedError(
            problem=f"{leaf.stored_bytes} bytes are not {elements} of {dtype}"
        )
    return replace(leaf, kind=Kind.ARRAY, dtype=dtype, error="")


def _keys(keys: object) -> TreePath:
    """Checks that JSON names a path: a list of strings and integers.

    Raises:
        ValueError: It is anything else.
    """
    if not isinstance(keys, list):
        raise _MalformedError(problem=f"{keys!r} is no list of keys")
    for key in keys:
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise _MalformedError(problem=f"{key!r} is no key")
    return tuple(keys)


def _split(name: str) -> TreePath:
    return tuple(name.split("/"))


def map_leaves(tree: Node, change: Callable[[TreePath, Leaf], Leaf]) -> Node:
    """Returns the tree with every leaf replaced by ``change(path, leaf)``."""
    return _map(tree, (), change)


def _map(node: Node, path: TreePath, change: Callable[[TreePath, Leaf], Leaf]) -> Node:
    if isinstance(node, Leaf):
        return change(path, node)
    return Branch(
        {
            key: _map(child, (*path, key), change)
            for key, child in node.children.items()
        },
        node.container,
    )
