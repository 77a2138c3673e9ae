"""A call while it is being written: its arguments as rows, and the texts they make.

Plain data and functions, no Qt. The run panel shows the rows in a table; what they
say together becomes the `inputs` and `statics` of a `Call`. What an input means is
decided in the model; here only what cannot be meant is found at once.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from inspector.engine.messages.calling import CallForm, CallParameter
from inspector.variables import dtypes

GENERATORS = (
    "ones", "zeros", "normal(0)", "uniform(0)", "integers(0, 10, 0)", "arange",
)  # fmt: skip
"""What fills a shape, each with the numbers that it begins with."""

_FILLED = re.compile(
    r"(?P<shape>(?:[A-Za-z]\w*|key<\w+>)\s*\[[^\[\]]*\])\s*(?::\s*(?P<fill>.*))?",
    re.DOTALL,
)
_SHAPE = re.compile(r"(?P<dtype>[A-Za-z]\w*|key<\w+>)\s*\[(?P<shape>[\d\s,]*)\]")
_SHORT = re.compile(r"b?f\d+(_\w+)?|u?i\d+|c\d+")
_FILE = re.compile(r".+\.(npy|npz|png|jpe?g|gif|bmp|webp|tiff?)(:.+)?", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf|nan")
_NAMED = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<rest>.*)", re.DOTALL)
_LITERAL = re.compile(r"Literal\[(?P<values>[^\[\]]*)\]")
_WORDS = frozenset({"null", "None", "true", "True", "false", "False"})
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_BOOLS = ("false", "true")


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call.

    Attributes:
        name: Its parameter; empty for one more input by position.
        text: What it is, without what fills it; empty leaves it out.
        fill: What fills its shape; empty for ones, and where nothing is filled.
        is_static: Whether it is a static argument; its text is a plain value then.
        by_keyword: Whether it can be given by keyword alone.
        is_required: Whether it has to be given.
        default: Its default as text.
        choices: Values that it can have, when they are known.
    """

    name: str
    text: str = ""
    fill: str = ""
    is_static: bool = False
    by_keyword: bool = False
    is_required: bool = False
    default: str = ""
    choices: tuple[str, ...] = ()

    @property
    def takes_fill(self) -> bool:
        """Whether it is a shape, which something fills."""
        return not self.is_static and _SHAPE.fullmatch(self.text.strip()) is not None

    @property
    def is_bool(self) -> bool:
        """Whether it is true or false."""
        return self.choices == _BOOLS

    @property
    def shown(self) -> str:
        """Its text; what is in force when it has none."""
        if self.text or not self.default:
            return self.text
        return f"{self.default.lower() if self.is_bool else self.default} (default)"

    def whole(self) -> str:
        """Returns text and fill as one, as a `Call` takes it."""
        if self.takes_fill and self.fill and self.fill != "ones":
            return f"{self.text.strip()}:{self.fill.strip()}"
        return self.text.strip()


def arguments_of(
    form: CallForm,
    inputs: Iterable[str],
    statics: Iterable[tuple[str, str]] = (),
) -> tuple[Argument, ...]:
    """Returns the rows of a call.

    Args:
        form: How the method is called.
        inputs: Inputs to show, as in `Call.inputs`.
        statics: Static arguments to show, as in `Call.statics`.
    """
    by_place, by_name = _sorted(form, inputs)
    given = dict(statics)
    flag = form.mode.flag if form.mode.where == "argument" else ""
    rows: list[Argument] = []
    places = list(by_place)
    for parameter in form.parameters:
        text = "" if parameter.keyword_only or not places else places.pop(0)
        if parameter.name == flag:
            continue
        text = by_name.pop(parameter.name, text)
        row = _row(parameter)
        if row.is_static:
            stored = given.pop(parameter.name, "")
            rows.append(replace(row, text=_plain(stored) if stored else text))
        else:
            rows.append(with_text(row, text))
    rows.extend(with_text(Argument(""), text) for text in places)
    rows.extend(
        with_text(Argument(name, by_keyword=True), text)
        for name, text in by_name.items()
    )
    return tuple(rows)


def takes_more(form: CallForm) -> bool:
    """Returns whether a method takes any number of inputs by position."""
    return re.search(r"(?<!\*)\*[A-Za-z_]", form.signature) is not None


