"""Dtype names as JAX prints them, their sizes, and their numpy dtypes.

The names cover what numpy has, every dtype of ml_dtypes, and JAX's random keys
(``key<fry>``), whose stored form is uint32 words with one more axis. Every room and
process uses it. numpy and ml_dtypes are imported by the first call that needs them:
the window knows leaves and their bytes long before it sees a number, and its first
picture should not wait 0.15 s for them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

KEY_IMPLEMENTATIONS: dict[str, tuple[str, int]] = {
    "key<fry>": ("threefry2x32", 2),
    "key<rbg>": ("rbg", 4),
    "key<urbg>": ("unsafe_rbg", 4),
}
"""Name of a random key dtype -> (name of its implementation, words per key)."""

_PLAIN_SIZES = {
    "bool": 1,
    "complex128": 16,
    "complex64": 8,
    "float16": 2,
    "float32": 4,
    "float64": 8,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "int8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "uint8": 1,
}
"""Dtypes of numpy itself -> bytes of an element."""

_EXTENDED_SIZES = {
    "bfloat16": 2,
    "float8_e3m4": 1,
    "float8_e4m3": 1,
    "float8_e4m3b11fnuz": 1,
    "float8_e4m3fn": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
    "float6_e2m3fn": 1,
    "float6_e3m2fn": 1,
    "float4_e2m1fn": 1,
    "int2": 1,
    "int4": 1,
    "uint2": 1,
    "uint4": 1,
}
"""Dtypes of ml_dtypes 0.5 -> bytes of an element on the host."""

_SIZES = _PLAIN_SIZES | _EXTENDED_SIZES

NAMES: tuple[str, ...] = tuple(_SIZES)
"""Every dtype name of a plain array that this program knows."""


def is_key(name: str) -> bool:
    """Returns whether ``name`` is the dtype of JAX's typed random keys."""
    return name.startswith("key<")


@cache
def to_numpy(name: str) -> np.dtype:
    """Returns the numpy dtype of a name, native byte order.

    A random key's dtype gives ``uint32``, the dtype of its words.

    Raises:
        KeyError: The name is not one of `NAMES` and not a random key.
    """
    if name not in _SIZES and not is_key(name):
        raise KeyError(name)
    import ml_dtypes  # noqa: PLC0415 - the first picture does not wait for it
    import numpy as np  # noqa: PLC0415 - as above

    if is_key(name):
        return np.dtype(np.uint32)
    return np.dtype(getattr(ml_dtypes, name) if name in _EXTENDED_SIZES else name)


def name_of(dtype: np.dtype) -> str:
    """Returns JAX's name of a numpy dtype; byte order does not matter."""
    return str(dtype.name)


def words_of(name: str) -> int:
    """Returns the uint32 words of one random key of dtype ``name``, 2 if unknown."""
    return KEY_IMPLEMENTATIONS.get(name, ("", 2))[1]


def itemsize(name: str) -> int:
    """Returns the bytes of one element; a random key counts its words.

    Sub-byte dtypes count one byte, as numpy and JAX store them on the host.

    Raises:
        KeyError: The name is not one of `NAMES` and not a random key.
    """
    if is_key(name):
        return 4 * words_of(name)
    return _SIZES[name]
