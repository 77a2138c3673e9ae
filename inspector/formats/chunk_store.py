"""Where the chunks of an orbax item lie: a folder for each leaf, or one database.

Gives, for a key such as ``params.Dense_0.kernel/.zarray``, its bytes or where they
lie, and says whether they can be there at all. Used by the zarr and orbax readers.
"""

from __future__ import annotations

import stat
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from inspector.formats.byte_sources import Blob, FileRange
from inspector.formats.faults import LeafFault
from inspector.formats.ocdbt import (
    MANIFEST,
    OcdbtUnknownVersionError,
    read_index,
)
from inspector.formats.safe_files import FilePool, is_file

METADATA_NAMES = (".zarray", "zarr.json")
"""Names of an array's own metadata, zarr v2 and v3."""

_ARRAY_METADATA_LIMIT = 1 << 20


class ChunkStore(ABC):
    """Stored values by key.

    Attributes:
        root: Folder of the item.
    """

    def __init__(self, root: Path, pool: FilePool) -> None:
        """Starts without knowing any file's size."""
        self.root = root
        self._pool = pool
        self._sizes: dict[Path, int | None] = {}

    @abstractmethod
    def get(self, key: str) -> Blob | None:
        """Returns the value of a key, or where it lies; None when there is none."""

    @abstractmethod
    def names(self) -> list[str]:
        """Returns the names of all arrays, in order."""

    @abstractmethod
    def kvstore(self, name: str) -> dict[str, Any]:
        """Returns tensorstore's specification of the values below a name."""

    def metadata(self, name: str) -> bytes | None:
        """Returns an array's ``.zarray`` or ``zarr.json``; None when it has none.

        Raises:
            LeafFault: It is too large, or its file cannot be read.
        """
        prefix = f"{name}/" if name else ""
        for metadata_name in METADATA_NAMES:
            blob = self.get(prefix + metadata_name)
            if blob is not None:
                return self.load(blob)
        return None

    def load(self, blob: Blob, limit: int = _ARRAY_METADATA_LIMIT) -> bytes:
        """Reads a small value.

        Raises:
            LeafFault: It is larger than ``limit``, absent or cut off.
        """
        if isinstance(blob, bytes):
            return blob
        if blob.nbytes > limit:
            raise LeafFault(problem=f"{blob.nbytes:,} bytes of metadata are too many")
        data = bytearray(blob.nbytes)
        self._pool.read_into(blob.path, blob.offset, memoryview(data))
        return bytes(data)

    def fault(self, blob: Blob) -> str:
        """Returns why sizes tell that a value cannot be read; empty when it can."""
        if isinstance(blob, bytes):
            return ""
        if blob.path not in self._sizes:
            self._sizes[blob.path] = _size_of(blob.path)
        size = self._sizes[blob.path]
        name = blob.path.relative_to(self.root)
        if size is None:
            return f"The data file {name} is missing."
        if blob.offset + blob.nbytes > size:
            return (
                f"The data file {name} ends at byte {size:,}; "
                f"{blob.offset + blob.nbytes:,} are needed."
            )
        return ""


def _size_of(path: Path) -> int | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


class FolderStore(ChunkStore):
    """A folder for each array, a file for each chunk."""

    def get(self, key: str) -> Blob | None:
        """Returns the file of a key; None for a key that would leave the folder."""
        parts = key.split("/")
        if "\0" in key or any(part in {"", ".", ".."} for part in parts):
            return None
        path = self.root.joinpath(*parts)
        size = _size_of(path)
        self._sizes[path] = size
        return None if size is None else FileRange(path, 0, size)

    def names(self) -> list[str]:
        """Returns the folders that hold an array's metadata."""
        found = [
            path.parent.relative_to(self.root).as_posix()
            for name in METADATA_NAMES
            for path in self.root.glob(f"*/{name}")
        ]
        return sorted(found)

    def kvstore(self, name: str) -> dict[str, Any]:
        """Returns tensorstore's ``file`` driver at the array's folder."""
        return {"driver": "file", "path": f"{self.root}/{name}/"}


class OcdbtStore(ChunkStore):
    """The values of an OCDBT database, by its index."""

    def __init__(self, root: Path, pool: FilePool) -> None:
        """Reads the index.

        Raises:
            ReadFileError: The index is absent or damaged.
            OcdbtUnknownVersionError: Only tensorstore reads it.
        """
        super().__init__(root, pool)
        self._index = read_index(root)

    def get(self, key: str) -> Blob | None:
        """Returns the value of a key or its place in a data file."""
        return self._index.get(key.encode("utf-8", "surrogateescape"))

    def names(self) -> list[str]:
        """Returns every key before ``/.zarray`` or ``/zarr.json``."""
        found = []
        for key in self._index:
            name, _, last = key.decode("utf-8", "surrogateescape").rpartition("/")
            if last in METADATA_NAMES:
                found.append(name)
        return found

    def kvstore(self, name: str) -> dict[str, Any]:
        """Returns tensorstore's ``ocdbt`` driver at the array's keys."""
        return ocdbt_kvstore(self.root, f"{name}/" if name else "")


class TensorstoreOcdbtStore(ChunkStore):
    """An OCDBT database of a version that only tensorstore reads."""

    def __init__(self, root: Path, pool: FilePool) -> None:
        """Opens the database and lists its keys."""
        super().__init__(root, pool)
        # tensorstore takes 0.3 s to import and is needed for odd layouts alone.
        import tensorstore  # noqa: PLC0415 - see above

        try:
            self._store = tensorstore.KvStore.open(ocdbt_kvstore(root, "")).result()
            self._keys = {bytes(key) for key in self._store.list().result()}
        except (ValueError, OSError) as error:
            raise LeafFault(problem=f"tensorstore: {error}") from error

    def get(self, key: str) -> Blob | None:
        """Reads a whole value into memory."""
        name = key.encode("utf-8", "surrogateescape")
        if name not in self._keys:
            return None
        try:
            return bytes(self._store.read(name).result().value)
        except (ValueError, OSError) as error:
            raise LeafFault(problem=f"tensorstore: {error}") from error

    def names(self) -> list[str]:
        """Returns every key before ``/.zarray`` or ``/zarr.json``."""
        texts = [key.decode("utf-8", "surrogateescape") for key in sorted(self._keys)]
        split = [text.rpartition("/") for text in texts]
        return [name for name, _, last in split if last in METADATA_NAMES]

    def kvstore(self, name: str) -> dict[str, Any]:
        """Returns tensorstore's ``ocdbt`` driver at the array's keys."""
        return ocdbt_kvstore(self.root, f"{name}/" if name else "")


def ocdbt_kvstore(root: Path, prefix: str) -> dict[str, Any]:
    """Returns tensorstore's specification of a database, or of keys in it."""
    return {
        "driver": "ocdbt",
        "base": {"driver": "file", "path": f"{root}/"},
        "path": prefix,
    }


def open_store(root: Path, pool: FilePool) -> ChunkStore:
    """Opens whichever store an item's folder holds.

    Raises:
        ReadFileError: The database's index is damaged.
        LeafFault: tensorstore cannot open it either.
    """
    if not is_file(root / MANIFEST):
        return FolderStore(root, pool)
    try:
        return OcdbtStore(root, pool)
    except OcdbtUnknownVersionError:
        return TensorstoreOcdbtStore(root, pool)
