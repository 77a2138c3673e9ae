from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from inspector.ui.viewers import colour_maps as maps


def _lightness(colours: NDArray[np.uint8]) -> NDArray[np.float64]:
    """CIE L* of sRGB colours, which the maps were not made from."""
    share = colours / 255.0
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    return np.asarray(116 * np.cbrt(luminance) - 16)


def test_diverging_map_is_even_and_zero_is_in_the_middle() -> None:
    colours = maps.diverging()
    lightness = _lightness(colours)
    assert colours.shape == (255, 3)
    assert int(lightness.argmax()) == 127
    assert np.abs(np.diff(lightness)).max() < 1.2
    assert lightness[0] == pytest.approx(lightness[-1], abs=8)
    middle = colours[127].astype(int)
    assert middle.max() - middle.min() <= 4


def test_sequential_map_only_darkens() -> None:
    lightness = _lightness(maps.sequential())
    assert (np.diff(lightness) < 0.4).all()
    assert lightness[0] - lightness[-1] > 60


@pytest.mark.parametrize("colours", [maps.diverging(), maps.sequential()])
@pytest.mark.parametrize("special", [maps.NAN_COLOUR, maps.INF_COLOUR])
def test_no_map_contains_the_colours_of_nan_and_inf(
    colours: NDArray[np.uint8], special: tuple[int, int, int]
) -> None:
    distance = np.linalg.norm(colours.astype(float) - np.array(special), axis=1)
    assert distance.min() > 90


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.2, 0.5, maps.Scale(-0.5, 0.5, signed=True)),
        (0.0, 3.0, maps.Scale(0.0, 3.0, signed=False)),
        (0.9, 1.1, maps.Scale(0.9, 1.1, signed=False)),
        (2.0, 2.0, maps.Scale(0.0, 2.0, signed=False)),
        (0.0, 0.0, maps.Scale(0.0, 1.0, signed=False)),
        (None, None, maps.Scale(0.0, 1.0, signed=False)),
    ],
)
def test_scale_follows_the_sign(
    low: float | None, high: float | None, expected: maps.Scale
) -> None:
    assert maps.scale_for(low, high) == expected


def test_colourise_shows_zero_ends_and_what_is_not_finite() -> None:
    data = np.array([[-1, 0, 1], [np.nan, np.inf, -np.inf]], np.float32)
    pixels = maps.colourise(data, maps.scale_for(-1, 1))
    colours = maps.diverging()
    assert pixels[0, 0, :3].tolist() == colours[0].tolist()
    assert pixels[0, 1, :3].tolist() == colours[127].tolist()
    assert pixels[0, 2, :3].tolist() == colours[-1].tolist()
    assert tuple(pixels[1, 0, :3]) == maps.NAN_COLOUR
    assert tuple(pixels[1, 1, :3]) == tuple(pixels[1, 2, :3]) == maps.INF_COLOUR


def test_colourise_takes_the_whole_range_of_float32() -> None:
    largest = float(np.finfo(np.float32).max)
    data = np.array([[-largest, largest]], np.float32)
    pixels = maps.colourise(data, maps.scale_for(-largest, largest))
    assert pixels[0, 0, 2] > pixels[0, 0, 0]
    assert pixels[0, 1, 0] > pixels[0, 1, 2]
