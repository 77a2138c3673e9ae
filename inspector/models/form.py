"""The constructor of a module as a list of parameters, and as a form.

Field types are not checked by Flax, so what a person can give is read off the
signature, the type hints and the defaults. Nothing is constructed here.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import json
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from inspector.engine.messages.module import FormField
from inspector.models.names import name_of_object

MISSING = inspect.Parameter.empty
"""Stands for “no default” and “no hint”."""

_FLAX_OWN = frozenset({"parent", "name"})
_SCALARS = {bool: "bool", int: "int", float: "float", str: "text"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a constructor or factory.

    Attributes:
        name: Its name.
        hint: Resolved annotation, raw text when it cannot be resolved, or
            `MISSING`.
        text: The annotation as written.
        default: Its default, or `MISSING`.
    """

    name: str
    hint: object
    text: str
    default: object

    @property
    def is_dtype(self) -> bool:
        """Whether a text given for it names a dtype."""
        if self.is_text:
            return False
        if is_dtype_object(self.default):
            return True
        named = "dtype" in self.name.lower() or "dtype" in self.text.lower()
        return named and not callable(self.default) and "Callable" not in self.text

    @property
    def is_callable(self) -> bool:
        """Whether a text given for it names a function or class."""
        if self.is_text or self.is_dtype:
            return False
        default = self.default
        if callable(default) and default is not MISSING:
            return not isinstance(default, nn.Module)
        if any(typing.get_origin(hint) is type for hint in alternatives(self.hint)):
            return True
        words = ("Callable", "Initializer", "ModuleDef")
        return self.name.endswith("_init") or any(word in self.text for word in words)

    @property
    def is_text(self) -> bool:
        """Whether the hint says that text stays text."""
        kinds = alternatives(self.hint)
        literal = any(typing.get_origin(kind) is typing.Literal for kind in kinds)
        return literal or (bool(kinds) and all(kind is str for kind in kinds))


def is_dtype_object(value: object) -> bool:
    """Returns whether a value is ``jnp.float32``, ``np.dtype("int8")`` or the like."""
    # jnp.float32 and its like are objects of a class of their own.
    if isinstance(value, np.dtype) or type(value) is type(jnp.float32):
        return True
    return isinstance(value, type) and issubclass(value, np.generic)


def alternatives(hint: object) -> tuple[object, ...]:
    """Returns the members of a union without None; a plain hint alone."""
    if typing.get_origin(hint) in {typing.Union, types.UnionType}:
        return tuple(a for a in typing.get_args(hint) if a is not type(None))
    return () if hint is MISSING else (hint,)


def parameters(target: Callable[..., object]) -> tuple[Parameter, ...]:
    """Returns the arguments of a class, function or ``functools.partial``.

    Flax's own fields ``parent`` and ``name`` are left out. A partial's bound
    arguments are defaults, as Python has it.
    """
    inner: object = target
    while isinstance(inner, functools.partial):
        inner = inner.func
    signature = signature_of(target)
    if signature is None:
        return ()
    hints = _hints(inner)
    linen = isinstance(inner, type) and issubclass(inner, nn.Module)
    variadic = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    factories = _factories(inner)
    return tuple(
        Parameter(
            name,
            hints.get(name, parameter.annotation),
            _hint_text(parameter.annotation),
            factories.get(name, parameter.default),
        )
        for name, parameter in signature.parameters.items()
        if parameter.kind not in variadic and not (linen and name in _FLAX_OWN)
    )


def signature_of(target: Callable[..., object]) -> inspect.Signature | None:
    """Returns the signature of a class, function or partial; None when nobody knows.

    A metaclass with a ``__call__`` of its own (NNX) hides the constructor from
    Python, so ``__init__`` is asked there.
    """
    if isinstance(target, functools.partial) and _hides_constructor(target.func):
        inner = signature_of(target.func)
        return None if inner is None else _bound(inner, target)
    try:
        if isinstance(target, type) and _hides_constructor(target):
            whole = inspect.signature(_init_of(target))
            return whole.replace(parameters=list(whole.parameters.values())[1:])
        return inspect.signature(target)
    except (TypeError, ValueError):
        return None


