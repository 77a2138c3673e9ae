from __future__ import annotations

import pytest

from inspector.errors import TransferError
from inspector.variables.apply import apply_edit
from inspector.variables.edit import Asked, Pair
from inspector.variables.fitting import Verdict
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import join, parse
from inspector.variables.plan import Plan, decide, make_plan
from inspector.variables.tree import Branch, get
from inspector.variables.tree_index import TreeIndex
from inspector.variables.value import Literal, Stored
from tests.variables.trees import Spec, tree

DENSE: Spec = {"kernel": (3, 3), "bias": (3,)}
HEAD: Spec = {"kernel": (3, 2), "bias": (2,)}
NORM: Spec = {"scale": (3,), "bias": (3,)}
STATS: Spec = {"mean": (3,), "var": (3,)}

STATE = tree(
    {
        "step": 3,
        "params": {"Encoder_0": {"conv": DENSE, "bn": NORM}, "Dense_0": HEAD},
        "batch_stats": {"Encoder_0": {"bn": STATS}},
        "opt_state": [{"mu": {"Encoder_0": {"conv": DENSE}}}, None],
    }
)
MODULE = tree(
    {
        "params": {
            "backbone": {"conv": DENSE, "bn": NORM},
            "head": {"kernel": (3, 5), "bias": (5,)},
        },
        "batch_stats": {"backbone": {"bn": STATS}},
    },
    "",
)


def plan(
    source: Branch, target: Branch, start: str = "", end: str = "", only: str = ""
) -> Plan:
    return make_plan(
        source,
        target,
        source_path=parse(start),
        target_path=parse(end),
        only=only,
        source_id="s1",
        source_name="src",
    )


def filled(made: Plan) -> dict[str, str]:
    return {
        join(row.target): join(row.source)
        for row in made.rows
        if row.target is not None and row.source is not None
    }


def counts(made: Plan) -> dict[str, int]:
    return {verdict: count for verdict, count in made.summary.items() if count}


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("params/Encoder_0", "params/backbone"),
        ("Encoder_0", "backbone"),
        ("batch_stats/Encoder_0", "backbone"),
    ],
)
def test_all_collections_travel_together(start: str, end: str) -> None:
    made = plan(STATE, MODULE, start, end)
    assert counts(made) == {"exact": 6}
    assert made.exact
    assert made.note == "Encoder_0 → backbone, 6 of 6 leaves"
    assert filled(made)["batch_stats/backbone/bn/mean"] == (
        "batch_stats/Encoder_0/bn/mean"
    )


def test_only_one_collection() -> None:
    made = plan(STATE, MODULE, "Encoder_0", "backbone", "batch_stats")
    assert filled(made) == {
        "batch_stats/backbone/bn/mean": "batch_stats/Encoder_0/bn/mean",
        "batch_stats/backbone/bn/var": "batch_stats/Encoder_0/bn/var",
    }
    with pytest.raises(TransferError, match="neither side has a collection") as caught:
        plan(STATE, MODULE, only="cache")
    assert caught.value.hint == "There are batch_stats, params."


def test_whole_source_on_whole_target() -> None:
    made = plan(STATE, MODULE)
    assert counts(made) == {"exact": 6, "missing": 2, "unused": 5}
    verdicts = [row.verdict for row in made.rows]
    assert verdicts[-5:] == [Verdict.UNUSED] * 5
    targets = [row.target for row in made.rows[:-5]]
    assert targets == sorted(targets, key=str)
    unused = {join(row.source or ()) for row in made.rows[-5:]}
    assert "step" in unused
    assert "opt_state/0/mu/Encoder_0/conv/kernel" in unused


def test_slots_fill_params_only_when_they_are_dragged() -> None:
    made = plan(STATE, MODULE, "opt_state/0/mu/Encoder_0", "params/backbone")
    assert filled(made) == {
        "params/backbone/conv/bias": "opt_state/0/mu/Encoder_0/conv/bias",
        "params/backbone/conv/kernel": "opt_state/0/mu/Encoder_0/conv/kernel",
    }
    bare = tree({"Encoder_0": {"conv": DENSE}}, "")
    source = tree({"params": {"x": HEAD}, "opt_state": {"Encoder_0": {"conv": DENSE}}})
    assert not filled(plan(source, bare))


def test_a_second_set_of_params_is_dragged_by_hand() -> None:
    source = tree({"params": {"a": DENSE}, "ema_params": {"a": DENSE}})
    target = tree({"params": {"a": DENSE}, "batch_stats": {"a": STATS}}, "")
    assert set(filled(plan(source, target)).values()) == {
        "params/a/kernel",
        "params/a/bias",
    }
    assert set(filled(plan(source, target, "ema_params")).values()) == {
        "ema_params/a/kernel",
        "ema_params/a/bias",
    }


