"""Drives the results of runs in a test as a person does."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from inspector.ui.panels.run_results import RunResults
from inspector.ui.panels.run_table import ResultTable


def cell(table: ResultTable, row: int, title: str) -> str:
    titles = [column.title for column in table.table.columns]
    return str(table.table.index(row, titles.index(title)).data() or "")


def column(table: ResultTable, title: str) -> list[str]:
    return [cell(table, row, title) for row in range(table.table.rowCount())]


def click_row(table: ResultTable, row: int) -> None:
    place = table.visualRect(table.table.index(row, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def button(results: RunResults, name: str) -> QPushButton:
    found = results.findChild(QPushButton, name)
    assert found is not None
    return found


def settle(qtbot: QtBot, results: RunResults) -> None:
    qtbot.waitUntil(lambda: results.is_settled)
