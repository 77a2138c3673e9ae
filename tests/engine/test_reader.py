from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import flax.serialization
import numpy as np
import psutil
import pytest

from inspector.engine.client import EngineClient
from inspector.engine.launch import clean_environment, engine_command
from inspector.engine.messages.envelope import Progress
from inspector.engine.messages.reading import (
    Exported,
    LeafNumbers,
    LeafPicture,
    LeafStatistics,
    ListCheckpoint,
    Listing,
    Numbers,
    Picture,
    StampFiles,
    Stamps,
    StatisticsReply,
    WriteExport,
)
from inspector.engine.reader_limits import memory_limit
from inspector.errors import CancelledError, RemoteError
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.plain import PlainTree
from inspector.variables.value import Cast, Filled, Patched, Stored
from tests.engine.readers import leaves_of
from tests.engine.waiting import wait_until


@pytest.fixture(scope="module")
def reader() -> Iterator[EngineClient]:
    client = EngineClient(
        engine_command("reader"), name="reader", env=clean_environment()
    )
    yield client
    client.close()


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    path = tmp_path / "weights.msgpack"
    tree = {
        "params": {"w": np.arange(12, dtype=np.float32).reshape(3, 4), "n": 7},
        "name": "net",
    }
    path.write_bytes(flax.serialization.msgpack_serialize(tree))
    return path


def listing_of(
    reader: EngineClient, locator: object, *, fresh: bool = False
) -> Listing:
    reply = reader.call(ListCheckpoint(str(locator), fresh=fresh), timeout=60)
    assert isinstance(reply, Listing)
    return reply


def test_a_checkpoint_is_listed(reader: EngineClient, checkpoint: Path) -> None:
    listing = listing_of(reader, checkpoint)
    assert (listing.locator, listing.path) == (str(checkpoint), str(checkpoint))
    assert listing.format == "msgpack"
    leaves = leaves_of(listing.tree.leaves)
    leaf = leaves["params", "w"]
    assert (leaf.kind, leaf.shape, leaf.dtype) == (Kind.ARRAY, (3, 4), "float32")
    assert leaf.value == Stored(str(checkpoint), ("params", "w"))
    assert leaves["name",].kind is Kind.STR
    found = checkpoint.stat()
    assert [(s.path, s.size, s.mtime_ns) for s in listing.stamps] == [
        (str(checkpoint), found.st_size, found.st_mtime_ns)
    ]
    assert reader.call(StampFiles((str(checkpoint),))) == Stamps(listing.stamps)
    assert len(listing.digest) == 64


def test_a_relative_path_starts_from_the_folder_given(
    reader: EngineClient, checkpoint: Path
) -> None:
    body = ListCheckpoint("weights.msgpack::params", str(checkpoint.parent))
    listing = reader.call(body)
    assert isinstance(listing, Listing)
    assert listing.locator == f"{checkpoint}::params"
    leaf = leaves_of(listing.tree.leaves)["w",]
    assert leaf.value == Stored(f"{checkpoint}::params", ("w",))
    numbers = reader.call(LeafNumbers(leaf, ((1, 2), (0, 4))))
    expected = np.arange(4, 8, dtype=np.float32).tobytes()
    assert numbers == Numbers((1, 4), "float32", expected)
    with pytest.raises(RemoteError, match="must itself be absolute"):
        reader.call(ListCheckpoint("weights.msgpack", "somewhere"))


def test_numbers_statistics_and_pictures(
    reader: EngineClient, checkpoint: Path
) -> None:
    leaf = leaves_of(listing_of(reader, checkpoint).tree.leaves)["params", "w"]
    told: list[Progress] = []
    statistics = reader.call(LeafStatistics(leaf, 4), progress=told.append)
    assert isinstance(statistics, StatisticsReply)
    assert (statistics.minimum, statistics.maximum, statistics.total) == (0, 11, 66)
    assert statistics.counts == (3, 3, 3, 3)
    assert (told[-1].done, told[-1].total) == (96, 96)
    picture = reader.call(LeafPicture(leaf, 1, 0, (0, 0), 2, 2))
    assert isinstance(picture, Picture)
    table = np.frombuffer(picture.data, "<f4").reshape(picture.rows, picture.columns)
    assert table.tolist() == [[0, 8], [2, 10]]
    assert (picture.row_step, picture.column_step) == (2, 2)


