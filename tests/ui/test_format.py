from __future__ import annotations

import pytest

from inspector.ui import format as fmt


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1 k"),
        (9408, "9.41 k"),
        (25_557_032, "25.6 M"),
        (999_999, "1 M"),
        (124_000_000_000, "124 G"),
        (-5, "−5"),
    ],
)
def test_count(number: int, text: str) -> None:
    assert fmt.count(number) == text


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (37_632, "36.8 KiB"),
        (102_432_768, "97.7 MiB"),
        (4 << 30, "4 GiB"),
    ],
)
def test_size(nbytes: int, text: str) -> None:
    assert fmt.size(nbytes) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [(0.6249, "0.62 s"), (12.34, "12.3 s"), (125, "2 min 5 s"), (3660, "1 h 1 min")],
)
def test_seconds(duration: float, text: str) -> None:
    assert fmt.seconds(duration) == text


@pytest.mark.parametrize(
    ("elapsed", "text"),
    [
        (5, "just now"),
        (130, "2 min ago"),
        (7300, "2 h ago"),
        (90_000, "yesterday"),
        (200_000, "2 days ago"),
    ],
)
def test_ago(elapsed: float, text: str) -> None:
    assert fmt.ago(1000.0, 1000.0 + elapsed) == text


def test_exact_forms() -> None:
    assert fmt.exact_count(25_557_032) == "25,557,032"
    assert fmt.exact_size(1) == "1 byte"
    assert fmt.exact_size(1536) == "1,536 bytes"


def test_array_is_what_input_takes() -> None:
    assert fmt.array("float32", (7, 7, 3, 64)) == "float32[7,7,3,64]"
    assert fmt.array("int32", ()) == "int32[]"


def test_words() -> None:
    assert fmt.path(()) == "/"
    assert fmt.path(("params", 0, "kernel")) == "params/0/kernel"
    assert fmt.plural(1, "leaf", "leaves") == "1 leaf"
    assert fmt.plural(2, "leaf", "leaves") == "2 leaves"


def test_short_arrays_are_those_of_a_jaxpr() -> None:
    assert fmt.short_array("float32", (7, 7, 3, 64)) == "f32[7,7,3,64]"
    assert fmt.short_array("bfloat16", ()) == "bf16[]"
    assert fmt.short_array("uint8", (2,)) == "u8[2]"
    assert fmt.short_array("int64", (2,)) == "i64[2]"
    assert fmt.short_array("complex64", (2,)) == "c64[2]"
    assert fmt.short_array("float8_e4m3fn", (2,)) == "f8_e4m3fn[2]"
    assert fmt.short_array("bool", (2,)) == "bool[2]"
