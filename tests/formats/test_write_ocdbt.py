from __future__ import annotations

from pathlib import Path

import pytest
import tensorstore

from inspector.errors import WriteFileError
from inspector.formats import ocdbt_write
from inspector.formats.checkpoint import never
from inspector.formats.ocdbt_write import OcdbtWriter
from inspector.formats.write_stream import Job


def job() -> Job:
    return Job(1, lambda _done, _total, _text: None, never)


def write(root: Path, content: dict[bytes, bytes], node_bytes: int) -> None:
    database = OcdbtWriter(root, job(), node_bytes=node_bytes)
    try:
        for key, value in content.items():
            database.put(key, value)
        database.finish()
    finally:
        database.abandon()


def read(root: Path) -> dict[bytes, bytes]:
    base = {"driver": "file", "path": f"{root}/"}
    store = tensorstore.KvStore.open({"driver": "ocdbt", "base": base}).result()
    return {key: store.read(key).result().value for key in store.list().result()}


def values(count: int) -> dict[bytes, bytes]:
    """Returns keys in no order, some of them prefixes of others, short and long."""
    keys = [f"layer_{i * 7 % count}.w{'é' * (i % 3)}/0".encode() for i in range(count)]
    return {
        key: bytes([index % 256]) * (index % 5 * 400) for index, key in enumerate(keys)
    }


@pytest.mark.parametrize("node_bytes", [1, 60, 300, 5_000, 1 << 20])
@pytest.mark.parametrize("count", [1, 2, 3, 700])
def test_tensorstore_reads_every_height(
    count: int, node_bytes: int, tmp_path: Path
) -> None:
    content = values(count)
    write(tmp_path, content, node_bytes)
    assert read(tmp_path) == content


def test_small_nodes_make_a_deep_tree(tmp_path: Path) -> None:
    write(tmp_path, values(700), 60)
    manifest = (tmp_path / "manifest.ocdbt").read_bytes()
    # After the frame's head, UUID, configuration, one file and one version.
    table = manifest.index(b"d/")
    assert manifest[table + 34 + 2] >= 3


def test_values_go_on_in_a_further_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocdbt_write, "DATA_FILE_BYTES", 4_000)
    content = values(100)
    write(tmp_path, content, 500)
    assert len(list((tmp_path / "d").iterdir())) > 10
    assert read(tmp_path) == content


def test_a_key_is_stored_once(tmp_path: Path) -> None:
    database = OcdbtWriter(tmp_path, job())
    database.put(b"a.b/.zarray", b"1")
    with pytest.raises(WriteFileError, match=r"'a\.b/\.zarray'"):
        database.put(b"a.b/.zarray", b"2")


def test_it_knows_its_size(tmp_path: Path) -> None:
    database = OcdbtWriter(tmp_path, job(), node_bytes=100)
    for key, value in values(50).items():
        database.put(key, value)
    database.finish()
    files = (path for path in tmp_path.rglob("*") if path.is_file())
    assert database.nbytes == sum(path.stat().st_size for path in files)
