from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import inspector.document.recipe as recipe_module
from inspector.document.base import CheckpointBase, ModuleBase
from inspector.document.recipe import Recipe, from_json, load, save, to_json
from inspector.errors import RecipeError
from inspector.variables.edit import FillLeaves
from tests.document.samples import ENTRY, make_document, module_base
from tests.variables.edits import ONE_OF_EACH

SCHEMA = json.loads(
    Path(recipe_module.__file__).with_name("recipe.schema.json").read_text("utf-8")
)


def _whole() -> Recipe:
    fills = tuple(
        FillLeaves((("params", "head", "kernel"),), number)
        for number in (True, 1 << 60, float("inf"), complex(1, -float("inf")))
    )
    return Recipe(module_base(), (ENTRY,), (*ONE_OF_EACH, *fills))


def _plain(recipe: Recipe) -> Any:
    return json.loads(json.dumps(to_json(recipe), allow_nan=False))


def test_round_trip() -> None:
    whole = _whole()
    assert from_json(_plain(whole)) == whole
    copy = Recipe(CheckpointBase("s1"), (ENTRY,))
    assert from_json(_plain(copy)) == copy
    assert from_json(_plain(Recipe())) == Recipe()


@pytest.mark.parametrize(
    "recipe", [_whole(), Recipe(), Recipe(CheckpointBase("s1"), (ENTRY,))]
)
def test_the_schema_accepts_what_is_written(recipe: Recipe) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(_plain(recipe))


def _set(*path: str | int, to: object) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = to

    return change


def _drop(*path: str | int) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        del data[path[-1]]

    return change


DAMAGE: list[tuple[Callable[[Any], None], str]] = [
    (_set("version", to="1"), "version"),
    (_set("version", to=True), "version"),
    (_set("version", to=0), "version"),
    (_set("more", to=1), ""),
    (_drop("edits"), ""),
    (_set("base", to=None), "base"),
    (_set("base", "kind", to="other"), "base.kind"),
    (_set("base", "rngs", to=[["params", "0"]]), "base.rngs[0]"),
    (_set("base", "statics", to=[["train"]]), "base.statics[0]"),
    (_set("base", "inputs", to=[3]), "base.inputs[0]"),
    (_set("base", "tree", "leaves", 0, "kind", to="arr"), "base.tree.leaves[0].kind"),
    (_set("base", "tree", "leaves", 0, to=[]), "base.tree.leaves[0]"),
    (_drop("base", "tree", "leaves", 0, "path"), "base.tree.leaves[0]"),
    (_set("base", "tree", "containers", 0, "container", to="set"), "base.tree"),
    (
        _set("sources", 0, "fingerprint", "digest", to=3),
        "sources[0].fingerprint.digest",
    ),
    (_set("sources", 0, "id", to=""), "sources[0].id"),
    (_set("edits", 0, "pairs", 1, "rule", to="swap"), "edits[0].pairs[1].rule"),
    (_set("edits", 0, "pairs", 1, "shape", to=[-1]), "edits[0].pairs[1].shape"),
    (_set("edits", 0, "asked", "why", to="x"), "edits[0].asked"),
    (_set("edits", 5, "data", to=3), "edits[5].data"),
    (_set("edits", 4, "number", to=None), "edits[4].number"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "where"), DAMAGE)
def test_damage_is_refused_with_its_place(
    damage: Callable[[Any], None], where: str
) -> None:
    data = _plain(_whole())
    damage(data)
    with pytest.raises(RecipeError) as caught:
        from_json(data)
    assert caught.value.where == where
    assert caught.value.hint
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(data)


def test_references_to_absent_sources() -> None:
    data = _plain(_whole())
    data["sources"] = []
    with pytest.raises(RecipeError) as caught:
        from_json(data)
    assert caught.value.where == "edits[0].source"
    data = _plain(Recipe(CheckpointBase("s2"), (ENTRY,)))
    with pytest.raises(RecipeError, match="the id of a source, found 's2'"):
        from_json(data)
    data = _plain(Recipe(CheckpointBase("s1"), (ENTRY, ENTRY)))
    with pytest.raises(RecipeError) as caught:
        from_json(data)
    assert caught.value.where == "sources[1].id"


def test_newer_versions_are_refused_in_words() -> None:
    data = _plain(_whole()) | {"version": 3}
    with pytest.raises(RecipeError) as caught:
        from_json(data)
    assert caught.value.message == "it is of version 3, this program reads up to 2"
    assert caught.value.hint == "Open it with a newer Flax Inspector."


@pytest.mark.parametrize("data", [[], {}, {"format": "other"}, None])
def test_other_json_is_no_recipe(data: object) -> None:
    with pytest.raises(RecipeError, match="it is no recipe of this program"):
        from_json(data)


def test_save_and_load(tmp_path: Path) -> None:
    path = tmp_path / "a.recipe.json"
    document = make_document()
    document.apply(ONE_OF_EACH[0])
    save(document.recipe(), path)
    assert load(path) == document.recipe()
    first = path.read_bytes()
    path.chmod(0o640)
    save(document.recipe(), path)
    assert path.read_bytes() == first
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="cannot be written") as caught:
        save(Recipe(), tmp_path / "absent" / "r.json")
    assert caught.value.where == str(tmp_path / "absent" / "r.json")
    folder = tmp_path / "folder.json"
    folder.mkdir()
    with pytest.raises(RecipeError, match="cannot be written"):
        save(Recipe(), folder)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder.json"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is no JSON"),
        (b"\xff\xfe", "it is no JSON"),
        (b"[" * 100_000, "it is no JSON"),
        (b"{}", "it is no recipe"),
        (b'{"format": "flax-inspector recipe"', "it is no JSON"),
    ],
)
def test_files_that_are_no_recipe(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(RecipeError, match=message) as caught:
        load(path)
    assert caught.value.where == str(path)
    assert caught.value.hint


def test_limits_and_absence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    with pytest.raises(RecipeError, match="cannot be read: No such file"):
        load(path)
    save(Recipe(), path)
    monkeypatch.setattr(recipe_module, "SIZE_LIMIT", 10)
    with pytest.raises(RecipeError, match="a recipe has at most 10"):
        load(path)


def test_only_a_file_is_read_as_a_recipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(RecipeError, match="a folder, a pipe or a device") as caught:
            load(path)
        assert caught.value.where == str(path)


def test_a_recipe_moves_with_its_files(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "recipes").mkdir(parents=True)
    (home / "digits").mkdir()
    (home / "classifier.py").write_text("")
    base = replace(
        module_base(),
        file=str(home / "classifier.py"),
        spec=f"{home / 'classifier.py'}:Classifier",
    )
    recipe = Recipe(base, (replace(ENTRY, path=str(home / "digits")),))
    save(recipe, home / "recipes" / "r.json")
    assert load(home / "recipes" / "r.json") == recipe
    there = tmp_path / "there"
    shutil.move(home, there)
    moved = load(there / "recipes" / "r.json")
    assert moved.sources[0].path == str(there / "digits")
    assert moved.sources[0].locator == f"{there / 'digits'}@100"
    assert isinstance(moved.base, ModuleBase)
    assert moved.base.file == str(there / "classifier.py")
    assert moved.base.spec == f"{there / 'classifier.py'}:Classifier"
    shutil.rmtree(there / "digits")
    assert load(there / "recipes" / "r.json").sources[0].path == str(home / "digits")
