"""Bug 79: any method is captured, values come without tuples, calls are numbered."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.models.looking import asked, recorded
from tests.models.running import arrays


def test_methods_repeated_calls_and_sowed_values(tmp_path: Path) -> None:
    done = recorded(asked("AutoEncoder", "float32[1,3]", tmp_path))
    calls = [(call.module, call.method) for call in done.calls]
    assert calls == [
        ((), "__call__"),
        ((), "encode"),
        (("narrow",), "__call__"),
        ((), "decode"),
        (("wide",), "__call__"),
        ((), "encode"),
        (("narrow",), "__call__"),
        ((), "decode"),
        (("wide",), "__call__"),
    ]
    assert [call.index for call in done.calls] == list(range(9))
    values = arrays(done.values)
    assert values[2, "outputs"].shape == (1, 2)
    assert values[2, "inputs"].shape == (1, 3)
    # Two calls of one Dense: two values, that of the second from the first's.
    assert not np.array_equal(values[2, "outputs"], values[6, "outputs"])
    assert np.array_equal(values["sowed", "h", 0], values[1, "outputs"])
    assert np.array_equal(values["sowed", "h", 1], values[5, "outputs"])


def test_a_method_sowing_once_gives_the_value_itself(tmp_path: Path) -> None:
    done = recorded(asked("AutoEncoder", "float32[1,3]", tmp_path, method="encode"))
    assert [(call.module, call.method) for call in done.calls] == [
        ((), "encode"),
        (("narrow",), "__call__"),
    ]
    values = arrays(done.values)
    assert values["sowed", "h"].shape == (1, 2)
    assert np.array_equal(values["sowed", "h"], values[0, "outputs"])
