"""Whether values hold a NaN or an Inf, found with one cheap pass over them.

Arrays on a CPU are looked at where they lie; on other devices a small program of
theirs looks. On the thread of the model process that runs the person's code.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

_EXACT = frozenset({"float32", "float64"})


def bad_in(value: Any) -> tuple[bool, bool]:
    """Returns whether a value holds a NaN, and whether it holds an Inf.

    Args:
        value: An array or a number; integers and random keys hold neither.
    """
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return _of_number(value) if isinstance(value, float | complex) else _NEITHER
    if not jax.numpy.issubdtype(dtype, jax.numpy.inexact) or not value.size:
        return _NEITHER
    if isinstance(value, jax.Array) and not _is_near(value):
        found = np.asarray(_on_device(value))
        return bool(found[0]), bool(found[1])
    return _on_host(np.asarray(value))


_NEITHER = (False, False)


def _of_number(value: complex) -> tuple[bool, bool]:
    return bool(np.isnan(value)), bool(np.isinf(value))


def _is_near(value: jax.Array) -> bool:
    return all(device.platform == "cpu" for device in value.devices())


@jax.jit
def _on_device(value: jax.Array) -> jax.Array:
    return jax.numpy.stack([jax.numpy.isnan(value).any(), jax.numpy.isinf(value).any()])


def _on_host(array: np.ndarray) -> tuple[bool, bool]:
    wide = widened(array)
    flat = wide.reshape(-1)
    # NaN and Inf survive the sum of squares, which takes no memory and one pass.
    # Values whose squares overflow are looked at again.
    with np.errstate(all="ignore"):
        total = np.dot(flat, flat)
    if np.isfinite(total):
        return _NEITHER
    return bool(np.isnan(flat).any()), bool(np.isinf(flat).any())


def widened(array: np.ndarray) -> np.ndarray:
    """Returns floating numbers that numpy computes with: small floats as float32.

    Complex numbers come as pairs on a new last axis.
    """
    if array.dtype.name in _EXACT:
        return array
    if np.iscomplexobj(array):
        whole = np.ascontiguousarray(array)
        return whole.view(whole.real.dtype).reshape(*array.shape, 2)
    return array.astype(np.float32)
