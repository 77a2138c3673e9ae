"""Decodes a picture into an input of a run.

A handler of the reader, on one of its worker threads, because pictures are foreign
files. Only formats that are decoded without another program are opened, and none with
more pixels than a picture has.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from inspector.engine.connection_job import Job
from inspector.engine.messages.envelope import Done
from inspector.engine.messages.reading import DecodeImage
from inspector.errors import ReadFileError, UsageError, WriteFileError
from inspector.formats.checkpoint import stop_if
from inspector.variables import dtypes

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP")
"""Formats that are opened."""

PIXELS_LIMIT = 64 << 20
"""Most pixels of a picture, and of what it is resized to."""

BYTES_LIMIT = 1 << 30
"""Most bytes of the array."""

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}
_OWN_CHANNELS = 3
_PLANE = 2
_LARGEST = 255


def decode_image(body: DecodeImage, job: Job) -> Done:
    """Writes a picture as an array; a ``.npy`` file, whole or not at all.

    Raises:
        UsageError: The shape or dtype is none of a picture's.
        ReadFileError: It is no picture, damaged, or too large.
        WriteFileError: The array cannot be written.
        CancelledError: The request was cancelled.
    """
    shape = _checked(body)
    picture = _decode(Path(body.path), shape)
    stop_if(job.is_cancelled)
    pixels = _numbers(np.asarray(picture), body.dtype)
    if not shape:
        shape = (1, *pixels.shape)
    core = pixels.reshape(shape[-3:] if len(shape) > _PLANE else shape)
    _save(np.broadcast_to(core, shape), Path(body.out))
    return Done()


def _checked(body: DecodeImage) -> tuple[int, ...]:
    """Returns the wanted shape.

    Raises:
        UsageError: It cannot be filled with a picture, or the dtype cannot.
    """
    shape = body.shape
    if body.dtype not in dtypes.NAMES or not _holds_pixels(body.dtype):
        raise UsageError(
            message=f"A picture cannot become {body.dtype}.",
            where=body.path,
            hint="Choose a floating dtype, uint8, or an integer of 16 bits or more.",
        )
    channels_fit = len(shape) <= _PLANE or shape[-1] in _MODES
    if (shape and len(shape) < _PLANE) or not channels_fit or 0 in shape:
        raise UsageError(
            message=f"The input has shape {list(shape)}, which is none of a picture.",
            where=body.path,
            hint="Pictures are […, height, width, channels] with 1, 3 or 4 channels, "
            "or [height, width].",
        )
    nbytes = math.prod(shape) * dtypes.itemsize(body.dtype)
    height, width = shape[-3:-1] if len(shape) > _PLANE else (shape or (0, 0))
    if nbytes > BYTES_LIMIT or height * width > PIXELS_LIMIT:
        raise UsageError(
            message=f"An input of shape {list(shape)} is too large for a picture.",
            where=body.path,
            hint="Choose a smaller shape, or give the input as a .npy file.",
        )
    return shape


def _holds_pixels(dtype: str) -> bool:
    kind = dtypes.to_numpy(dtype)
    if dtype.startswith(("float", "bfloat")):
        return True
    return kind.kind in "iu" and np.iinfo(kind).max >= _LARGEST


def _decode(path: Path, shape: tuple[int, ...]) -> Image.Image:
    """Returns the picture upright, in its channels and size."""
    channels = shape[-1] if len(shape) > _PLANE else 1 if shape else _OWN_CHANNELS
    try:
        with warnings.catch_warnings():
            # Of a size that our own bound allows, and of tags that do not matter.
            warnings.simplefilter("ignore")
            with Image.open(path, formats=FORMATS) as opened:
                _check_size(path, opened.size)
                upright = ImageOps.exif_transpose(opened)
                picture = _eight_bits(upright).convert(_MODES[channels])
    except UnidentifiedImageError as error:
        raise ReadFileError(
            message="It is no picture that can be read.",
            where=str(path),
            hint=f"Known are {', '.join(FORMATS)}.",
        ) from error
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        why = getattr(error, "strerror", "") or str(error)
        raise ReadFileError(
            message=f"The picture cannot be read: {why}",
            where=str(path),
            hint="Open it in another program and save it again.",
        ) from error
    if not shape:
        return picture
    height, width = shape[-3:-1] if len(shape) > _PLANE else shape
    if picture.size == (width, height):
        return picture
    return picture.resize((width, height), Image.Resampling.BILINEAR)


def _check_size(path: Path, size: tuple[int, int]) -> None:
    if size[0] * size[1] > PIXELS_LIMIT:
        raise ReadFileError(
            message=f"The picture has {size[0]:,} × {size[1]:,} pixels, the most are"
            f" {PIXELS_LIMIT:,}.",
            where=str(path),
            hint="Make it smaller, or give the input as a .npy file.",
        )


def _eight_bits(picture: Image.Image) -> Image.Image:
    """Scales 16-bit grey values, which a conversion alone would clip."""
    if not picture.mode.startswith("I"):
        return picture
    grey = np.asarray(picture).astype(np.float64) / 257
    return Image.fromarray(np.clip(np.rint(grey), 0, _LARGEST).astype(np.uint8))


def _numbers(pixels: np.ndarray, dtype: str) -> np.ndarray:
    if dtype.startswith(("float", "bfloat")):
        scaled: np.ndarray = (pixels.astype(np.float32) / np.float32(_LARGEST)).astype(
            dtypes.to_numpy(dtype)
        )
        return scaled
    return pixels.astype(dtypes.to_numpy(dtype))


def _save(array: np.ndarray, out: Path) -> None:
    part = out.with_name(f"{out.name}.part")
    try:
        with part.open("wb") as file:
            np.save(file, array, allow_pickle=False)
        part.replace(out)
    except OSError as error:
        raise WriteFileError(
            message=f"The picture's numbers cannot be written: {error.strerror}",
            where=str(out),
            hint="Free space in the state folder, or choose another one.",
        ) from error
    finally:
        part.unlink(missing_ok=True)
