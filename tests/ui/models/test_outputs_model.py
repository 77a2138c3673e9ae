from __future__ import annotations

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from inspector.engine.messages.viewing import (
    AskListing,
    ListedLeaf,
    ListingPage,
    Row,
)
from inspector.ui.models.outputs_model import OutputsModel
from tests.ui.content_store import ContentStore, start_client

TREE = "run1.outputs"
TOTAL = 450
SHORT = 90
"""Leaves that the store sends at most, fewer than were asked for."""


def leaf(number: int) -> ListedLeaf:
    if number % 2:
        return ListedLeaf((f"text{number}",), Row(f"text{number}", "str", value="'x'"))
    row = Row(f"b{number}", "array", shape=(2,), dtype="float32", error="cut off")
    return ListedLeaf((f"b{number}",), row)


def listing(body: AskListing) -> ListingPage:
    end = min(body.start + min(body.count, SHORT), TOTAL)
    return ListingPage(tuple(map(leaf, range(body.start, end))), TOTAL)


@pytest.fixture
def store() -> ContentStore:
    return ContentStore(answers={AskListing: listing})


@pytest.fixture
def model(qtbot: QtBot, store: ContentStore) -> OutputsModel:
    client = start_client(store, qtbot)
    made = OutputsModel(client, client)
    made.show_tree(TREE, TOTAL)
    return made


def test_rows_come_page_by_page_however_short(
    qtbot: QtBot, qtmodeltester: Any, model: OutputsModel, store: ContentStore
) -> None:
    assert model.rowCount() == TOTAL
    assert model.index(210, 0).data() == "…"
    qtbot.waitUntil(lambda: model.index(399, 0).data() == "text399")
    assert [(body.start, body.count) for body in store.of_type(AskListing)] == [
        (200, 200),
        (290, 110),
        (380, 20),
    ]
    assert model.index(211, 1).data() == "'x'"
    assert model.index(211, 3).data() == ""
    assert model.index(210, 3).data() == "–"
    qtmodeltester.check(model)
    qtbot.waitUntil(lambda: all(model.record(row) for row in range(TOTAL)))
    assert not model.is_loading


def test_an_answer_of_another_tree_is_dropped(
    qtbot: QtBot, model: OutputsModel, store: ContentStore
) -> None:
    store.held_types = (AskListing,)
    model.record(0)
    qtbot.waitUntil(lambda: len(store.held(AskListing)) == 1)
    model.show_tree("run2.outputs", 1)
    store.release()
    model.record(0)
    qtbot.waitUntil(lambda: len(store.held(AskListing)) == 1)
    assert store.held(AskListing) == [AskListing("run2.outputs", 0, 1)]
    assert model.record(0) is None
