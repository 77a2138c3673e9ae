from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from inspector.engine.messages.reading import (
    LeafNumbers,
    LeafPicture,
    LeafStatistics,
    Picture,
)
from inspector.engine.reader_numbers import leaf_numbers, leaf_statistics
from inspector.engine.reader_picture import leaf_picture
from inspector.errors import CancelledError, ReadLeafError, UsageError
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.value import Literal, Stored
from tests.engine.readers import ArrayValues, Asked, FileValues

RNG = np.random.default_rng(7)


def test_statistics_and_histogram() -> None:
    values = ArrayValues(RNG.normal(size=(40, 50)).astype(np.float32))
    values.array[0, :3] = [np.nan, np.inf, 0]
    asked = Asked()
    reply = leaf_statistics(LeafStatistics(values.leaf(), 16), asked.job, values)
    finite = values.array[np.isfinite(values.array)].astype(np.float64)
    assert reply.count == 2000
    assert (reply.nan, reply.inf, reply.zeros) == (1, 1, 1)
    assert (reply.minimum, reply.maximum) == (finite.min(), finite.max())
    assert reply.mean == pytest.approx(finite.mean(), rel=1e-12)
    assert reply.std == pytest.approx(finite.std(), rel=1e-12)
    assert isinstance(reply.total, float)
    assert np.isnan(reply.total)
    assert reply.edges == (finite.min(), finite.max())
    assert list(reply.counts) == np.histogram(finite, 16)[0].tolist()


def test_statistics_without_a_histogram_read_once() -> None:
    values = ArrayValues(np.arange(100, dtype=np.int16))
    asked = Asked()
    reply = leaf_statistics(LeafStatistics(values.leaf()), asked.job, values)
    assert (reply.total, reply.edges, reply.counts) == (4950, (), ())
    progress = asked.messages[0]
    assert (getattr(progress, "total", 0), getattr(progress, "text", "")) == (
        200,
        "Reading",
    )


def test_complex_sums_and_empty_leaves() -> None:
    values = ArrayValues(np.array([3 + 4j, -1j], np.complex64))
    reply = leaf_statistics(LeafStatistics(values.leaf(), 2), Asked().job, values)
    assert reply.total == (3.0, 3.0)
    assert (reply.minimum, reply.maximum) == (1.0, 5.0)
    assert reply.counts == (1, 1)
    values = ArrayValues(np.zeros((0, 4), np.float32))
    reply = leaf_statistics(LeafStatistics(values.leaf(), 8), Asked().job, values)
    assert (reply.count, reply.minimum, reply.counts) == (0, None, ())


def test_statistics_hear_a_cancel_at_the_next_block() -> None:
    asked = Asked()
    values = ArrayValues(np.zeros(100, np.float32), cancel=asked)
    with pytest.raises(CancelledError):
        leaf_statistics(LeafStatistics(values.leaf()), asked.job, values)


@pytest.mark.parametrize(
    ("leaf", "message"),
    [
        (Leaf(Kind.STR, value=Literal("x")), "A leaf of kind 'str' has no numbers"),
        (Leaf(Kind.KEY, (), "key<fry>"), "A leaf of kind 'random key' has no numbers"),
        (Leaf(Kind.ARRAY, (1,), "float128"), "The dtype 'float128' is unknown"),
        (
            Leaf(Kind.ARRAY, (1,), "int8", Stored("/c", ("a",)), error="cut off"),
            "cut off",
        ),
    ],
)
def test_what_has_no_numbers_is_said(leaf: Leaf, message: str) -> None:
    values = ArrayValues(np.zeros(1))
    with pytest.raises(ReadLeafError, match=message):
        leaf_statistics(LeafStatistics(leaf), Asked().job, values)
    with pytest.raises(ReadLeafError, match=message):
        leaf_picture(LeafPicture(leaf, -1, 0, (0,)), Asked().job, values)


@pytest.mark.parametrize(
    "dtype", [np.float32, np.int64, np.bool_, ml_dtypes.bfloat16, ml_dtypes.int4]
)
def test_a_block_of_numbers(dtype: type) -> None:
    values = ArrayValues(np.arange(60).reshape(3, 4, 5).astype(dtype))
    region = ((1, 3), (0, 4), (2, 3))
    numbers = leaf_numbers(LeafNumbers(values.leaf(), region), Asked().job, values)
    expected = values.array[1:3, 0:4, 2:3]
    assert numbers.shape == (2, 4, 1)
    assert numbers.dtype == expected.dtype.name
    assert numbers.data == expected.tobytes()


@pytest.mark.parametrize(
    "region", [((0, 4), (0, 4)), ((0, 3),), ((-1, 2), (0, 4)), ((2, 1), (0, 4))]
)
def test_a_region_outside_is_refused(region: tuple[tuple[int, int], ...]) -> None:
    values = ArrayValues(np.zeros((3, 4)))
    with pytest.raises(UsageError, match=r"does not lie in the shape \(3, 4\)"):
        leaf_numbers(LeafNumbers(values.leaf(), region), Asked().job, values)


def test_a_block_beyond_the_limit_is_refused() -> None:
    values = ArrayValues(np.zeros((1 << 20) + 1, np.int8))
    region = ((0, (1 << 20) + 1),)
    with pytest.raises(UsageError, match="1,048,577 bytes was asked for"):
        leaf_numbers(LeafNumbers(values.leaf(), region), Asked().job, values)
    assert values.regions == []


