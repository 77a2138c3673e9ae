"""The texts of inputs."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest

from inspector.errors import InspectorError, LoadModuleError, UsageError
from inspector.models.inputs import (
    abstract_leaves,
    concrete,
    made,
    parse_input,
    with_leaves,
)

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
    "float32[2]:ones": ("", (2,), "float32"),
    # Values of init hardly ever depend on the picture, its shape always counts.
    "float32[1,4,4,3]:cat.png": ("", (1, 4, 4, 3), "float32"),
}


def shown(code: str) -> object:
    """Returns what the shown expression makes."""
    value: object = eval(code, {"jax": jax, "np": np})
    return value


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
    for array in (concrete(found.value), shown(found.code)):
        assert isinstance(array, jax.Array)
        assert (array.shape, str(array.dtype)) == (shape, dtype)


GENERATED = (
    "f32[2,3]:zeros",
    "f32[2,3]:normal(4)",
    "f32[2,3]:normal",
    "bf16[5]:normal(1)",
    "c64[2]:normal(1)",
    "f8_e4m3fn[3]:normal(2)",
    "f32[2]:uniform(7)",
    "f16[2] : uniform( 7 )",
    "int32[2,8]:integers(0, 100, 3)",
    "int32[4]:integers(-5, 5)",
    "u8[9]:integers(0,256,1)",
    "bool[9]:integers(0,2,1)",
    "i4[3]:integers(-8,8,0)",
    "f32[3]:integers(0,3)",
    "int32[2,3]:arange",
    "f32[4]:arange",
    "bool[4]:arange",
    "key<fry>[]:seed(3)",
    "key<rbg>[2]:seed(3)",
)


@pytest.mark.parametrize("text", GENERATED)
def test_generator_gives_what_its_code_gives(text: str) -> None:
    found = parse_input(text, HERE)
    bare = parse_input(text.partition(":")[0].strip(), HERE).value
    again = shown(found.code)
    assert isinstance(found.value, jax.Array)
    assert isinstance(again, jax.Array)
    assert (found.value.shape, found.value.dtype) == (bare.shape, bare.dtype)
    assert again.dtype == found.value.dtype
    if jax.numpy.issubdtype(again.dtype, jax.dtypes.prng_key):
        again, value = jax.random.key_data(again), jax.random.key_data(found.value)
    else:
        value = found.value
    assert np.asarray(again).tobytes() == np.asarray(value).tobytes()
    assert found.imports == ("import jax",)


def test_generators_are_those_of_jax() -> None:
    normal = jax.random.normal(jax.random.key(4), (2, 3), "float32")
    made_ = parse_input("f32[2,3]:normal(4)", HERE).value
    assert np.array_equal(made_, normal)
    integers = parse_input("u8[99]:integers(3,6,1)", HERE).value
    assert set(np.asarray(integers).tolist()) == {3, 4, 5}
    flags = parse_input("bool[99]:integers(0,2,1)", HERE).value
    assert set(np.asarray(flags).tolist()) == {False, True}
    assert np.asarray(parse_input("int32[2,3]:arange", HERE).value).tolist() == [
        [0, 1, 2],
        [3, 4, 5],
    ]


WRONG = {
    "float31[2]": "float32",
    "float32[a]": "float32[8,28,28,1]",
    "float32[-1]": "float32[8,28,28,1]",
    "float32": "A shape has brackets",
    "8,28,28,1": "A shape has brackets",
    "": "A shape has brackets",
    "float32[2]:nromal(0)": "Did you mean normal?",
    "float32[2]:normal(0,1)": ":normal(SEED)",
    "float32[2]:normal(0.5)": ":normal(SEED)",
    "int32[2]:normal(0)": ":integers(LOW, HIGH, SEED)",
    "int32[2]:integers": ":integers(LOW, HIGH, SEED)",
    "int32[2]:integers(3,3)": ":integers(LOW, HIGH, SEED)",
    "u8[2]:integers(0,300)": ":integers(LOW, HIGH, SEED)",
    "key<fry>[]:normal(0)": "key<fry>[]:seed(3)",
    "[float32[2]": "Nested inputs",
    "{float32[2]}": '{"name": float32[3]',
    '{"a" b: float32[2]}': "Keys are texts in quotes",
    "(float32[2], [int32[1])]": "Nested inputs",
    "{a: float32[2], 3: int32[1]}": "",
}


@pytest.mark.parametrize("text", WRONG)
def test_text_that_is_no_input(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_input(text, HERE, {})
    assert WRONG[text] in caught.value.hint


def test_nested() -> None:
    text = '{"a": float32[3]:zeros, b: (int32[2], [null, 0.5, true,]), c: (f32[1],)}'
    found = parse_input(f"batch={text}", HERE)
    assert found.keyword == "batch"
    assert found.text == text
    assert list(found.value) == ["a", "b", "c"]
    assert np.asarray(found.value["a"]).tolist() == [0, 0, 0]
    assert found.value["b"][1] == [None, 0.5, True]
    assert isinstance(found.value["b"], tuple)
    assert isinstance(found.value["c"], tuple)
    structs = abstract_leaves(found.value)
    assert [str(one.dtype) for one in structs] == ["int32", "float32"]
    whole = made(found.value)
    structure: object = jax.tree.structure(whole)
    assert structure == jax.tree.structure(shown(found.code))
    leaves = zip(
        jax.tree.leaves(whole), jax.tree.leaves(shown(found.code)), strict=True
    )
    assert all(np.array_equal(left, right) for left, right in leaves)
    assert with_leaves([structs[0], 3], ["x"]) == ["x", 3]


def test_numbers() -> None:
    for text, value in (
        ("3", 3),
        ("-0.5", -0.5),
        ("1e3", 1000.0),
        ("inf", float("inf")),
        ("true", True),
        ("null", None),
        ("(0.5)", 0.5),
        ("()", ()),
        ("[]", []),
        ("{}", {}),
    ):
        found = parse_input(text, HERE)
        assert found.value == value
        assert type(found.value) is type(value)
        assert shown(found.code) == value


def test_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x=1.npy", np.arange(3))
    np.savez(tmp_path / "two.npz", one=np.ones(2), two=np.zeros(3, "int8"))
    np.save(tmp_path / "a, b].npy", np.arange(4))
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
    nested = parse_input('{"a": two.npz:one, "b": "a, b].npy"}', tmp_path)
    assert nested.value["a"].tolist() == [1, 1]
    assert nested.value["b"].tolist() == [0, 1, 2, 3]
    assert set(nested.imports) == {"import numpy as np"}
    for text, message in (
        ("two.npz", "Which of its arrays"),
        ("two.npz:tow", "There is no “tow”"),
        ("objects.npy", "cannot read"),
        ("broken.npz", "cannot read"),
        ("absent.npy", "no such file"),
    ):
        error = _error(text, tmp_path)
        assert message in error.message
        assert str(tmp_path) in error.where
    assert "one, two" in _error("two.npz", tmp_path).hint


def test_pictures(tmp_path: Path) -> None:
    file = tmp_path / "decoded.npy"
    np.save(file, np.zeros((1, 4, 4, 3), "float32"))
    listed = {
        "x=float32[1,4,4,3]:cat.png": str(file),
        "cat.JPG": str(file),
        "my cat.png": str(file),
    }
    for text in (
        "x=float32[1,4,4,3]:cat.png",
        "cat.JPG",
        "{a: cat.JPG, b: 3}",
        'float32[1,4,4,3]:"my cat.png"',
    ):
        found = parse_input(text, tmp_path, listed)
        array = jax.tree.leaves(found.value)[0]
        assert array.shape == (1, 4, 4, 3)
        assert str(file) in found.code
    half = np.full((1, 2, 2, 3), 0.5, jax.numpy.bfloat16)
    np.save(file, half)
    found = parse_input(
        "bf16[1,2,2,3]:cat.png", tmp_path, {"bf16[1,2,2,3]:cat.png": str(file)}
    )
    assert found.value.dtype == half.dtype
    assert np.array_equal(found.value, half)
    again = shown(found.code)
    assert isinstance(again, np.ndarray)
    assert again.dtype == half.dtype
    error = _error("dog.png", tmp_path)
    assert error.where == "dog.png"
    assert "inputs of a run" in error.hint


def _error(text: str, folder: Path) -> InspectorError:
    with pytest.raises(LoadModuleError) as caught:
        parse_input(text, folder, {})
    return caught.value
