"""Trees, leaves and values as plain data: for pipes, and as JSON for recipes.

The store and the engines send a `PlainTree` over their pipes; the recipe and the
journal keep the JSON forms. A round trip changes nothing, the order of keys
included. No file is read or written here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.scalar_json import (
    bytes_from_json,
    bytes_to_json,
    number_from_json,
    scalar_from_json,
    scalar_to_json,
)
from inspector.variables.strict import JsonObject, fault
from inspector.variables.tree import Branch, Container, Node, build, empty_leaf
from inspector.variables.value import (
    UNSET,
    Cast,
    Filled,
    Initial,
    Kept,
    Literal,
    Patched,
    Raw,
    Stored,
    Unset,
    Value,
)

_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class PlainTree:
    """A tree as two flat tuples.

    Attributes:
        leaves: (path, leaf) in the tree's own order; one at ``()`` for a tree
            that is a single leaf.
        containers: (path, ``"list"`` or ``"tuple"``); every other branch is a
            dict. The root is listed by name when it has no leaves.
    """

    leaves: tuple[tuple[TreePath, Leaf], ...] = ()
    containers: tuple[tuple[TreePath, str], ...] = ()


def to_plain(node: Node) -> PlainTree:
    """Returns a tree as plain data.

    A branch without children below the root comes out as the empty leaf of its
    container, which is how trees hold empty nodes (`tree.without`).
    """
    leaves: list[tuple[TreePath, Leaf]] = []
    containers: list[tuple[TreePath, str]] = []
    stack: list[tuple[TreePath, Node]] = [((), node)]
    while stack:
        path, here = stack.pop()
        if isinstance(here, Leaf):
            leaves.append((path, here))
        elif not here.children and path:
            leaves.append((path, empty_leaf(here.container)))
        else:
            if here.container is not Container.DICT or not here.children:
                containers.append((path, here.container.value))
            below = [((*path, key), child) for key, child in here.children.items()]
            stack.extend(reversed(below))
    return PlainTree(tuple(leaves), tuple(containers))


def from_plain(plain: PlainTree) -> Node:
    """Returns the tree that `to_plain` took apart.

    Raises:
        KeyError: A path leads through a leaf.
        ValueError: A container is neither dict, list nor tuple.
    """
    kinds = {path: Container(kind) for path, kind in plain.containers}
    if not plain.leaves:
        return Branch({}, kinds.get((), Container.DICT))
    return build(plain.leaves, kinds)


def value_to_json(value: Value) -> dict[str, object]:
    """Returns a value as JSON: what lies innermost, and the steps upon it.

    Flat however many casts and patches there are, because nesting is limited in
    JSON readers.
    """
    steps: list[dict[str, object]] = []
    while isinstance(value, Cast | Patched):
        if isinstance(value, Cast):
            steps.append({"step": "cast", "from": value.from_dtype, "to": value.dtype})
        else:
            steps.append(
                {
                    "step": "patch",
                    "start": list(value.start),
                    "shape": list(value.shape),
                    "data": bytes_to_json(value.data),
                }
            )
        value = value.of
    data = _inner_to_json(value)
    if steps:
        data["steps"] = steps[::-1]
    return data


def _inner_to_json(value: Value) -> dict[str, object]:  # noqa: PLR0911 - one return a kind
    if isinstance(value, Stored):
        return {"form": "stored", "source": value.source, "path": list(value.path)}
    if isinstance(value, Raw):
        return {
            "form": "raw",
            "file": value.file,
            "offset": value.offset,
            "shape": list(value.shape),
            "dtype": value.dtype,
        }
    if isinstance(value, Kept):
        return {
            "form": "kept",
            "digest": value.digest,
            "shape": list(value.shape),
            "dtype": value.dtype,
        }
    if isinstance(value, Initial):
        return {"form": "initial", "path": list(value.path)}
    if isinstance(value, Filled):
        return {"form": "filled", "number": scalar_to_json(value.number)}
    if isinstance(value, Literal):
        return {"form": "literal", "value": scalar_to_json(value.value)}
    return {"form": "unset"}


def value_from_json(data: object, where: str = "value") -> Value:
    """Returns the value that `value_to_json` wrote.

    Args:
        data: Parsed JSON.
        where: Place in the file, for messages.

    Raises:
        RecipeError: It is none of the known forms.
    """
    fields = JsonObject(data, where)
    value = _inner_from_json(fields)
    steps = list(fields.objects("steps")) if fields.has("steps") else []
    fields.done()
    for step in steps:
        value = _step_from_json(step, value)
        step.done()
    return value


def _inner_from_json(fields: JsonObject) -> Value:  # noqa: PLR0911 - one return a kind
    form = fields.text("form")
    if form == "stored":
        return Stored(fields.text("source"), fields.path("path"))
    if form == "raw":
        return Raw(
            fields.text("file"),
            fields.integer("offset"),
            fields.extents("shape"),
            fields.text("dtype"),
        )
    if form == "kept":
        return Kept(_digest(fields), fields.extents("shape"), fields.text("dtype"))
    if form == "initial":
        return Initial(fields.path("path"))
    if form == "filled":
        return Filled(number_from_json(fields.raw("number"), fields.at("number")))
    if form == "literal":
        return Literal(scalar_from_json(fields.raw("value"), fields.at("value")))
    if form == "unset":
        return UNSET
    raise fault(fields.at("form"), "a form of value", form)


def _digest(fields: JsonObject) -> str:
    """Returns a digest, which names a file: nothing but hex digits may pass."""
    digest = fields.text("digest")
    if not _DIGEST.fullmatch(digest):
        raise fault(fields.at("digest"), "64 hex digits", digest)
    return digest


def _step_from_json(step: JsonObject, value: Value) -> Value:
    name = step.text("step")
    if name == "cast":
        return Cast(value, step.text("from"), step.text("to"))
    if name == "patch":
        return Patched(
            value,
            step.extents("start"),
            step.extents("shape"),
            bytes_from_json(step.raw("data"), step.at("data")),
        )
    raise fault(step.at("step"), "“cast” or “patch”", name)


_TEXT_FIELDS = ("sharding", "error", "note", "variable")


def leaf_to_json(leaf: Leaf) -> dict[str, object]:
    """Returns a leaf as JSON; fields at their defaults are left out."""
    data: dict[str, object] = {"kind": leaf.kind.value}
    if leaf.kind in {Kind.ARRAY, Kind.KEY}:
        data["shape"] = list(leaf.shape)
        data["dtype"] = leaf.dtype
    if not isinstance(leaf.value, Unset):
        data["value"] = value_to_json(leaf.value)
    for name in _TEXT_FIELDS:
        if text := getattr(leaf, name):
            data[name] = text
    if leaf.stored_bytes:
        data["stored_bytes"] = leaf.stored_bytes
    return data


def leaf_from_json(data: object, where: str = "leaf") -> Leaf:
    """Returns the leaf that `leaf_to_json` wrote.

    Raises:
        RecipeError: A field is missing, unknown or of the wrong type.
    """
    fields = JsonObject(data, where)
    text = fields.text("kind")
    try:
        kind = Kind(text)
    except ValueError:
        raise fault(fields.at("kind"), "a kind of leaf", text) from None
    arrays = kind in {Kind.ARRAY, Kind.KEY}
    value = UNSET
    leaf = Leaf(
        kind,
        fields.extents("shape") if arrays else (),
        fields.text("dtype") if arrays else "",
        value_from_json(fields.raw("value"), fields.at("value"))
        if fields.has("value")
        else value,
        **{name: fields.text(name) for name in _TEXT_FIELDS if fields.has(name)},
        stored_bytes=fields.integer("stored_bytes")
        if fields.has("stored_bytes")
        else 0,
    )
    fields.done()
    return leaf


def plain_to_json(plain: PlainTree) -> dict[str, object]:
    """Returns a whole tree as JSON."""
    return {
        "leaves": [
            {"path": list(path), **leaf_to_json(leaf)} for path, leaf in plain.leaves
        ],
        "containers": [
            {"path": list(path), "container": kind} for path, kind in plain.containers
        ],
    }


def plain_from_json(data: object, where: str = "tree") -> PlainTree:
    """Returns the tree that `plain_to_json` wrote, and checks that it is one.

    Raises:
        RecipeError: As `leaf_from_json`; also when a path leads through a leaf.
    """
    fields = JsonObject(data, where)
    leaves: list[tuple[TreePath, Leaf]] = []
    for item, place in fields.items("leaves"):
        if not isinstance(item, dict):
            raise fault(place, "an object", item)
        path = JsonObject(item, place).path("path")
        rest = {key: value for key, value in item.items() if key != "path"}
        leaves.append((path, leaf_from_json(rest, place)))
    containers: list[tuple[TreePath, str]] = []
    for entry in fields.objects("containers"):
        containers.append((entry.path("path"), entry.text("container")))
        entry.done()
    fields.done()
    plain = PlainTree(tuple(leaves), tuple(containers))
    try:
        from_plain(plain)
    except (KeyError, ValueError) as error:
        raise fault(where, "the leaves of one tree", str(error)) from error
    return plain
