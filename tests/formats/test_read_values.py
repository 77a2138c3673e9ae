from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from inspector.errors import CancelledError, ReadLeafError
from inspector.formats.checkpoint import Checkpoint, Extent, never, region_of
from inspector.formats.registry import open_checkpoint
from inspector.formats.values import ValueReader
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.tree import get
from inspector.variables.value import (
    UNSET,
    Cast,
    Filled,
    Initial,
    Literal,
    Patched,
    Raw,
    Stored,
    Value,
)

ARRAY = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


class Sources:
    """Opens each source once."""

    def __init__(self) -> None:
        self.opened: dict[str, Checkpoint] = {}

    def __call__(self, source: str) -> Checkpoint:
        if source not in self.opened:
            self.opened[source] = open_checkpoint(source)
        return self.opened[source]


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    np.savez(tmp_path / "a.npz", w=ARRAY, big=np.array([1e30, -1.5], np.float32))
    return Stored(str(tmp_path / "a.npz"), ("w",))


@pytest.fixture
def reader() -> ValueReader:
    return ValueReader(Sources())


def leaf(
    value: Value, dtype: str = "float32", shape: tuple[int, ...] = (3, 4, 5)
) -> Leaf:
    return Leaf(Kind.ARRAY, shape, dtype, value)


def everything(reader: ValueReader, of: Leaf) -> np.ndarray:
    """Reads a leaf both ways, which must agree."""
    whole = reader.read(of, region_of(of.shape), never)
    blocks = list(reader.blocks(of, never))
    flat = np.concatenate(blocks) if blocks else np.zeros(0)
    assert flat.tobytes() == whole.tobytes()
    assert whole.dtype.name == of.dtype
    return whole


def test_stored_values(reader: ValueReader, stored: Stored) -> None:
    assert everything(reader, leaf(stored)).tolist() == ARRAY.tolist()
    part = reader.read(leaf(stored), ((1, 2), (0, 4), (2, 3)), never)
    assert part.tolist() == ARRAY[1:2, :, 2:3].tolist()
    extent = reader.extent(leaf(stored))
    assert extent is not None
    assert extent.nbytes == 240


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("bfloat16", [np.float32(ml_dtypes.bfloat16(1e30)), -1.5]),
        ("float16", [np.inf, -1.5]),
        ("float8_e5m2", [np.inf, -1.5]),
        ("float64", [float(np.float32(1e30)), -1.5]),
    ],
)
def test_casts_are_silent(
    reader: ValueReader, stored: Stored, dtype: str, expected: list[float]
) -> None:
    value = Cast(Stored(stored.source, ("big",)), "float32", dtype)
    found = everything(reader, leaf(value, dtype, (2,)))
    assert found.astype(np.float64).tolist() == expected
    assert reader.extent(leaf(value, dtype, (2,))) is None


def test_filled(reader: ValueReader) -> None:
    found = everything(reader, leaf(Filled(1.5), "bfloat16", (2, 3)))
    assert found.astype(float).tolist() == [[1.5] * 3] * 2
    assert everything(reader, leaf(Filled(float("nan")), "float32", ())).item() != 0
    assert everything(reader, leaf(Filled(0), "float32", (0, 3))).shape == (0, 3)
    assert everything(reader, leaf(Filled(True), "bool", (2,))).tolist() == [True] * 2


def test_a_filled_leaf_comes_in_blocks(reader: ValueReader) -> None:
    of = leaf(Filled(2), "int8", (20, 1 << 20))
    sizes = [block.nbytes for block in reader.blocks(of, never)]
    assert sum(sizes) == 20 << 20
    assert max(sizes) <= 8 << 20


def test_patches_lie_over_each_other(reader: ValueReader, stored: Stored) -> None:
    first = np.array([[-1, -2], [-3, -4]], np.float32)
    value: Value = Patched(stored, (1, 1, 2), (1, 2, 2), first.tobytes())
    value = Patched(value, (1, 2, 3), (2, 1, 1), np.array([9, 8], np.float32).tobytes())
    expected = ARRAY.copy()
    expected[1, 1:3, 2:4] = first
    expected[1, 2, 3] = 9
    expected[2, 2, 3] = 8
    assert everything(reader, leaf(value)).tolist() == expected.tolist()
    part = reader.read(leaf(value), ((1, 3), (2, 3), (3, 5)), never)
    assert part.tolist() == expected[1:3, 2:3, 3:5].tolist()
    outside = reader.read(leaf(value), ((0, 1), (0, 4), (0, 5)), never)
    assert outside.tolist() == expected[0:1].tolist()


def test_a_cast_over_and_under_a_patch(reader: ValueReader, stored: Stored) -> None:
    cast = Cast(stored, "float32", "bfloat16")
    new = np.array([2.5], ml_dtypes.bfloat16)
    value = Cast(
        Patched(cast, (0, 0, 0), (1, 1, 1), new.tobytes()), "bfloat16", "float64"
    )
    found = everything(reader, leaf(value, "float64"))
    assert found[0, 0, 0] == 2.5
    assert found[0, 0, 1:].tolist() == [1, 2, 3, 4]


