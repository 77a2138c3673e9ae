"""Dtype names as JAX prints them, and their numpy dtypes.

The names cover what numpy has, every dtype of ml_dtypes, and JAX's random keys
(``key<fry>``), whose stored form is uint32 words with one more axis.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

KEY_IMPLEMENTATIONS: dict[str, tuple[str, int]] = {
    "key<fry>": ("threefry2x32", 2),
    "key<rbg>": ("rbg", 4),
    "key<urbg>": ("unsafe_rbg", 4),
}
"""Name of a random key dtype -> (name of its implementation, words per key)."""

_EXTENDED: dict[str, np.dtype] = {
    name: np.dtype(getattr(ml_dtypes, name))
    for name in (
        "bfloat16",
        "float8_e3m4",
        "float8_e4m3",
        "float8_e4m3b11fnuz",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
        "float6_e2m3fn",
        "float6_e3m2fn",
        "float4_e2m1fn",
        "int2",
        "int4",
        "uint2",
        "uint4",
    )
    if hasattr(ml_dtypes, name)
}

_PLAIN = frozenset(
    {
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    }
)

NAMES: tuple[str, ...] = (*sorted(_PLAIN), *_EXTENDED)
"""Every dtype name of a plain array that this program knows."""


def is_key(name: str) -> bool:
    """Returns whether ``name`` is the dtype of JAX's typed random keys."""
    return name.startswith("key<")


def to_numpy(name: str) -> np.dtype:
    """Returns the numpy dtype of a name, native byte order.

    A random key's dtype gives ``uint32``, the dtype of its words.

    Raises:
        KeyError: The name is not one of `NAMES` and not a random key.
    """
    if name in _EXTENDED:
        return _EXTENDED[name]
    if name in _PLAIN:
        return np.dtype(name)
    if is_key(name):
        return np.dtype(np.uint32)
    raise KeyError(name)


def name_of(dtype: np.dtype) -> str:
    """Returns JAX's name of a numpy dtype; byte order does not matter."""
    return str(dtype.name)


def words_of(name: str) -> int:
    """Returns the uint32 words of one random key of dtype ``name``, 2 if unknown."""
    return KEY_IMPLEMENTATIONS.get(name, ("", 2))[1]


def itemsize(name: str) -> int:
    """Returns the bytes of one element; a random key counts its words.

    Sub-byte dtypes count one byte, as numpy and JAX store them on the host.
    """
    if is_key(name):
        return 4 * words_of(name)
    return int(to_numpy(name).itemsize)
