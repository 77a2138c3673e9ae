from __future__ import annotations

import pytest

from inspector.document.change import Change, DocumentChange
from inspector.engine import codec, store_bounds
from inspector.engine.messages.document import SourceInfo
from inspector.engine.messages.reading import StepInfo
from inspector.engine.store_state import StoreState

LONG = "a sentence of a file that somebody wrote " * 100
BOUND = 256 << 10


def test_of_many_sentences_the_first_are_told_and_the_rest_counted() -> None:
    few = store_bounds.listed(("one", "two"))
    assert few == ("one", "two")
    many = store_bounds.listed(tuple(f"note {n}" for n in range(1205)))
    assert many[99:] == ("note 99", "… and 1,105 more")
    assert store_bounds.listed((LONG,))[0] == LONG[:399] + "…"


@pytest.mark.parametrize("sources", [1, 30, 300])
def test_a_message_of_any_number_of_sources_keeps_the_newest_steps(
    sources: int,
) -> None:
    steps = tuple(StepInfo(str(n), n) for n in range(5000))
    info = SourceInfo(
        "s1", "run", "/run", "/run", "orbax", 1, 1, 4, "4999", steps, (LONG,) * 500
    )
    brief = store_bounds.brief(info, sources)
    assert brief.steps[-1].number == 4999
    assert brief.warnings[-1].startswith("… and ")
    assert len(codec.encode(brief)) * sources < BOUND


def test_notes_and_paths_of_a_change_fit_its_message() -> None:
    state = StoreState()
    paths = tuple(("params", "k" * 1000, n) for n in range(200))
    changes = state.changes(
        DocumentChange(Change.VALUES, paths, LONG, notes=(LONG,) * 100_000)
    )
    # No path with a flag set means any, which is what the window then takes it for.
    assert changes.paths == ()
    assert changes.count == 200
    assert changes.notes[-1] == "… and 99,900 more"
    assert len(codec.encode(changes)) < BOUND


def test_few_short_paths_are_told() -> None:
    change = DocumentChange(Change.VALUES, (("params", "kernel"),))
    assert StoreState().changes(change).paths == (("params", "kernel"),)


def test_a_search_over_long_names_tells_as_many_as_fit() -> None:
    hits = [("target", ("params", "k" * 1000, n)) for n in range(500)]
    few = store_bounds.few_hits(hits)
    assert few == tuple(hits[: len(few)])
    assert 0 < len(few) < 66
    assert store_bounds.few_hits(hits[:3]) == tuple(hits[:3])
