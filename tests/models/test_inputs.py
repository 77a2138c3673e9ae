"""The texts of inputs."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest

from inspector.errors import LoadModuleError, UsageError
from inspector.models.inputs import concrete, parse_input

HERE = Path()

SHAPES = {
    "float32[8,28,28,1]": ("", (8, 28, 28, 1), "float32"),
    "int32[]": ("", (), "int32"),
    "x=f32[2, 3]": ("x", (2, 3), "float32"),
    "bf16[4,]": ("", (4,), "bfloat16"),
    "bool[0,2]": ("", (0, 2), "bool"),
    "u8[1]": ("", (1,), "uint8"),
    "c64[1]": ("", (1,), "complex64"),
    "f8_e4m3fn[2]": ("", (2,), "float8_e4m3fn"),
    "key=key<fry>[]": ("key", (), "key<fry>"),
    "key<rbg>[3]": ("", (3,), "key<rbg>"),
    "float64[2]": ("", (2,), "float32"),
}


@pytest.mark.parametrize("text", SHAPES)
def test_shape(text: str) -> None:
    keyword, shape, dtype = SHAPES[text]
    found = parse_input(text, HERE)
    assert isinstance(found.value, jax.ShapeDtypeStruct)
    assert (found.keyword, found.value.shape, str(found.value.dtype)) == (
        keyword,
        shape,
        dtype,
    )
    made = concrete(found.value)
    shown = eval(found.code, {"jax": jax})
    assert (made.shape, str(made.dtype)) == (shape, dtype)
    assert (shown.shape, str(shown.dtype)) == (shape, dtype)


WRONG = {
    "float31[2]": "float32",
    "float32[a]": "float32[8,28,28,1]",
    "float32[-1]": "float32[8,28,28,1]",
    "float32": "A shape has brackets",
    "8,28,28,1": "A shape has brackets",
    "": "A shape has brackets",
    "picture.png": "A shape has brackets",
}


@pytest.mark.parametrize("text", WRONG)
def test_text_that_is_no_input(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_input(text, HERE)
    assert WRONG[text] in caught.value.hint


def test_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x=1.npy", np.arange(3))
    np.savez(tmp_path / "two.npz", one=np.ones(2), two=np.zeros(3, "int8"))
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "broken.npz").write_bytes(b"PK\x03\x04 nothing")
    plain = parse_input("x=1.npy", tmp_path)
    assert plain.keyword == ""
    assert np.asarray(plain.value).tolist() == [0, 1, 2]
    member = parse_input("y=two.npz:two", tmp_path)
    assert (member.keyword, member.value.shape, member.value.dtype) == (
        "y",
        (3,),
        "int8",
    )
    for text, message in (
        ("two.npz", "Which of its arrays"),
        ("two.npz:tow", "There is no “tow”"),
        ("objects.npy", "cannot read"),
        ("broken.npz", "cannot read"),
        ("absent.npy", "no such file"),
    ):
        with pytest.raises(LoadModuleError, match=message) as caught:
            parse_input(text, tmp_path)
        assert str(tmp_path) in caught.value.where
    assert "one, two" in _hint("two.npz", tmp_path)


def _hint(text: str, folder: Path) -> str:
    with pytest.raises(LoadModuleError) as caught:
        parse_input(text, folder)
    return caught.value.hint
