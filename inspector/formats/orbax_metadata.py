"""The small JSON files of an orbax item: structure, shardings, keys, strings.

Owns the text forms of `_METADATA`, `_sharding`, `array_metadatas` and
`_strings.json`. Everything in them is optional to a reader: what is damaged becomes
a warning, and the tree is shown with what is left. `orbax_tree` calls this.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector.errors import ReadFileError
from inspector.formats.safe_files import is_file, is_folder, read_json
from inspector.variables.path import Key, TreePath
from inspector.variables.tree import Container

METADATA = "_METADATA"
_SHARDING = "_sharding"
_STRINGS = "_strings.json"
_ARRAY_METADATAS = "array_metadatas"
_SEQUENCE = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One leaf that the structure names.

    Attributes:
        path: Its path in the item; integers below lists.
        name: Name of its array in the store: the keys joined with dots.
        value_type: What orbax recorded, e.g. ``"jax.Array"``; empty when unknown.
        empty: Whether nothing is stored for it (None, empty containers).
    """

    path: TreePath
    name: str
    value_type: str = ""
    empty: bool = False


@dataclass(slots=True)
class Structure:
    """The tree that an item's `_METADATA` describes.

    Attributes:
        entries: Leaves in the file's order.
        containers: Paths of the lists.
        all_stored: Whether chunks equal to the fill value are stored too, so that
            an absent chunk is a loss.
        custom: The item's own custom metadata.
    """

    entries: list[Entry]
    containers: dict[TreePath, Container]
    all_stored: bool = False
    custom: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Extras:
    """What lies beside the structure, by array name.

    Attributes:
        shardings: Text for a person.
        key_implementations: Implementation names of random keys.
        strings: Values of str leaves.
    """

    shardings: dict[str, str] = field(default_factory=dict)
    key_implementations: dict[str, str] = field(default_factory=dict)
    strings: dict[str, str] = field(default_factory=dict)


def read_structure(folder: Path) -> Structure | None:
    """Reads `_METADATA`; None when there is none.

    Raises:
        ReadFileError: It is damaged, or a git-lfs pointer.
    """
    path = folder / METADATA
    if not is_file(path):
        return None
    content = read_json(path)
    tree = content.get("tree_metadata") if isinstance(content, dict) else None
    if not isinstance(tree, dict):
        raise ReadFileError(
            message="The file has no tree_metadata; it is none of orbax's.",
            where=str(path),
            hint="Open an item whose _METADATA orbax wrote.",
        )
    entries: list[Entry] = []
    kinds: dict[TreePath, set[int]] = {}
    for name, value in tree.items():
        entry = _entry(value, kinds)
        if entry is None:
            raise ReadFileError(
                message=f"The entry {name} of the file is malformed.",
                where=str(path),
                hint="Copy or download the checkpoint again.",
            )
        entries.append(entry)
    lists = {
        path: Container.LIST for path, seen in kinds.items() if seen == {_SEQUENCE}
    }
    custom = content.get("custom_metadata")
    return Structure(
        entries,
        lists,
        content.get("store_array_data_equal_to_fill_value") is True,
        custom if isinstance(custom, dict) else {},
    )


def _entry(value: Any, kinds: dict[TreePath, set[int]]) -> Entry | None:
    """Reads one entry, and notes for each level which kinds of key it has."""
    try:
        keys = [(str(key["key"]), key["key_type"]) for key in value["key_metadata"]]
        recorded = value["value_metadata"]
        value_type = str(recorded.get("value_type", ""))
        empty = recorded.get("skip_deserialize") is True
    except (AttributeError, KeyError, TypeError):
        return None
    path: TreePath = ()
    for text, kind in keys:
        key: Key = text
        if kind == _SEQUENCE and text.isascii() and text.isdigit():
            key = int(text)
        kinds.setdefault(path, set()).add(_SEQUENCE if isinstance(key, int) else 0)
        path = (*path, key)
    return Entry(path, ".".join(text for text, _ in keys), value_type, empty)


def read_extras(folder: Path, warnings: list[str]) -> Extras:
    """Reads everything beside the structure; what is damaged becomes a warning."""
    extras = Extras()
    strings = _optional(folder / _STRINGS, warnings)
    extras.strings = {key: str(value) for key, value in strings.items()}
    for encoded, text in _optional(folder / _SHARDING, warnings).items():
        try:
            name = base64.urlsafe_b64decode(encoded).decode()
            extras.shardings[name] = sharding_text(json.loads(text))
        except (binascii.Error, ValueError, TypeError, AttributeError):
            continue
    metadatas = folder / _ARRAY_METADATAS
    if is_folder(metadatas):
        for path in sorted(metadatas.iterdir()):
            _read_array_metadatas(path, extras, warnings)
    return extras


def _read_array_metadatas(path: Path, extras: Extras, warnings: list[str]) -> None:
    arrays = _optional(path, warnings).get("array_metadatas")
    for item in arrays if isinstance(arrays, list) else []:
        try:
            recorded = item["array_metadata"]
            implementation = (recorded.get("ext_metadata") or {})["random_key_impl"]
            extras.key_implementations[str(recorded["param_name"])] = str(
                implementation
            )
        except (AttributeError, KeyError, TypeError):
            continue


def _optional(path: Path, warnings: list[str]) -> dict[str, Any]:
    """Reads a JSON object that a checkpoint can do without."""
    if not is_file(path):
        return {}
    try:
        content = read_json(path)
    except ReadFileError as error:
        warnings.append(f"{path.name} is ignored: {error.message}")
        return {}
    return content if isinstance(content, dict) else {}


def sharding_text(sharding: Any) -> str:
    """Returns a recorded sharding as one line for a person.

    Examples: ``cpu:0``; ``mesh data=4 × model=2, spec (data, None)``.
    """
    kind = sharding.get("sharding_type", "")
    if kind == "SingleDeviceSharding":
        return str(sharding.get("device_str", kind))
    if kind != "NamedSharding":
        return str(kind)
    sizes = zip(sharding.get("axis_names", []), sharding.get("shape", []), strict=False)
    mesh = " × ".join(f"{name}={size}" for name, size in sizes)
    spec = ", ".join(_axis_text(axis) for axis in sharding.get("partition_spec", []))
    return f"mesh {mesh}, spec ({spec})"


def _axis_text(axis: Any) -> str:
    if isinstance(axis, list):
        return f"({', '.join(map(str, axis))})"
    return str(axis)
