"""Python scalars as JSON, without loss.

Used by the JSON forms of values and edits. JSON has no infinities, no complex
numbers, no bytes, and readers that round large integers; these are tagged.
"""

from __future__ import annotations

import base64
import binascii
import math

from inspector.variables.strict import JsonObject, fault
from inspector.variables.value import Scalar

_EXACT_IN_JSON = 1 << 53
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def float_to_json(number: float) -> float | str:
    """Returns a float, or ``"nan"``, ``"inf"``, ``"-inf"``."""
    if math.isfinite(number):
        return number
    return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"


def float_from_json(data: object, where: str) -> float:
    """Returns the float that `float_to_json` wrote."""
    if isinstance(data, str) and data in _NOT_FINITE:
        return _NOT_FINITE[data]
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise fault(where, "a number", data)
    return float(data)


def bytes_to_json(data: bytes) -> str:
    """Returns bytes in base64."""
    return base64.b64encode(data).decode("ascii")


def bytes_from_json(data: object, where: str) -> bytes:
    """Returns the bytes that `bytes_to_json` wrote."""
    if not isinstance(data, str):
        raise fault(where, "bytes in base64", data)
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise fault(where, "bytes in base64", data) from None


def scalar_to_json(value: Scalar) -> object:
    """Returns a Python scalar as JSON.

    Integers beyond 2**53 become ``{"int": "0x…"}``, complex numbers
    ``{"complex": [re, im]}``, texts ``{"str": …}``, bytes ``{"bytes": base64}``.
    """
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) <= _EXACT_IN_JSON else {"int": hex(value)}
    if isinstance(value, float):
        return float_to_json(value)
    if isinstance(value, complex):
        return {"complex": [float_to_json(value.real), float_to_json(value.imag)]}
    if isinstance(value, str):
        return {"str": value}
    return {"bytes": bytes_to_json(value)}


def scalar_from_json(data: object, where: str = "value") -> Scalar:
    """Returns the scalar that `scalar_to_json` wrote.

    Raises:
        RecipeError: It is none of its forms.
    """
    if data is None or isinstance(data, bool | int | float):
        return data
    if isinstance(data, str):
        return float_from_json(data, where)
    fields = JsonObject(data, where)
    result: Scalar
    if fields.has("int"):
        result = _hex(fields.text("int"), fields.at("int"))
    elif fields.has("complex"):
        parts = [float_from_json(item, at) for item, at in fields.items("complex")]
        if len(parts) != 2:  # noqa: PLR2004 - real and imaginary part
            raise fault(where, "[re, im]", data)
        result = complex(*parts)
    elif fields.has("str"):
        result = fields.text("str")
    else:
        result = bytes_from_json(fields.raw("bytes"), fields.at("bytes"))
    fields.done()
    return result


def _hex(text: str, where: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        raise fault(where, "a hexadecimal integer", text) from None


def number_from_json(data: object, where: str) -> bool | int | float | complex:
    """Returns a number, refusing the scalars that are none.

    Raises:
        RecipeError: It is null, a text or bytes, or no scalar at all.
    """
    value = scalar_from_json(data, where)
    if value is None or isinstance(value, str | bytes):
        raise fault(where, "a number", data)
    return value
