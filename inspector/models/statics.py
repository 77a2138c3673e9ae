"""Static arguments of a call: from JSON to Python values and to code.

JSON has no dtypes, functions or members of enums, so a text becomes one where the
hint or the default of its parameter says so; any other text stays text.
"""

from __future__ import annotations

import enum
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

from inspector.errors import UsageError
from inspector.models.arguments import Maker, to_value
from inspector.models.form import Parameter, alternatives, parameters
from inspector.models.names import Argument


def static_arguments(
    pairs: Iterable[tuple[str, str]], function: Callable[..., Any]
) -> dict[str, Argument]:
    """Returns the static arguments of a call by name.

    Args:
        pairs: (name, JSON value).
        function: The function that is called; its hints count.

    Raises:
        UsageError: A value is not JSON.
        LoadModuleError: A text names no dtype, function or member.
    """
    known = {one.name: one for one in parameters(function)}
    return {
        name: _argument(name, text, known.get(name), function) for name, text in pairs
    }


def _argument(
    name: str, text: str, parameter: Parameter | None, function: Callable[..., Any]
) -> Argument:
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(
            message=f"The value of {name} is not JSON: {text!r}.",
            hint=f"E.g. {name}=true, {name}=3, {name}='\"text\"'.",
        ) from error
    module = sys.modules.get(getattr(function, "__module__", ""))
    if isinstance(raw, str) and parameter and module and _names_something(parameter):
        maker = Maker(module, _no_nested)
        return maker.convert(raw, parameter, f"argument {name}")
    value = to_value(raw)
    return Argument(value, _code(value))


def _names_something(parameter: Parameter) -> bool:
    enums = (
        isinstance(kind, type) and issubclass(kind, enum.Enum)
        for kind in alternatives(parameter.hint)
    )
    return parameter.is_dtype or parameter.is_callable or any(enums)


def _no_nested(spec: str) -> Argument:
    raise UsageError(message=f"“{spec}” cannot be imported for an argument of a call.")


def _code(value: object) -> str:
    """Returns an expression of parsed JSON; NaN and Infinity have no literal."""
    if isinstance(value, tuple):
        inner = ", ".join(_code(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, dict):
        inner = ", ".join(f"{key!r}: {_code(item)}" for key, item in value.items())
        return "{" + inner + "}"
    if isinstance(value, float) and not repr(value)[-1].isdigit():
        return f'float("{value!r}")'
    return repr(value)
