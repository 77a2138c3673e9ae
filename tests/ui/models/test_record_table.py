from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt

from inspector.engine.messages.inspecting import CallDifference
from inspector.engine.messages.running import DifferenceRow
from inspector.ui.models.bad_model import COLUMNS as BAD_COLUMNS
from inspector.ui.models.bad_model import sides
from inspector.ui.models.difference_model import difference_columns
from inspector.ui.models.record_table import RecordTable, ResultRole
from inspector.ui.models.remarks_model import RNG_COLUMNS
from inspector.ui.models.runs_model import runs_columns
from inspector.ui.models.verify_model import verify_columns
from tests.ui.run_samples import BAD, REPORT, UPDATES, VERIFIED

NAN = float("nan")


def texts(table: RecordTable, row: int) -> list[str]:
    return [table.index(row, c).data() for c in range(table.columnCount())]


def test_every_table_is_a_sound_model(qtmodeltester: Any) -> None:
    for columns, records in (
        (difference_columns("leaf"), UPDATES.rows),
        (verify_columns(lambda: 1e-5), VERIFIED.calls),
        (RNG_COLUMNS, REPORT.rngs),
        (runs_columns(lambda _run: None), (REPORT,)),
        (BAD_COLUMNS, sides(BAD)),
    ):
        table = RecordTable(columns)
        table.set_records(records)
        assert table.rowCount() == len(records)
        qtmodeltester.check(table)


def test_differences_in_words_and_exactly() -> None:
    table = RecordTable(difference_columns("leaf"), path_of=lambda row: row.path)
    table.set_records(
        (
            DifferenceRow(("a", 0), 1 / 3, 0.1, 2 / 3),
            DifferenceRow(("b",), None, None, None, "shape (2, 3) and (2, 4)"),
            DifferenceRow(("c",), NAN, NAN, NAN),
        )
    )
    assert texts(table, 0) == ["a/0", "0.333", "0.1", "0.667", ""]
    assert texts(table, 1) == ["b", "–", "–", "–", "shape (2, 3) and (2, 4)"]
    assert texts(table, 2)[4] == "NaN in one of the two"
    assert table.index(0, 1).data(Qt.ItemDataRole.ToolTipRole) == repr(1 / 3)
    assert table.index(0, 0).data(ResultRole.PATH) == ("a", 0)
    assert table.copy_row(1) == ("b", "", "", "", "shape (2, 3) and (2, 4)")


def test_a_call_above_the_tolerance_is_marked() -> None:
    table = RecordTable(verify_columns(lambda: 1e-5))
    table.set_records(
        (
            CallDifference(("a",), "", 1e-6, 1e-5),
            CallDifference(("a", "b"), "encode", 1.0, 2e-5),
            CallDifference((), "", NAN, NAN),
        )
    )
    marks = [table.index(row, 0).data(ResultRole.MARK) for row in range(3)]
    assert marks == ["exact", "mismatch", "mismatch"]
    indents = [table.index(row, 0).data(ResultRole.INDENT) for row in range(3)]
    assert indents == [1, 2, 0]
    assert texts(table, 0)[1] == "__call__"
    assert texts(table, 1)[:2] == ["b", "encode"]


def test_the_moment_of_a_run() -> None:
    table = RecordTable(runs_columns({3: 0.0}.get))
    table.set_records((REPORT,))
    assert texts(table, 0)[0] == "3"
    assert len(texts(table, 0)[1]) == len("00:00:00")
    assert "variables 9f3a" in table.index(0, 2).data(Qt.ItemDataRole.ToolTipRole)
