"""Inputs from text: ``float32[8,28,28,1]:normal(0)``, ``x=…``, files, nested ones.

The forms of one input, of ``init`` and of every call:

- ``float32[8,28,28,1]``: ones of that shape and dtype; ``f32`` will do.
- ``float32[8,28,28,1]:GENERATOR`` with ``ones``, ``zeros``, ``normal(SEED)``,
  ``uniform(SEED)``, ``integers(LOW, HIGH, SEED)`` or ``arange``.
- ``key<fry>[]`` and ``key<fry>[]:seed(3)``: random keys.
- ``x.npy``, ``x.npz``, ``x.npz:NAME``: an array of a file.
- ``float32[1,224,224,3]:cat.png`` or ``cat.png``: a picture.
- ``0.5``, ``3``, ``true``, ``null``: a number, a truth value, None.
- ``{"a": float32[3], "b": (int32[2], x.npy)}``, ``[…]``, ``(…)``: nested.
- ``name=`` before any of these: passed by keyword.

On the thread of the model process that runs the person's code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax

from inspector.errors import UsageError
from inspector.models.input_files import EXAMPLE
from inspector.models.input_leaf import Place, concrete, parse_leaf
from inspector.models.names import Argument

__all__ = [
    "Input",
    "abstract_leaves",
    "concrete",
    "made",
    "parse_input",
    "texts_of",
    "with_leaves",
]

_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_CLOSING = {"{": "}", "[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a call.

    Attributes:
        keyword: Name it is passed by; empty for a positional one.
        value: A pytree whose leaves are ``ShapeDtypeStruct`` (ones), arrays, and
            Python numbers.
        code: Expression that makes it in a Python program.
        text: The part after the keyword, as the person wrote it.
        imports: Lines that the code needs.
    """

    keyword: str
    value: Any
    code: str
    text: str
    imports: tuple[str, ...] = ()


def parse_input(text: str, cwd: Path, images: Mapping[str, str] | None = None) -> Input:
    """Parses one input.

    Args:
        text: What the person wrote.
        cwd: Folder for relative paths.
        images: ``.npy`` file that the reader made, by text of the input (or of the
            leaf); None for ``init``, where a picture with a shape is that shape.

    Raises:
        UsageError: The text is none of the forms.
        LoadModuleError: The file or the array in it cannot be read.
    """
    keyword, rest = "", text.strip()
    named = _NAMED.fullmatch(rest)
    if named and not (cwd / rest).exists():
        keyword, rest = named[1], named[2].strip()
    found = _value(rest, Place(text, cwd, images, (text, text.strip(), rest)))
    return Input(keyword, found.value, found.code, rest, found.imports)


def _value(text: str, place: Place) -> Argument:
    if text[:1] not in _CLOSING:
        return parse_leaf(text, place)
    if len(text) == 1 or text[-1] != _CLOSING[text[0]]:
        raise _unbalanced(place)
    # Inside, only a leaf's own text tells one picture from another.
    inside = replace(place, names=())
    items = _split(text[1:-1], ",", place)
    trailing = len(items) > 1 and not items[-1]
    if not items[-1]:
        items.pop()
    if text[0] == "{":
        return _dict(items, inside)
    values = [_value(item, inside) for item in items]
    imports = tuple(line for one in values for line in one.imports)
    codes = ", ".join(one.code for one in values)
    if text[0] == "[":
        return Argument([one.value for one in values], f"[{codes}]", imports)
    if len(values) == 1 and not trailing:
        return values[0]
    code = f"({codes},)" if len(values) == 1 else f"({codes})"
    return Argument(tuple(one.value for one in values), code, imports)


def _dict(items: list[str], place: Place) -> Argument:
    values: dict[str | int, Argument] = {}
    for item in items:
        key, *rest = _split(item, ":", place)
        if not rest:
            raise UsageError(
                message=f"“{item}” in the input “{place.whole}” has no key.",
                where=place.whole,
                hint='Write {"name": float32[3], …}.',
            )
        # The rest may have a generator behind a colon of its own.
        after = item[item.index(":", len(key)) + 1 :].strip()
        values[_key(key, place)] = _value(after, place)
    if len({type(key) for key in values}) > 1:
        raise UsageError(
            message=f"The input “{place.whole}” has a dict with texts and numbers as "
            "keys, which JAX cannot put in order.",
            where=place.whole,
        )
    codes = ", ".join(f"{key!r}: {one.code}" for key, one in values.items())
    imports = tuple(line for one in values.values() for line in one.imports)
    made = {key: one.value for key, one in values.items()}
    return Argument(made, "{" + codes + "}", imports)


def _key(text: str, place: Place) -> str | int:
    if re.fullmatch(r"\d+", text):
        return int(text)
    if text.isidentifier():
        return text
    try:
        key = json.loads(text)
    except json.JSONDecodeError:
        key = None
    if isinstance(key, str):
        return key
    raise UsageError(
        message=f"“{text}” in the input “{place.whole}” is not a key.",
        where=place.whole,
        hint='Keys are texts in quotes, names, or whole numbers: {"name": float32[3]}.',
    )


def _split(text: str, mark: str, place: Place) -> list[str]:
    """Splits at a mark that stands outside of every bracket and quote."""
    parts: list[str] = []
    depth: list[str] = []
    start = 0
    quoted = escaped = False
    for index, character in enumerate(text):
        if quoted:
            quoted = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in _CLOSING:
            depth.append(_CLOSING[character])
        elif character in _CLOSING.values():
            if not depth or depth.pop() != character:
                raise _unbalanced(place)
        elif character == mark and not depth:
            parts.append(text[start:index].strip())
            start = index + 1
    if depth or quoted:
        raise _unbalanced(place)
    return [*parts, text[start:].strip()]


def _unbalanced(place: Place) -> UsageError:
    return UsageError(
        message=f"The brackets or quotes of the input “{place.whole}” do not match.",
        where=place.whole,
        hint=f'Nested inputs: {{"a": float32[3], "b": (int32[2], x.npy)}}. {EXAMPLE}',
    )


def abstract_leaves(values: Any) -> tuple[jax.ShapeDtypeStruct, ...]:
    """Returns the shapes among the leaves of values, in the order of the pytree."""
    leaves = jax.tree.leaves(values)
    return tuple(leaf for leaf in leaves if isinstance(leaf, jax.ShapeDtypeStruct))


def with_leaves(values: Any, arrays: Iterable[Any]) -> Any:
    """Returns values with arrays in place of the shapes, in the same order."""
    rest = iter(arrays)
    return jax.tree.map(
        lambda leaf: next(rest) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf,
        values,
    )


def made(values: Any) -> Any:
    """Returns values with ones, or keys of seed 0, in place of the shapes."""
    return with_leaves(values, [concrete(leaf) for leaf in abstract_leaves(values)])


def texts_of(inputs: Sequence[Input]) -> str:
    """Returns inputs as the person gave them, for messages."""
    texts = [f"{one.keyword}={one.text}" if one.keyword else one.text for one in inputs]
    return ", ".join(texts) or "none"