@pytest.mark.parametrize(
    "source",
    [
        {"params": {"c": DENSE, "bn": NORM}, "batch_stats": {"bn": STATS}},
        {"state": {"params": {"c": DENSE, "bn": NORM}, "batch_stats": {"bn": STATS}}},
        {
            "model": {"params": {"c": DENSE, "bn": NORM}, "batch_stats": {"bn": STATS}},
            "opt_state": {"params": {"c": DENSE}},
            "config": {"lr": 0.1},
        },
        {
            "optimizer": {
                "target": {"c": DENSE, "bn": NORM},
                "state": {"param_states": {"c": {"kernel": {"momentum": (3, 3)}}}},
            },
            "model_state": {"batch_stats": {"bn": STATS}},
            "step": 1,
        },
        {
            "target": {"c": DENSE, "bn": NORM},
            "flax_mutables": {"batch_stats": {"bn": STATS}},
            "state": {"step": 1},
        },
        {
            "params": {
                "params": {"c": DENSE, "bn": NORM},
                "batch_stats": {"bn": STATS},
            },
            "config": 1,
        },
        {
            "params": {"params": {"c": DENSE, "bn": NORM}},
            "batch_stats": {"batch_stats": {"bn": STATS}},
        },
        {"c": DENSE, "bn": {"scale": (3,), "bias": (3,), "mean": (3,), "var": (3,)}},
        {
            "c": {"kernel": {"value": (3, 3)}, "bias": {"raw_value": (3,)}},
            "bn": {name: {"value": (3,)} for name in ("scale", "bias", "mean", "var")},
        },
        {
            "params": {"c": DENSE, "bn": NORM},
            "batch": {"bn": {"mean": {"value": (3,)}, "var": {"value": (3,)}}},
        },
        {
            "c.kernel": (3, 3), "c.bias": (3,), "bn.scale": (3,), "bn.bias": (3,),
            "bn.mean": (3,), "bn.var": (3,),
        },
    ],
)  # fmt: skip
def test_variables_are_found_where_they_lie(source: dict[str | int, Spec]) -> None:
    target = tree(
        {"params": {"c": DENSE, "bn": NORM}, "batch_stats": {"bn": STATS}}, ""
    )
    made = plan(tree(source), target)
    assert made.summary["exact"] == 6
    assert made.summary["missing"] == 0
    assert made.note == ""
    used = [row.source for row in made.rows if row.verdict is Verdict.EXACT]
    assert len(set(used)) == 6
    assert not any("momentum" in path for path in filled(made).values())


def test_integer_keys_match_texts_by_value() -> None:
    source = tree({"params": {"layers": {str(i): {"w": (i + 1,)} for i in range(12)}}})
    target = tree({"params": {"layers": [{"w": (i + 1,)} for i in range(12)]}}, "")
    made = plan(source, target)
    assert counts(made) == {"exact": 12}
    assert made.rows[2].target == ("params", "layers", 2, "w")
    assert made.rows[2].source == ("params", "layers", "2", "w")
    assert made.rows[10].target == ("params", "layers", 10, "w")


def test_the_same_submodule_under_another_name() -> None:
    source = tree({"params": {"S_0": {"enc": DENSE}, "head": HEAD}})
    target = tree({"params": {"backbone": {"enc": DENSE}, "head": HEAD}}, "")
    made = plan(source, target, "params/S_0", "params/backbone")
    assert made.note == "S_0 → backbone, 2 of 2 leaves"
    assert counts(made) == {"exact": 2}
    root = plan(source, target)
    assert filled(root) == {
        "params/head/kernel": "params/head/kernel",
        "params/head/bias": "params/head/bias",
    }
    assert "S_0 → backbone would fit too" in root.note


def test_names_that_differ_only_in_spelling() -> None:
    source = tree({"params": {"PretrainedModule_0": {"c": DENSE}, "Dense_0": HEAD}})
    target = tree(
        {
            "params": {
                "pretrained_module": {"c": DENSE},
                "Dense_0": {"kernel": (3, 5), "bias": (5,)},
            }
        },
        "",
    )
    made = plan(source, target)
    assert counts(made) == {"exact": 2, "mismatch": 2}
    assert made.note == "PretrainedModule_0 → pretrained_module, 2 of 2 leaves"
    assert made.rows[0].why == "source [2], target [5]"
    assert not made.exact


