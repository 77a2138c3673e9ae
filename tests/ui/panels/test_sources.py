from __future__ import annotations

import pytest

from inspector.engine.messages.document import SourceInfo
from inspector.ui.panels.sources import step_locator


@pytest.mark.parametrize(
    ("locator", "step", "wanted"),
    [
        ("/data/run", "3", "/data/run@7"),
        ("/data/run@3", "3", "/data/run@7"),
        ("/data/run@3::params", "3", "/data/run@7::params"),
        ("/data/a@b", "3", "/data/a@b@7"),
    ],
)
def test_another_step_keeps_the_rest(locator: str, step: str, wanted: str) -> None:
    info = SourceInfo("s1", "run", locator, "/data/run/3", "orbax", 1, 1, 4, step)
    assert step_locator(info, "7") == wanted
