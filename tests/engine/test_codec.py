from __future__ import annotations

import contextlib
import dataclasses
import math
import types
import typing
from enum import StrEnum
from typing import Any

import msgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.engine.codec import decode, encode, message_classes
from inspector.engine.messages import envelope
from inspector.engine.messages.envelope import Failure, Hello, Reply, Request
from inspector.engine.messages.reading import StatisticsReply
from inspector.errors import EngineError, ErrorInfo
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.plain import PlainTree
from inspector.variables.value import (
    UNSET,
    Cast,
    Filled,
    Initial,
    Literal,
    Patched,
    Raw,
    Stored,
    Value,
)

TEXTS = st.text(st.characters(), max_size=8)
INTEGERS = st.integers(-(2**200), 2**200)
FLOATS = st.floats(allow_nan=False)
PLAIN = st.one_of(
    st.none(), st.booleans(), INTEGERS, FLOATS, st.binary(max_size=8), TEXTS
)
PLAIN_OR_TUPLE = st.recursive(PLAIN, lambda inner: st.lists(inner).map(tuple))

ATOMS: dict[object, st.SearchStrategy[Any]] = {
    int: INTEGERS,
    float: FLOATS,
    bool: st.booleans(),
    str: TEXTS,
    bytes: st.binary(max_size=8),
    complex: st.complex_numbers(allow_nan=False),
    type(None): st.none(),
    object: PLAIN_OR_TUPLE,
}

LEAVES = st.sampled_from(
    [
        Leaf(Kind.ARRAY, (2, 3), "bfloat16", Stored("s1", ("params", 0))),
        Leaf(Kind.KEY, (), "key<fry>", Initial(("a",)), note="boxed"),
        Leaf(Kind.COMPLEX, value=Literal(1j)),
        Leaf(Kind.NONE, value=Literal(None)),
    ]
)
VALUES: st.SearchStrategy[Value] = st.sampled_from(
    [
        UNSET,
        Filled(2**70),
        Raw("/f", 3, (1,), "int4"),
        Cast(Patched(Stored("s", ()), (0,), (1,), b"\0"), "int8", "float32"),
    ]
)


