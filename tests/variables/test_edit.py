from __future__ import annotations

import json
from dataclasses import replace

import pytest

from inspector.errors import RecipeError
from inspector.variables.edit import (
    KINDS,
    CastLeaves,
    Delete,
    Edit,
    FillLeaves,
    SetNumbers,
    describe,
    touched,
)
from inspector.variables.edit_json import edit_from_json, edit_to_json
from tests.variables.edits import ONE_OF_EACH


def test_there_is_an_example_of_every_kind() -> None:
    assert {type(edit) for edit in ONE_OF_EACH} == set(KINDS)


@pytest.mark.parametrize("edit", ONE_OF_EACH, ids=lambda edit: type(edit).__name__)
def test_edits_survive_json(edit: Edit) -> None:
    assert edit_from_json(json.loads(json.dumps(edit_to_json(edit)))) == edit


def test_texts() -> None:
    assert [describe(edit) for edit in ONE_OF_EACH] == [
        "Transfer 3 leaves from digits:params to params/backbone",
        "Rename params/head to classifier",
        "Delete 3 nodes",
        "Cast 2 leaves below params to int8",
        "Fill params/head/kernel with 0.5",
        "Set params/backbone/bias[1] to 0.5",
        "Take 3 updates of run 2",
    ]
    numbers = SetNumbers(("w",), (1, 0), (2, 3), bytes(6), "int8")
    assert describe(numbers) == "Set w[1:3, 0:3]"
    assert describe(SetNumbers(("w",), (), (), b"\x80?", "bfloat16")) == (
        "Set w to 1.0"
    )
    assert describe(FillLeaves((("a",), ("b",)), float("nan"))) == (
        "Fill 2 leaves with nan"
    )


def test_touched_paths() -> None:
    assert touched(ONE_OF_EACH[0])[2] == ("step",)
    assert touched(ONE_OF_EACH[1]) == (("params", "head"),)
    assert touched(ONE_OF_EACH[6])[:2] == (
        ("params", "backbone", "bias"),
        ("cache", "key"),
    )
    assert touched(Delete((("a", 0),))) == (("a", 0),)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"edit": "explode"}, "edits[0].edit"),
        ({"dtype": 3}, "edits[0].dtype"),
        ({"paths": [["a", 1.5]]}, "edits[0].paths[0]"),
        ({"paths": "a"}, "edits[0].paths"),
        ({"why": "because"}, "edits[0]"),
    ],
)
def test_bad_edits_are_refused_with_their_place(
    change: dict[str, object], where: str
) -> None:
    data = edit_to_json(CastLeaves((("a", 1),), "int8")) | change
    with pytest.raises(RecipeError) as caught:
        edit_from_json(data, "edits[0]")
    assert caught.value.where == where


def test_integer_keys_and_texts_stay_apart() -> None:
    edit = Delete(((0, "0"),))
    assert edit_from_json(edit_to_json(edit)) == edit
    assert edit_from_json(edit_to_json(edit)) != replace(edit, paths=(("0", 0),))
