"""What only the store can say of a run: whether it used values left behind.

Pure functions over reports and trees.
"""

from __future__ import annotations

from collections.abc import Iterable

from inspector.engine.messages.running import Remark
from inspector.engine.store_run_state import Kept
from inspector.variables.leaf import Leaf
from inspector.variables.path import TreePath, common_prefix, join
from inspector.variables.tree import Node, get, walk

_COUNTERS = frozenset({"RngKey", "RngCount", "RngState"})
"""NNX types that every draw moves on; nobody calls such a value stale."""


def discarded(runs: Iterable[Kept], variables: str, target: Node) -> tuple[Remark, ...]:
    """Says that earlier runs updated variables, and this one used the old ones.

    Args:
        runs: Earlier runs, newest first.
        variables: Digest of the variables that this run used.
        target: The target it used.
    """
    stale = [
        (one.number, paths)
        for one in runs
        if one.report is not None
        and one.report.variables == variables
        and not one.report.taken
        and (paths := _updated(one, target))
    ]
    if not stale:
        return ()
    number, paths = stale[0]
    shared = common_prefix(paths)
    where = join(shared) or f"{join(paths[0])} and others"
    others = len(stale) - 1
    more = f" (and so were those of {others} earlier)" if others else ""
    noun = "variable" if len(paths) == 1 else "variables"
    text = (
        f"Run {number} updated {len(paths)} {noun} ({where}), and its updates were not"
        f" taken into the target{more}: this run used the values from before them."
    )
    return (Remark("discarded-updates", text, shared),)


def _updated(run: Kept, target: Node) -> list[TreePath]:
    """Returns the leaves of the target that a run updated, counters left out."""
    tree = run.trees.get("updates")
    if tree is None:
        return []
    return [
        path
        for path, leaf in walk(tree)
        if leaf.dtype
        and leaf.variable not in _COUNTERS
        and isinstance(get(target, path), Leaf)
    ]
