from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.ui.viewers.ticks import statistic_text, tick_text, tick_texts, ticks


@given(low=st.floats(-1e30, 1e30), span=st.floats(1e-20, 1e30), most=st.integers(2, 12))
def test_ticks_lie_between_the_ends_and_are_few(
    low: float, span: float, most: int
) -> None:
    high = low + span
    found = ticks(low, high, most)
    assert len(found) <= most
    slack = (high - low) * 1e-6
    assert all(low - slack <= value <= high + slack for value in found)


def test_ticks_are_round() -> None:
    assert [tick_text(v) for v in ticks(-0.43, 0.49, 5)] == [
        "−0.4", "−0.2", "0", "0.2", "0.4",
    ]  # fmt: skip
    assert ticks(3.0, 3.0, 4) == (3.0,)


def test_ticks_close_together_are_told_apart() -> None:
    assert tick_texts((0.9999, 1.0, 1.0001)) == ("0.9999", "1", "1.0001")
    assert tick_texts((-1e-5, 0.0, 1e-5)) == ("−1e−5", "0", "1e−5")
    assert tick_texts((1.0,)) == ("1",)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (-0.00019569, "−2.0e−4"),
        (0.117123, "0.117"),
        (12345, "12345"),
        (4 * 10**16, "4e16"),
        (0.0, "0"),
    ],
)
def test_statistics_are_short(value: float | None, text: str) -> None:
    assert statistic_text(value) == text


def test_an_estimate_says_so() -> None:
    assert statistic_text(0.117, sampled=True) == "~0.117"