@pytest.mark.parametrize(
    ("start", "end", "note"),
    [
        ("", "", "src → backbone, 4 of 4 leaves"),
        ("", "params/backbone", "src → backbone, 4 of 4 leaves"),
    ],
)
def test_a_level_that_one_side_lacks(start: str, end: str, note: str) -> None:
    source = tree({"params": {"Dense_0": DENSE, "Dense_1": HEAD}})
    target = tree(
        {
            "params": {
                "backbone": {"Dense_0": DENSE, "Dense_1": HEAD},
                "Dense_0": {"kernel": (2, 5), "bias": (5,)},
            }
        },
        "",
    )
    made = plan(source, target, start, end)
    assert made.summary["exact"] == 4
    assert made.note == note
    assert filled(made)["params/backbone/Dense_1/bias"] == "params/Dense_1/bias"


@pytest.mark.parametrize(
    ("start", "end", "note"),
    [
        ("S_0", "backbone/c3", "S_0 → backbone, 4 of 6 leaves; one level above"),
        ("", "backbone", "S_0 → backbone, 4 of 6 leaves"),
        ("S_0", "", "S_0 → backbone, 4 of 6 leaves"),
    ],
)
def test_one_level_too_high_or_too_deep(start: str, end: str, note: str) -> None:
    source = tree({"params": {"S_0": {"c1": DENSE, "c2": HEAD}}})
    target = tree({"params": {"backbone": {"c1": DENSE, "c2": HEAD, "c3": DENSE}}}, "")
    made = plan(source, target, start, end)
    assert made.summary["exact"] == 4
    assert made.note.startswith(note)
    assert made.exact == ("one level above" not in note)
    assert filled(made)["params/backbone/c2/bias"] == "params/S_0/c2/bias"


def test_a_bare_encoder_in_a_model_with_a_head() -> None:
    layers: Spec = {str(i): {"dense": DENSE} for i in range(2)}
    source = tree(
        {"embeddings": {"tok": (30, 8)}, "encoder": {"layer": layers}, "pooler": HEAD}
    )
    target = tree(
        {
            "params": {
                "roberta": {
                    "embeddings": {"tok": (30, 8)},
                    "encoder": {"layer": layers},
                },
                "lm_head": {"kernel": (8, 30)},
            }
        },
        "",
    )
    on_node = plan(source, target, "", "roberta")
    assert counts(on_node) == {"exact": 5, "unused": 2}
    on_root = plan(source, target)
    assert counts(on_root) == {"exact": 5, "missing": 1, "unused": 2}
    unused = [join(row.source or ()) for row in on_root.rows if row.target is None]
    assert unused == ["pooler/bias", "pooler/kernel"]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ({"A": DENSE}, {"x": DENSE, "y": DENSE}),
        ({"A": DENSE, "B": DENSE}, {"x": DENSE}),
    ],
)
def test_never_a_guess(
    source: dict[str | int, Spec], target: dict[str | int, Spec]
) -> None:
    made = plan(tree({"params": source}), tree({"params": target}, ""))
    assert not filled(made)
    assert made.note.startswith("Several ways fit equally well (A → x; ")


def test_numbered_twins_keep_their_numbers() -> None:
    source = tree({"params": {"Dense_0": DENSE, "Dense_1": DENSE}})
    target = tree(
        {"params": {"dense_0": DENSE, "dense_1": DENSE, "Dense_2": DENSE}}, ""
    )
    made = plan(source, target)
    assert filled(made) == {
        f"params/dense_{i}/{name}": f"params/Dense_{i}/{name}"
        for i in range(2)
        for name in ("kernel", "bias")
    }


def test_layers_present_on_one_side_only() -> None:
    full: Spec = {"pre_logits": DENSE, "head": HEAD}
    made = plan(tree({"params": full}), tree({"params": {"head": HEAD}}, ""))
    assert counts(made) == {"exact": 2, "unused": 2}
    back = plan(tree({"params": {"head": HEAD}}), tree({"params": full}, ""))
    assert counts(back) == {"exact": 2, "missing": 2}


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("params/Encoder_0/conv/kernel", "params/backbone/conv", 2),
        ("params/Encoder_0/conv/kernel", "params/backbone/conv/kernel", 1),
        ("params/Encoder_0/bn/scale", "params/backbone/bn/bias", 1),
        ("params/Encoder_0/conv", "params/backbone/conv/kernel", 2),
    ],
)
def test_single_leaves(start: str, end: str, expected: int) -> None:
    made = plan(STATE, MODULE, start, end)
    assert len(made.rows) == expected
    assert made.summary["exact"] == 1


def test_a_copy_of_the_same_checkpoint_matches_by_plain_paths() -> None:
    made = plan(STATE, STATE)
    assert counts(made) == {"exact": 11}
    assert all(row.source == row.target for row in made.rows)


DTYPES: dict[str | int, Spec] = {
    "wide": "bfloat16 3", "narrow": "float32 3", "int": "int32 3", "cut": "float32 3",
    "key": "key<fry> ", "other": "key<rbg> ", "n": 5, "big": 1 << 40, "text": (3,),
}  # fmt: skip