def table_of(picture: Picture) -> np.ndarray:
    flat = np.frombuffer(picture.data, "<f4")
    return flat.reshape(picture.rows, picture.columns)


def values_of(array: np.ndarray, file: Path | None) -> ArrayValues:
    return ArrayValues(array) if file is None else FileValues(array, file)


@pytest.fixture(params=["bands", "file"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "array.bin" if request.param == "file" else None


@pytest.mark.parametrize("limit", [1 << 30, 4000, 300, 30, 1])
@pytest.mark.parametrize("axes", [(0, 2), (2, 0), (1, 2), (2, 1), (-1, 1), (0, -1)])
def test_a_picture_is_every_so_manyth_number(
    *,
    file: Path | None,
    axes: tuple[int, int],
    limit: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("inspector.engine.reader_picture.BAND_BYTES", limit)
    array = RNG.normal(size=(13, 7, 22)).astype(np.float32)
    values = values_of(array, file)
    index = (4, 3, 21)
    body = LeafPicture(values.leaf(), *axes, index, max_rows=5, max_columns=6)
    picture = leaf_picture(body, Asked().job, values)
    chosen = tuple(
        slice(None) if axis in axes else place for axis, place in enumerate(index)
    )
    slab = array[chosen]
    if axes[0] > axes[1] >= 0:
        slab = slab.T
    slab = slab.reshape(1, -1) if axes[0] < 0 else slab
    slab = slab.reshape(-1, 1) if axes[1] < 0 else slab
    expected = slab[:: picture.row_step, :: picture.column_step]
    assert picture.rows <= 5
    assert picture.columns <= 6
    np.testing.assert_array_equal(table_of(picture), expected)
    assert picture.low == expected.min()
    assert picture.high == expected.max()
    if file is not None:
        assert values.regions == []


def test_bands_read_what_is_shown_and_little_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("inspector.engine.reader_picture.BAND_BYTES", 100)
    values = ArrayValues(np.zeros((1000, 100), np.uint8))
    body = LeafPicture(values.leaf(), 0, 1, (0, 0), max_rows=10, max_columns=10)
    leaf_picture(body, Asked().job, values)
    assert values.regions == [((row, row + 1), (0, 100)) for row in range(0, 1000, 100)]


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.float64(2.5), [[2.5]]),
        (np.array([1, 2, 3], np.int8), [[1, 2, 3]]),
        (np.array([3 + 4j, 0]), [[5, 0]]),
        (np.array([True, False]), [[1, 0]]),
        (np.array([1e300, -1e300, 1]), [[np.inf, -np.inf, 1]]),
        (np.array([0.5, -2], ml_dtypes.float8_e4m3fn), [[0.5, -2]]),
        (np.array([7, -8], ml_dtypes.int4), [[7, -8]]),
    ],
)
def test_every_dtype_comes_as_float32(
    file: Path | None, array: np.ndarray, expected: list[list[float]]
) -> None:
    values = values_of(np.asarray(array), file)
    axis = 0 if values.array.ndim else -1
    body = LeafPicture(values.leaf(), -1, axis, (0,) * values.array.ndim)
    picture = leaf_picture(body, Asked().job, values)
    np.testing.assert_array_equal(table_of(picture), np.array(expected, np.float32))
    finite = [x for x in expected[0] if np.isfinite(x)]
    assert (picture.low, picture.high) == (min(finite), max(finite))


def test_pictures_of_nothing() -> None:
    values = ArrayValues(np.zeros((0, 3), np.float32))
    picture = leaf_picture(
        LeafPicture(values.leaf(), 0, 1, (0, 0)), Asked().job, values
    )
    assert (picture.rows, picture.columns, picture.data) == (0, 3, b"")
    assert (picture.low, picture.high) == (None, None)
    values = ArrayValues(np.full((2, 2), np.nan))
    picture = leaf_picture(
        LeafPicture(values.leaf(), 0, 1, (0, 0)), Asked().job, values
    )
    assert (picture.low, picture.high) == (None, None)


@pytest.mark.parametrize(
    ("rows", "columns", "index"),
    [(0, 0, (0, 0)), (0, 2, (0, 0)), (-2, 0, (0, 0)), (0, 1, (0,)), (-1, 1, (5, 0))],
)
def test_axes_that_do_not_fit_are_refused(
    rows: int, columns: int, index: tuple[int, ...]
) -> None:
    values = ArrayValues(np.zeros((2, 3)))
    with pytest.raises(UsageError, match=r"No slice of the shape \(2, 3\)"):
        leaf_picture(
            LeafPicture(values.leaf(), rows, columns, index), Asked().job, values
        )


def test_a_file_that_was_cut_is_not_mapped(tmp_path: Path) -> None:
    values = FileValues(np.ones((4, 4), np.float32), tmp_path / "a")
    (tmp_path / "a").write_bytes(b"short")
    picture = leaf_picture(
        LeafPicture(values.leaf(), 0, 1, (0, 0)), Asked().job, values
    )
    # It is read the ordinary way, which says what is wrong; here it succeeds.
    assert len(values.regions) == 1
    assert picture.low == 1.0
