from __future__ import annotations

import math

import numpy as np
import pytest

from inspector.variables import casting, dtypes


@pytest.mark.parametrize(
    ("from_dtype", "to_dtype", "effect"),
    [
        ("bfloat16", "float32", ""),
        ("float16", "float32", ""),
        ("float8_e4m3fn", "bfloat16", ""),
        ("float8_e8m0fnu", "bfloat16", ""),
        ("float4_e2m1fn", "float8_e4m3fn", ""),
        ("int8", "float16", ""),
        ("int32", "float64", ""),
        ("uint16", "complex64", ""),
        ("bool", "int4", ""),
        ("float32", "complex64", ""),
        ("float32", "bfloat16", "rounds"),
        ("float64", "float32", "rounds, and overflows above 3.40282e+38"),
        ("float32", "float16", "rounds, and overflows above 65504"),
        ("int32", "float32", "rounds integers above 16777216"),
        ("int64", "float64", "rounds integers above 9007199254740992"),
        ("int64", "complex128", "rounds integers above 9007199254740992"),
        ("float32", "int8", "drops fractions, and what is outside -128 … 127"),
        ("uint8", "int8", "changes values outside -128 … 127"),
        ("complex64", "float32", "drops the imaginary part"),
        ("bool", "float8_e8m0fnu", "keeps only positive powers of two"),
        ("float32", "bool", "keeps only zero or not zero"),
    ],
)
def test_effects(from_dtype: str, to_dtype: str, effect: str) -> None:
    assert casting.cast_effect(from_dtype, to_dtype) == effect
    assert casting.cast_is_exact(from_dtype, to_dtype) == (not effect)


def test_every_pair_has_an_answer() -> None:
    for one in dtypes.NAMES:
        for other in dtypes.NAMES:
            exact = casting.cast_is_exact(one, other)
            assert exact == (not casting.cast_effect(one, other))
            assert exact or one != other


def test_exact_narrow_floats_survive_in_float64() -> None:
    array = np.arange(256, dtype=np.uint8).view(dtypes.to_numpy("float8_e5m2"))
    there = array.astype(np.float16).astype(np.float64)
    assert np.array_equal(there, array.astype(np.float64), equal_nan=True)


def test_unknown_names() -> None:
    with pytest.raises(KeyError):
        casting.cast_is_exact("float32", "float31")
    assert not casting.is_known("key<fry>")


@pytest.mark.parametrize(
    ("number", "dtype", "why"),
    [
        (0.1, "float16", ""),
        (1e6, "float16", "the largest is 65504"),
        (math.inf, "float16", ""),
        (math.inf, "float8_e4m3fn", "the largest is 448"),
        (math.nan, "float4_e2m1fn", "it has no NaN"),
        (math.nan, "int8", "only whole numbers are possible"),
        (2.0, "int8", ""),
        (1.5, "int8", "only whole numbers are possible"),
        (300, "int8", "possible are -128 … 127"),
        (7, "int4", ""),
        (2, "bool", "only true and false are possible"),
        (True, "bool", ""),
        (1j, "float32", "it is complex"),
        (1j, "complex64", ""),
        (10**400, "float64", "the largest is 1.79769e+308"),
    ],
)
def test_numbers_that_fit(number: complex, dtype: str, why: str) -> None:
    assert casting.why_unfit(number, dtype) == why


def test_numbers_held_exactly() -> None:
    assert casting.holds(0.5, "bfloat16")
    assert not casting.holds(0.1, "float32")
    assert casting.holds(math.nan, "float32")
    assert casting.holds(5, "int32")
    assert not casting.holds(2**24 + 1, "float32")