def test_a_value_is_evaluated(reader: EngineClient, checkpoint: Path) -> None:
    stored = Stored(str(checkpoint), ("params", "w"))
    patch = np.array([100], np.float16).tobytes()
    value = Patched(Cast(stored, "float32", "float16"), (1, 1), (1, 1), patch)
    leaf = Leaf(Kind.ARRAY, (3, 4), "float16", value)
    numbers = reader.call(LeafNumbers(leaf, ((1, 2), (0, 3))))
    expected = np.array([4, 100, 6], np.float16).tobytes()
    assert numbers == Numbers((1, 3), "float16", expected)


def test_an_error_names_the_place_and_ends_nothing(
    reader: EngineClient, tmp_path: Path
) -> None:
    with pytest.raises(RemoteError) as caught:
        reader.call(ListCheckpoint(str(tmp_path / "nothing")))
    assert caught.value.error.kind == "ReadFileError"
    assert caught.value.where == str(tmp_path / "nothing")
    torn = tmp_path / "torn.msgpack"
    torn.write_bytes(b"\x81\xa6params\x81")
    with pytest.raises(RemoteError) as caught:
        reader.call(ListCheckpoint(str(torn)))
    assert str(torn) in caught.value.where
    assert isinstance(reader.call(StampFiles(())), Stamps)


def test_fresh_forgets_what_was_open(reader: EngineClient, checkpoint: Path) -> None:
    first = listing_of(reader, checkpoint)
    tree = {"params": {"w": np.zeros(5, np.int8)}}
    checkpoint.write_bytes(flax.serialization.msgpack_serialize(tree))
    second = listing_of(reader, checkpoint, fresh=True)
    assert leaves_of(second.tree.leaves)["params", "w"].shape == (5,)
    assert second.digest != first.digest


def test_an_export_is_written(
    reader: EngineClient, checkpoint: Path, tmp_path: Path
) -> None:
    listing = listing_of(reader, checkpoint)
    filled = Leaf(Kind.ARRAY, (2,), "float32", Filled(0.5))
    tree = PlainTree((*listing.tree.leaves, (("params", "b"), filled)))
    out = tmp_path / "out.msgpack"
    told: list[Progress] = []
    body = WriteExport(tree, str(out), sources=(str(checkpoint),))
    reply = reader.call(body, progress=told.append)
    assert isinstance(reply, Exported)
    assert (reply.out, reply.format, reply.leaves) == (str(out), "msgpack", 4)
    back = flax.serialization.msgpack_restore(out.read_bytes())
    assert back["params"]["b"].tolist() == [0.5, 0.5]
    assert back["name"] == "net"
    np.testing.assert_array_equal(
        back["params"]["w"], np.arange(12, dtype=np.float32).reshape(3, 4)
    )
    assert told
    with pytest.raises(RemoteError) as caught:
        reader.call(WriteExport(tree, str(checkpoint), sources=(str(checkpoint),)))
    assert caught.value.error.kind == "WriteFileError"


def test_a_slice_is_answered_while_statistics_run(
    reader: EngineClient, tmp_path: Path
) -> None:
    """The array is large and sparse: nothing of it is on the disk."""
    huge = tmp_path / "huge.safetensors"
    size = 16 << 30
    header = (
        f'{{"a": {{"dtype": "F32", "shape": [{size // 4}],'
        f' "data_offsets": [0, {size}]}}}}'
    ).encode()
    header += b" " * (-len(header) % 8)
    with huge.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)
    leaf = leaves_of(listing_of(reader, huge).tree.leaves)["a",]
    progress: list[Progress] = []
    failures: list[str] = []
    ended = threading.Event()

    def on_failure(error: object) -> None:
        failures.append(getattr(error, "kind", ""))
        if len(failures) == 3:
            ended.set()

    numbers = [
        reader.request(
            LeafStatistics(leaf, 64),
            on_reply=lambda _: None,
            on_failure=on_failure,
            on_progress=progress.append,
        )
        for _ in range(3)
    ]
    wait_until(lambda: bool(progress))
    for start in (0, size // 4 - 8):
        block = reader.call(LeafNumbers(leaf, ((start, start + 8),)), timeout=30)
        assert block == Numbers((8,), "float32", bytes(32))
    assert not failures
    for number in numbers:
        reader.cancel(number)
    assert ended.wait(30)
    assert failures == [CancelledError.__name__] * 3


def test_its_memory_is_limited_and_it_is_small(reader: EngineClient) -> None:
    reader.call(StampFiles(()))
    process = psutil.Process(reader.pid)
    soft, _ = process.rlimit(psutil.RLIMIT_DATA)
    assert soft == memory_limit()
