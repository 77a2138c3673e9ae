from __future__ import annotations

import math
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from inspector.variables import dtypes
from inspector.variables.statistics import (
    Statistics,
    StatisticsBuilder,
    histogram,
    spread,
)


def statistics(array: np.ndarray, block: int = 1 << 20) -> Statistics:
    builder = StatisticsBuilder(array.dtype.name)
    flat = array.ravel()
    for start in range(0, flat.size, block):
        builder.add(flat[start : start + block])
    return builder.result()


@pytest.mark.parametrize("dtype", dtypes.NAMES)
def test_every_dtype_agrees_with_numpy(dtype: str) -> None:
    random = np.random.default_rng(1)
    low = 0 if dtype.startswith("u") or dtype == "bool" else -2
    numbers = random.integers(low, 2, 1000)
    if "e8m0" in dtype:
        numbers = 2 ** np.abs(numbers)
    array = numbers.astype(dtypes.to_numpy(dtype)).reshape(10, 100)
    wide = array.astype(np.complex128)
    found = statistics(array, 77)
    values = np.abs(wide) if dtype.startswith("complex") else wide.real
    assert found.count == 1000
    assert found.zeros == np.count_nonzero(wide == 0)
    assert (found.min, found.max) == (values.min(), values.max())
    assert found.mean == pytest.approx(values.mean(), rel=1e-14)
    assert found.std == pytest.approx(values.std(), rel=1e-13)
    assert found.sum == wide.sum()
    assert (found.nan, found.inf) == (0, 0)
    whole = dtype == "bool" or "int" in dtype
    assert isinstance(found.sum, int) == whole


@given(
    npst.arrays(np.float64, st.integers(1, 60), elements=st.floats(width=64)),
    st.integers(1, 20),
)
@settings(max_examples=150, deadline=None)
def test_any_floats_in_any_blocks(array: np.ndarray, block: int) -> None:
    found = statistics(array, block)
    finite = array[np.isfinite(array)]
    assert found.nan == np.isnan(array).sum()
    assert found.inf == np.isinf(array).sum()
    assert found.zeros == (array == 0).sum()
    if not finite.size:
        assert found.mean is None
        assert found.std is None
        return
    assert (found.min, found.max) == (finite.min(), finite.max())
    exact = [float(number).as_integer_ratio() for number in finite]
    scaled = [n * ((1 << 1074) // d) for n, d in exact]
    mean = sum(scaled) / (len(scaled) << 1074)
    reach = max(abs(float(found.min or 0)), abs(float(found.max or 0)))
    assert found.mean == pytest.approx(mean, rel=1e-12, abs=reach * 1e-14 + 1e-320)
    long = finite.astype(np.longdouble)
    assert found.std is not None
    assert found.std == pytest.approx(
        float(long.std()), rel=1e-9, abs=reach * 1e-14 + 1e-320
    )


def test_sums_beyond_and_below_float64() -> None:
    huge = statistics(np.array([1.7e308, 1.7e308, -1.7e308]), 1)
    assert huge.sum == 1.7e308
    assert huge.std == pytest.approx(1.602775306986e308)
    assert statistics(np.array([1.7e308, 1.7e308])).sum == math.inf
    small = statistics(np.array([1e-200, 2e-200]))
    assert small.std == pytest.approx(5e-201)
    half = statistics(np.full(70_000, 60_000, np.float16))
    assert half.sum == 70_000 * 60_000.0
    assert (half.mean, half.std) == (60_000.0, 0.0)


def test_sum_has_no_rounding_that_grows() -> None:
    array = np.full(1_000_000, 0.1, np.float64)
    assert statistics(array, 999).sum == pytest.approx(math.fsum(array), rel=1e-16)


def test_means_that_drift_keep_their_deviation() -> None:
    random = np.random.default_rng(2)
    array = np.concatenate([np.zeros(50_000), 1e9 + random.normal(size=50_000)])
    found = statistics(array[50_000:], 1000)
    assert found.std == pytest.approx(array[50_000:].std(), rel=1e-9)


def test_64_bit_integers_are_exact() -> None:
    top = np.array([2**64 - 1, 2**64 - 2, 2**64 - 3], np.uint64)
    found = statistics(top, 2)
    assert (found.min, found.max) == (2**64 - 3, 2**64 - 1)
    assert found.sum == 3 * 2**64 - 6
    assert found.std == pytest.approx(math.sqrt(2 / 3))
    low = statistics(np.array([-(2**63), 2**63 - 1]))
    assert low.sum == -1
    assert low.mean == -0.5


def test_not_finite_numbers() -> None:
    found = statistics(np.array([np.nan, 1, np.inf, -np.inf, 3, 0], np.float32))
    assert (found.nan, found.inf, found.zeros) == (1, 2, 1)
    assert (found.min, found.max) == (0.0, 3.0)
    assert found.mean == pytest.approx(4 / 3)
    assert math.isnan(float(found.sum.real))
    assert statistics(np.array([1.0, -np.inf])).sum == -math.inf
    assert math.isnan(float(statistics(np.array([np.inf, -np.inf])).sum.real))
    assert statistics(np.array([np.nan])).min is None


def test_complex_numbers() -> None:
    found = statistics(np.array([3 + 4j, 0, complex(np.nan, np.inf), complex(0, 1)]))
    assert (found.min, found.max, found.zeros) == (0.0, 5.0, 1)
    assert (found.nan, found.inf) == (1, 0)
    total = complex(found.sum)
    assert math.isnan(total.real)
    assert total.imag == math.inf
    assert found.mean == 2.0


def test_empty_arrays() -> None:
    found = statistics(np.zeros((0, 3), np.float32))
    assert (found.min, found.max, found.mean, found.std) == (None,) * 4
    assert (found.sum, found.zeros, found.nan, found.inf) == (0.0, 0, 0, 0)
    assert statistics(np.zeros(0, np.int32)).sum == 0


@pytest.mark.parametrize("dtype", ["key<fry>", "object", ""])
def test_no_statistics_of_other_dtypes(dtype: str) -> None:
    with pytest.raises(ValueError, match="have no statistics"):
        StatisticsBuilder(dtype)


def test_views_that_are_not_contiguous() -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::-2]
    builder = StatisticsBuilder("float32")
    builder.add(array)
    assert builder.result().sum == array.sum()


@pytest.mark.parametrize("dtype", [">f4", ">i4", ">i8", ">u2", ">c8"])
def test_foreign_byte_order(dtype: str) -> None:
    array = np.array([1, 300, 5], dtype)
    builder = StatisticsBuilder(array.dtype.name)
    builder.add(array)
    assert builder.result().sum == 306
    assert histogram([array], 0, 400, 2).tolist() == [2, 1]


def _blocks(array: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, array.size, 1001):
        yield array[start : start + 1001]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "bfloat16", "int4"])