def test_dtypes_and_kinds() -> None:
    target = tree(
        {
            "params": {
                "wide": "float32 3", "narrow": "bfloat16 3", "int": "float32 3",
                "cut": "int32 3", "key": "key<fry> ", "other": "key<fry> ",
                "n": "int32 ", "big": "int32 ", "text": 3,
            }
        },
        "",
    )  # fmt: skip
    made = plan(tree(DTYPES), target)
    said = {join(row.source or ()): (row.verdict.value, row.why) for row in made.rows}
    assert said == {
        "wide": ("converted", "bfloat16 → float32, exact"),
        "narrow": ("converted", "float32 → bfloat16, rounds"),
        "int": ("converted", "int32 → float32, rounds integers above 16777216"),
        "cut": (
            "mismatch",
            "float32 → int32 drops fractions, and what is outside "
            "-2147483648 … 2147483647",
        ),
        "key": ("exact", ""),
        "other": ("mismatch", "source random key key<rbg> [], target random key "
                  "key<fry> []"),
        "n": ("converted", "Python int 5 → int32, exact"),
        "big": (
            "mismatch",
            "Python int 1099511627776 → int32: possible are -2147483648 … 2147483647",
        ),
        "text": ("mismatch", "source float32 [3], target Python int"),
    }  # fmt: skip


def test_leaves_that_cannot_be_read() -> None:
    bad = Branch(
        {"w": Leaf(Kind.ARRAY, (3,), "float32", Stored("s1", ("w",)), error="gone")}
    )
    made = plan(bad, tree({"params": {"w": (3,)}}, ""))
    assert made.rows[0].verdict is Verdict.MISMATCH
    assert made.rows[0].why == "the source leaf cannot be read: gone"


def test_absent_paths_are_answered_with_the_nearest() -> None:
    with pytest.raises(TransferError) as caught:
        plan(STATE, MODULE, "Encodr_0", "backbone")
    assert caught.value.where == "Encodr_0"
    assert caught.value.hint == ("Did you mean params/Encoder_0 or params/Dense_0?")
    with pytest.raises(TransferError, match="the target has nothing") as other:
        plan(STATE, MODULE, "", "params/bckbone")
    assert other.value.hint == "Did you mean params/backbone?"


def test_decide_takes_what_needs_no_word() -> None:
    target = tree({"params": {"wide": "float32 3", "n": "int32 ", "cut": "int32 3"}})
    made = plan(tree(DTYPES), target)
    edit = decide(made)
    assert edit.source == "s1"
    assert edit.asked == Asked("src", (), (), "")
    assert edit.pairs == (
        Pair(("n",), ("params", "n"), "cast", (), "int", "int32", Literal(5)),
        Pair(("wide",), ("params", "wide"), "cast", (3,), "bfloat16", "float32", None),
    )
    after = apply_edit(target, edit)
    leaf = get(after, ("params", "n"))
    assert isinstance(leaf, Leaf)
    assert leaf.value == Literal(5)


def test_decide_follows_choices() -> None:
    target = tree({"params": {"wide": "float32 3", "cut": "int32 3", "text": 3}})
    made = plan(tree(DTYPES), target)
    rows = {join(row.target or ()): index for index, row in enumerate(made.rows)}
    chosen = {rows["params/cut"]: "cast", rows["params/wide"]: "skip"}
    assert decide(made, chosen).pairs == (
        Pair(("cut",), ("params", "cut"), "cast", (3,), "float32", "int32"),
    )
    assert made.rows[rows["params/cut"]].choices == ("skip", "cast")
    with pytest.raises(TransferError, match="“take” is not possible") as caught:
        decide(made, {rows["params/text"]: "take"})
    assert caught.value.where == "params/text"
    assert caught.value.hint == "Choose skip."
    with pytest.raises(TransferError, match="row 99 was chosen"):
        decide(made, {99: "skip"})
    with pytest.raises(TransferError, match="nothing fits"):
        decide(made, {rows["params/wide"]: "skip"})


def test_an_index_gives_the_same_plan() -> None:
    made = plan(STATE, MODULE)
    again = make_plan(
        TreeIndex(STATE), TreeIndex(MODULE), source_id="s1", source_name="src"
    )
    assert again == made


def test_names_of_boxes_are_looked_through_only_when_they_are_boxes() -> None:
    attention: Spec = dict.fromkeys(("query", "key", "value"), (3, 3))
    source = tree({"params": {"attention": attention}})
    made = plan(source, tree({"params": {"attention": attention}}, ""))
    assert counts(made) == {"exact": 3}
