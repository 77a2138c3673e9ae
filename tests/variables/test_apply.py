from __future__ import annotations

import numpy as np
import pytest

from inspector.errors import EditError, InspectorError, TransferError
from inspector.variables.apply import apply_edit, array_leaves, encode
from inspector.variables.edit import (
    CastLeaves,
    Delete,
    Edit,
    FillLeaves,
    Pair,
    Rename,
    SetNumbers,
    TakeValues,
    Transfer,
)
from inspector.variables.leaf import Kind, Leaf, Origin
from inspector.variables.path import TreePath, join
from inspector.variables.tree import Branch, Container, get
from inspector.variables.value import (
    Cast,
    Filled,
    Initial,
    Kept,
    Literal,
    Patched,
    Stored,
)
from tests.variables.edits import ONE_OF_EACH, START
from tests.variables.trees import tree

TRANSFER, RENAME, DELETE, CAST, FILL, SET, TAKE = ONE_OF_EACH
BIAS = ("params", "backbone", "bias")


def _leaf(node: Branch, *path: str | int) -> Leaf:
    leaf = get(node, path)
    assert isinstance(leaf, Leaf)
    return leaf


def test_transfer() -> None:
    after = apply_edit(START, TRANSFER)
    kernel = _leaf(after, "params", "backbone", "kernel")
    assert kernel.value == Stored("s1", ("params", "a"))
    assert kernel.origin is Origin.EXACT
    bias = _leaf(after, *BIAS)
    assert bias.value == Cast(Stored("s1", ("params", "b")), "bfloat16", "float32")
    assert (bias.dtype, bias.origin) == ("float32", Origin.CONVERTED)
    assert _leaf(after, "step").value == Literal(3)
    head = ("params", "head")
    assert get(after, head) is get(START, head)


def test_rename_keeps_the_place() -> None:
    after = apply_edit(START, RENAME)
    params = get(after, ("params",))
    assert isinstance(params, Branch)
    assert list(params.children) == ["backbone", "blocks", "classifier"]
    assert params.children["classifier"] is get(START, ("params", "head"))


def test_delete_moves_list_items_up() -> None:
    after = apply_edit(START, DELETE)
    blocks = get(after, ("params", "blocks"))
    assert isinstance(blocks, Branch)
    assert blocks.container is Container.LIST
    assert list(blocks.children) == [0]
    assert blocks.children[0] is get(START, ("params", "blocks", 1))
    assert get(after, ("step",)) is None
    empty = apply_edit(after, Delete((("params", "blocks", 0),)))
    assert _leaf(empty, "params", "blocks").kind is Kind.EMPTY_LIST


def test_delete_of_a_node_and_what_is_below() -> None:
    paths = (("params", "head", "kernel"), ("params", "head"), (*BIAS,))
    after = apply_edit(START, Delete(paths))
    assert get(after, ("params", "head")) is None
    assert get(after, BIAS) is None
    everything = Delete((("params",), ("step",)))
    assert not apply_edit(START, everything).children


def test_cast_and_fill() -> None:
    after = apply_edit(START, CAST)
    bias = _leaf(after, *BIAS)
    assert (bias.dtype, bias.value) == ("int8", Cast(Initial(BIAS), "float32", "int8"))
    assert bias.origin is Origin.INITIAL
    same = apply_edit(START, CastLeaves((BIAS,), "float32"))
    assert get(same, BIAS) is get(START, BIAS)
    filled = _leaf(apply_edit(START, FILL), "params", "head", "kernel")
    assert filled.value == Filled(0.5)
    assert filled.origin is Origin.EDITED


def test_numbers() -> None:
    after = _leaf(apply_edit(START, SET), *BIAS)
    assert after.value == Patched(Initial(BIAS), (1,), (1,), b"\0\0\0?")
    scale = ("params", "head", "scale")
    one = SetNumbers(scale, (), (), encode(np.array(2.0), "float32"), "float32")
    assert _leaf(apply_edit(START, one), *scale).value == Patched(
        Initial(scale), (), (), b"\0\0\0@"
    )


def test_values_of_a_run() -> None:
    after = apply_edit(START, TAKE)
    bias = _leaf(after, *BIAS)
    assert bias.value == Kept("ab" * 32, (3,), "float32")
    assert bias.origin is Origin.RUN
    key = _leaf(after, "cache", "key")
    assert (key.kind, key.variable, key.origin) == (Kind.KEY, "RngKey", Origin.RUN)
    assert _leaf(after, "step").value == Literal(8)
    assert list(after.children) == ["params", "step", "cache"]
    head = ("params", "head")
    assert get(after, head) is get(START, head)
    cast = apply_edit(after, CastLeaves((BIAS,), "bfloat16"))
    assert _leaf(cast, *BIAS).origin is Origin.RUN


def _taking(path: TreePath, shape: tuple[int, ...], dtype: str) -> TakeValues:
    leaf = Leaf(Kind.ARRAY, shape, dtype, Kept("ab" * 32, shape, dtype))
    return TakeValues(((path, leaf),), "Take 1 update of run 1")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            _taking(BIAS, (4,), "float32"),
            "the target has float32 [3], the run gave float32 [4]",
        ),
        (
            _taking(BIAS, (3,), "bfloat16"),
            "the target has float32 [3], the run gave bfloat16 [3]",
        ),
        (
            _taking(BIAS[:2], (3,), "float32"),
            "the target has a branch here, the run gave float32 [3]",
        ),
        (
            _taking((*BIAS, "below"), (3,), "float32"),
            "the run gave a leaf for which the target has no place",
        ),
        (
            _taking(("params", "blocks", 9, "w"), (3,), "float32"),
            "the run gave a leaf for which the target has no place",
        ),
    ],
)
def test_values_of_a_run_that_do_not_fit(edit: TakeValues, message: str) -> None:
    with pytest.raises(EditError) as caught:
        apply_edit(START, edit)
    assert caught.value.message == message
    assert caught.value.where == join(edit.values[0][0])


