"""Lists of modules: Linen names their items ``blocks_0``, NNX has ``blocks/0``.

Both mean the same module where one tree has the one form and the other tree the
other. Called by `plan` in the store process, before names are aligned.
"""

from __future__ import annotations

from collections.abc import Sequence

from inspector.variables.matching import Selected
from inspector.variables.tree_index import Names

Item = tuple[str, str]
"""Name of a list and a position in it."""


def with_positions_apart(
    source: Sequence[Selected], target: Sequence[Selected]
) -> tuple[Sequence[Selected], Sequence[Selected]] | None:
    """Returns both sides with ``blocks_0`` as ``blocks/0``; None when nothing changes.

    A name is taken apart only when the other side has a list of this name with this
    position and its own side has not.
    """
    ours, theirs = _items(source), _items(target)
    if ours == theirs:
        return None
    return _apart(source, theirs - ours), _apart(target, ours - theirs)


def _items(side: Sequence[Selected]) -> set[Item]:
    return {
        (name, position)
        for one in side
        for name, position in zip(one.names, one.names[1:], strict=False)
        if position.isdigit()
    }


def _apart(side: Sequence[Selected], items: set[Item]) -> Sequence[Selected]:
    if not items:
        return side
    joined = {f"{name}_{position}": (name, position) for name, position in items}
    return [one._replace(names=_split(one.names, joined)) for one in side]


def _split(names: Names, joined: dict[str, Item]) -> Names:
    found: list[str] = []
    for name in names:
        found.extend(joined.get(name, (name,)))
    return tuple(found)
