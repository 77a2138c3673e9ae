"""Plans between NNX modules, whose types are collections, and everything else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from inspector.formats.registry import open_checkpoint
from inspector.variables.fitting import Verdict
from inspector.variables.leaf import Leaf
from inspector.variables.path import join, parse
from inspector.variables.plan import Plan, make_plan
from inspector.variables.tree import Branch, Node, build, walk
from inspector.variables.tree_index import TreeIndex
from inspector.variables.variable_types import collection_of_type
from tests.corpus_truth import CORPUS
from tests.variables.trees import Spec, tree

CONV: Spec = {"kernel": (3, 3), "bias": (3,)}
NORM: Spec = {"scale": (3,), "bias": (3,)}
STATS: Spec = {"mean": (3,), "var": (3,)}
BN: Spec = {"scale": (3,), "bias": (3,), "mean": (3,), "var": (3,)}
KEYS: Spec = {"key": "key<fry> ", "count": "uint32 "}

LINEN = tree(
    {
        "params": {"conv": CONV, "bn": NORM, "blocks": {"0": CONV, "1": CONV}},
        "batch_stats": {"bn": STATS},
    }
)
TYPES = {"mean": "BatchStat", "var": "BatchStat", "key": "RngKey", "count": "RngCount"}


def typed(node: Node, types: dict[str, str] = TYPES) -> Branch:
    """Gives the leaves of an NNX module their types, by name."""
    leaves = [
        (path, replace(leaf, variable=types.get(str(path[-1]), "Param")))
        for path, leaf in walk(node)
    ]
    made = build(leaves)
    assert isinstance(made, Branch)
    return made


NNX = typed(
    tree(
        {
            "conv": CONV,
            "bn": BN,
            "blocks": {0: CONV, 1: CONV},
            "drop": {"rngs": KEYS},
        },
        "",
    )
)


def pairs(plan: Plan) -> dict[str, str]:
    return {
        join(row.target): join(row.source)
        for row in plan.rows
        if row.target is not None and row.source is not None
    }


def verdicts(plan: Plan) -> dict[Verdict, int]:
    return {Verdict(name): count for name, count in plan.summary.items() if count}


def test_types_are_collections() -> None:
    assert collection_of_type("Param") == "params"
    assert collection_of_type("BatchStat") == "batch_stats"
    assert collection_of_type("RngKey") == collection_of_type("RngCount") == "rngs"
    assert collection_of_type("MyState") == "my_state"
    assert TreeIndex(NNX).collections() == {"params", "batch_stats", "rngs"}


def test_linen_variables_fill_an_nnx_module() -> None:
    plan = make_plan(LINEN, NNX)
    assert verdicts(plan) == {Verdict.EXACT: 10}
    assert plan.exact
    found = pairs(plan)
    assert found["conv/kernel"] == "params/conv/kernel"
    assert found["bn/mean"] == "batch_stats/bn/mean"
    assert found["bn/scale"] == "params/bn/scale"
    assert found["blocks/1/bias"] == "params/blocks/1/bias"


def test_nnx_variables_fill_a_linen_module() -> None:
    plan = make_plan(NNX, LINEN)
    assert verdicts(plan) == {Verdict.EXACT: 10}
    assert pairs(plan)["batch_stats/bn/var"] == "bn/var"


def test_a_module_takes_all_its_types_along() -> None:
    plan = make_plan(
        LINEN, NNX, source_path=parse("params/bn"), target_path=parse("bn")
    )
    assert pairs(plan) == {
        "bn/bias": "params/bn/bias",
        "bn/mean": "batch_stats/bn/mean",
        "bn/scale": "params/bn/scale",
        "bn/var": "batch_stats/bn/var",
    }
    back = make_plan(
        NNX, LINEN, source_path=parse("bn"), target_path=parse("params/bn")
    )
    assert pairs(back) == {target: source for source, target in pairs(plan).items()}


@pytest.mark.parametrize("only", ["BatchStat", "batch_stats"])
def test_one_type_or_collection_alone(only: str) -> None:
    for source, target in ((LINEN, NNX), (NNX, LINEN)):
        plan = make_plan(source, target, only=only)
        assert verdicts(plan) == {Verdict.EXACT: 2}


def test_one_leaf_goes_where_it_is_dropped() -> None:
    plan = make_plan(
        LINEN,
        NNX,
        source_path=parse("params/conv/kernel"),
        target_path=("blocks", 0, "kernel"),
    )
    assert pairs(plan) == {"blocks/0/kernel": "params/conv/kernel"}


def test_names_that_agree_in_another_collection_do_not_meet() -> None:
    target = typed(tree({"bn": BN}, ""), {"scale": "BatchStat", "mean": "Param"})
    plan = make_plan(LINEN, target)
    found = {row.target: row.source for row in plan.rows if row.target is not None}
    assert found["bn", "scale"] is None
    assert found["bn", "mean"] is None
    assert found["bn", "bias"] == ("params", "bn", "bias")


def test_keys_and_counters_are_never_params() -> None:
    model: Spec = {"w": {"count": "uint32 ", "key": "uint32 2"}}
    target = typed(tree({"w": {"rngs": KEYS}}, ""))
    plan = make_plan(tree({"params": model}), target)
    assert pairs(plan) == {}
    assert Verdict.EXACT not in verdicts(plan)
    # An NNX checkpoint has its own, whose types its names tell.
    same = make_plan(tree({"w": {"rngs": KEYS}}), target)
    assert verdicts(same) == {Verdict.EXACT: 2}
    raw = tree(
        {"w": {"rngs": {"key": {"value": "key<fry> "}, "count": {"value": "uint32 "}}}}
    )
    assert pairs(make_plan(raw, target)) == {
        "w/rngs/count": "w/rngs/count/value",
        "w/rngs/key": "w/rngs/key/value",
    }


def test_an_attribute_called_params_is_no_collection() -> None:
    target = typed(tree({"params": {"kernel": (3, 3)}, "bn": BN}, ""))
    assert TreeIndex(target).homes == ()
    source = tree({"params": {"params": {"kernel": (3, 3)}, "bn": NORM}})
    assert pairs(make_plan(source, target))["bn/scale"].endswith("params/bn/scale")


def test_items_of_lists_are_named_in_two_ways() -> None:
    count = 24
    block: Spec = {"conv": CONV, "bn": NORM}
    params: dict[str | int, Spec] = {f"blocks_{i}": block for i in range(count)}
    stats: Spec = {f"blocks_{i}": {"bn": STATS} for i in range(count)}
    linen = tree({"params": params | {"head": CONV}, "batch_stats": stats})
    nnx = typed(
        tree(
            {
                "blocks": {i: {"conv": CONV, "bn": BN} for i in range(count)},
                "head": CONV,
            },
            "",
        )
    )
    plan = make_plan(linen, nnx)
    assert verdicts(plan) == {Verdict.EXACT: 6 * count + 2}
    assert pairs(plan)["blocks/10/bn/var"] == "batch_stats/blocks_10/bn/var"
    assert plan.exact
    back = make_plan(nnx, linen)
    assert pairs(back) == {target: source for source, target in pairs(plan).items()}


def _corpus(name: str) -> Branch:
    tree = open_checkpoint(str(CORPUS / name / "data")).tree
    assert isinstance(tree, Branch)
    return tree


def _module_of(tree: Node) -> Branch:
    """The NNX module that a checkpoint was saved from, its leaves typed."""
    leaves: list[tuple[tuple[str | int, ...], Leaf]] = []
    for path, leaf in walk(tree):
        names = path
        if names[-1] in {"value", "raw_value"}:
            names = names[:-1]
        keys = tuple(int(k) if str(k).isdigit() else k for k in names)
        variable = TYPES.get(str(keys[-1]), "Param")
        leaves.append((keys, replace(leaf, variable=variable)))
    made = build(leaves)
    assert isinstance(made, Branch)
    return made


def test_pure_dicts_of_the_corpus_fill_their_module() -> None:
    source = _corpus("nnx-0128-puredict")
    plan = make_plan(source, _module_of(source))
    assert verdicts(plan) == {Verdict.EXACT: 37}


def test_states_of_the_corpus_fill_their_module() -> None:
    source = _corpus("nnx-0128-lm-adamw-ocdbt")
    model = source.children["model"]
    target = _module_of(model)
    count = sum(1 for _ in walk(model))
    dragged = make_plan(source, target, source_path=("model",))
    assert verdicts(dragged) == {Verdict.EXACT: count}
    whole = make_plan(source, target)
    assert whole.summary["exact"] == count
    assert all(
        row.source is not None and row.source[0] == "model"
        for row in whole.rows
        if row.target is not None
    )


def test_a_manager_with_params_and_statistics_fills_its_module() -> None:
    source = _corpus("nnx-0102-manager-composite")
    params = _module_of(source.children["params"])
    stats = _module_of(source.children["batch"])
    leaves = [*walk(params), *walk(stats)]
    target = build(leaves)
    plan = make_plan(source, target)
    found = pairs(plan)
    assert len(found) == len(leaves)
    assert found["bn/mean"] == "batch/bn/mean/value"
    assert found["layers/11/kernel"].startswith("params/layers/11/kernel")


def test_the_corpus_is_there() -> None:
    assert len(list(Path(CORPUS).glob("nnx-*"))) == 3
