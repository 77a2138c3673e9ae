"""How much of anything long goes to the window, so that a message stays small.

No message to the window is larger than 256 KiB (`messages`), and keys, names and
warnings come from files that anybody wrote. Pure functions, used by the store's
modules; what is cut here is whole in the document and in the files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from inspector.engine.messages.document import SourceInfo
from inspector.variables.path import TreePath

TITLE_TEXT = 200
"""Characters of a session's title."""

SESSIONS_LISTED = 200
"""Sessions that are offered, the newest."""

NOTE_TEXT = 400
"""Characters of one sentence for a person, a warning of a file among them."""

NOTES = 100
"""Sentences of one change or one source; a last one counts the others."""

HISTORY_TEXT = 200
"""Characters of an edit's verb phrase."""


STEPS = 2000
"""Steps of all sources that one message names, the newest of each."""

HITS_TEXT = 64 << 10
"""Characters of all paths that one search finds."""


def shortened(text: str, limit: int) -> str:
    """Returns a text of at most ``limit`` characters, ``…`` for what is left out."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def listed(sentences: tuple[str, ...], limit: int = NOTES) -> tuple[str, ...]:
    """Returns the first sentences, each shortened, and how many more there are."""
    first = tuple(shortened(one, NOTE_TEXT) for one in sentences[:limit])
    more = len(sentences) - limit
    return (*first, f"… and {more:,} more") if more > 0 else first


def brief(info: SourceInfo, sources: int = 1) -> SourceInfo:
    """Returns what is known of a source as a message says it.

    Args:
        info: What is known, whole.
        sources: How many sources the message tells of; they share the room.
    """
    share = max(1, sources)
    return replace(
        info,
        steps=info.steps[-max(1, STEPS // share) :],
        warnings=listed(info.warnings, max(1, NOTES // share)),
        incomplete=shortened(info.incomplete, NOTE_TEXT),
        changed=shortened(info.changed, NOTE_TEXT),
    )


def few_hits(hits: Iterable[tuple[str, TreePath]]) -> tuple[tuple[str, TreePath], ...]:
    """Returns the first nodes found, as many as `HITS_TEXT` allows."""
    few: list[tuple[str, TreePath]] = []
    room = HITS_TEXT
    for name, path in hits:
        room -= len(name) + sum(len(str(key)) for key in path)
        if room < 0:
            break
        few.append((name, path))
    return tuple(few)
