"""Where the numbers of a leaf come from: small data, never the numbers themselves.

A value is an expression over stored arrays. The store builds it (a transfer, a
cast, a typed number), the reader evaluates it block by block; so an edit of a
40 GB leaf costs a few bytes. Values are immutable and shared between states.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.variables.path import TreePath

Scalar = None | bool | int | float | complex | str | bytes
"""What a leaf without a shape can hold."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A leaf of an open source, read from its file as it is.

    Attributes:
        source: Id of the source in the document, e.g. ``"s1"``; in requests to
            the reader its locator (``/abs/path::a/b@3`` resolved once).
        path: The leaf's path in that source's own tree.
    """

    source: str
    path: TreePath


@dataclass(frozen=True, slots=True)
class Raw:
    """Uncompressed little-endian bytes in C order inside a file of our own.

    Attributes:
        file: Absolute path of the file.
        offset: First byte of the array in it.
        shape: Shape of the array.
        dtype: Name of its dtype.
    """

    file: str
    offset: int
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Kept:
    """An array that a run made and the document keeps, named by what it holds.

    The bytes lie in the session's folder of kept values, and beside a saved recipe;
    little-endian, C order.

    Attributes:
        digest: SHA-256 of the bytes in hex.
        shape: Shape of the array; of random keys with the axis of the words.
        dtype: Name of its dtype; ``uint32`` for random keys.
    """

    digest: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Initial:
    """The module's own initial value; made by the model engine on demand.

    Attributes:
        path: The leaf's path in the recorded tree of the base (edits may have
            renamed the leaf since).
    """

    path: TreePath


@dataclass(frozen=True, slots=True)
class Filled:
    """One number everywhere; the shape and dtype are the leaf's.

    Attributes:
        number: Python number; NaN and infinities as floats.
    """

    number: bool | int | float | complex


@dataclass(frozen=True, slots=True)
class Cast:
    """Another value with its elements converted by numpy's ``astype``.

    Attributes:
        of: What is converted; its own dtype is ``from_dtype``.
        from_dtype: Name of the dtype before.
        dtype: Name of the dtype after.
    """

    of: Value
    from_dtype: str
    dtype: str


@dataclass(frozen=True, slots=True)
class Patched:
    """Another value with one hyper-rectangle of numbers replaced.

    Attributes:
        of: What is patched.
        start: First index of the block on every axis; ``()`` for a 0-d leaf.
        shape: Extent of the block on every axis, same length as ``start``.
        data: The block's elements, C order, little-endian, in the leaf's dtype.
    """

    of: Value
    start: tuple[int, ...]
    shape: tuple[int, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class Literal:
    """A leaf that is a Python object and no array.

    Attributes:
        value: The object; ``None`` also stands for empty containers, whose kind
            the leaf names.
    """

    value: Scalar


@dataclass(frozen=True, slots=True)
class Unset:
    """No value and no initialiser: the leaf cannot be exported as it is."""


UNSET = Unset()
"""The one instance that is needed."""


Value = Stored | Raw | Kept | Initial | Filled | Cast | Patched | Literal | Unset
"""Every form a value can take."""

FORMS: tuple[type, ...] = (
    Stored, Raw, Kept, Initial, Filled, Cast, Patched, Literal, Unset,
)  # fmt: skip
"""The classes of `Value`, for the codec."""


def innermost(value: Value) -> Value:
    """Returns what is left of a value without its casts and patches."""
    while isinstance(value, Cast | Patched):
        value = value.of
    return value
