from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.ui.models import number_text
from inspector.variables import dtypes


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.1, "float32", "0.1"),
        (0.1, "bfloat16", "0.1"),
        (0.1, "float16", "0.1"),
        (1e22, "float64", "1e22"),
        (0.0, "float32", "0"),
        (448, "float8_e4m3fn", "448"),
        (2**63 - 1, "int64", "9223372036854775807"),
        (-3, "int4", "-3"),
        (1, "bool", "true"),
        (1 - 2j, "complex64", "1-2j"),
        (float("nan"), "bfloat16", "nan"),
        (float("-inf"), "float32", "-inf"),
    ],
)
def test_numbers_are_exact_and_short(value: complex, dtype: str, text: str) -> None:
    element = np.array(value).astype(dtypes.to_numpy(dtype))[()]
    assert number_text.text_of(element, dtype) == text


@given(bits=st.integers(0, (1 << 16) - 1))
def test_every_bfloat16_reads_back_equal(bits: int) -> None:
    dtype = dtypes.to_numpy("bfloat16")
    element = np.array(bits, np.uint16).view(dtype)[()]
    text = number_text.text_of(element, "bfloat16")
    back = dtype.type(float(text))
    assert float(back) == float(element) or np.isnan(float(element))


@pytest.mark.parametrize(
    ("text", "dtype", "problem"),
    [
        ("abc", "float32", "‘abc’ is no number."),
        ("3.5", "int8", "‘3.5’ is no whole number, and the array is int8."),
        ("300", "uint8", "‘300’ does not fit uint8 (0 to 255)."),
        ("500", "float8_e4m3fn", "‘500’ does not fit float8_e4m3fn (at most 448)."),
        ("1e400", "float64", "does not fit float64"),
        ("maybe", "bool", "‘maybe’ is neither true nor false."),
        ("1+", "complex64", "‘1+’ is no number."),
    ],
)
def test_what_is_no_number_is_refused(text: str, dtype: str, problem: str) -> None:
    with pytest.raises(number_text.TypeNumberError) as caught:
        number_text.checked(text, dtype)
    assert problem in caught.value.message


def test_the_cell_is_named() -> None:
    with pytest.raises(number_text.TypeNumberError) as caught:
        number_text.checked("x", "int32", cell="Row 3, column 2")
    assert caught.value.message.startswith("Row 3, column 2: ‘x’ is no whole number")


@pytest.mark.parametrize(
    ("text", "dtype", "sent"),
    [
        (" −3 ", "int8", "-3"),
        ("inf", "float16", "inf"),
        ("65519", "float16", "65519"),
        ("1+2i", "complex64", "1+2j"),
        ("True", "bool", "True"),
        ("18446744073709551615", "uint64", "18446744073709551615"),
    ],
)
def test_what_is_a_number_is_taken(text: str, dtype: str, sent: str) -> None:
    assert number_text.checked(text, dtype) == sent


def test_every_dtype_writes_and_reads_one() -> None:
    for name in dtypes.NAMES:
        one = dtypes.to_numpy(name).type(1)
        assert number_text.checked(number_text.text_of(one, name), name)
