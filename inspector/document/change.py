"""What an operation on the document changed, as data.

Every operation of `document.Document` returns one; the store sends it on to
every panel.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto

from inspector.variables.path import TreePath


class Change(Flag):
    """What an operation changed."""

    NOTHING = 0
    SOURCES = auto()
    """The list of sources, or one of them."""
    BASE = auto()
    """The target is another one."""
    STRUCTURE = auto()
    """Paths of the target came, went or moved."""
    VALUES = auto()
    """Values or dtypes of target leaves."""
    HISTORY = auto()
    """The history or its position."""


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """What an operation changed, for panels to refresh.

    Attributes:
        flags: What kind of thing.
        paths: Target paths concerned; empty with a flag set: any.
        text: Verb phrase for the status line; may be empty.
        notes: Sentences that a person should read.
    """

    flags: Change
    paths: tuple[TreePath, ...] = ()
    text: str = ""
    notes: tuple[str, ...] = ()


NEW_TARGET = Change.BASE | Change.STRUCTURE | Change.VALUES | Change.HISTORY
"""Flags of an operation that replaces the target."""