def _init_of(kind: type) -> Callable[..., object]:
    """Returns the ``__init__`` that a class has or inherits."""
    found: Callable[..., object] = inspect.getattr_static(kind, "__init__")
    return found


def _hides_constructor(target: object) -> bool:
    while isinstance(target, functools.partial):
        target = target.func
    return isinstance(target, type) and type(target).__call__ is not type.__call__


def _bound(
    signature: inspect.Signature, partial: functools.partial[object]
) -> inspect.Signature:
    """Returns the signature of a partial of what has another one."""
    rest = list(signature.parameters.values())[len(partial.args) :]
    given = partial.keywords
    # From the first bound argument on, the rest can be given by keyword alone.
    keyword, found = False, []
    for one in rest:
        keyword = keyword or one.name in given
        by_place = one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        kind = inspect.Parameter.KEYWORD_ONLY if keyword and by_place else one.kind
        default = given.get(one.name, one.default)
        found.append(one.replace(kind=kind, default=default))
    return signature.replace(parameters=found)


def _hints(inner: object) -> dict[str, object]:
    """Returns the resolved hints of a constructor or function, by argument."""
    places = [inner]
    if isinstance(inner, type) and not dataclasses.is_dataclass(inner):
        places.append(_init_of(inner))
    hints: dict[str, object] = {}
    for place in places:
        try:
            hints |= typing.get_type_hints(place)
        except Exception:  # the hints are foreign text: any name may be absent
            continue
    return hints


def takes_any_name(target: Callable[..., object]) -> bool:
    """Returns whether a callable has ``**kwargs``, or a signature nobody knows."""
    signature = signature_of(target)
    if signature is None:
        return True
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    return inspect.Parameter.VAR_KEYWORD in kinds


def _factories(inner: object) -> dict[str, object]:
    """Returns what the default factories of a dataclass make, by field."""
    if not (isinstance(inner, type) and dataclasses.is_dataclass(inner)):
        return {}
    return {
        field.name: field.default_factory()
        for field in dataclasses.fields(inner)
        if field.default_factory is not dataclasses.MISSING
    }


def _hint_text(annotation: object) -> str:
    if annotation is MISSING:
        return ""
    if isinstance(annotation, str):
        return annotation
    return inspect.formatannotation(annotation)


def form_fields(parameters: tuple[Parameter, ...]) -> tuple[FormField, ...]:
    """Returns the form of the arguments that a person gives."""
    return tuple(_field(parameter) for parameter in parameters)


def _field(parameter: Parameter) -> FormField:
    choices = _choices(parameter.hint)
    return FormField(
        parameter.name,
        parameter.text,
        "" if parameter.default is MISSING else _default_text(parameter.default),
        parameter.default is MISSING,
        "choice" if choices else _widget(parameter),
        choices,
    )


def _choices(hint: object) -> tuple[str, ...]:
    for kind in alternatives(hint):
        if typing.get_origin(kind) is typing.Literal:
            return tuple(json.dumps(choice) for choice in typing.get_args(kind))
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return tuple(json.dumps(member.name) for member in kind)
    return ()


def _widget(parameter: Parameter) -> str:
    if parameter.is_dtype:
        return "dtype"
    if parameter.is_callable:
        return "callable"
    for kind in alternatives(parameter.hint):
        if isinstance(kind, type) and kind in _SCALARS:
            return _SCALARS[kind]
        if kind in {tuple, list} or typing.get_origin(kind) in {tuple, list}:
            return "tuple"
        if getattr(typing.get_origin(kind), "__name__", "") in {"Sequence", "Iterable"}:
            return "tuple"
    default = type(parameter.default)
    return "tuple" if default is tuple else _SCALARS.get(default, "literal")


def _default_text(default: object) -> str:
    if is_dtype_object(default):
        return str(np.dtype(default))  # type: ignore[call-overload]  # checked above
    if callable(default) and not isinstance(default, nn.Module):
        return name_of_object(default)
    return repr(default)
