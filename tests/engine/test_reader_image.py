from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from inspector.engine import reader_image
from inspector.engine.messages.envelope import Done
from inspector.engine.messages.reading import DecodeImage
from inspector.engine.reader_image import decode_image
from inspector.errors import ReadFileError, UsageError
from tests.engine.readers import Asked

PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 4, 3) * 10


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "a.png"
    Image.fromarray(PIXELS).save(path)
    return path


def _decode(
    path: Path, shape: tuple[int, ...] = (), dtype: str = "float32"
) -> np.ndarray:
    out = path.with_suffix(".npy")
    assert decode_image(
        DecodeImage(str(path), shape, dtype, str(out)), Asked().job
    ) == (Done())
    assert not list(path.parent.glob("*.part"))
    found: np.ndarray = np.load(out, allow_pickle=False)
    return found


def test_its_own_size_as_a_batch_of_one(picture: Path) -> None:
    found = _decode(picture)
    assert found.shape == (1, 2, 4, 3)
    assert found.dtype == np.float32
    assert found[0].tolist() == (PIXELS.astype(np.float32) / np.float32(255)).tolist()


def test_integers_keep_their_values_and_leading_axes_repeat(picture: Path) -> None:
    found = _decode(picture, (2, 5, 2, 4, 3), "uint8")
    assert found.dtype == np.uint8
    assert (found == PIXELS).all()


def test_it_is_resized_and_takes_the_channels(picture: Path) -> None:
    with Image.open(picture) as opened:
        grey = np.asarray(opened.convert("L").resize((2, 6), Image.Resampling.BILINEAR))
    assert _decode(picture, (6, 2), "int32").tolist() == grey.tolist()
    assert _decode(picture, (1, 6, 2, 1), "int32")[0, :, :, 0].tolist() == grey.tolist()
    assert (_decode(picture, (1, 2, 4, 4), "int16")[..., 3] == 255).all()


def test_sixteen_bits_are_scaled(tmp_path: Path) -> None:
    path = tmp_path / "deep.png"
    Image.fromarray(np.array([[0, 257 * 9, 65535]], np.uint16)).save(path)
    assert _decode(path, (1, 3), "uint8").tolist() == [[0, 9, 255]]


@pytest.mark.parametrize(
    ("shape", "dtype", "message"),
    [
        ((3,), "float32", "which is none of a picture"),
        ((1, 2, 4, 7), "float32", "which is none of a picture"),
        ((1, 2, 4, 3), "int8", "A picture cannot become int8"),
        ((1, 2, 4, 3), "complex64", "A picture cannot become complex64"),
        ((9000, 9000), "float32", "is too large for a picture"),
    ],
)
def test_inputs_that_no_picture_fills(
    picture: Path, shape: tuple[int, ...], dtype: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        _decode(picture, shape, dtype)


def test_what_is_no_picture_is_refused(
    picture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "a.jpg"
    text.write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    with pytest.raises(ReadFileError, match="It is no picture that can be read"):
        _decode(text)
    cut = tmp_path / "cut.png"
    cut.write_bytes(picture.read_bytes()[:44])
    with pytest.raises(ReadFileError, match="The picture cannot be read"):
        _decode(cut)
    with pytest.raises(ReadFileError, match="The picture cannot be read: No such file"):
        _decode(tmp_path / "absent.png")
    monkeypatch.setattr(reader_image, "PIXELS_LIMIT", 7)
    with pytest.raises(ReadFileError, match="has 4 × 2 pixels, the most are 7"):
        _decode(picture)