def test_encode_is_little_endian() -> None:
    assert encode(np.array([1, 2]), "int16") == b"\x01\0\x02\0"
    assert encode(np.array([1.0], ">f4"), "bfloat16") == b"\x80?"
    assert encode(np.array([1, -1]), "int4") == b"\x01\x0f"


def test_array_leaves() -> None:
    assert array_leaves(START, [("params", "head"), ("step",), BIAS]) == (
        ("params", "head", "kernel"),
        ("params", "head", "scale"),
        BIAS,
    )
    with pytest.raises(EditError, match="no such path"):
        array_leaves(START, [("nothing",)])


def test_casts_that_numpy_has_not() -> None:
    narrow = tree({"w": "float8_e3m4 2"})
    with pytest.raises(EditError, match="cannot be cast to float8_e8m0fnu") as caught:
        apply_edit(narrow, CastLeaves((("w",),), "float8_e8m0fnu"))
    assert (caught.value.where, caught.value.hint) == ("w", "Cast to float32 first.")


ODD = tree({"a": {"0": (1,)}, "key": "key<fry> "})


@pytest.mark.parametrize(
    ("edit", "where", "message", "hint"),
    [
        (
            FillLeaves((("params", "backbone", "kernle"),), 0),
            "params/backbone/kernle",
            "no such path",
            "Did you mean params/backbone/kernel?",
        ),
        (CastLeaves((("params",),), "int8"), "params", "found a branch", "leaves"),
        (CastLeaves((("step",),), "int8"), "step", "found Python int", "array"),
        (CastLeaves((BIAS,), "float31"), "", "“float31” is no dtype", "bfloat16"),
        (
            FillLeaves((("params", "head", "kernel"),), 1j),
            "params/head/kernel",
            "1j does not fit bfloat16: it is complex",
            "another number",
        ),
        (Rename((), "x"), "", "the root has no name", "below"),
        (Rename(("params", "haed"), "x"), "params/haed", "no such path", "params/head"),
        (
            Rename(("params", "head"), "blocks"),
            "params/head",
            "“blocks” exists",
            "another name",
        ),
        (
            Rename(("params", "blocks", 0), "x"),
            "params/blocks/0",
            "position in a list",
            "Delete",
        ),
        (Rename(("params", "head"), ""), "params/head", "at least one", "name"),
        (Delete(((),)), "", "the root cannot be deleted", "below"),
        (
            Delete((("params", "blocks", 3),)),
            "params/blocks/3",
            "no such path",
            "Below params/blocks are 0, 1, 2.",
        ),
        (
            SetNumbers(BIAS, (3,), (1,), bytes(4), "float32"),
            "params/backbone/bias",
            "float32[3], the block begins at [3] and has shape [1]",
            "within",
        ),
        (
            SetNumbers(BIAS, (0, 0), (1, 1), bytes(4), "float32"),
            "params/backbone/bias",
            "begins at [0, 0]",
            "within",
        ),
        (
            SetNumbers(BIAS, (0,), (2,), bytes(4), "float32"),
            "params/backbone/bias",
            "needs 8 bytes, 4 were given",
            "C order",
        ),
        (
            SetNumbers(BIAS, (0,), (1,), bytes(2), "float16"),
            "params/backbone/bias",
            "the leaf is float32[3], the numbers are float16",
            "Cast",
        ),
    ],
)
def test_edits_that_do_not_fit(edit: Edit, where: str, message: str, hint: str) -> None:
    with pytest.raises(EditError) as caught:
        apply_edit(START, edit)
    assert caught.value.where == where
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_number_and_its_text_are_one_name() -> None:
    mixed = Branch({0: Leaf(Kind.NONE), "a": Leaf(Kind.NONE)})
    with pytest.raises(EditError, match="“0” exists"):
        apply_edit(mixed, Rename(("a",), "0"))
    with pytest.raises(EditError, match="expected an array, found key<fry>"):
        apply_edit(ODD, FillLeaves((("key",),), 0))


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (Pair(("a",), BIAS, "exact", (4,), "float32", "float32"), "float32[4]"),
        (Pair(("a",), BIAS, "exact", (3,), "int8", "int8"), "gives int8[3]"),
        (Pair(("a",), BIAS, "swap", (3,), "float32", "float32"), "“swap”"),
        (Pair(("a",), ("params",), "exact"), "is a branch"),
        (Pair(("a",), ("params", "x"), "exact"), "no such leaf"),
    ],
)
def test_pairs_that_do_not_fit(pair: Pair, message: str) -> None:
    with pytest.raises(TransferError) as caught:
        apply_edit(START, Transfer("s1", (pair,)))
    assert message in caught.value.message
    assert caught.value.where == "/".join(map(str, pair.target))
    assert caught.value.hint


def test_one_target_is_filled_once() -> None:
    pair = Pair(("a",), BIAS, "exact", (3,), "float32", "float32")
    with pytest.raises(TransferError, match="two source leaves"):
        apply_edit(START, Transfer("s1", (pair, pair)))


def test_a_failed_edit_changes_nothing() -> None:
    before = repr(START)
    with pytest.raises(InspectorError):
        apply_edit(START, FillLeaves((BIAS, ("x",)), 0))
    assert repr(START) == before
