from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.document.base import CheckpointBase, ModuleBase, NoBase
from inspector.document.change import Change
from inspector.document.document import Document
from inspector.document.recipe import Recipe, from_json, to_json
from inspector.errors import EditError, RecipeError, TransferError
from inspector.variables.edit import Delete, Edit, FillLeaves, Pair, Rename, Transfer
from inspector.variables.leaf import Leaf
from inspector.variables.plain import to_plain
from inspector.variables.tree import EMPTY, Branch, get, walk
from inspector.variables.value import Initial, Stored
from tests.document.samples import ENTRY, make_document, module_base
from tests.variables.edits import ONE_OF_EACH, SOURCE, START, random_edit
from tests.variables.trees import tree


def _replayed(recipe: Recipe) -> Document:
    text = json.dumps(to_json(recipe), allow_nan=False)
    document = Document()
    document.load_recipe(from_json(json.loads(text)), {"s1": SOURCE})
    return document


@pytest.mark.parametrize("edit", ONE_OF_EACH, ids=lambda edit: type(edit).__name__)
def test_every_kind_of_edit(edit: Edit) -> None:
    document = make_document()
    before = document.target
    change = document.apply(edit)
    after = document.target
    assert after != before
    assert Change.HISTORY in change.flags
    assert change.paths
    assert document.undo().flags == change.flags
    assert document.target is before
    assert document.redo().paths == change.paths
    assert document.target is after
    again = _replayed(document.recipe())
    assert again.target == after
    assert again.history.state() == document.history.state()
    again.undo()
    assert again.target == before


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_edits_can_be_undone_and_replayed(data: st.DataObject) -> None:
    document = make_document()
    first = document.target
    states = [first]
    for _ in range(data.draw(st.integers(0, 8))):
        try:
            document.apply(data.draw(random_edit(document.target)))
        except EditError:
            continue
        states.append(document.target)
    assert _replayed(document.recipe()).target == document.target
    for state in reversed(states[:-1]):
        document.undo()
        assert document.target is state
    assert document.target is first
    document.go_to(len(states) - 1)
    assert document.target is states[-1]


def test_module_leaves_are_initial() -> None:
    document = make_document()
    values = {path: leaf.value for path, leaf in walk(document.target) if leaf.dtype}
    assert values == {path: Initial(path) for path in values}
    assert len(values) == 7


def test_a_copy_of_a_source_is_a_target() -> None:
    document = Document()
    document.add_source(ENTRY, SOURCE)
    change = document.set_base(CheckpointBase("s1"))
    assert change.text == "Make a copy of digits the target"
    assert Change.BASE in change.flags
    leaf = get(document.target, ("params", "a"))
    assert isinstance(leaf, Leaf)
    assert leaf.value == Stored("s1", ("params", "a"))
    document.apply(Rename(("params",), "weights"))
    assert _replayed(document.recipe()).target == document.target


def test_a_new_edit_forgets_the_undone_ones() -> None:
    document = make_document()
    for edit in ONE_OF_EACH[:2]:
        document.apply(edit)
    document.undo()
    state = document.history.state()
    assert (state.position, len(state.texts)) == (1, 2)
    assert (state.can_undo, state.can_redo) == (True, True)
    document.apply(ONE_OF_EACH[4])
    assert document.history.state().texts == (
        "Transfer 3 leaves from digits:params to params/backbone",
        "Fill params/head/kernel with 0.5",
    )
    with pytest.raises(EditError, match="nothing to redo"):
        document.redo()
    document.go_to(0)
    with pytest.raises(EditError, match="nothing to undo"):
        document.undo()
    with pytest.raises(EditError, match="there are 2 edits, 3 was asked for"):
        document.go_to(3)


def test_renames_touch_both_names() -> None:
    change = make_document().apply(ONE_OF_EACH[1])
    assert change.paths == (("params", "head"), ("params", "classifier"))
    assert change.flags == Change.STRUCTURE | Change.HISTORY


def test_an_edit_that_fails_changes_nothing() -> None:
    document = make_document()
    revision = document.revision
    with pytest.raises(EditError):
        document.apply(FillLeaves((("x",),), 0))
    assert document.target == START
    assert document.revision == revision
    assert not document.history.state().can_undo


