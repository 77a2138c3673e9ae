from __future__ import annotations

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from inspector.variables import dtypes


@pytest.mark.parametrize("name", dtypes.NAMES)
def test_sizes_are_those_of_numpy(name: str) -> None:
    assert dtypes.itemsize(name) == dtypes.to_numpy(name).itemsize


@pytest.mark.parametrize("name", dtypes.NAMES)
def test_names_there_and_back(name: str) -> None:
    assert dtypes.name_of(dtypes.to_numpy(name)) == name
    assert np.zeros(3, dtypes.to_numpy(name)).nbytes == 3 * dtypes.itemsize(name)


def test_extended_dtypes_are_those_of_ml_dtypes() -> None:
    assert dtypes.to_numpy("bfloat16") == np.dtype(ml_dtypes.bfloat16)
    assert dtypes.to_numpy("int4") == np.dtype(ml_dtypes.int4)


@pytest.mark.parametrize(("name", "words"), [("key<fry>", 2), ("key<rbg>", 4)])
def test_keys_count_their_words(name: str, words: int) -> None:
    assert dtypes.words_of(name) == words
    assert dtypes.itemsize(name) == 4 * words
    assert dtypes.to_numpy(name) == np.uint32


@pytest.mark.parametrize("name", ["float33", "", "object", "<U3", "int1000"])
def test_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(KeyError):
        dtypes.to_numpy(name)
    with pytest.raises(KeyError):
        dtypes.itemsize(name)


def test_leaves_need_no_numpy() -> None:
    program = (
        "import sys\n"
        "from inspector.variables.leaf import Kind, Leaf\n"
        "leaf = Leaf(Kind.ARRAY, (3, 5), 'bfloat16')\n"
        "assert leaf.nbytes == 30, leaf.nbytes\n"
        "print({'numpy', 'ml_dtypes'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