def test_histogram_agrees_with_numpy(dtype: str) -> None:
    random = np.random.default_rng(3)
    array = random.normal(scale=3, size=10_000).clip(-7, 7)
    narrow = array.astype(dtypes.to_numpy(dtype))
    wide = narrow.astype(np.float64)
    for low, high, bins in [(-7, 7, 64), (-1, 2, 7), (0, 0, 3), (-0.3, 0.3, 3)]:
        found = histogram(_blocks(narrow), low, high, bins)
        expected, _ = np.histogram(wide, bins, (low, high))
        assert found.tolist() == expected.tolist()


def test_histogram_leaves_out_what_is_not_finite() -> None:
    array = np.array([np.nan, np.inf, -np.inf, 1, 2, -1.7e308, 1.7e308])
    assert histogram([array], -1.7e308, 1.7e308, 2).tolist() == [1, 3]
    assert histogram([np.array([3 + 4j])], 0, 5, 5).tolist() == [0, 0, 0, 0, 1]
    with pytest.raises(ValueError, match="no bins"):
        histogram([array], 0, math.inf, 4)


def test_narrow_floats_are_read_by_table() -> None:
    every = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)
    found = statistics(every)
    assert (found.min, found.max, found.nan, found.zeros) == (-448.0, 448.0, 2, 2)


@pytest.mark.parametrize(
    "value", [0.0, 1.0, -3.5, 2.0**53, 2.0**60, 1e30, -1e300, 1.7976931348623157e308]
)
def test_a_constant_array_has_all_its_values_in_one_bin(value: float) -> None:
    low, high = spread(value, value)
    assert low < value < high or value in {low, high}
    counts = histogram([np.full(7, value)], value, value, 64)
    assert counts.sum() == 7
    assert np.count_nonzero(counts) == 1


def test_edges_a_few_units_apart_beside_huge_numbers_still_make_bins() -> None:
    low, high = 2.0**60, 2.0**60 + 512
    counts = histogram([np.array([low, high])], low, high, 64)
    assert counts.sum() == 2


def test_edges_with_room_between_them_stay_as_they_are() -> None:
    assert spread(-1.5, 2.0) == (-1.5, 2.0)
