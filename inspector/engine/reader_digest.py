"""What a checkpoint's files were when it was listed: stamps and a digest.

Sizes and times show most changes; the digest shows those that keep both, and tells
a copied or touched file from a changed one. Used by the reader's listing.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from inspector.engine.messages.reading import FileStamp
from inspector.variables.plain import PlainTree

GONE = -1
"""Size in the stamp of a file that cannot be found."""

FILES_SAMPLED = 256
"""Files whose content is looked at, evenly spread over all."""

WHOLE_BYTES = 64 << 10
"""Files up to this size are read whole."""

BLOCK_BYTES = 4 << 10
BLOCKS_SAMPLED = 16
"""Blocks of a larger file that are read, the first and the last among them."""


def stamp(path: str) -> FileStamp:
    """Returns the present size and time of a file; size `GONE` when it is not there."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return FileStamp(path, GONE, 0)
    return FileStamp(path, found.st_size, found.st_mtime_ns)


def digest(root: Path, tree: PlainTree, stamps: Sequence[FileStamp]) -> str:
    """Returns a digest of what was listed and of samples of its files.

    It does not depend on where the checkpoint lies nor on times, and costs at most
    `FILES_SAMPLED` times 64 KiB of reading.

    Args:
        root: File or folder of the checkpoint; names of files count relative to it.
        tree: What was listed.
        stamps: Its files.

    Returns:
        64 hex digits (BLAKE2b of 32 bytes).
    """
    result = hashlib.blake2b(digest_size=32)
    for path, leaf in tree.leaves:
        described = (path, leaf.kind.value, leaf.shape, leaf.dtype, leaf.error)
        result.update(repr(described).encode("utf-8", "surrogatepass"))
    result.update(repr(tree.containers).encode("utf-8", "surrogatepass"))
    files = sorted(stamps, key=lambda item: item.path)
    for file in files:
        name = os.path.relpath(file.path, root)
        result.update(f"{name}\0{file.size}\0".encode("utf-8", "surrogateescape"))
    for file in _spread(files):
        _update_from_file(result, file)
    return result.hexdigest()


def _spread(files: Sequence[FileStamp]) -> Iterable[FileStamp]:
    step = max(1, -(-len(files) // FILES_SAMPLED))
    return files[::step]


def _update_from_file(result: hashlib.blake2b, file: FileStamp) -> None:
    """Adds samples of a file; one that cannot be read adds its absence."""
    try:
        # A FIFO that took the file's place must not hang the reader.
        descriptor = os.open(file.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        result.update(b"unreadable")
        return
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            result.update(b"no file")
            return
        for offset, length in _samples(file.size):
            os.lseek(descriptor, offset, os.SEEK_SET)
            result.update(os.read(descriptor, length))
    except OSError:
        result.update(b"unreadable")
    finally:
        os.close(descriptor)


def _samples(size: int) -> Iterable[tuple[int, int]]:
    """Yields (offset, length) of what is read of a file of ``size`` bytes."""
    if size <= WHOLE_BYTES:
        yield 0, WHOLE_BYTES
        return
    last = size - BLOCK_BYTES
    for number in range(BLOCKS_SAMPLED):
        yield last * number // (BLOCKS_SAMPLED - 1), BLOCK_BYTES