def inputs_of(rows: Sequence[Argument], form: CallForm) -> tuple[str, ...]:
    """Returns the inputs of a call, as `Call.inputs`.

    An input behind a gap (an argument that is left out, or a static one) is given
    by keyword, for its place would be another one.
    """
    places = [one.name for one in form.parameters if not one.keyword_only]
    found: list[str] = []
    expected = 0
    for row in rows:
        text = row.whole()
        if row.is_static or not text:
            continue
        in_place = expected < len(places) and places[expected] == row.name
        if not row.name or (in_place and not row.by_keyword):
            found.append(text)
            expected += 1
        else:
            found.append(f"{row.name}={text}")
    return tuple(found)


def statics_of(rows: Iterable[Argument]) -> tuple[tuple[str, str], ...]:
    """Returns the static arguments of a call, as `Call.statics`."""
    return tuple(
        (row.name, as_json(row.text.strip()))
        for row in rows
        if row.is_static and row.text.strip()
    )


def with_text(row: Argument, text: str) -> Argument:
    """Returns a row with another text; one that says what fills it is split."""
    match = _FILLED.fullmatch(text.strip())
    if match is None or row.is_static:
        return replace(row, text=text.strip())
    fill = match["fill"]
    shape = re.sub(r"\s+", "", match["shape"])
    return replace(row, text=shape, fill=row.fill if fill is None else fill.strip())


def problem_of(row: Argument) -> str:
    """Returns why a row cannot be meant, a sentence; empty when it may be."""
    text = row.text.strip()
    name = row.name or "This input"
    if not text:
        return f"{name} has to be given." if row.is_required else ""
    if row.takes_fill:
        return _shape_problem(text, name)
    if row.is_static or _is_plain(text):
        return ""
    if text[0] in _CLOSING:
        whole = text.endswith(_CLOSING[text[0]]) and _is_balanced(text)
        return "" if whole else f"A bracket of {name} is not closed: {text}"
    return (
        f"“{text}” is no input. Write a shape (float32[8,28,28,1]), a file"
        " (x.npy, x.npz:name, a picture), a number, or these in {…}, […] or (…)."
    )


def as_json(text: str) -> str:
    """Returns a plain value as JSON; text that is no other value is a string."""
    try:
        json.loads(text)
    except ValueError:
        pass
    else:
        return text
    try:
        return json.dumps(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return json.dumps(text, ensure_ascii=False)


def _plain(stored: str) -> str:
    """Returns JSON as a person types it: strings without quotes where they may."""
    try:
        value = json.loads(stored)
    except ValueError:
        return stored
    if isinstance(value, str) and as_json(value) == json.dumps(value):
        return value
    return stored


def _sorted(
    form: CallForm, inputs: Iterable[str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Returns the inputs by position, and those by keyword."""
    by_place, by_name = [], {}
    for text in inputs:
        match = _NAMED.fullmatch(text)
        if match is None:
            by_place.append(text)
        else:
            by_name[match["name"]] = match["rest"]
    most = sum(not one.keyword_only for one in form.parameters)
    fitting = by_place if takes_more(form) else by_place[:most]
    return tuple(fitting), by_name


def _row(parameter: CallParameter) -> Argument:
    return Argument(
        parameter.name,
        is_static=parameter.static,
        by_keyword=parameter.keyword_only,
        is_required=parameter.required,
        default=parameter.default,
        choices=_choices(parameter) if parameter.static else (),
    )


def _choices(parameter: CallParameter) -> tuple[str, ...]:
    if parameter.default in {"True", "False"} or parameter.hint == "bool":
        return _BOOLS
    match = _LITERAL.search(parameter.hint)
    if match is None:
        return ()
    try:
        values = ast.literal_eval(f"({match['values']},)")
    except (ValueError, SyntaxError):
        return ()
    return tuple(_plain(json.dumps(value)) for value in values)


def _shape_problem(text: str, name: str) -> str:
    match = _SHAPE.fullmatch(text)
    assert match is not None  # the caller has looked
    dtype = match["dtype"]
    if dtype in dtypes.NAMES or dtype.startswith("key") or _SHORT.fullmatch(dtype):
        return ""
    return f"“{dtype}” of {name} is no dtype; one is float32, another int32."


def _is_plain(text: str) -> bool:
    """Returns whether a text is a number, a word such as None, or a file."""
    known = text in _WORDS or text.startswith('"')
    return known or any(p.fullmatch(text) for p in (_NUMBER, _FILE))


def _is_balanced(text: str) -> bool:
    waiting: list[str] = []
    for sign in text:
        if sign in _CLOSING:
            waiting.append(_CLOSING[sign])
        elif sign in _CLOSING.values() and (not waiting or waiting.pop() != sign):
            return False
    return not waiting
