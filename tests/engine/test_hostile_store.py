"""A store whose engines are killed, stopped, starved and lied to goes on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import flax.serialization
import numpy as np
import orbax.checkpoint as ocp
import psutil
import pytest
import tensorstore

from inspector.engine.client import EngineClient
from inspector.engine.launch import engine_command
from inspector.engine.messages import document, reading, viewing
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.start import start_store
from inspector.errors import CancelledError, ErrorInfo, RemoteError
from inspector.variables.path import TreePath
from tests.engine.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills by signals")

SPARSE_FLOATS = 1 << 26
"""Elements of a leaf that takes the reader long enough to be killed meanwhile."""

GOOD = """
from flax import linen as nn

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)
"""

ENDLESS = (
    "import pathlib, time\n"
    "pathlib.Path(__file__).with_name('began').touch()\n"
    "time.sleep(1e9)\n"
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EngineClient]:
    client = start_store(state_dir=str(tmp_path / "state"), private=True)
    yield client
    client.close()


def engines(store: EngineClient, name: str) -> list[psutil.Process]:
    """Returns the living engines of one kind below a store."""
    found = []
    for process in psutil.Process(store.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if (
                process.cmdline()[-1:] == [name]
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process)
    return found


def kill_reader(store: EngineClient) -> int:
    (reader,) = engines(store, "reader")
    pid = int(reader.pid)
    os.kill(pid, signal.SIGKILL)
    return pid


def open_source(store: EngineClient, path: Path) -> str:
    info = store.call(document.OpenSource(str(path)), timeout=60)
    assert isinstance(info, document.SourceInfo)
    return info.id


def write_sparse(path: Path, count: int = SPARSE_FLOATS) -> Path:
    """Writes a safetensors file of zeros that takes no room, and ``small``."""
    entries = {
        "big": {"dtype": "F32", "shape": [count], "data_offsets": [0, 4 * count]},
        "small": {
            "dtype": "F32",
            "shape": [2],
            "data_offsets": [4 * count, 4 * count + 8],
        },
    }
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.seek(4 * count, os.SEEK_CUR)
        file.write(np.array([2.5, 0.5], np.float32).tobytes())
    return path


def statistics(
    store: EngineClient, source: str, path: TreePath
) -> reading.StatisticsReply:
    reply = store.call(viewing.ReadStatistics(source, path), timeout=120)
    assert isinstance(reply, reading.StatisticsReply)
    return reply


def _is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid)


class Watched:
    """A request whose first progress of every reader does something."""

    def __init__(self, store: EngineClient, body: object) -> None:
        self.replies: list[object] = []
        self.failures: list[ErrorInfo] = []
        self.began = threading.Event()
        self._answered = threading.Event()
        self.ticket = store.request(
            body,
            on_reply=self._reply,
            on_failure=self._failure,
            on_progress=lambda _: self.began.set(),
        )

    def _reply(self, body: object) -> None:
        self.replies.append(body)
        self._answered.set()

    def _failure(self, error: ErrorInfo) -> None:
        self.failures.append(error)
        self._answered.set()

    def wait(self) -> None:
        assert self._answered.wait(120)


def test_statistics_of_a_killed_reader_are_made_again(
    store: EngineClient, tmp_path: Path
) -> None:
    source = open_source(store, write_sparse(tmp_path / "big.safetensors"))
    asked = Watched(store, viewing.ReadStatistics(source, ("big",), bins=0))
    assert asked.began.wait(60)
    first = kill_reader(store)
    asked.wait()
    (reply,) = asked.replies
    assert isinstance(reply, reading.StatisticsReply)
    assert (reply.count, reply.zeros) == (SPARSE_FLOATS, SPARSE_FLOATS)
    (reader,) = engines(store, "reader")
    assert reader.pid != first


def test_a_leaf_that_ends_every_reader_is_refused_and_the_rest_is_read(
    store: EngineClient, tmp_path: Path
) -> None:
    path = write_sparse(tmp_path / "big.safetensors")
    source = open_source(store, path)
    asked = Watched(store, viewing.ReadStatistics(source, ("big",), bins=0))
    for _ in range(2):
        assert asked.began.wait(60)
        asked.began.clear()
        killed = kill_reader(store)
        wait_until(partial(_is_gone, killed))
    asked.wait()
    (error,) = asked.failures
    assert error.kind == "EndedReaderError"
    assert error.where == f"{path}: big"
    assert "SIGKILL" in error.message
    with pytest.raises(RemoteError, match="not tried again in this session"):
        statistics(store, source, ("big",))
    assert statistics(store, source, ("small",)).total == 3.0


def test_an_export_whose_reader_is_killed_is_whole_and_leaves_nothing_else(
    store: EngineClient, tmp_path: Path
) -> None:
    source = open_source(store, write_sparse(tmp_path / "big.safetensors", 1 << 24))
    store.call(document.CopyTarget(source), timeout=60)
    out = tmp_path / "out" / "new.npz"
    out.parent.mkdir()
    np.savez(out, old=np.ones(2, np.float32))
    asked = Watched(store, document.Export(str(out)))
    assert asked.began.wait(60)
    kill_reader(store)
    asked.wait()
    assert not asked.failures
    assert [entry.name for entry in out.parent.iterdir()] == ["new.npz"]
    with np.load(out) as loaded:
        assert sorted(loaded) == ["big", "small"]
        np.testing.assert_array_equal(loaded["small"], np.array([2.5, 0.5], np.float32))


def test_an_owner_that_leaves_during_an_export_leaves_no_partial_file(
    tmp_path: Path,
) -> None:
    store = start_store(state_dir=str(tmp_path / "state"), private=True)
    source = open_source(store, write_sparse(tmp_path / "big.safetensors"))
    store.call(document.CopyTarget(source), timeout=60)
    out = tmp_path / "out" / "new.npz"
    out.parent.mkdir()
    out.write_bytes(b"old")
    asked = Watched(store, document.Export(str(out)))
    wait_until(lambda: len(list(out.parent.iterdir())) == 2)
    store.close()
    asked.wait()
    assert [entry.name for entry in out.parent.iterdir()] == ["new.npz"]
    assert out.read_bytes() == b"old"


def module_file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def load_of(path: Path) -> document.LoadTarget:
    return document.LoadTarget(ModuleSpec(f"{path}:Net", inputs=("float32[1,2]",)))


def assert_loads(store: EngineClient, folder: Path) -> None:
    """Loads a module, which shows that a model is there again."""
    changes = store.call(load_of(module_file(folder, "good.py", GOOD)), timeout=120)
    assert isinstance(changes, document.Changes)
    info = store.call(document.AskDocument(), timeout=60)
    assert isinstance(info, document.DocumentInfo)
    assert info.target.leaves == 2


def test_an_endless_import_is_cancelled_killed_and_stopped(
    store: EngineClient, tmp_path: Path
) -> None:
    endless = module_file(tmp_path, "endless.py", ENDLESS)
    began = tmp_path / "began"

    asked = Watched(store, load_of(endless))
    wait_until(began.exists)
    store.cancel(asked.ticket)
    asked.wait()
    assert [error.kind for error in asked.failures] == [CancelledError.__name__]
    assert_loads(store, tmp_path)

    began.unlink()
    asked = Watched(store, load_of(endless))
    wait_until(began.exists)
    store.call(document.StopModel(), timeout=60)
    asked.wait()
    assert [error.kind for error in asked.failures] == [CancelledError.__name__]

    began.unlink()
    asked = Watched(store, load_of(endless))
    wait_until(began.exists)
    for model in engines(store, "model"):
        model.send_signal(signal.SIGKILL)
    asked.wait()
    (error,) = asked.failures
    assert error.kind == "EndedModelError"
    assert error.where == f"{endless}:Net"
    assert "SIGKILL" in error.message
    assert_loads(store, tmp_path)


CRASHES = {
    "abort": "import os; os.abort()",
    "exit": "import os; os._exit(7)",
    "segfault": "import ctypes; ctypes.string_at(0)",
}


def test_a_module_that_ends_the_model_is_an_error_with_its_file(
    store: EngineClient, tmp_path: Path
) -> None:
    how = {"abort": "SIGABRT", "exit": "status 7", "segfault": "SIGSEGV"}
    for name, text in CRASHES.items():
        path = module_file(tmp_path, f"{name}.py", text)
        with pytest.raises(RemoteError) as caught:
            store.call(load_of(path), timeout=120)
        assert caught.value.error.kind == "EndedModelError"
        assert caught.value.where == f"{path}:Net"
        assert how[name] in caught.value.message
    assert_loads(store, tmp_path)


CHUNK_BYTES = 640 << 20
LIMIT_BYTES = 512 << 20

LIMITED = """
import os, resource, sys
hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]), hard))
os.execv(sys.argv[2], sys.argv[2:])
"""


def write_orbax(folder: Path, leaves: dict[str, int]) -> Path:
    """Writes an Orbax folder as the versions of 2023 did, each leaf one blosc chunk.

    Only tensorstore decodes these, and it needs a chunk as a whole.
    """
    folder.mkdir()
    tree = {
        str((name,)): {
            "key_metadata": [{"key": name, "key_type": 2}],
            "value_metadata": {"value_type": "jax.Array", "skip_deserialize": False},
        }
        for name in leaves
    }
    record = {"tree_metadata": tree, "use_ocdbt": False, "use_zarr3": False}
    (folder / "_METADATA").write_text(json.dumps(record))
    for name, count in leaves.items():
        spec = {
            "driver": "zarr",
            "kvstore": {"driver": "file", "path": f"{folder / name}/"},
            "metadata": {
                "chunks": [count],
                "compressor": {"id": "blosc", "cname": "lz4", "clevel": 1},
                "dtype": "<f4",
                "fill_value": None,
                "shape": [count],
            },
        }
        array = tensorstore.open(spec, create=True).result()
        array.write(np.full(count, 0.5, np.float32)).result()
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_a_chunk_beyond_the_readers_memory_is_an_error_with_its_leaf(
    tmp_path: Path,
) -> None:
    path = write_orbax(tmp_path / "bomb", {"huge": CHUNK_BYTES // 4, "small": 3})
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "ocdbt", {"w": np.ones(3, np.float32)})
    limited = [sys.executable, "-c", LIMITED, str(LIMIT_BYTES)]
    store = EngineClient([*limited, *engine_command("store")], name="store")
    try:
        store.call(document.Begin(str(tmp_path / "state"), "", True), timeout=60)
        # Small metadata reserve no memory for the largest that would be believed.
        ocdbt = open_source(store, tmp_path / "ocdbt")
        assert statistics(store, ocdbt, ("w",)).total == 3.0
        source = open_source(store, path)
        with pytest.raises(RemoteError) as caught:
            statistics(store, source, ("huge",))
        assert caught.value.where == f"{path}: huge"
        assert caught.value.message.endswith("The reader was killed by SIGABRT.")
        assert "needs more memory than there is" in caught.value.hint
        assert statistics(store, source, ("small",)).total == 1.5
    finally:
        store.close()


def test_the_files_that_lie_name_their_lie(store: EngineClient, tmp_path: Path) -> None:
    """Metadata alone may cost neither memory nor time."""

    def safetensors(header: bytes, claimed: int | None = None) -> bytes:
        length = len(header) if claimed is None else claimed
        return length.to_bytes(8, "little") + header

    nested = b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    digits = b'{"a":{"dtype":"F32","shape":[' + b"9" * 50_000
    files = {
        "length.safetensors": (safetensors(b"{}", 1 << 62), "beyond the format"),
        "nested.safetensors": (safetensors(nested), "recursion"),
        "digits.safetensors": (
            safetensors(digits + b'],"data_offsets":[0,4]}}') + bytes(4),
            "digits",
        ),
        "map.msgpack": (b"\xdf\xff\xff\xff\xff", "ends early, at byte 5"),
        "array.msgpack": (b"\x81\xa1a\xdd\xff\xff\xff\xff", "ends early, at byte 8"),
        "bytes.msgpack": (b"\x81\xa1a\xc6\xff\xff\xff\xff", "ends early, at byte 8"),
        "nested.msgpack": (b"\x81\xa1a" * 100_000 + b"\xc0", "more than 200 levels"),
    }
    for name, (content, sentence) in files.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(RemoteError, match=sentence) as caught:
            open_source(store, path)
        assert caught.value.where == str(path)
        assert caught.value.hint
    fine = tmp_path / "fine.msgpack"
    fine.write_bytes(flax.serialization.msgpack_serialize({"w": np.ones(3)}))
    assert statistics(store, open_source(store, fine), ("w",)).total == 3.0
