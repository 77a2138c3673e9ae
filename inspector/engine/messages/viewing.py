"""Window or command line -> store: rows, details, numbers, plans. Queries only.

``tree`` is `document.TARGET` or the id of a source.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.variables.path import Key, TreePath


@dataclass(frozen=True, slots=True)
class AskChildren:
    """Asks for a page of the children of a node; `ChildPage` answers.

    Attributes:
        tree: Which tree.
        path: The parent.
        query: Filter: a substring of the path, or a pattern with ``*`` (within a
            key) and ``**`` (across keys); empty shows everything. A branch is
            shown when something below it matches, or an ancestor does.
        start: First child.
        count: Most children to send, at most 500.
    """

    tree: str
    path: TreePath
    query: str = ""
    start: int = 0
    count: int = 200


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a tree.

    Attributes:
        key: Last key of its path.
        kind: ``"dict"``, ``"list"``, ``"tuple"``, or the kind of a leaf.
        children: Visible children; 0 for a leaf.
        shape: Shape of an array.
        dtype: Its dtype.
        leaves: Leaves at or below it.
        parameters: Elements of all arrays at or below it.
        nbytes: Their bytes when decoded.
        origin: Worst origin at or below it; empty in a source.
        origins: (origin, leaves) at or below it; empty in a source.
        source: Where a target leaf's value comes from, e.g.
            ``"digits:params/encoder/conv/kernel"``.
        sharding: Sharding a leaf was saved with.
        value: A scalar leaf's value as text, shortened.
        error: Why a leaf cannot be read.
        errors: Unreadable leaves at or below it.
        matches: Whether the row itself matches the query.
        variable: NNX Variable type of a leaf, e.g. ``"Param"``; else empty.
    """

    key: Key
    kind: str
    children: int = 0
    shape: tuple[int, ...] = ()
    dtype: str = ""
    leaves: int = 1
    parameters: int = 0
    nbytes: int = 0
    origin: str = ""
    origins: tuple[tuple[str, int], ...] = ()
    source: str = ""
    sharding: str = ""
    value: str = ""
    error: str = ""
    errors: int = 0
    matches: bool = False
    variable: str = ""