def test_pairs_must_fit_the_source() -> None:
    document = make_document()
    kernel = ("params", "backbone", "kernel")
    pair = Pair(("params", "aa"), kernel, "exact", (2, 3), "float32", "float32")
    with pytest.raises(TransferError) as caught:
        document.apply(Transfer("s1", (pair,)))
    assert caught.value.where == "digits:params/aa"
    assert caught.value.hint == "Did you mean params/a?"
    other = replace(pair, source=("params", "b"))
    with pytest.raises(TransferError, match=r"the source has bfloat16\[3\]"):
        document.apply(Transfer("s1", (other,)))
    with pytest.raises(RecipeError, match="no source “s9”"):
        document.apply(Transfer("s9", (pair,)))


def test_a_source_in_use_stays_open() -> None:
    document = make_document()
    document.apply(ONE_OF_EACH[0])
    document.undo()
    with pytest.raises(EditError) as caught:
        document.remove_source("s1")
    assert caught.value.message == (
        "digits is in use: Transfer 3 leaves from digits:params to params/backbone"
    )
    document.apply(ONE_OF_EACH[1])
    document.remove_source("s1")
    assert len(document.sources) == 0
    assert document.sources.new_id() == "s2"
    document.add_source(replace(ENTRY, id="s2"), SOURCE)
    document.set_base(CheckpointBase("s2"))
    with pytest.raises(EditError, match="the target is a copy of it"):
        document.remove_source("s2")


def test_names_and_ids_are_unique() -> None:
    document = make_document()
    assert document.sources.unique_name("digits") == "digits (2)"
    assert document.sources.unique_name("other") == "other"
    with pytest.raises(RecipeError, match="“s1” is open already"):
        document.add_source(ENTRY, SOURCE)


def test_a_source_is_read_again() -> None:
    document = make_document()
    document.apply(ONE_OF_EACH[0])
    larger = tree({"params": {"a": (2, 3), "b": "bfloat16 3", "c": (1,)}, "count": 4})
    change = document.replace_source(ENTRY, larger)
    assert change.flags == Change.SOURCES | Change.VALUES
    smaller = tree({"params": {"a": (2, 4), "b": "bfloat16 3"}, "count": 3})
    with pytest.raises(TransferError, match=r"the source has float32\[2, 4\]"):
        document.replace_source(ENTRY, smaller)
    assert document.sources.get("s1").tree is larger


def test_a_copied_source_is_read_again_with_its_edits() -> None:
    document = Document()
    document.add_source(ENTRY, SOURCE)
    document.set_base(CheckpointBase("s1"))
    document.apply(Delete((("params", "b"),)))
    document.apply(Rename(("count",), "n"))
    document.undo()
    larger = tree({"params": {"a": (9,), "b": (1,), "z": (1,)}, "count": 3})
    document.replace_source(ENTRY, larger)
    assert [path for path, _ in walk(document.target)] == [
        ("count",),
        ("params", "a"),
        ("params", "z"),
    ]
    assert document.history.state().can_redo
    with pytest.raises(RecipeError, match="Delete params/b: the target has no"):
        document.replace_source(ENTRY, tree({"params": {"a": (9,)}, "count": 3}))
    assert document.sources.get("s1").tree is larger


def test_rebase_keeps_what_fits() -> None:
    document = make_document()
    for edit in (ONE_OF_EACH[0], ONE_OF_EACH[3], ONE_OF_EACH[5], ONE_OF_EACH[1]):
        if edit is not ONE_OF_EACH[5]:
            document.apply(edit)
    other = tree(
        {
            "params": {
                "backbone": {"kernel": (2, 3), "bias": (4,)},
                "blocks": [{"w": (2,)}, {"w": (2,)}],
                "top": {"kernel": "bfloat16 3,4"},
            },
            "step": 7,
        },
        "",
    )
    report = document.preview_rebase(module_base(other))
    assert document.target != other
    assert document.rebase(module_base(other)) == report
    assert report.kept == 2
    assert report.sentences() == (
        "params/backbone/bias is float32[4], it was float32[3]",
        "params/blocks/2/w is gone, it was float32[2]",
        "params/head/kernel is gone, it was bfloat16[3,4]",
        "params/head/scale is gone, it was float32[]",
        "params/top/kernel is new: bfloat16[3,4]",
        "Transfer 3 leaves from digits:params to params/backbone: "
        "params/backbone/bias is left out, the target expects float32[4], the "
        "transfer gives float32[3]",
        "Rename params/head to classifier: params/head is left out, the target has "
        "no such path",
    )
    assert document.history.state().texts == (
        "Transfer 2 leaves from digits:params to params/backbone",
        "Cast 2 leaves below params to int8",
    )
    document.go_to(0)
    assert to_plain(document.target) == to_plain(other)