def test_a_patch_across_blocks(reader: ValueReader) -> None:
    shape = (5, 1 << 20)
    row = np.arange(1 << 20, dtype=np.float32)
    value = Patched(Filled(0), (1, 0), (2, 1 << 20), np.stack([row, row + 1]).tobytes())
    of = leaf(value, "float32", shape)
    flat = np.concatenate(list(reader.blocks(of, never))).reshape(shape)
    assert flat[0].any() == flat[3].any() == False  # noqa: E712 - numpy's bool
    assert (flat[1] == row).all()
    assert (flat[2] == row + 1).all()


def test_a_0d_patch_and_a_0d_number(reader: ValueReader) -> None:
    value = Patched(Filled(0), (), (), np.array(7, "<i4").tobytes())
    assert everything(reader, leaf(value, "int32", ())).item() == 7


def test_a_patch_that_does_not_fit(reader: ValueReader) -> None:
    for value in (
        Patched(Filled(0), (2,), (2,), b"\0" * 8),
        Patched(Filled(0), (0,), (2,), b"\0" * 7),
        Patched(Filled(0), (0, 0), (1, 1), b"\0" * 4),
    ):
        with pytest.raises(ReadLeafError, match="does not fit the leaf"):
            reader.read(leaf(value, "float32", (3,)), ((0, 3),), never)


def test_raw_values(reader: ValueReader, tmp_path: Path) -> None:
    path = tmp_path / "values.bin"
    path.write_bytes(b"head" + ARRAY.tobytes())
    value = Raw(str(path), 4, (3, 4, 5), "float32")
    assert everything(reader, leaf(value)).tolist() == ARRAY.tolist()
    assert reader.extent(leaf(value)) == Extent(str(path), 4, 240)
    short = leaf(Raw(str(path), 40, (3, 4, 5), "float32"))
    with pytest.raises(ReadLeafError, match="ends at byte 244") as caught:
        reader.read(short, region_of((3, 4, 5)), never)
    assert caught.value.where == str(path)
    reader.close()


def test_random_keys(reader: ValueReader, tmp_path: Path) -> None:
    words = np.arange(6, dtype=np.uint32).reshape(3, 2)
    (tmp_path / "k.bin").write_bytes(words.tobytes())
    value = Raw(str(tmp_path / "k.bin"), 0, (3, 2), "uint32")
    of = Leaf(Kind.KEY, (3,), "key<fry>", value)
    assert reader.read(of, ((1, 3),), never).tolist() == [[2, 3], [4, 5]]
    assert dtypes.words_of(of.dtype) == 2


@pytest.mark.parametrize(
    ("kind", "value", "dtype"),
    [
        (Kind.INT, 3, "int64"),
        (Kind.FLOAT, 0.5, "float64"),
        (Kind.BOOL, True, "bool"),
        (Kind.COMPLEX, 1j, "complex128"),
    ],
)
def test_python_numbers_read_as_0d_arrays(
    reader: ValueReader, kind: Kind, value: complex, dtype: str
) -> None:
    of = Leaf(kind, value=Literal(value))
    found = reader.read(of, (), never)
    assert (found.shape, found.dtype.name, found.item()) == ((), dtype, value)
    assert [block.tolist() for block in reader.blocks(of, never)] == [[value]]


@pytest.mark.parametrize(
    ("of", "message"),
    [
        (Leaf(Kind.STR, value=Literal("x")), "kind str has no numbers"),
        (Leaf(Kind.NONE, value=Literal(None)), "kind None has no numbers"),
        (Leaf(Kind.INT, value=Literal(2**70)), "beyond 64 bits"),
        (leaf(UNSET), "has no value"),
        (leaf(Initial(("a",))), "has not been made yet"),
        (Leaf(Kind.OPAQUE, error="Its shard is gone."), "Its shard is gone"),
    ],
)
def test_leaves_without_numbers(reader: ValueReader, of: Leaf, message: str) -> None:
    with pytest.raises(ReadLeafError, match=message):
        reader.read(of, region_of(of.shape), never)
    with pytest.raises(ReadLeafError, match=message):
        list(reader.blocks(of, never))


def test_cancel_stops_between_blocks(reader: ValueReader, stored: Stored) -> None:
    with pytest.raises(CancelledError):
        reader.read(leaf(stored), region_of((3, 4, 5)), lambda: True)
    with pytest.raises(CancelledError):
        list(reader.blocks(leaf(Filled(0)), lambda: True))


def test_the_source_keeps_its_tree(stored: Stored) -> None:
    sources = Sources()
    node = get(sources(stored.source).tree, stored.path)
    assert isinstance(node, Leaf)
    assert ValueReader(sources).read(node, ((0, 1),) * 3, never).tolist() == [[[0.0]]]
