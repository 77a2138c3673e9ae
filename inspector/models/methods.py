"""A method and what it is given: does it fit, and what is missing.

Looks at the signature before anything is traced, because what is missing can be
said better here than by the traceback of a trace. Shared by ``init`` and by calls.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flax import linen as nn

from inspector.errors import LoadModuleError, UsageError
from inspector.models.modes import INFERENCE
from inspector.models.spec import did_you_mean

BY_POSITION = frozenset(
    {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
)
VARIADIC = frozenset({inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})

_ARRAY = re.compile(r"\bjax(lib)?(\.\w+)*\._jax\.Array\b")
"""How Python prints ``jax.Array``, which is defined in jaxlib."""


class _Verbatim:
    """An annotation that prints as its own text, without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _readable(parameter: inspect.Parameter) -> inspect.Parameter:
    """Returns a parameter that prints as written, without addresses and quotes."""
    annotation, default = parameter.annotation, parameter.default
    if annotation is not inspect.Parameter.empty:
        text = annotation
        if not isinstance(text, str):
            text = inspect.formatannotation(annotation)
        annotation = _Verbatim(_ARRAY.sub("jax.Array", text))
    if callable(default) and default is not inspect.Parameter.empty:
        default = _Verbatim(getattr(default, "__name__", type(default).__name__))
    return parameter.replace(annotation=annotation, default=default)


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a module, or a function that is called in its place.

    Attributes:
        owner: Class of the module; empty for a function.
        name: Its name.
        function: Takes the module, or the variables, first.
        signature: Its parameters without that first one; None when Python knows
            none.
    """

    owner: str
    name: str
    function: Callable[..., Any]
    signature: inspect.Signature | None

    @property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """Its parameters, without the module."""
        return tuple(self.signature.parameters.values()) if self.signature else ()

    @property
    def text(self) -> str:
        """The parameters as written, e.g. ``"(x, train: bool = False)"``."""
        if self.signature is None:
            return ""
        plain = [_readable(one) for one in self.parameters]
        empty = inspect.Signature.empty
        return str(self.signature.replace(parameters=plain, return_annotation=empty))

    @property
    def title(self) -> str:
        """Its name and parameters, for messages."""
        prefix = f"{self.owner}." if self.owner else ""
        return f"{prefix}{self.name}{self.text}"


def method_of(function: Callable[..., Any], owner: str, name: str) -> Method:
    """Returns a function with its signature.

    Args:
        function: Takes the module, or the variables, first.
        owner: Class of the module; empty for a function.
        name: Its name, for messages.
    """
    try:
        whole = inspect.signature(function)
    except (TypeError, ValueError):
        return Method(owner, name, function, None)
    rest = list(whole.parameters.values())
    if rest and rest[0].kind in BY_POSITION:
        rest = rest[1:]
    return Method(owner, name, function, whole.replace(parameters=rest))


@dataclass(frozen=True, slots=True)
class Given:
    """What a call gives.

    Attributes:
        positional: Number of inputs by position.
        names: Inputs by keyword and static arguments.
        text: The inputs as the person gave them, for messages.
    """

    positional: int
    names: frozenset[str]
    text: str


def fit(method: Method, given: Given) -> dict[str, bool]:
    """Fits what is given to a method.

    Returns:
        Flags of the mode that the method needs and nobody gave, each with the value
        that means inference.

    Raises:
        LoadModuleError: Something is missing or has no place.
    """
    if method.signature is None:
        return {}
    _refuse_surplus(method, given)
    reached = reached_by_position(method, given.positional)
    filled: dict[str, bool] = {}
    missing = []
    for parameter in method.parameters:
        required = parameter.default is inspect.Parameter.empty
        if parameter.kind in VARIADIC or not required:
            continue
        if parameter.name in given.names or parameter.name in reached:
            continue
        if parameter.name in INFERENCE:
            filled[parameter.name] = INFERENCE[parameter.name]
        else:
            missing.append(parameter.name)
    if missing:
        raise _missing(method, given, missing)
    return filled


def reached_by_position(method: Method, positional: int) -> frozenset[str]:
    """Returns the names of the parameters that positional inputs fill."""
    places = [one.name for one in method.parameters if one.kind in BY_POSITION]
    return frozenset(places[:positional])


def refuse_twice(names: list[str]) -> None:
    """Refuses an argument that is given twice.

    Raises:
        UsageError: One is.
    """
    for name in names:
        if names.count(name) > 1:
            raise UsageError(message=f"The argument {name} is given twice.")


def _missing(method: Method, given: Given, missing: list[str]) -> LoadModuleError:
    number = len(missing) > 1
    return LoadModuleError(
        f"{method.title} needs {'inputs' if number else 'an input'} for "
        f"{', '.join(missing)}; given: {given.text}.",
        where=method.owner or method.name,
        hint=f"Give the shape and dtype of {'each' if number else 'it'}, e.g. "
        f"float32[1,8,8,1] (--input); a flag as a static argument, "
        f"{missing[-1]}=true (--call).",
    )


def _refuse_surplus(method: Method, given: Given) -> None:
    parameters = method.parameters
    kinds = {parameter.kind for parameter in parameters}
    names = [p.name for p in parameters if p.kind not in VARIADIC]
    places = sum(parameter.kind in BY_POSITION for parameter in parameters)
    where = method.owner or method.name
    if given.positional > places and inspect.Parameter.VAR_POSITIONAL not in kinds:
        raise LoadModuleError(
            message=f"{method.title} takes {places} inputs by position, "
            f"{given.positional} are given: {given.text}.",
            where=where,
        )
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        for name in sorted(given.names - set(names)):
            hint = did_you_mean(name, names)
            raise LoadModuleError(
                message=f"{method.title} has no argument “{name}”.",
                where=where,
                hint=hint or f"Its arguments: {', '.join(names) or 'none'}.",
            )
    for name in sorted(given.names & reached_by_position(method, given.positional)):
        raise UsageError(
            message=f"The argument {name} of {method.title} is given twice, by "
            "position and by name."
        )


def methods_of(kind: type[nn.Module]) -> tuple[str, ...]:
    """Returns the methods of a Linen class that can be called, ``__call__`` first.

    Fields with a callable default (``act``, ``kernel_init``) look like methods and
    are none; nor are ``setup``, static methods, properties and what Flax brings.
    """
    own = {field.name for field in dataclasses.fields(kind)} | {"setup"}
    names = []
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        flaxes = name != "__call__" and hasattr(nn.Module, name)
        if name in own or flaxes or not inspect.isfunction(found):
            continue
        if name.startswith("_") and name != "__call__":
            continue
        names.append(name)
    return tuple(sorted(names, key=lambda name: name != "__call__"))


def function_of(module: nn.Module, method: str) -> Callable[..., Any]:
    """Returns a method of a Linen module's class.

    Raises:
        LoadModuleError: There is no such method; says which there are.
    """
    kind = type(module)
    name = method or "__call__"
    function = getattr(kind, name, None)
    # Every class can be called, so `__call__` has to be looked for in its bases.
    absent = name == "__call__" and not any("__call__" in vars(k) for k in kind.__mro__)
    if callable(function) and not absent:
        found: Callable[..., Any] = function
        return found
    names = methods_of(kind)
    raise LoadModuleError(
        message=f"{kind.__name__} has no method “{name}”.",
        where=kind.__name__,
        hint=did_you_mean(name, names)
        or f"Name the method (--method NAME). It has {', '.join(names) or 'none'}.",
    )
