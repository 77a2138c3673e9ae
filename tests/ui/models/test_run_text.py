from __future__ import annotations

from dataclasses import replace

import pytest

from inspector.ui.models import run_text
from tests.ui.run_samples import PROGRAM, REPORT


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 µs"),
        (0.00024, "240 µs"),
        (0.00124, "1.24 ms"),
        (0.0124, "12.4 ms"),
        (0.62, "0.62 s"),
        (12.34, "12.3 s"),
        (125.0, "2 min 5 s"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert run_text.duration(seconds) == text


def test_a_program_that_was_there_took_no_compiling() -> None:
    known = replace(REPORT, program=replace(PROGRAM, made=False))
    assert "compiled before" in run_text.head(known)
    assert "compiled by an earlier run" in run_text.details(known)


def test_what_is_unknown_is_left_out() -> None:
    program = replace(PROGRAM, flops=None, peak_bytes=None)
    text = run_text.head(replace(REPORT, program=program))
    assert "FLOP" not in text
    assert "peak" not in text


def test_the_device_knows_its_peak_best() -> None:
    report = replace(REPORT, device_peak=1 << 20)
    assert "peak 1 MiB" in run_text.head(report)
    assert "peak on the device: 1,048,576 bytes" in run_text.details(report)


def test_numbers() -> None:
    assert run_text.flops(120.0) == "120 FLOP"
    assert run_text.flops(63.6e9) == "63.6 GFLOP"
    assert run_text.seeds(()) == "–"
    assert run_text.difference(float("inf")) == "∞"
    assert run_text.difference(None) == "–"
    assert run_text.exact_number(None) == ""
