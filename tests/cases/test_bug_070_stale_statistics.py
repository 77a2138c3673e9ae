"""Bug 70: an evaluation after training runs whose updates were left behind."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from inspector.engine.messages import running
from tests.engine.run_store import NORMAL, RunStore

RUNS = 5


def test_each_run_says_what_it_used_and_what_was_left_behind(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    try:
        store.load()
        fresh = store.run("eval", NORMAL)
        assert store.kinds(fresh) == []
        trained = [store.run("train", NORMAL) for _ in range(RUNS)]
        assert {one.variables for one in trained} == {fresh.variables}
        stale = store.run("eval", NORMAL)
        assert stale.variables == fresh.variables
        assert store.kinds(stale) == ["discarded-updates"]
        (remark,) = stale.remarks
        assert f"Run {trained[-1].run} updated 2 variables" in remark.text
        assert np.array_equal(store.output(stale.run), store.output(fresh.run))
        store.ask(running.TakeUpdates(trained[-1].run))
        taken = store.run("eval", NORMAL)
        assert store.kinds(taken) == []
        assert taken.variables != fresh.variables
        assert taken.revision > fresh.revision
        assert not np.array_equal(store.output(taken.run), store.output(fresh.run))
    finally:
        store.client.close()
