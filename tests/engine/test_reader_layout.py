from __future__ import annotations

import functools
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from inspector.engine.messages.envelope import Progress
from inspector.engine.messages.reading import LaidOut, LayOut
from inspector.engine.reader_layout import ALIGNMENT, lay_out
from inspector.errors import CancelledError, InspectorError, ReadLeafError
from inspector.formats.registry import open_checkpoint
from inspector.formats.values import ValueReader
from inspector.variables import dtypes
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree, to_plain
from inspector.variables.tree import Branch, walk
from inspector.variables.value import (
    UNSET,
    Cast,
    Filled,
    Literal,
    Patched,
    Raw,
    Stored,
)
from tests.corpus_truth import CORPUS
from tests.engine.readers import ArrayValues, Asked, raw_leaf


def _values() -> ValueReader:
    return ValueReader(functools.cache(open_checkpoint))


def _read(raw: Raw) -> np.ndarray:
    dtype = dtypes.to_numpy(raw.dtype)
    count = int(np.prod(raw.shape, dtype=np.int64))
    data = Path(raw.file).read_bytes()
    return np.frombuffer(data, dtype, count, raw.offset).reshape(raw.shape)


def _of(laid: LaidOut, *path: str) -> Raw:
    value = dict(laid.tree.leaves)[path].value
    assert isinstance(value, Raw)
    return value


def test_what_is_computed_is_written_and_what_lies_in_a_file_is_named(
    tmp_path: Path,
) -> None:
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    lies = raw_leaf(tmp_path / "lies", numbers)
    patch = Patched(
        lies.value, (1, 0), (1, 2), np.asarray([7, 8], np.float32).tobytes()
    )
    key = Leaf(
        Kind.KEY, (2,), "key<fry>", Raw(str(tmp_path / "k"), 0, (2, 2), "uint32")
    )
    (tmp_path / "k").write_bytes(np.arange(4, dtype="<u4").tobytes())
    leaves: tuple[tuple[TreePath, Leaf], ...] = (
        (("lies",), lies),
        (("cast",), Leaf(Kind.ARRAY, (2, 3), "bfloat16", _cast(lies))),
        (("patched",), Leaf(Kind.ARRAY, (2, 3), "float32", patch)),
        (("filled",), Leaf(Kind.ARRAY, (5,), "int8", Filled(3))),
        (("empty",), Leaf(Kind.ARRAY, (0, 4), "float32", Filled(0))),
        (("key",), key),
        (("step",), Leaf(Kind.INT, value=Literal(7))),
        (("unset",), Leaf(Kind.ARRAY, (3,), "float32", UNSET)),
    )
    out, asked = tmp_path / "out.bin", Asked()
    laid = lay_out(LayOut(PlainTree(leaves), str(out)), asked.job, _values())
    assert laid.nbytes == 12 + 24 + 5
    assert _of(laid, "lies") == lies.value
    assert _of(laid, "key") == key.value
    assert _read(_of(laid, "cast")).dtype == ml_dtypes.bfloat16
    assert _read(_of(laid, "cast")).tolist() == numbers.tolist()
    assert _read(_of(laid, "patched")).tolist() == [[0, 1, 2], [7, 8, 5]]
    assert _read(_of(laid, "filled")).tolist() == [3] * 5
    assert _of(laid, "empty").shape == (0, 4)
    for name in ("cast", "patched", "filled"):
        assert _of(laid, name).file == str(out)
        assert _of(laid, name).offset % ALIGNMENT == 0
    rest = dict(laid.tree.leaves)
    assert rest[("step",)] == leaves[6][1]
    assert rest[("unset",)] == leaves[7][1]
    assert out.stat().st_size % ALIGNMENT == 0
    totals = [one.total for one in asked.messages if isinstance(one, Progress)]
    assert totals[:1] == [41]


def _cast(leaf: Leaf) -> Cast:
    return Cast(leaf.value, "float32", "bfloat16")


@pytest.mark.parametrize("suffix", ["safetensors", "npz", "msgpack"])
def test_checkpoints_lie_as_they_are_or_equal_what_is_read(
    tmp_path: Path, suffix: str
) -> None:
    found = sorted(CORPUS.rglob(f"*.{suffix}"))
    assert found
    values, named, moved = _values(), 0, 0
    for number, path in enumerate(found):
        try:
            tree = open_checkpoint(str(path)).tree
        except InspectorError:
            continue
        good = [
            (at, leaf)
            for at, leaf in walk(tree)
            if not leaf.error and leaf.kind in {Kind.ARRAY, Kind.KEY}
        ]
        out = tmp_path / f"{number}.bin"
        body = LayOut(PlainTree(tuple(good)), str(out))
        laid = dict(lay_out(body, Asked().job, values).tree.leaves)
        for at, leaf in good:
            raw = laid[at].value
            assert isinstance(raw, Raw)
            named += raw.file != str(out)
            moved += raw.file == str(out)
            expected = values.read(
                leaf, tuple((0, size) for size in leaf.shape), lambda: False
            )
            assert _read(raw).tobytes() == np.ascontiguousarray(expected).tobytes()
    assert named if suffix != "npz" else named + moved


def test_nothing_is_written_when_everything_lies(tmp_path: Path) -> None:
    leaf = raw_leaf(tmp_path / "a", np.ones(3, np.float32))
    body = LayOut(PlainTree(((("a",), leaf),)), str(tmp_path / "out"))
    laid = lay_out(body, Asked().job, _values())
    assert laid == LaidOut(body.tree, 0)
    assert not (tmp_path / "out").exists()


def test_a_cancel_leaves_nothing(tmp_path: Path) -> None:
    asked = Asked()
    values = ArrayValues(np.zeros(100, np.float32), cancel=asked)
    body = LayOut(to_plain(Branch({"a": values.leaf()})), str(tmp_path / "out"))
    with pytest.raises(CancelledError):
        lay_out(body, asked.job, values)
    assert list(tmp_path.iterdir()) == []


def test_a_leaf_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    leaf = Leaf(Kind.ARRAY, (1,), "int8", Stored("/c", ("a",)), error="cut off")
    body = LayOut(PlainTree(((("a",), leaf),)), str(tmp_path / "out"))
    with pytest.raises(ReadLeafError, match="cut off") as caught:
        lay_out(body, Asked().job, _values())
    assert caught.value.where == "/c: a"
