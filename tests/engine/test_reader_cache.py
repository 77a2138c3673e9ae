from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from inspector.engine.messages.reading import FileStamp
from inspector.engine.reader_cache import CheckpointCache
from inspector.engine.reader_digest import digest, stamp
from inspector.engine.reader_limits import LEAST_BYTES, memory_limit
from inspector.errors import ReadFileError
from inspector.formats.checkpoint import Check, Checkpoint, Extent, Region
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree


class FakeCheckpoint(Checkpoint):
    """Knows whether it is open."""

    def __init__(self, locator: str) -> None:
        super().__init__(Path(locator))
        self.open = True

    def read(self, path: TreePath, region: Region, cancelled: Check) -> np.ndarray:
        raise NotImplementedError

    def blocks(self, path: TreePath, cancelled: Check) -> Iterator[np.ndarray]:
        raise NotImplementedError

    def extent(self, path: TreePath) -> Extent | None:
        return None

    def files(self) -> list[Path]:
        return []

    def close(self) -> None:
        assert self.open
        self.open = False


class Opener:
    """Opens fakes and keeps them."""

    def __init__(self) -> None:
        self.opened: list[FakeCheckpoint] = []

    def __call__(self, locator: str) -> Checkpoint:
        if locator == "broken":
            raise ReadFileError(message="broken")
        self.opened.append(FakeCheckpoint(locator))
        return self.opened[-1]

    def still_open(self) -> list[str]:
        return [str(one.path) for one in self.opened if one.open]


@pytest.fixture
def opener() -> Opener:
    return Opener()


def use(cache: CheckpointCache, *locators: str) -> None:
    with cache.lease() as open_checkpoint:
        for locator in locators:
            open_checkpoint(locator)


def test_a_checkpoint_is_opened_once(opener: Opener) -> None:
    cache = CheckpointCache(opener)
    use(cache, "a", "a")
    use(cache, "a")
    assert len(opener.opened) == 1


def test_the_least_recently_used_is_closed(opener: Opener) -> None:
    cache = CheckpointCache(opener, kept=2)
    for locator in "abac":
        use(cache, locator)
    assert opener.still_open() == ["a", "c"]


def test_what_is_leased_stays_open(opener: Opener) -> None:
    cache = CheckpointCache(opener, kept=1)
    with cache.lease() as open_checkpoint:
        for locator in "abc":
            open_checkpoint(locator)
        cache.forget("a")
        assert opener.still_open() == ["a", "b", "c"]
        assert open_checkpoint("a") is opener.opened[0]
    assert opener.still_open() == ["c"]
    cache.close()
    assert opener.still_open() == []


def test_a_forgotten_checkpoint_is_opened_anew(opener: Opener) -> None:
    cache = CheckpointCache(opener)
    use(cache, "a")
    cache.forget("a")
    cache.forget("never opened")
    assert opener.still_open() == []
    use(cache, "a")
    assert len(opener.opened) == 2


def test_a_checkpoint_goes_by_the_locator_that_it_gives_itself(opener: Opener) -> None:
    cache = CheckpointCache(opener)
    use(cache, "a@3")
    with cache.lease() as open_checkpoint:
        open_checkpoint("a")
        cache.rename("a", "a@3")
    use(cache, "a@3")
    assert [one.open for one in opener.opened] == [False, True]
    use(cache, "a")
    assert len(opener.opened) == 3


def test_a_failure_is_not_kept(opener: Opener) -> None:
    cache = CheckpointCache(opener)
    for _ in range(2):
        with pytest.raises(ReadFileError, match="broken"):
            use(cache, "a", "broken")
    assert opener.still_open() == ["a"]


def test_threads_share_one_opening() -> None:
    opened: list[FakeCheckpoint] = []
    go = threading.Event()

    def slowly(locator: str) -> Checkpoint:
        go.wait(30)
        opened.append(FakeCheckpoint(locator))
        return opened[-1]

    cache = CheckpointCache(slowly)
    threads = [threading.Thread(target=use, args=(cache, "a")) for _ in range(5)]
    for thread in threads:
        thread.start()
    go.set()
    for thread in threads:
        thread.join(30)
    assert len(opened) == 1
    assert opened[0].open


TREE = PlainTree(((("a",), Leaf(Kind.ARRAY, (3,), "int8")),))


def digest_of(folder: Path) -> str:
    stamps = [stamp(str(path)) for path in sorted(folder.iterdir())]
    return digest(folder, TREE, stamps)


def checkpoint_files(folder: Path) -> Path:
    folder.mkdir()
    (folder / "small").write_bytes(b"metadata")
    (folder / "large").write_bytes(bytes(300_000))
    return folder


def test_a_digest_knows_content_not_place_or_time(tmp_path: Path) -> None:
    one, two = checkpoint_files(tmp_path / "1"), checkpoint_files(tmp_path / "2")
    before = digest_of(one)
    assert len(before) == 64
    assert digest_of(two) == before
    for name, place in (("small", 3), ("large", 0), ("large", 299_999)):
        data = bytearray((two / name).read_bytes())
        data[place] ^= 1
        (two / name).write_bytes(data)
        assert digest_of(two) != before
        data[place] ^= 1
        (two / name).write_bytes(data)
    assert digest_of(two) == before
    (two / "small").rename(two / "other")
    assert digest_of(two) != before
    assert digest(one, PlainTree(), [stamp(str(one / "small"))]) != before


def test_a_file_that_cannot_be_read_has_a_digest_too(tmp_path: Path) -> None:
    gone = FileStamp(str(tmp_path / "gone"), -1, 0)
    assert stamp(gone.path) == gone
    assert len(digest(tmp_path, TREE, [gone])) == 64


def test_stamps_are_sizes_and_times(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"123")
    assert stamp(str(file)) == FileStamp(str(file), 3, file.stat().st_mtime_ns)
    assert stamp("a\0b").size == -1


def test_the_reader_may_take_half_of_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "inspector.engine.reader_limits._memory_bytes", lambda: 64 << 30
    )
    assert memory_limit() == 32 << 30
    monkeypatch.setattr("inspector.engine.reader_limits._memory_bytes", lambda: 1 << 30)
    assert memory_limit() == LEAST_BYTES
