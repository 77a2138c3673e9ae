"""How well a text matches what was typed into the palette. Plain, no Qt."""

from __future__ import annotations

_WORD_STARTS = frozenset(" /_-.:")
_START, _CAPITAL, _FOLLOWS, _ANY = 12, 10, 8, 1
_GAP = 0.2
_SUBSTRING, _WHOLE_PREFIX = 40, 30


def score(query: str, text: str) -> float | None:
    """Ranks a text: higher is better, None when the letters are not all there.

    The letters of the query have to occur in order. Those at the start of a word,
    of a key, or right after one another count more; a plain substring counts most.

    Args:
        query: What was typed; blanks separate words that may come in any order.
        text: What it is compared with.
    """
    total = 0.0
    for word in query.lower().split():
        part = _word_score(word, text)
        if part is None:
            return None
        total += part
    # Among equals the shorter one is meant.
    return total - len(text) * 0.05


def _word_score(word: str, text: str) -> float | None:
    lowered = text.lower()
    place = lowered.find(word)
    if place >= 0:
        at_start = place == 0 or lowered[place - 1] in _WORD_STARTS
        prefix = _WHOLE_PREFIX if at_start else 0
        return _SUBSTRING + prefix + _START * len(word) / 2
    points = 0.0
    previous = -1
    for letter in word:
        position = _best_place(letter, lowered, text, previous)
        if position < 0:
            return None
        points += _letter_points(position, previous, text)
        points -= _GAP * max(0, position - previous - 1) if previous >= 0 else 0
        previous = position
    return points


def _best_place(letter: str, lowered: str, text: str, previous: int) -> int:
    """Prefers the start of a later word to the next occurrence within this one."""
    following = lowered.find(letter, previous + 1)
    if following < 0 or following == previous + 1:
        return following
    place = following
    while place >= 0:
        if _is_start(place, text):
            return place
        place = lowered.find(letter, place + 1)
    return following


def _is_start(place: int, text: str) -> bool:
    return place == 0 or text[place - 1] in _WORD_STARTS or text[place].isupper()


def _letter_points(place: int, previous: int, text: str) -> float:
    if place == previous + 1 and previous >= 0:
        return _FOLLOWS
    if place == 0 or text[place - 1] in _WORD_STARTS:
        return _START
    return _CAPITAL if text[place].isupper() else _ANY
