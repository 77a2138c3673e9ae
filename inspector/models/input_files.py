"""Inputs from files: arrays of ``.npy`` and ``.npz``, and pictures.

A picture is decoded by the reader; here its ``.npy`` file is read. Pickled objects
are code and are not read. On the thread that runs the person's code.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from inspector.errors import LoadModuleError, UsageError
from inspector.models.names import Argument
from inspector.models.spec import did_you_mean
from inspector.variables import dtypes

EXAMPLE = "E.g. float32[8,28,28,1], int32[], x=float32[1,3], x.npy or inputs.npz:x."
"""Hint of every error about the text of an input."""

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp")
"""Ends of the names of pictures."""

_IMPORTS = ("import numpy as np",)


def is_picture(text: str) -> bool:
    """Returns whether a text names a picture."""
    return text.strip().lower().endswith(PICTURES)


def from_picture(
    text: str, images: Mapping[str, str], names: list[str], dtype: str = "float32"
) -> Argument:
    """Returns what the reader made of a picture.

    Args:
        text: Its path as the person gave it, for messages.
        images: ``.npy`` file by text of an input.
        names: Texts under which it may be listed there.
        dtype: Dtype that was asked for.

    Raises:
        LoadModuleError: It was not decoded.
    """
    file = next((images[name] for name in names if name in images), None)
    if file is None:
        raise LoadModuleError(
            message="The picture is not decoded here.",
            where=text,
            hint="Pictures are inputs of a run. Elsewhere give a shape, e.g. "
            "float32[1,224,224,3], or a .npy file.",
        )
    loaded = np.load(file, allow_pickle=False)
    code = f"np.load({file!r})"
    if loaded.dtype.kind == "V":
        # NumPy's format has no name for dtypes of ml_dtypes; JAX makes theirs known.
        loaded = loaded.view(dtypes.to_numpy(dtype))
        return Argument(loaded, f'{code}.view("{dtype}")', ("import jax", *_IMPORTS))
    return Argument(loaded, code, _IMPORTS)


def from_file(text: str, cwd: Path) -> Argument:
    """Returns the array that ``FILE.npy``, ``FILE.npz`` or ``FILE.npz:NAME`` names.

    Args:
        text: What the person wrote.
        cwd: Folder for relative paths.

    Raises:
        UsageError: The text names no such file.
        LoadModuleError: The file or the array in it cannot be read.
    """
    place, colon, member = text.rpartition(":")
    if text.endswith((".npy", ".npz")) or not colon:
        place, member = text, ""
    if not place.endswith((".npy", ".npz")):
        raise UsageError(
            message=f"“{text}” is neither a shape nor a .npy or .npz file.",
            where=text,
            hint=f"A shape has brackets. {EXAMPLE}",
        )
    path = cwd / os.path.expanduser(place)  # noqa: PTH111 - lets ~nobody be
    if not path.is_file():
        raise LoadModuleError(
            message="There is no such file.", where=str(path), hint=EXAMPLE
        )
    try:
        # NumPy leaves the file of a broken archive open, so it is opened here.
        with path.open("rb") as stream:
            loaded = np.load(stream, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return _array(loaded, f"np.load({str(path)!r})", text)
            name = _member(loaded.files, member, path)
            return _array(loaded[name], f"np.load({str(path)!r})[{name!r}]", text)
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise LoadModuleError(
            message=f"NumPy cannot read it: {error}", where=str(path), hint=EXAMPLE
        ) from error


def _member(names: list[str], member: str, path: Path) -> str:
    if member in names:
        return member
    if not member and len(names) == 1:
        return names[0]
    listed = ", ".join(names[:12]) or "nothing"
    raise LoadModuleError(
        f"There is no “{member}” in it." if member else "Which of its arrays?",
        where=str(path),
        hint=did_you_mean(member, names)
        or f"Write {path.name}:NAME. It holds {listed}.",
    )


def _array(array: np.ndarray, code: str, text: str) -> Argument:
    if dtypes.name_of(array.dtype) not in dtypes.NAMES:
        raise LoadModuleError(
            message=f"Its dtype {array.dtype} is not one that JAX computes with.",
            where=text,
        )
    return Argument(array, code, _IMPORTS)
