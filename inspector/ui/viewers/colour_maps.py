"""Colour maps for pictures of arrays: perceptually even, made from their definition.

Owns the maps and how numbers become colours; called on the window's thread by the
picture and its colour bar. Plain numpy: no Qt, so that it is tested without one.

The maps are straight paths in OKLab (Björn Ottosson, 2020), a colour space in which
equal steps look equally large, so nothing in a picture is an edge of the map alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEVELS = 255
"""Colours of a map; odd, so that zero has a colour of its own in the middle."""

NAN_COLOUR = (0, 158, 55)
"""Green: no map contains one (a test measures the distance)."""

INF_COLOUR = (255, 0, 220)
"""Magenta, for both infinities."""

_RED, _BLUE = np.deg2rad(29.0), np.deg2rad(262.0)
_CENTRE_LIGHTNESS, _END_LIGHTNESS, _END_CHROMA = 0.965, 0.47, 0.175

_OKLAB_TO_LMS = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
_LMS_TO_RGB = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)
_SRGB_KNEE = 0.0031308


def oklab_to_srgb(colours: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Converts OKLab to 8-bit sRGB.

    Args:
        colours: Shape ``(n, 3)``: lightness from 0 to 1, then a and b.

    Returns:
        Shape ``(n, 3)``; what lies outside sRGB is clipped.
    """
    linear = ((colours @ _OKLAB_TO_LMS.T) ** 3) @ _LMS_TO_RGB.T
    linear = np.clip(linear, 0.0, 1.0)
    curved = np.where(
        linear <= _SRGB_KNEE, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055
    )
    colours_8bit: NDArray[np.uint8] = np.rint(curved * 255).astype(np.uint8)
    return colours_8bit


def _arm(position: NDArray[np.float64], hue: float) -> NDArray[np.float64]:
    """The OKLab path from the light centre (0) to a saturated end (1)."""
    lightness = _CENTRE_LIGHTNESS + position * (_END_LIGHTNESS - _CENTRE_LIGHTNESS)
    chroma = position * _END_CHROMA
    return np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=1)


def diverging() -> NDArray[np.uint8]:
    """Returns blue, light grey, red: shape ``(LEVELS, 3)``, zero in the middle."""
    half = LEVELS // 2
    position = np.linspace(0.0, 1.0, half + 1)
    blue = _arm(position[::-1], _BLUE)
    return oklab_to_srgb(np.concatenate([blue, _arm(position[1:], _RED)]))


def sequential() -> NDArray[np.uint8]:
    """Returns light to dark blue, for magnitudes: shape ``(LEVELS, 3)``."""
    position = np.linspace(0.0, 1.0, LEVELS)
    lightness = 0.975 - 0.70 * position
    # Dark and light blues hold little chroma in sRGB; the bow stays inside of it.
    chroma = 0.16 * np.sin(np.pi * (0.06 + 0.78 * position)) * np.sqrt(position)
    hue = _BLUE
    return oklab_to_srgb(
        np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=1)
    )


@dataclass(frozen=True, slots=True)
class Scale:
    """How numbers become colours.

    Attributes:
        low: Number of the first colour.
        high: Number of the last colour; never below ``low``.
        signed: Whether zero is the middle of a diverging map.
    """

    low: float
    high: float
    signed: bool

    @property
    def colours(self) -> NDArray[np.uint8]:
        """The map, shape ``(LEVELS, 3)``."""
        return diverging() if self.signed else sequential()


def scale_for(low: float | None, high: float | None) -> Scale:
    """Chooses a scale for data between two finite numbers.

    Data with negative numbers gets the diverging map, centred at zero; magnitudes
    get the sequential one, from zero when zero is near enough to matter.

    Args:
        low: Smallest finite number, None when there is none.
        high: Largest finite number, None when there is none.
    """
    if low is None or high is None:
        return Scale(0.0, 1.0, signed=False)
    if low < 0:
        limit = max(abs(low), abs(high))
        return Scale(-limit, limit, signed=True)
    if low == high:
        return Scale(0.0, high or 1.0, signed=False)
    # 0.99 … 1.01 would be one colour on a scale that starts at zero.
    start = 0.0 if low < (high - low) else low
    return Scale(start, high, signed=False)


def colourise(data: NDArray[np.float32], scale: Scale) -> NDArray[np.uint8]:
    """Turns numbers into pixels.

    Args:
        data: Shape ``(rows, columns)``.
        scale: As `scale_for` chose it.

    Returns:
        Shape ``(rows, columns, 4)``, a fresh C-contiguous copy in the byte order of
        ``QImage.Format.Format_RGBX8888``.
    """
    span = scale.high - scale.low
    with np.errstate(invalid="ignore", over="ignore"):
        share = (data.astype(np.float64) - scale.low) / (span or 1.0)
    finite = np.isfinite(data)
    level = np.rint(np.where(finite, np.clip(share, 0, 1), 0) * (LEVELS - 1))
    pixels = np.full((*data.shape, 4), 255, np.uint8)
    pixels[..., :3] = scale.colours[level.astype(np.intp)]
    pixels[np.isnan(data), :3] = NAN_COLOUR
    pixels[np.isinf(data), :3] = INF_COLOUR
    return pixels
