"""A leaf: one array, scalar or empty node, known without its data.

Every room may import this module; it holds no numbers and does no I/O.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from inspector.variables import dtypes
from inspector.variables.value import (
    UNSET,
    Cast,
    Filled,
    Initial,
    Kept,
    Patched,
    Unset,
    Value,
    innermost,
)


class Kind(StrEnum):
    """What a leaf is. Only the first two have a shape and a dtype."""

    ARRAY = "array"
    KEY = "random key"
    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    COMPLEX = "complex"
    STR = "str"
    BYTES = "bytes"
    NONE = "None"
    EMPTY_DICT = "empty dict"
    EMPTY_LIST = "empty list"
    EMPTY_TUPLE = "empty tuple"
    OPAQUE = "opaque"


EMPTY_KINDS = frozenset({Kind.NONE, Kind.EMPTY_DICT, Kind.EMPTY_LIST, Kind.EMPTY_TUPLE})
"""Kinds of nodes that hold nothing at all."""

SCALAR_KINDS = frozenset(
    {Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.COMPLEX, Kind.STR, Kind.BYTES}
)
"""Kinds of leaves that are one Python object."""


class Origin(StrEnum):
    """Where a target leaf's value comes from; the marks of the target tree.

    Ordered from best to worst: a parent shows the worst of its children.
    """

    EXACT = "exact"
    CONVERTED = "converted"
    EDITED = "edited"
    RUN = "run"
    INITIAL = "initial"
    UNSET = "unset"
    OPEN = "open"


ORIGIN_ORDER: tuple[Origin, ...] = tuple(Origin)
"""Origins from best to worst."""


_WITH_ORIGIN = frozenset({Kind.ARRAY, Kind.KEY, *SCALAR_KINDS})


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf of a tree; holds no data.

    Attributes:
        kind: What it is.
        shape: Shape of an array or of a batch of random keys (without the axis
            of the words); ``()`` for anything else.
        dtype: JAX's name of the dtype; empty for anything without one.
        value: How its numbers are found.
        sharding: The sharding it was saved with, as text for a person.
        error: Why it cannot be read; empty when it can.
        note: A fact about it that is worth a line, e.g. its boxes.
        stored_bytes: Bytes it takes in its file, 0 when unknown.
        variable: NNX Variable type, e.g. ``"Param"``: the collection of a leaf of an
            NNX module; empty elsewhere.
    """

    kind: Kind
    shape: tuple[int, ...] = ()
    dtype: str = ""
    value: Value = UNSET
    sharding: str = ""
    error: str = ""
    note: str = ""
    stored_bytes: int = 0
    variable: str = ""

    @property
    def has_numbers(self) -> bool:
        """Whether statistics, pictures and tables make sense for it."""
        return self.kind is Kind.ARRAY

    @property
    def size(self) -> int:
        """Elements of an array; 0 for anything else, random keys included."""
        return math.prod(self.shape) if self.kind is Kind.ARRAY else 0

    @property
    def nbytes(self) -> int:
        """Bytes of the decoded array, or of a batch of random keys."""
        if self.kind not in {Kind.ARRAY, Kind.KEY}:
            return 0
        try:
            return math.prod(self.shape) * dtypes.itemsize(self.dtype)
        except KeyError:
            return 0

    @property
    def has_origin(self) -> bool:
        """Whether its origin counts: an empty node or None has no value to come."""
        return self.kind in _WITH_ORIGIN

    @property
    def origin(self) -> Origin:
        """Where the value comes from, read off the value itself."""
        return origin_of(self.value)


def origin_of(value: Value) -> Origin:
    """Returns the origin that a value amounts to.

    A number typed by hand wins over everything below it; a cast of stored
    numbers is a conversion, a cast of anything else keeps what it casts.
    """
    if isinstance(value, Patched | Filled):
        return Origin.EDITED
    if isinstance(value, Cast):
        inner = origin_of(value.of)
        return Origin.CONVERTED if inner is Origin.EXACT else inner
    base = innermost(value)
    if isinstance(base, Kept):
        return Origin.RUN
    if isinstance(base, Initial):
        return Origin.INITIAL
    if isinstance(value, Unset):
        return Origin.UNSET
    return Origin.EXACT
