"""Edits as JSON, for the recipe and the journal.

One writer and one reader for each kind, listed in one table. Reading is strict:
what is missing, unknown or of the wrong type is refused with its place. Used by
the store process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from inspector.variables.edit import (
    Asked,
    CastLeaves,
    Delete,
    Edit,
    FillLeaves,
    Pair,
    Rename,
    SetNumbers,
    TakeValues,
    Transfer,
)
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath
from inspector.variables.plain import leaf_from_json, leaf_to_json
from inspector.variables.scalar_json import (
    bytes_from_json,
    bytes_to_json,
    number_from_json,
    scalar_from_json,
    scalar_to_json,
)
from inspector.variables.strict import JsonObject, as_path, fault
from inspector.variables.value import Kept, Literal

Json = dict[str, object]


def edit_to_json(edit: Edit) -> Json:
    """Returns an edit as JSON, its kind under ``"edit"``."""
    name = _NAMES[type(edit)]
    write, _ = _FORMS[name]
    return {"edit": name, **write(edit)}


def edit_from_json(data: object, where: str = "edit") -> Edit:
    """Returns the edit that `edit_to_json` wrote.

    Args:
        data: Parsed JSON.
        where: Place in the file, e.g. ``"edits[3]"``.

    Raises:
        RecipeError: It is no known edit; says where and what was expected.
    """
    fields = JsonObject(data, where)
    name = fields.text("edit")
    if name not in _FORMS:
        raise fault(fields.at("edit"), f"one of {', '.join(_FORMS)}", name)
    _, read = _FORMS[name]
    edit = read(fields)
    fields.done()
    return edit


def _paths(paths: tuple[TreePath, ...]) -> list[list[str | int]]:
    return [list(path) for path in paths]


def _read_paths(fields: JsonObject) -> tuple[TreePath, ...]:
    return tuple(as_path(item, place) for item, place in fields.items("paths"))


def _write_transfer(edit: Transfer) -> Json:
    asked = edit.asked
    return {
        "source": edit.source,
        "pairs": [_write_pair(pair) for pair in edit.pairs],
        "asked": {
            "source_name": asked.source_name,
            "source_path": list(asked.source_path),
            "target_path": list(asked.target_path),
            "only": asked.only,
        },
    }


def _write_pair(pair: Pair) -> Json:
    data: Json = {
        "source": list(pair.source),
        "target": list(pair.target),
        "rule": pair.rule,
        "shape": list(pair.shape),
        "from": pair.from_dtype,
        "to": pair.to_dtype,
    }
    if pair.literal is not None:
        data["literal"] = scalar_to_json(pair.literal.value)
    return data


def _read_transfer(fields: JsonObject) -> Transfer:
    asked = fields.object("asked")
    transfer = Transfer(
        fields.text("source"),
        tuple(_read_pair(pair) for pair in fields.objects("pairs")),
        Asked(
            asked.text("source_name"),
            asked.path("source_path"),
            asked.path("target_path"),
            asked.text("only"),
        ),
    )
    asked.done()
    return transfer


def _read_pair(fields: JsonObject) -> Pair:
    rule = fields.text("rule")
    if rule not in {"exact", "cast"}:
        raise fault(fields.at("rule"), "“exact” or “cast”", rule)
    literal = None
    if fields.has("literal"):
        value = scalar_from_json(fields.raw("literal"), fields.at("literal"))
        literal = Literal(value)
    pair = Pair(
        fields.path("source"),
        fields.path("target"),
        rule,
        fields.extents("shape"),
        fields.text("from"),
        fields.text("to"),
        literal,
    )
    fields.done()
    return pair


def _write_rename(edit: Rename) -> Json:
    return {"path": list(edit.path), "name": edit.name}


def _read_rename(fields: JsonObject) -> Rename:
    return Rename(fields.path("path"), fields.text("name"))


def _write_delete(edit: Delete) -> Json:
    return {"paths": _paths(edit.paths)}


def _read_delete(fields: JsonObject) -> Delete:
    return Delete(_read_paths(fields))


def _write_cast(edit: CastLeaves) -> Json:
    return {"paths": _paths(edit.paths), "dtype": edit.dtype}


def _read_cast(fields: JsonObject) -> CastLeaves:
    return CastLeaves(_read_paths(fields), fields.text("dtype"))


def _write_fill(edit: FillLeaves) -> Json:
    return {"paths": _paths(edit.paths), "number": scalar_to_json(edit.number)}


def _read_fill(fields: JsonObject) -> FillLeaves:
    number = number_from_json(fields.raw("number"), fields.at("number"))
    return FillLeaves(_read_paths(fields), number)


def _write_numbers(edit: SetNumbers) -> Json:
    return {
        "path": list(edit.path),
        "start": list(edit.start),
        "shape": list(edit.shape),
        "dtype": edit.dtype,
        "data": bytes_to_json(edit.data),
    }


def _read_numbers(fields: JsonObject) -> SetNumbers:
    return SetNumbers(
        fields.path("path"),
        fields.extents("start"),
        fields.extents("shape"),
        bytes_from_json(fields.raw("data"), fields.at("data")),
        fields.text("dtype"),
    )


def _write_take(edit: TakeValues) -> Json:
    values = [{"path": list(path), **leaf_to_json(leaf)} for path, leaf in edit.values]
    return {"values": values, "text": edit.text}


def _read_take(fields: JsonObject) -> TakeValues:
    values: list[tuple[TreePath, Leaf]] = []
    for item, place in fields.items("values"):
        if not isinstance(item, dict):
            raise fault(place, "an object", item)
        path = JsonObject(item, place).path("path")
        rest = {key: value for key, value in item.items() if key != "path"}
        leaf = leaf_from_json(rest, place)
        if not isinstance(leaf.value, Kept | Literal):
            raise fault(f"{place}.value", "a kept value or a literal", item)
        values.append((path, leaf))
    return TakeValues(tuple(values), fields.text("text"))


_NAMES: dict[type[Edit], str] = {
    Transfer: "transfer",
    Rename: "rename",
    Delete: "delete",
    CastLeaves: "cast",
    FillLeaves: "fill",
    SetNumbers: "set",
    TakeValues: "take",
}

_E = TypeVar("_E", bound=Edit)
_Form = tuple[Callable[[Edit], Json], Callable[[JsonObject], Edit]]


def _form(
    kind: type[_E], write: Callable[[_E], Json], read: Callable[[JsonObject], _E]
) -> _Form:
    def checked(edit: Edit) -> Json:
        assert isinstance(edit, kind)
        return write(edit)

    return checked, read


_FORMS: dict[str, _Form] = {
    "transfer": _form(Transfer, _write_transfer, _read_transfer),
    "rename": _form(Rename, _write_rename, _read_rename),
    "delete": _form(Delete, _write_delete, _read_delete),
    "cast": _form(CastLeaves, _write_cast, _read_cast),
    "fill": _form(FillLeaves, _write_fill, _read_fill),
    "set": _form(SetNumbers, _write_numbers, _read_numbers),
    "take": _form(TakeValues, _write_take, _read_take),
}
