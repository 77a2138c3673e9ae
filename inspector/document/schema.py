"""Reading the JSON of a recipe strictly, version by version.

Says the same as ``recipe.schema.json``, in code that names the place of a fault
(tests hold the two together). Called by `recipe`; knows no files.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.document.base import Base, CheckpointBase, base_from_json
from inspector.document.fingerprint import Fingerprint, fingerprint_from_json
from inspector.errors import RecipeError
from inspector.variables.edit import Edit, Transfer
from inspector.variables.edit_json import edit_from_json
from inspector.variables.strict import JsonObject, fault

FORMAT = "flax-inspector recipe"
"""What every recipe says of itself."""

VERSION = 2
"""Version that is written. Raised when an older program would misread a recipe.

Version 2 knows kept values (`edit.TakeValues`) and the types of NNX variables; all
else is as in version 1.
"""


@dataclass(frozen=True, slots=True)
class ParsedSource:
    """A source as it stands in the file; see `recipe.SourceEntry`.

    Attributes:
        relative: Its path as seen from the recipe's folder; may be empty.
    """

    id: str
    path: str
    relative: str
    suffix: str
    format: str
    name: str
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class ParsedRecipe:
    """A recipe as it stands in the file.

    Attributes:
        base_relative: The module's file as seen from the recipe's folder.
    """

    version: int
    base: Base
    base_relative: str
    sources: tuple[ParsedSource, ...]
    edits: tuple[Edit, ...]


def parse_recipe(data: object) -> ParsedRecipe:
    """Reads a recipe of any version up to `VERSION`.

    Raises:
        RecipeError: It is no recipe, of a newer version, or damaged; ``where``
            is the place in the file.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        message = "it is no recipe of this program"
        hint = f"A recipe is a JSON object with “format”: “{FORMAT}”."
        raise RecipeError(message, hint=hint)
    fields = JsonObject(data, "")
    fields.text("format")
    version = fields.integer("version")
    if version > VERSION:
        message = f"it is of version {version}, this program reads up to {VERSION}"
        hint = "Open it with a newer Flax Inspector."
        raise RecipeError(message, where="version", hint=hint)
    if version < 1:
        raise fault("version", "a version from 1", version)
    return _read(fields, version)


def _read(fields: JsonObject, version: int) -> ParsedRecipe:
    base, relative = base_from_json(fields.object("base"))
    sources = tuple(_source(item) for item in fields.objects("sources"))
    edits = tuple(edit_from_json(item, at) for item, at in fields.items("edits"))
    fields.done()
    _check_sources(base, sources, edits)
    return ParsedRecipe(version, base, relative, sources, edits)


def _source(fields: JsonObject) -> ParsedSource:
    source = ParsedSource(
        fields.text("id"),
        fields.text("path"),
        fields.text("relative"),
        fields.text("suffix"),
        fields.text("format"),
        fields.text("name"),
        fingerprint_from_json(fields.object("fingerprint")),
    )
    fields.done()
    return source


def _check_sources(
    base: Base, sources: tuple[ParsedSource, ...], edits: tuple[Edit, ...]
) -> None:
    """Checks that ids are unique and that everything named is there."""
    known: set[str] = set()
    for index, source in enumerate(sources):
        if source.id in known or not source.id:
            raise fault(f"sources[{index}].id", "an id of its own", source.id)
        known.add(source.id)
    if isinstance(base, CheckpointBase) and base.source not in known:
        raise fault("base.source", "the id of a source", base.source)
    for index, edit in enumerate(edits):
        if isinstance(edit, Transfer) and edit.source not in known:
            raise fault(f"edits[{index}].source", "the id of a source", edit.source)
