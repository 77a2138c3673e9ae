"""What of a document still fits when its base gives another tree.

A module that was changed or loaded with other arguments gives another tree. The
edits that fit it are kept, pair by pair, and everything else is reported. Pure
functions; `document.Document` calls them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from inspector.errors import InspectorError
from inspector.variables.apply import apply_edit, kind_text
from inspector.variables.edit import (
    CastLeaves,
    Delete,
    Edit,
    FillLeaves,
    TakeValues,
    Transfer,
    describe,
)
from inspector.variables.path import TreePath, join
from inspector.variables.tree import Branch, Node, walk


@dataclass(frozen=True, slots=True)
class LeafChange:
    """One leaf of the base that is another now.

    Attributes:
        path: Its path.
        before: What it was, e.g. ``"float32[3,4]"``; empty when it is new.
        after: What it is; empty when it is gone.
    """

    path: TreePath
    before: str
    after: str

    @property
    def text(self) -> str:
        """The change as a sentence."""
        if not self.before:
            return f"{join(self.path)} is new: {self.after}"
        if not self.after:
            return f"{join(self.path)} is gone, it was {self.before}"
        return f"{join(self.path)} is {self.after}, it was {self.before}"


@dataclass(frozen=True, slots=True)
class Misfit:
    """One part of an edit that no longer fits.

    Attributes:
        edit: Number of the edit in the history, from 0.
        text: The edit's verb phrase.
        path: The leaf or node it was about.
        why: Why it does not fit.
    """

    edit: int
    text: str
    path: TreePath
    why: str


@dataclass(frozen=True, slots=True)
class RebaseReport:
    """What another base means for a document.

    Attributes:
        leaves: Leaves of the base that came, went or changed.
        misfits: Parts of edits that were left out.
        kept: Edits that were kept, whole or in part.
    """

    leaves: tuple[LeafChange, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    kept: int = 0

    def sentences(self) -> tuple[str, ...]:
        """Returns the report as a person reads it, a sentence for each leaf."""
        return (
            *(change.text for change in self.leaves),
            *(
                f"{one.text}: {join(one.path)} is left out, {one.why}"
                for one in self.misfits
            ),
        )


def changed_leaves(before: Node, after: Node) -> tuple[LeafChange, ...]:
    """Compares the kinds, shapes and dtypes of two trees, not their values."""
    old = {path: kind_text(leaf) for path, leaf in walk(before)}
    new = {path: kind_text(leaf) for path, leaf in walk(after)}
    gone_or_other = [
        LeafChange(path, text, new.get(path, ""))
        for path, text in old.items()
        if new.get(path) != text
    ]
    added = [LeafChange(path, "", new[path]) for path in new if path not in old]
    return (*gone_or_other, *added)


def replay_what_fits(
    tree: Branch, edits: Iterable[Edit]
) -> tuple[list[tuple[Edit, Branch]], tuple[Misfit, ...]]:
    """Applies edits to a tree, leaving out what does not fit it.

    Args:
        tree: The new base.
        edits: The edits of the history, oldest first.

    Returns:
        (edit, tree after it) of those kept, and what was left out.
    """
    kept: list[tuple[Edit, Branch]] = []
    misfits: list[Misfit] = []
    for index, edit in enumerate(edits):
        fitting, left_out = _fit(tree, edit, index)
        misfits.extend(left_out)
        if fitting is not None:
            tree = apply_edit(tree, fitting)
            kept.append((fitting, tree))
    return kept, tuple(misfits)


def _fit(tree: Branch, edit: Edit, index: int) -> tuple[Edit | None, list[Misfit]]:
    """Returns the part of an edit that fits, None when nothing does."""
    try:
        apply_edit(tree, edit)
    except InspectorError as error:
        whole = error
    else:
        return edit, []
    parts = list(_parts(edit))
    if not parts:
        path = getattr(edit, "path", ())
        return None, [Misfit(index, describe(edit), path, whole.message)]
    fitting: list[Edit] = []
    misfits: list[Misfit] = []
    for path, part in parts:
        try:
            apply_edit(tree, part)
        except InspectorError as error:
            misfits.append(Misfit(index, describe(edit), path, error.message))
        else:
            fitting.append(part)
    if not misfits:
        # Each part fits alone, all together do not: nothing can be said for one.
        return None, [Misfit(index, describe(edit), (), whole.message)]
    return (_together(edit, fitting) if fitting else None), misfits


def _parts(edit: Edit) -> Iterator[tuple[TreePath, Edit]]:
    """Yields an edit leaf by leaf; nothing for edits that are of one piece."""
    if isinstance(edit, Transfer):
        for pair in edit.pairs:
            yield pair.target, replace(edit, pairs=(pair,))
    elif isinstance(edit, TakeValues):
        for path, leaf in edit.values:
            yield path, replace(edit, values=((path, leaf),))
    elif isinstance(edit, Delete | CastLeaves | FillLeaves):
        for path in edit.paths:
            yield path, replace(edit, paths=(path,))


def _together(edit: Edit, parts: list[Edit]) -> Edit:
    if isinstance(edit, Transfer):
        pairs = [part.pairs[0] for part in parts if isinstance(part, Transfer)]
        return replace(edit, pairs=tuple(pairs))
    if isinstance(edit, TakeValues):
        values = [part.values[0] for part in parts if isinstance(part, TakeValues)]
        return replace(edit, values=tuple(values))
    if isinstance(edit, Delete | CastLeaves | FillLeaves):
        paths = [
            part.paths[0]
            for part in parts
            if isinstance(part, Delete | CastLeaves | FillLeaves)
        ]
        return replace(edit, paths=tuple(paths))
    return edit