def test_values_of_a_run_fit_another_base_leaf_by_leaf() -> None:
    document = make_document()
    document.apply(ONE_OF_EACH[6])
    other = tree({"params": {"backbone": {"bias": (4,)}}, "step": 7}, "")
    report = document.rebase(module_base(other))
    assert report.kept == 1
    assert [(one.path, one.why) for one in report.misfits] == [
        (
            ("params", "backbone", "bias"),
            "the target has float32 [4], the run gave float32 [3]",
        )
    ]
    assert get(document.target, ("cache", "key")) is not None


def test_values_of_a_run_change_values_and_may_add_leaves() -> None:
    document = make_document()
    change = document.apply(ONE_OF_EACH[6])
    assert change.text == "Take 3 updates of run 2"
    assert change.flags == Change.VALUES | Change.STRUCTURE | Change.HISTORY
    assert ("cache", "key") in change.paths
    assert document.undo().text == "Undo: Take 3 updates of run 2"
    assert get(document.target, ("cache",)) is None


def test_seeds_belong_to_modules() -> None:
    document = make_document()
    document.apply(ONE_OF_EACH[1])
    document.set_seeds((("params", 5),))
    assert isinstance(document.base, ModuleBase)
    assert document.base.rngs == (("params", 5),)
    assert document.history.state().can_undo
    document.set_base(NoBase())
    assert document.target == EMPTY
    with pytest.raises(EditError, match="only a module has seeds"):
        document.set_seeds(())


def test_a_recipe_opens_without_its_sources() -> None:
    document = make_document()
    document.apply(ONE_OF_EACH[0])
    other = Document()
    change = other.load_recipe(document.recipe(), {})
    assert change.notes == ("digits is not at /data/digits",)
    assert other.target == document.target
    changed = tree({"params": {"a": (2, 4)}, "count": 3})
    assert other.load_recipe(document.recipe(), {"s1": changed}).notes == (
        "digits:params/a: the source has float32[2, 4], the transfer was decided for "
        "float32[2, 3]",
        "digits:params/b: the source has no such leaf",
    )


def test_a_recipe_that_cannot_be_replayed_changes_nothing() -> None:
    document = make_document()
    document.apply(ONE_OF_EACH[1])
    target = document.target
    bad = Recipe(module_base(), (ENTRY,), (ONE_OF_EACH[1], ONE_OF_EACH[1]))
    with pytest.raises(RecipeError) as caught:
        document.load_recipe(bad, {})
    assert caught.value.where == "edits[1] params/head"
    copy = Recipe(CheckpointBase("s1"), (ENTRY,), ())
    with pytest.raises(RecipeError, match="which the target is a copy of, is absent"):
        document.load_recipe(copy, {})
    leaf = Leaf(next(iter(walk(SOURCE)))[1].kind)
    with pytest.raises(RecipeError, match="digits is a single leaf"):
        document.load_recipe(copy, {"s1": leaf})
    assert document.target is target


RECIPES = Path(__file__).parent / "recipes"


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.json")), ids=lambda p: p.stem)
def test_recipes_of_old_versions_are_replayed(path: Path) -> None:
    stored = json.loads(path.read_text("utf-8"))
    document = Document()
    document.load_recipe(from_json(stored["recipe"]), {"s1": SOURCE})
    plain = to_plain(document.target)
    expected = from_json(stored["expected"]).base
    assert isinstance(expected, ModuleBase)
    assert plain == expected.tree


def test_there_are_old_recipes() -> None:
    assert len(list(RECIPES.glob("version-1-*.json"))) >= 2
    assert list(RECIPES.glob("version-2-*.json"))


def test_sharing() -> None:
    document = make_document()
    before = document.target
    document.apply(ONE_OF_EACH[5])
    assert isinstance(before.children["params"], Branch)
    head = ("params", "head")
    assert get(document.target, head) is get(before, head)