@dataclass(frozen=True, slots=True)
class ChildPage:
    """A page of children in the order they are shown; ``total`` of them in all."""

    rows: tuple[Row, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Locate:
    """Asks for the row number of each key of a path; `Located` answers."""

    tree: str
    path: TreePath
    query: str = ""


@dataclass(frozen=True, slots=True)
class Located:
    """Row numbers from the root down; shorter than the path when it is hidden."""

    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """Asks for nodes of all trees whose path matches; `Hits` answers."""

    query: str
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Hits:
    """Found nodes: (tree, path); ``total`` of them in all."""

    hits: tuple[tuple[str, TreePath], ...]
    total: int


@dataclass(frozen=True, slots=True)
class Describe:
    """Asks for the `Details` of one node."""

    tree: str
    path: TreePath


@dataclass(frozen=True, slots=True)
class Details:
    """One node in full.

    Attributes:
        tree: Which tree.
        path: Its path.
        row: As the tree shows it.
        text: Where its value comes from, in words; several lines possible.
        stored_bytes: Bytes in its file, 0 when unknown.
        note: Boxes, NNX type and the like.
        literal: Full text of a scalar, string or bytes leaf, at most 64 KiB.
        has_numbers: Whether statistics, picture and table make sense.
        editable: Whether numbers may be typed.
        ready: Whether numbers can be read now; False for an initial value that has
            not been made (`ReadNumbers` makes it first when the module is loaded).
        dtypes: For a branch, (dtype, leaves, elements, bytes) of the arrays below it,
            most bytes first; random keys have no elements.
    """

    tree: str
    path: TreePath
    row: Row
    text: str = ""
    stored_bytes: int = 0
    note: str = ""
    literal: str = ""
    has_numbers: bool = False
    editable: bool = False
    ready: bool = True
    dtypes: tuple[tuple[str, int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ReadStatistics:
    """Asks for `reading.StatisticsReply` of a leaf; reports progress."""

    tree: str
    path: TreePath
    bins: int = 64


@dataclass(frozen=True, slots=True)
class ReadNumbers:
    """Asks for `reading.Numbers` of a region, at most 128 KiB decoded."""

    tree: str
    path: TreePath
    region: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ReadPicture:
    """Asks for `reading.Picture` of a 2-D slice, see `reading.LeafPicture`."""

    tree: str
    path: TreePath
    rows_axis: int
    columns_axis: int
    index: tuple[int, ...]
    max_rows: int = 160
    max_columns: int = 160


@dataclass(frozen=True, slots=True)
class MakePlan:
    """Asks what a transfer would do; `PlanInfo` answers. Metadata only.

    Attributes:
        source: Id of the source.
        source_path: Subtree that is dragged; ``()`` is the whole source.
        target_path: Node it is dropped on; ``()`` is the whole target.
        only: Collection to restrict it to; empty for all.
    """

    source: str
    source_path: TreePath
    target_path: TreePath
    only: str = ""


@dataclass(frozen=True, slots=True)
class PlanInfo:
    """A plan that the store keeps until a later one replaces it.

    Attributes:
        plan: Its number.
        source: Name of the source.
        asked: What was dragged where, for a person.
        note: How names were aligned; empty when they agree.
        summary: (verdict, rows).
        rows: Rows in all.
        applies: Whether all is exact, so that a drop applies it at once.
    """

    plan: int
    source: str
    asked: str
    note: str
    summary: tuple[tuple[str, int], ...]
    rows: int
    applies: bool


@dataclass(frozen=True, slots=True)
class AskPlanRows:
    """Asks for a page of the rows of a plan; `PlanPage` answers.

    Attributes:
        plan: Its number.
        verdicts: Only rows of these; empty for all.
        start: First row among them.
        count: Most rows to send, at most 500.
    """

    plan: int
    verdicts: tuple[str, ...] = ()
    start: int = 0
    count: int = 200


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One row of a plan.

    Attributes:
        index: Its number in the plan, which choices name.
        verdict: ``exact``, ``converted``, ``mismatch``, ``missing`` or ``unused``.
        source: Source path, None when nothing fills the target.
        target: Target path, None when the source leaf goes nowhere.
        rule: Name of the rule that applies; may be empty.
        why: Sentence on it; may be empty.
        source_shape: Shape of the source leaf.
        target_shape: Shape of the target leaf.
        source_dtype: Dtype of the source leaf.
        target_dtype: Dtype of the target leaf.
        choices: What a person may choose, the default first, e.g.
            ``("cast", "skip")``; a single one is no choice.
    """

    index: int
    verdict: str
    source: TreePath | None
    target: TreePath | None
    rule: str = ""
    why: str = ""
    source_shape: tuple[int, ...] | None = None
    target_shape: tuple[int, ...] | None = None
    source_dtype: str = ""
    target_dtype: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanPage:
    """A page of a plan's rows; ``total`` match the verdicts asked for."""

    rows: tuple[PlanLine, ...]
    total: int


@dataclass(frozen=True, slots=True)
class AskPlanMarks:
    """Asks how a plan marks target nodes, leaves or branches; `PlanMarks` answers."""

    plan: int
    paths: tuple[TreePath, ...]


@dataclass(frozen=True, slots=True)
class PlanMarks:
    """For each path asked for its worst verdict, empty where the plan has nothing.

    ``missing`` does not count for a branch that the plan fills in part.
    """

    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ApplyPlan:
    """Makes the edit that a plan describes; `document.Changes` answers.

    Attributes:
        plan: Its number.
        choices: (row index, choice) where the person chose otherwise than the
            default.
    """

    plan: int
    choices: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class AskListing:
    """Asks for leaves of a tree in order, for `ls` and the like; `ListingPage`."""

    tree: str
    start: int = 0
    count: int = 400


@dataclass(frozen=True, slots=True)
class ListedLeaf:
    """One leaf with its path and everything `ls` prints."""

    path: TreePath
    row: Row
    literal: bool | int | float | complex | str | bytes | None = None


@dataclass(frozen=True, slots=True)
class ListingPage:
    """A page of leaves in the order they are shown."""

    leaves: tuple[ListedLeaf, ...]
    total: int


CLASSES: tuple[type, ...] = (
    AskChildren, Row, ChildPage, Locate, Located, Search, Hits, Describe, Details,
    ReadStatistics, ReadNumbers, ReadPicture, MakePlan, PlanInfo, AskPlanRows, PlanLine,
    PlanPage, AskPlanMarks, PlanMarks, ApplyPlan, AskListing, ListedLeaf, ListingPage,
)  # fmt: skip
"""Every class of this module, for the codec."""
