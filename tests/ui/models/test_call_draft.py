"""Rows of a call and the texts that they make, without a window."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inspector.engine.messages.calling import CallForm, CallParameter
from inspector.ui.models.call_draft import (
    Argument,
    arguments_of,
    as_json,
    inputs_of,
    problem_of,
    statics_of,
    takes_more,
    with_text,
)
from tests.ui.call_samples import FORM

TWO = CallForm(
    "linen",
    ("__call__",),
    "",
    (
        CallParameter("x", required=True),
        CallParameter("train", static=True, required=True),
        CallParameter("y", required=True),
    ),
    "(x, train, y)",
)
MANY = CallForm("linen", ("__call__",), "", (), "(*xs, **options)")


@pytest.mark.parametrize(
    "inputs",
    [
        ("float32[2,5]",),
        ("float32[2,5]:normal(0)", "mask=bool[2]"),
        ("x.npz:images",),
        ('{"a": float32[3], "b": (int32[2], x.npy)}',),
        ("float32[1,8,8,3]:cat.png",),
    ],
)
def test_inputs_come_back_as_they_were(inputs: tuple[str, ...]) -> None:
    assert inputs_of(arguments_of(FORM, inputs), FORM) == inputs


def test_statics_come_back_as_they_were() -> None:
    statics = (("causal", "false"), ("pool", '"max"'))
    rows = arguments_of(FORM, ("float32[2,5]",), statics)
    assert [row.text for row in rows if row.is_static] == ["false", "max"]
    assert statics_of(rows) == statics


def test_an_input_behind_a_static_argument_goes_by_keyword() -> None:
    rows = arguments_of(TWO, ("float32[1]",), (("train", "true"),))
    rows = (*rows[:2], replace(rows[2], text="int32[2]"))
    assert inputs_of(rows, TWO) == ("float32[1]", "y=int32[2]")


def test_any_number_of_inputs() -> None:
    assert takes_more(MANY)
    assert not takes_more(FORM)
    inputs = ("float32[1]", "float32[2]", "scale=0.5")
    rows = arguments_of(MANY, inputs)
    assert [row.name for row in rows] == ["", "", "scale"]
    assert inputs_of(rows, MANY) == inputs


def test_inputs_that_a_reloaded_method_no_longer_takes_are_left_out() -> None:
    rows = arguments_of(TWO, ("a.npy", "true", "b.npy", "c.npy"))
    assert [row.text for row in rows] == ["a.npy", "true", "b.npy"]


def test_a_shape_keeps_its_fill_when_it_is_written_anew() -> None:
    row = with_text(Argument("x"), "float32[2, 5]:normal(1)")
    assert (row.text, row.fill) == ("float32[2,5]", "normal(1)")
    assert with_text(row, "float32[3]").whole() == "float32[3]:normal(1)"
    assert with_text(row, "x.npy").whole() == "x.npy"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("true", "true"),
        ("True", "true"),
        ("None", "null"),
        ("3", "3"),
        ("(1, 2)", "[1, 2]"),
        ("max", '"max"'),
        ("'max'", '"max"'),
    ],
)
def test_plain_values_become_json(text: str, found: str) -> None:
    assert as_json(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "float32[]",
        "key<fry>[]",
        "bf16[2]",
        "x.npy",
        "0.5",
        "-inf",
        "None",
        "[1, (2, 3)]",
    ],
)
def test_what_can_be_meant(text: str) -> None:
    assert problem_of(with_text(Argument("x"), text)) == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "x has to be given."),
        ("abc", "“abc” is no input."),
        ("foo[3]", "“foo” of x is no dtype"),
        ("{[}", "A bracket of x is not closed: {[}"),
    ],
)
def test_what_cannot_be_meant(text: str, problem: str) -> None:
    row = with_text(Argument("x", is_required=True), text)
    assert problem_of(row).startswith(problem)
