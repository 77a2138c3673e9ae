"""Bug 2: integer keys of NNX lists come back from a file as texts."""

from __future__ import annotations

from flax import nnx

from inspector.models.nnx_tree import nnx_tree
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.plan import make_plan
from inspector.variables.tree import Branch, build, walk
from inspector.variables.value import Initial
from tests.variables.trees import Spec, tree


class Blocks(nnx.Module):
    """Twelve layers in a list."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.blocks = nnx.List(
            [nnx.Linear(2, 2, use_bias=False, rngs=rngs) for _ in range(12)]
        )


def test_a_list_of_modules_takes_what_a_file_names_by_text() -> None:
    layer: Spec = {"kernel": (2, 2)}
    blocks: dict[str | int, Spec] = {str(i): layer for i in range(12)}
    source = tree({"blocks": blocks})
    shown = [path[1] for path, _ in walk(source)]
    assert shown == [str(number) for number in range(12)]

    found = nnx_tree(Blocks(nnx.Rngs(0))).skeleton.described.leaves
    target = build(
        (
            one.path,
            Leaf(Kind.ARRAY, (2, 2), "float32", Initial(one.path), variable="Param"),
        )
        for one in found
    )
    assert isinstance(target, Branch)
    plan = make_plan(source, target)
    assert plan.exact
    assert [(row.source, row.target) for row in plan.rows] == [
        (("blocks", str(i), "kernel"), ("blocks", i, "kernel")) for i in range(12)
    ]
