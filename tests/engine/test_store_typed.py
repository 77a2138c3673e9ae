from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from inspector.engine.store_typed import (
    TypedCountError,
    TypedNumberError,
    encode_block,
    parse_number,
)


def decode(data: bytes, dtype: np.dtype) -> list[object]:
    return list(np.frombuffer(data, dtype).tolist())


def test_integers_stay_exact_beyond_what_a_float_holds() -> None:
    texts = ("9007199254740993", "-1", "0x10", "1e3")
    data = encode_block(texts, "int64", ("w",), (0,), (4,))
    assert decode(data, np.dtype(np.int64)) == [9007199254740993, -1, 16, 1000]


def test_floats_round_to_the_dtype_of_the_leaf() -> None:
    data = encode_block(("1", "2.5", "-inf", "1e-3"), "bfloat16", ("w",), (0,), (4,))
    expected = np.array([1, 2.5, -np.inf, 1e-3], ml_dtypes.bfloat16)
    assert data == expected.tobytes()


def test_words_for_booleans() -> None:
    data = encode_block(("true", "0", "False"), "bool", ("w",), (0,), (3,))
    assert decode(data, np.dtype(bool)) == [True, False, False]


def test_complex_numbers() -> None:
    data = encode_block(("1+2j", "3"), "complex64", ("w",), (0,), (2,))
    assert decode(data, np.dtype(np.complex64)) == [1 + 2j, 3 + 0j]


def test_a_zero_dimensional_leaf() -> None:
    assert encode_block(("7",), "int8", ("step",), (), ()) == b"\x07"


@pytest.mark.parametrize(
    ("text", "dtype", "why"),
    [
        ("abc", "float32", "it is not a number"),
        ("", "float32", "it is not a number"),
        ("300", "int8", "possible are -128 … 127"),
        ("2.5", "int32", "it is not a number"),
        ("1e39", "float32", "the largest is 3.40282e+38"),
        ("2", "bool", "it is not a number"),
        ("maybe", "bool", "it is not a number"),
    ],
)
def test_what_is_refused_says_why(text: str, dtype: str, why: str) -> None:
    with pytest.raises(TypedNumberError) as caught:
        parse_number(text, dtype, "w[0]")
    assert why in caught.value.message
    assert caught.value.where == "w[0]"


def test_an_error_names_the_cell_of_the_block() -> None:
    with pytest.raises(TypedNumberError) as caught:
        encode_block(("1", "2", "x", "4"), "float32", ("a", "w"), (5, 0), (2, 2))
    assert caught.value.where == "a/w[6, 0]"


def test_a_block_of_another_size_is_refused() -> None:
    with pytest.raises(TypedCountError, match="6 cells, 4 numbers"):
        encode_block(("1",) * 4, "float32", ("w",), (0, 0), (2, 3))
