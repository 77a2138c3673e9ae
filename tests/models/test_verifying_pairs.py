"""Calls of two models are brought together by place, by name, then by kind."""

from __future__ import annotations

from inspector.models.recording_calls import SeenCall
from inspector.models.verifying_pairs import pairs_of
from inspector.variables.path import TreePath


def calls(*seen: tuple[TreePath, str]) -> list[SeenCall]:
    """Returns calls of (path, class) in order."""
    counts: dict[TreePath, int] = {}
    found = []
    for index, (path, kind) in enumerate(seen):
        nth = counts.get(path, 0)
        counts[path] = nth + 1
        found.append(SeenCall(index, path, kind, "__call__", nth, (), {}))
    return found


def numbers(
    first: list[SeenCall], second: list[SeenCall]
) -> list[tuple[int | None, int | None]]:
    """Returns the pairs by number of the call."""
    return [
        (
            a.index if (a := pair.first) else None,
            b.index if (b := pair.second) else None,
        )
        for pair in pairs_of(first, second)
    ]


def test_the_same_place_is_the_same_call_however_often() -> None:
    one = calls(((), "Net"), (("a",), "Dense"), (("a",), "Dense"), (("b",), "Dense"))
    assert numbers(one, one) == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_names_of_linen_and_nnx_are_the_same_words() -> None:
    linen = calls(((), "Net"), (("h_0", "attn"), "Attention"), (("h_1",), "Block"))
    nnx = calls(((), "Net"), (("h", 1), "Block"), (("h", 0, "attn"), "Attention"))
    assert numbers(linen, nnx) == [(0, 0), (1, 2), (2, 1)]


def test_what_is_left_is_paired_by_kind_in_order() -> None:
    linen = calls(((), "A"), (("Dense_0",), "Dense"), (("Dense_1",), "Dense"))
    nnx = calls(((), "B"), (("up",), "Linear"), (("drop",), "Dropout"))
    assert numbers(linen, nnx) == [(0, 0), (1, 1), (2, None), (None, 2)]
