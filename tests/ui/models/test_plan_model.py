from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector.engine.messages.viewing import AskPlanRows, MakePlan, PlanInfo
from inspector.ui.models.plan_model import PlanModel
from inspector.ui.models.roles import PlanColumn
from inspector.ui.store_client import StoreClient
from tests.ui.fake_store import FakeStore, module_tree, source_tree


def ask_plan(qtbot: QtBot, client: StoreClient, source: str) -> PlanInfo:
    infos: list[PlanInfo] = []
    client.ask(MakePlan(source, (), ()), owner=client, on_reply=infos.append)
    qtbot.waitUntil(lambda: bool(infos))
    return infos[0]


@pytest.fixture
def plan(qtbot: QtBot, client: StoreClient, store: FakeStore) -> PlanModel:
    shapes = {f"params/l{n}/kernel": (2, 2) for n in range(300)}
    source = store.add_source(source_tree({**shapes, "params/head/kernel": (2, 5)}))
    store.set_target(module_tree({**shapes, "params/head/kernel": (2, 3)}))
    model = PlanModel(client, client)
    model.show_plan(ask_plan(qtbot, client, source))
    return model


def cell(model: PlanModel, row: int, column: PlanColumn) -> str:
    return str(model.index(row, column).data() or "")


def test_rows_come_page_by_page(
    qtbot: QtBot, qtmodeltester: Any, plan: PlanModel, store: FakeStore
) -> None:
    assert plan.rowCount() == 301
    assert cell(plan, 250, PlanColumn.VERDICT) == "…"
    qtbot.waitUntil(lambda: cell(plan, 250, PlanColumn.VERDICT) == "exact")
    assert [body.start for body in store.of(AskPlanRows)] == [200]
    assert cell(plan, 250, PlanColumn.SOURCE_ARRAY) == "float32[2,2]"
    qtmodeltester.check(plan)


def test_filter_by_verdict(qtbot: QtBot, plan: PlanModel) -> None:
    plan.set_verdicts(("mismatch",))
    assert plan.rowCount() == 1
    qtbot.waitUntil(lambda: cell(plan, 0, PlanColumn.VERDICT) == "mismatch")
    assert cell(plan, 0, PlanColumn.TARGET) == "params/head/kernel"
    assert cell(plan, 0, PlanColumn.SOURCE_ARRAY) == "float32[2,5]"
    assert cell(plan, 0, PlanColumn.TARGET_ARRAY) == "float32[2,3]"
    assert cell(plan, 0, PlanColumn.WHY)


def test_choices_change_what_would_be_applied(qtbot: QtBot, plan: PlanModel) -> None:
    assert plan.applied == (300, 301)
    qtbot.waitUntil(
        lambda: (
            cell(plan, 0, PlanColumn.CHOICE) == "skip"
            or cell(plan, 0, PlanColumn.CHOICE) == "take"
        )
    )
    row = next(r for r in range(10) if cell(plan, r, PlanColumn.CHOICE) == "take")
    index = plan.index(row, PlanColumn.CHOICE)
    assert plan.flags(index) & Qt.ItemFlag.ItemIsEditable
    assert plan.setData(index, "skip")
    assert plan.applied == (299, 301)
    line = plan.line(row)
    assert line is not None
    assert list(plan.choices) == [(line.index, "skip")]
    assert not plan.setData(index, "resize")
    assert plan.setData(index, "take")
    assert list(plan.choices) == []
    assert plan.applied == (300, 301)


def test_a_single_choice_is_none(qtbot: QtBot, plan: PlanModel) -> None:
    plan.set_verdicts(("mismatch",))
    qtbot.waitUntil(lambda: cell(plan, 0, PlanColumn.CHOICE) == "skip")
    index = plan.index(0, PlanColumn.CHOICE)
    assert not plan.flags(index) & Qt.ItemFlag.ItemIsEditable