def strategy_of(hint: object) -> st.SearchStrategy[Any]:
    """Returns values of a type as messages use them."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        if len(parts) == 2 and parts[1] is Ellipsis:
            return st.lists(strategy_of(parts[0]), max_size=3).map(tuple)
        return st.tuples(*(strategy_of(part) for part in parts))
    if origin in {types.UnionType, typing.Union}:
        if Stored in parts:
            return VALUES
        return st.one_of(*(strategy_of(part) for part in parts))
    return ATOMS[hint] if hint in ATOMS else strategy_of_class(hint)


def strategy_of_class(hint: object) -> st.SearchStrategy[Any]:
    assert isinstance(hint, type), hint
    if issubclass(hint, StrEnum):
        return st.sampled_from(list(hint))
    return LEAVES if hint is Leaf else instances_of(hint)


def instances_of(cls: type) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(cls)
    names = [field.name for field in dataclasses.fields(cls)]
    return st.builds(cls, **{name: strategy_of(hints[name]) for name in names})


@pytest.mark.parametrize("cls", message_classes(), ids=lambda cls: cls.__name__)
@settings(max_examples=8, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_every_message_comes_back_as_it_was(cls: type, data: st.DataObject) -> None:
    message = data.draw(instances_of(cls))
    back = decode(encode(message))
    assert type(back) is cls
    assert back == message


def test_no_class_has_two_numbers() -> None:
    assert len(set(message_classes())) == len(message_classes())
    assert all(dataclasses.is_dataclass(cls) for cls in message_classes())


def test_enums_stand_alone_in_their_fields() -> None:
    """An enum inside another type would come back as text; there is none."""

    def enums_inside(hint: object) -> bool:
        return any(
            (isinstance(part, type) and issubclass(part, StrEnum)) or enums_inside(part)
            for part in typing.get_args(hint)
        )

    hints = {
        (cls.__name__, name): hint
        for cls in message_classes()
        for name, hint in typing.get_type_hints(cls).items()
    }
    assert [where for where, hint in hints.items() if enums_inside(hint)] == []


def test_a_kind_comes_back_as_the_enum() -> None:
    leaf = decode(encode(Leaf(Kind.EMPTY_LIST)))
    assert isinstance(leaf, Leaf)
    assert leaf.kind is Kind.EMPTY_LIST


@pytest.mark.parametrize(
    "text", ["\udcff\udc80", "\ud800", "\udcc3" + "\udca9", "a\0b", "é漢😀", ""]
)
def test_text_that_is_no_utf8_survives(text: str) -> None:
    assert decode(encode(text)) == text


@pytest.mark.parametrize(
    "number",
    [2**63, 2**64, -(2**63) - 1, -(2**64), 2**1000, -(2**1000), 2**64 - 1, -(2**63)],
)
def test_integers_of_any_size(number: int) -> None:
    assert decode(encode((number,))) == (number,)


def test_numbers_that_are_not_finite() -> None:
    back = decode(encode((math.nan, math.inf, -math.inf, complex(math.nan, -0.0))))
    assert isinstance(back, tuple)
    assert math.isnan(back[0])
    assert back[1:3] == (math.inf, -math.inf)
    assert math.isnan(back[3].real)
    assert math.copysign(1, back[3].imag) == -1


def test_lists_come_back_as_tuples() -> None:
    assert decode(encode([1, [2, []]])) == (1, (2, ()))


def test_a_thousand_typed_numbers_on_one_leaf() -> None:
    value: Value = Stored("s1", ("a",))
    for index in range(5000):
        value = Patched(value, (index,), (1,), b"1234")
    value = Cast(value, "float32", "float16")
    back = decode(encode(Leaf(Kind.ARRAY, (9,), "float16", value)))
    assert isinstance(back, Leaf)
    layer = back.value
    assert isinstance(layer, Cast)
    assert layer.dtype == "float16"
    indices = []
    layer = layer.of
    while isinstance(layer, Patched):
        indices.append(layer.start[0])
        layer = layer.of
    assert indices == list(range(4999, -1, -1))
    assert layer == Stored("s1", ("a",))


def test_text_of_a_file_cannot_pass_for_a_message() -> None:
    forged = msgpack.packb(["Reply", 1, "body"])
    message = Reply(1, (forged, forged.decode("latin-1"), ("Reply", 1, 2)))
    assert decode(encode(message)) == message


def test_an_unknown_class_is_named() -> None:
    data = encode(Request(1, None)).replace(
        msgpack.packb(msgpack.ExtType(1, b"\0\0")),
        msgpack.packb(msgpack.ExtType(1, b"\xff\x7f")),
    )
    with pytest.raises(EngineError, match=r"unknown class 255\.127") as caught:
        decode(data)
    assert "same version" in caught.value.hint


def test_a_wrong_number_of_fields_is_named() -> None:
    # The envelopes are the first group.
    mark = msgpack.ExtType(1, bytes((0, envelope.CLASSES.index(Failure))))
    with pytest.raises(EngineError, match="Failure has 1 fields, expected 2"):
        decode(msgpack.packb([mark, 1]))


def test_an_unknown_kind_is_refused() -> None:
    data = encode(Leaf(Kind.OPAQUE)).replace(b"opaque", b"unique")
    with pytest.raises(EngineError, match="unique"):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        encode(Hello(1, "reader", 2, "3"))[:-1],
        encode(1) + b"\0",
        msgpack.packb({"a": 1}),
        msgpack.packb(msgpack.ExtType(99, b"")),
        msgpack.packb(msgpack.ExtType(3, b"short")),
        msgpack.packb([msgpack.ExtType(4, b"")]),
        msgpack.packb([msgpack.ExtType(4, b""), None, ["x"]]),
        b"\x91" * 100_000,
    ],
)
def test_what_is_no_message_is_an_error(data: bytes) -> None:
    with pytest.raises(EngineError):
        decode(data)


@given(st.binary(max_size=60))
def test_any_bytes_give_a_message_or_an_error(data: bytes) -> None:
    with contextlib.suppress(EngineError):
        decode(data)


@pytest.mark.parametrize("item", [object(), {1, 2}, Kind, ValueError("x")])
def test_what_cannot_be_sent_is_named(item: object) -> None:
    with pytest.raises(EngineError, match=type(item).__name__):
        encode(Reply(1, item))


def test_an_error_keeps_all_its_parts() -> None:
    error = ErrorInfo("ReadLeafError", "m", "w", "h", "t")
    assert decode(encode(Failure(7, error))) == Failure(7, error)


def test_statistics_keep_exact_integers() -> None:
    reply = StatisticsReply(3, -(2**63), 2**64 - 1, 0.5, None, 2**80, 1, 0, 0)
    back = decode(encode(reply))
    assert back == reply
    assert isinstance(back, StatisticsReply)
    assert type(back.total) is int


def test_a_tree_of_many_leaves() -> None:
    leaves = tuple(
        (("params", f"layer_{i}", "kernel", i), Leaf(Kind.INT, value=Literal(i)))
        for i in range(5000)
    )
    tree = PlainTree(leaves, ((("params",), "list"),))
    assert decode(encode(tree)) == tree
