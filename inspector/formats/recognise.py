"""Says what a file is, by its content first and its name second.

A file that is no checkpoint of ours is named for what it is, with what to do; a
pickle is never executed. Folders are the registry's to recognise.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from inspector.errors import ReadFileError
from inspector.formats.faults import (
    LeafFault,
    ReadFileForeignError,
    ReadFileLfsPointerError,
    ReadFileTruncatedError,
    ReadFileUnknownError,
)
from inspector.formats.npz_read import NPY_MAGIC, read_directory
from inspector.formats.safe_files import LFS_PREFIX, SafeFile
from inspector.formats.safetensors_read import HEADER_LIMIT
from inspector.formats.shards import INDEX_SUFFIX


class FileKind(StrEnum):
    """Kinds of files that are opened."""

    MSGPACK = "msgpack"
    MSGPACK_INDEX = "msgpack index"
    SAFETENSORS = "safetensors"
    SAFETENSORS_INDEX = "safetensors index"
    NPZ = "npz"


_HEAD_BYTES = 512
_RECIPE = b'"flax-inspector recipe"'
_CONVERT = "This version does not open it."
_TORCH_HINT = (
    "Convert it where torch is installed: "
    "safetensors.torch.save_file(torch.load(FILE, weights_only=True), OUT)."
)
_PICKLE_HINT = (
    "Loading a pickle runs code that is in it. If you trust it, load it in your own "
    "Python and save the tree with flax.serialization.msgpack_serialize or orbax."
)
_KERAS_HINT = (
    "Convert it where keras is installed, e.g. with numpy.savez of the weights."
)

_FOREIGN: tuple[tuple[bytes, str, str], ...] = (
    (b"\x89HDF\r\n\x1a\n", f"This is an HDF5 file (Keras). {_CONVERT}", _KERAS_HINT),
    (b"GGUF", f"This is a GGUF file. {_CONVERT}", "Convert it to safetensors."),
    (
        NPY_MAGIC,
        f"This is a run of npy arrays (NumPy, or Equinox's .eqx). {_CONVERT}",
        "Give the arrays names: numpy.savez(OUT, name=array, …).",
    ),
    (
        b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.",
        f"This is a PyTorch file of the old kind, a pickle. {_CONVERT}",
        _TORCH_HINT,
    ),
    (
        b"model_checkpoint_path:",
        f"This is TensorFlow's list of checkpoints. {_CONVERT}",
        "Convert the TensorFlow checkpoint to npz or safetensors.",
    ),
)

_PICKLE_SUFFIXES = frozenset({".pkl", ".pickle", ".pk"})
_PICKLE_FIRST = 0x80
_NEWEST_PICKLE = 5

# First bytes of a msgpack map, list or extension; files of flax begin so.
_MSGPACK_FIRST = frozenset({*range(0x80, 0xA0), *range(0xC7, 0xCA), *range(0xDC, 0xE0)})
_MSGPACK_SUFFIXES = frozenset({".msgpack", ".flax", ".mpk"})


def recognise_file(path: Path) -> FileKind:
    """Says which of our formats a file is.

    Raises:
        ReadFileError: It is none of them, is empty, or may not be read; the message
            says what it is.
    """
    head, size = _read_head(path)
    if size == 0:
        raise ReadFileForeignError(
            path, what="The file is empty.", hint="Copy or download it again."
        )
    if head.startswith(LFS_PREFIX):
        raise ReadFileLfsPointerError(path)
    if path.name.endswith(INDEX_SUFFIX):
        return _recognise_index(path)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _recognise_zip(path)
    if _is_safetensors(path, head, size):
        return FileKind.SAFETENSORS
    _refuse_foreign(path, head)
    if head[0] in _MSGPACK_FIRST or path.suffix in _MSGPACK_SUFFIXES:
        return FileKind.MSGPACK
    raise ReadFileUnknownError(path)


def _recognise_index(path: Path) -> FileKind:
    stem = path.name.removesuffix(INDEX_SUFFIX)
    if stem.endswith(".msgpack"):
        return FileKind.MSGPACK_INDEX
    if stem.endswith(".safetensors"):
        return FileKind.SAFETENSORS_INDEX
    raise ReadFileForeignError(
        path,
        what=f"This is the index of PyTorch files. {_CONVERT}",
        hint=_TORCH_HINT,
    )


def looks_like_msgpack(path: Path) -> bool:
    """Returns whether a file's first byte is that of a flax checkpoint."""
    try:
        head, _ = _read_head(path)
    except ReadFileError:
        return False
    return bool(head) and head[0] in _MSGPACK_FIRST and not _is_pickle(head)


def _read_head(path: Path) -> tuple[bytes, int]:
    file = SafeFile(path)
    try:
        return file.read(0, min(_HEAD_BYTES, file.size)), file.size
    except LeafFault as error:
        raise ReadFileTruncatedError(path, ends_at=0, promised=file.size) from error
    finally:
        file.close()


def _is_safetensors(path: Path, head: bytes, size: int) -> bool:
    if len(head) <= 8 or head[8:9] != b"{":  # noqa: PLR2004 - bytes of the length
        return path.suffix == ".safetensors"
    length = int.from_bytes(head[:8], "little")
    return path.suffix == ".safetensors" or length <= min(HEADER_LIMIT, size - 8)


def _is_pickle(head: bytes) -> bool:
    return len(head) > 1 and head[0] == _PICKLE_FIRST and head[1] <= _NEWEST_PICKLE


def _refuse_foreign(path: Path, head: bytes) -> None:
    """Raises for what is known to be something else."""
    for magic, what, hint in _FOREIGN:
        if head.startswith(magic):
            raise ReadFileForeignError(path, what=what, hint=hint)
    text = head.lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html")):
        raise ReadFileForeignError(
            path,
            what="This is a web page (HTML), not a checkpoint.",
            hint="Download the raw file, not the page that shows it.",
        )
    if _is_pickle(head) or path.suffix in _PICKLE_SUFFIXES:
        raise ReadFileForeignError(
            path,
            what="This is a pickle; it was not executed.",
            hint=_PICKLE_HINT,
        )
    if path.suffix == ".eqx":
        raise ReadFileForeignError(
            path,
            what=f"This is a file of Equinox. {_CONVERT}",
            hint="Load it in your own Python and save the leaves with numpy.savez.",
        )
    if _RECIPE in head:
        raise ReadFileForeignError(
            path,
            what="This is a recipe of this program, not a checkpoint.",
            hint="Make its target again with the verb replay, or open it with "
            "--recipe.",
        )
    if text.startswith((b"{", b"[")):
        raise ReadFileForeignError(
            path,
            what="This is a JSON file, not a checkpoint.",
            hint="Open the checkpoint file or folder beside it.",
        )


def _recognise_zip(path: Path) -> FileKind:
    file = SafeFile(path)
    try:
        names = [member.filename for member in read_directory(file)]
    finally:
        file.close()
    if any(name.endswith("data.pkl") for name in names):
        raise ReadFileForeignError(
            path, what=f"This is a PyTorch file. {_CONVERT}", hint=_TORCH_HINT
        )
    if any(name.endswith(".weights.h5") for name in names):
        raise ReadFileForeignError(
            path, what=f"This is a Keras file. {_CONVERT}", hint=_KERAS_HINT
        )
    if path.suffix == ".npz" or any(name.endswith(".npy") for name in names):
        return FileKind.NPZ
    raise ReadFileForeignError(
        path, what="This is a zip file without arrays.", hint="Unpack it first."
    )
