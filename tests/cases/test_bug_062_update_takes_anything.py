"""Bug 62: an NNX module that is updated from a dict takes whatever it is given."""

from __future__ import annotations

from flax import nnx

from inspector.models.nnx_tree import nnx_tree
from inspector.variables.apply import apply_edit
from inspector.variables.fitting import Verdict
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.plan import decide, make_plan
from inspector.variables.tree import Branch, build, get
from inspector.variables.value import Initial, Stored
from tests.variables.trees import tree


def _linear() -> Branch:
    """The variables of ``nnx.Linear(2, 2)`` as the target has them."""
    found = nnx_tree(nnx.Linear(2, 2, rngs=nnx.Rngs(0))).skeleton.described.leaves
    made = build(
        (
            one.path,
            Leaf(
                Kind.ARRAY,
                tuple(one.value.shape),
                str(one.value.dtype),
                Initial(one.path),
                variable=one.variable,
            ),
        )
        for one in found
    )
    assert isinstance(made, Branch)
    return made


def test_a_wrong_shape_is_shown_and_not_taken() -> None:
    plan = make_plan(tree({"kernel": (5, 5)}), _linear())
    rows = {row.target: row for row in plan.rows}
    assert rows["kernel",].verdict is Verdict.MISMATCH
    assert rows["kernel",].why == "source [5, 5], target [2, 2]"
    assert rows["kernel",].choices == ("skip",)
    assert not plan.exact


def test_an_unknown_name_is_shown_and_goes_nowhere() -> None:
    target = _linear()
    plan = make_plan(tree({"kernel": (2, 2), "zzz": (1,)}), target)
    rows = {row.target or row.source: row for row in plan.rows}
    assert rows["kernel",].verdict is Verdict.EXACT
    assert rows["zzz",].verdict is Verdict.UNUSED
    after = apply_edit(target, decide(plan))
    assert list(after.children) == list(target.children)
    kernel = get(after, ("kernel",))
    assert isinstance(kernel, Leaf)
    assert kernel.value == Stored("", ("kernel",))
    assert (kernel.shape, kernel.variable) == ((2, 2), "Param")
