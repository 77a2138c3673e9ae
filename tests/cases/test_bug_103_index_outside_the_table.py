"""Bug 103: ids outside an embedding table give NaN rows, far from where it is seen."""

from __future__ import annotations

from pathlib import Path

from inspector.models import running
from inspector.models.executing import prepare
from inspector.models.id_check import check_ids
from tests.models.loading import quiet
from tests.models.looking import asked, bad, saved


def test_ids_are_checked_against_the_table(tmp_path: Path) -> None:
    ids = saved(tmp_path, "ids.npy", [0, 3, 4, -1, 9], "int32")
    run = asked("Tokens", "int32[5]", tmp_path, ids)
    (remark,) = check_ids(prepare(run, quiet))
    assert remark.kind == "out-of-range-ids"
    assert remark.path == ("tok",)
    assert remark.text.startswith("2 of 5 ids outside 0..3 at tok (max 9)")
    # A plain run says it too.
    assert remark in running.run(run, quiet).remarks
    report = bad(run)
    assert (report.kind, report.module) == ("equation", ("tok",))
    assert "2 of 5 ids outside 0..3 at tok (max 9)" in report.text
    assert remark in report.remarks


def test_ids_inside_the_table_are_not_remarked_on(tmp_path: Path) -> None:
    ids = saved(tmp_path, "ids.npy", [0, 3, -1], "int32")
    run = asked("Tokens", "int32[3]", tmp_path, ids)
    assert check_ids(prepare(run, quiet)) == ()
    assert bad(run).kind == "none"
