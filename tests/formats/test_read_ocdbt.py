from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import google_crc32c
import pytest
import tensorstore
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.errors import ReadFileError
from inspector.formats.byte_sources import Blob, FileRange
from inspector.formats.faults import ReadFileDamagedError
from inspector.formats.ocdbt import (
    OcdbtError,
    OcdbtUnknownVersionError,
    inside,
    parse_manifest,
    parse_node,
    read_index,
)
from tests.corpus_truth import CORPUS

ITEM = CORPUS / "nnx-0128-puredict" / "data" / "state"


def make(folder: Path, values: dict[str, bytes], **config: object) -> Path:
    specification = {
        "driver": "ocdbt",
        "base": {"driver": "file", "path": f"{folder}/"},
        "config": {"max_inline_value_bytes": 16, **config},
    }
    store = tensorstore.KvStore.open(specification).result()
    transaction = tensorstore.Transaction()
    inner = store.with_transaction(transaction)
    for key, value in values.items():
        inner.write(key, value).result()
    transaction.commit_sync()
    return folder


def load(blob: Blob) -> bytes:
    if isinstance(blob, bytes):
        return blob
    with blob.path.open("rb") as file:
        file.seek(blob.offset)
        return file.read(blob.nbytes)


@pytest.mark.parametrize(
    "config",
    [
        {"compression": None, "max_decoded_node_bytes": 1000},
        {"compression": {"id": "zstd", "level": 1}, "max_decoded_node_bytes": 1000},
        {},
    ],
)
def test_agrees_with_tensorstore_on_trees_of_several_levels(
    tmp_path: Path, config: dict[str, object]
) -> None:
    values = {
        f"layer.{number}/{part}": bytes([number % 251]) * (number % 40)
        for number in range(600)
        for part in (".zarray", "0.0")
    }
    index = read_index(make(tmp_path / "db", values, **config))
    assert {key.decode(): load(blob) for key, blob in index.items()} == values
    assert any(isinstance(blob, FileRange) for blob in index.values())
    assert any(isinstance(blob, bytes) for blob in index.values())


def test_an_empty_database(tmp_path: Path) -> None:
    folder = make(tmp_path / "db", {"a": b"1"})
    specification = {
        "driver": "ocdbt",
        "base": {"driver": "file", "path": f"{folder}/"},
    }
    tensorstore.KvStore.open(specification).result().delete_range(
        tensorstore.KvStore.KeyRange()
    ).result()
    assert read_index(folder) == {}


def test_a_numbered_manifest_is_left_to_tensorstore(tmp_path: Path) -> None:
    folder = make(tmp_path / "db", {"a": b"1"}, manifest_kind="numbered")
    with pytest.raises(OcdbtUnknownVersionError):
        read_index(folder)


def test_every_flipped_byte_of_a_manifest_is_noticed(tmp_path: Path) -> None:
    raw = (ITEM / "manifest.ocdbt").read_bytes()
    for position in range(len(raw)):
        changed = bytearray(raw)
        changed[position] ^= 0x10
        (tmp_path / "manifest.ocdbt").write_bytes(changed)
        with pytest.raises(ReadFileDamagedError, match="damaged"):
            read_index(tmp_path)
        (tmp_path / "manifest.ocdbt").write_bytes(raw[:position])
        with pytest.raises(ReadFileDamagedError):
            read_index(tmp_path)


def test_a_flipped_byte_of_a_node_is_noticed(tmp_path: Path) -> None:
    folder = make(tmp_path / "db", {f"k{number}": b"v" for number in range(50)})
    node = next((folder / "d").iterdir())
    data = bytearray(node.read_bytes())
    data[len(data) // 2] ^= 1
    node.write_bytes(data)
    with pytest.raises(ReadFileDamagedError, match="CRC-32C") as caught:
        read_index(folder)
    assert caught.value.where == str(node)
    node.unlink()
    with pytest.raises(ReadFileDamagedError, match="a node of the index is missing"):
        read_index(folder)


@pytest.mark.parametrize(
    "name",
    [b"../x", b"/etc/passwd", b"a/../../x", b"a//b", b".", b"", b"a\0b", b"..\\x"],
)
def test_no_name_leaves_the_folder(name: bytes) -> None:
    with pytest.raises(OcdbtError, match="is refused"):
        inside(Path("root"), name)


def frame(magic: int, body: bytes) -> bytes:
    """Puts a valid frame around any body, so that what is inside gets parsed."""
    length = 4 + 8 + 2 + len(body) + 4
    raw = struct.pack(">I", magic) + struct.pack("<Q", length) + b"\0\0" + body
    return raw + int(google_crc32c.value(raw)).to_bytes(4, "little")


bodies = st.binary(max_size=80) | st.lists(st.integers(0, 3), max_size=60).map(bytes)


@settings(max_examples=200, deadline=None)
@given(bodies)
def test_any_manifest_is_parsed_or_refused(body: bytes) -> None:
    with contextlib.suppress(OcdbtError, OcdbtUnknownVersionError):
        parse_manifest(frame(0x0CDB3A2A, body))


@settings(max_examples=300, deadline=None)
@given(bodies, st.integers(0, 2))
def test_any_node_is_parsed_or_refused(body: bytes, height: int) -> None:
    ref = parse_manifest((ITEM / "manifest.ocdbt").read_bytes())
    assert ref is not None
    expected = type(ref)(b"f", b"", 0, 0, height, b"")
    stack: list[object] = []
    index: dict[bytes, Blob] = {}
    with contextlib.suppress(OcdbtError, OcdbtUnknownVersionError):
        parse_node(
            frame(0x0CDB20DE, bytes([height]) + body),
            expected,
            Path("root"),
            stack,  # type: ignore[arg-type]  # only appended to
            index,
        )
    for blob in index.values():
        assert isinstance(blob, bytes) or blob.path.is_relative_to("root")


def test_a_missing_manifest_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(ReadFileError):
        read_index(tmp_path)
