"""What is remembered of a call, in a settings file that may hold anything."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSettings

from inspector.engine.messages.calling import Call
from inspector.ui.panels.run_memory import Remembered, recall, remember

SPEC = "/code/net.py:Net"
CALL = Call(
    "encode",
    ("float32[2]:normal(0)", "mask=x.npy"),
    (("pool", '"max"'),),
    "train",
    (("dropout", 7),),
    ("batch_stats",),
    "gpu:0",
    "highest",
)


def test_a_call_comes_back(settings: QSettings) -> None:
    remembered = Remembered(CALL, ("dropout",), is_automatic=True)
    remember(settings, SPEC, remembered)
    assert recall(settings, SPEC) == remembered
    assert recall(settings, "/code/net.py:Other") is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"call": {"method": 3}}', "null"])
def test_what_is_no_call_is_as_nothing(settings: QSettings, text: str) -> None:
    remember(settings, SPEC, Remembered(CALL))
    settings.setValue(settings.allKeys()[0], text)
    assert recall(settings, SPEC) is None
