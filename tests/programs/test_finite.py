"""NaN and Inf are found whatever the dtype, and large numbers are neither."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from inspector.programs.finite import bad_in, widened


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (np.array([1.0, np.nan], np.float32), (True, False)),
        (np.array([1.0, -np.inf], np.float32), (False, True)),
        (np.array([np.nan, np.inf], np.float64), (True, True)),
        (np.array([3e38, -3e38], np.float32), (False, False)),
        (np.array([1.0, np.nan], ml_dtypes.bfloat16), (True, False)),
        (np.array([1.0, np.inf], np.float16), (False, True)),
        (np.array([60000.0], np.float16), (False, False)),
        (np.array([1 + 1j, complex(0, np.nan)], np.complex64), (True, False)),
        (np.array([1, 2], np.int32), (False, False)),
        (np.zeros((0, 3), np.float32), (False, False)),
        (np.asfortranarray([[1.0, np.nan], [2.0, 3.0]]), (True, False)),
        (float("nan"), (True, False)),
        (float("inf"), (False, True)),
        (3, (False, False)),
        (True, (False, False)),
    ],
)
def test_bad_values(value: object, wanted: tuple[bool, bool]) -> None:
    assert bad_in(value) == wanted


def test_arrays_and_keys_of_jax() -> None:
    assert bad_in(jnp.array([jnp.nan, 1])) == (True, False)
    assert bad_in(jnp.array([1, 2], jnp.bfloat16)) == (False, False)
    assert bad_in(jax.random.key(0)) == (False, False)


def test_complex_numbers_become_pairs() -> None:
    found = widened(np.array([1 + 2j, 3 - 4j], np.complex64))
    assert found.tolist() == [[1.0, 2.0], [3.0, -4.0]]
