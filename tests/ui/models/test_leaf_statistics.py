from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from inspector.engine.messages.reading import StatisticsReply
from inspector.engine.messages.viewing import ReadStatistics
from inspector.ui.models.leaf_statistics import Found, LeafStatistics, merged
from inspector.variables.path import TreePath
from tests.ui.content_store import Array, ContentStore, start_client

TREE = "run1.calls"


@pytest.fixture
def store() -> ContentStore:
    made = ContentStore()
    many: dict[TreePath, Array] = {
        ("many", n): np.zeros(1, np.float32) for n in range(12)
    }
    made.put(
        TREE,
        {
            ("one",): np.array([1, 2, 3], np.float32),
            ("pair", "a"): np.array([1.0, 3.0], np.float32),
            ("pair", "deep", "b"): np.array([np.nan, 8.0], np.float32),
            **many,
        },
    )
    return made


@pytest.fixture
def statistics(qtbot: QtBot, store: ContentStore) -> LeafStatistics:
    client = start_client(store, qtbot)
    made = LeafStatistics(client, client, lambda _path: None)
    made.show_tree(TREE)
    return made


def settled(
    qtbot: QtBot, statistics: LeafStatistics, *path: str, is_leaf: bool = False
) -> Found:
    assert statistics.look_up(path, is_leaf=is_leaf).is_busy
    qtbot.waitUntil(lambda: not statistics.is_busy)
    return statistics.look_up(path)


def test_a_leaf(qtbot: QtBot, statistics: LeafStatistics) -> None:
    found = settled(qtbot, statistics, "one", is_leaf=True)
    assert found.statistics is not None
    assert (found.statistics.minimum, found.statistics.maximum) == (1, 3)


def test_a_branch_has_the_numbers_of_all_its_leaves(
    qtbot: QtBot, statistics: LeafStatistics
) -> None:
    found = settled(qtbot, statistics, "pair")
    values = np.array([1.0, 3.0, 8.0])
    assert found.statistics is not None
    assert found.statistics.count == 4
    assert found.statistics.nan == 1
    assert found.statistics.maximum == 8
    assert found.statistics.mean == pytest.approx(values.mean())
    assert found.statistics.std == pytest.approx(values.std())


def test_a_branch_of_many_leaves_has_none(
    qtbot: QtBot, statistics: LeafStatistics, store: ContentStore
) -> None:
    found = settled(qtbot, statistics, "many")
    assert found.statistics is None
    assert found.why.startswith("many values")
    assert store.of_type(ReadStatistics) == []


def test_what_is_not_there_says_why(qtbot: QtBot, statistics: LeafStatistics) -> None:
    found = settled(qtbot, statistics, "gone")
    assert "nothing at this path" in found.why


def test_a_few_at_a_time_and_another_tree_stops_them(
    qtbot: QtBot, statistics: LeafStatistics, store: ContentStore
) -> None:
    store.held_types = (ReadStatistics,)
    for number in range(100):
        statistics.look_up(("many", number))
    qtbot.waitUntil(lambda: len(store.held(ReadStatistics)) == 4)
    # Rows that scrolled out of sight before their turn are not computed.
    assert store.held(ReadStatistics)[0].path == ("many", 36)
    statistics.show_tree("")
    assert len(store.cancelled) == 4
    assert not statistics.is_busy
    assert not statistics.look_up(("one",)).is_busy


def test_nothing_finite_has_no_mean() -> None:
    part = StatisticsReply(2, None, None, None, None, float("nan"), 0, 2, 0)
    both = merged((part, replace(part, nan=1, inf=1)))
    assert (both.count, both.nan, both.inf, both.mean) == (4, 3, 1, None)


def test_an_owner_that_is_gone_hears_nothing(qtbot: QtBot, store: ContentStore) -> None:
    client = start_client(store, qtbot)
    owner = QObject()
    made = LeafStatistics(client, owner, lambda _path: None)
    made.show_tree(TREE)
    store.held_types = (ReadStatistics,)
    made.look_up(("one",))
    qtbot.waitUntil(lambda: bool(store.held(ReadStatistics)))
    owner.deleteLater()
    qtbot.waitUntil(lambda: client.open_requests == 0)
    assert store.cancelled == [ReadStatistics(TREE, ("one",), 0)]
