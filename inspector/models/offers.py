"""What a file offers as a module: classes, instances, factories, in its own order.

Looks at an imported module; imports and constructs nothing.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from types import ModuleType

from flax import linen as nn

from inspector.engine.messages.module import ModuleOffer
from inspector.models.form import form_fields


def offers_of(module: ModuleType) -> tuple[ModuleOffer, ...]:
    """Returns the Linen modules of a file, those it imported left out.

    A ``functools.partial`` of a module class counts as a factory: that is how many
    files name their variants (``ResNet18 = partial(ResNet, …)``).
    """
    found = (
        _offer(name, value, module)
        for name, value in vars(module).items()
        if not name.startswith("_")
    )
    return tuple(offer for offer in found if offer is not None)


def names_of(module: ModuleType) -> tuple[str, ...]:
    """Returns the names of what a file offers."""
    return tuple(offer.name for offer in offers_of(module))


def _offer(name: str, value: object, module: ModuleType) -> ModuleOffer | None:
    own = getattr(value, "__module__", "") == module.__name__
    if isinstance(value, nn.Module):
        return ModuleOffer(name, "instance", (), call_text(type(value)), _doc(value))
    if isinstance(value, functools.partial):
        return _factory(name, value, _class_of(value), _doc(_class_of(value)))
    if not own:
        return None
    if isinstance(value, type) and issubclass(value, nn.Module):
        return ModuleOffer(
            name, "class", form_fields(value), call_text(value), _doc(value)
        )
    if inspect.isfunction(value):
        return _factory(name, value, _returned(value), _doc(value))
    return None


def _factory(
    name: str, value: Callable[..., object], made: type | None, doc: str
) -> ModuleOffer | None:
    if made is None:
        return None
    return ModuleOffer(name, "factory", form_fields(value), call_text(made), doc)


def _class_of(value: functools.partial[object]) -> type[nn.Module] | None:
    inner: object = value.func
    while isinstance(inner, functools.partial):
        inner = inner.func
    if isinstance(inner, type) and issubclass(inner, nn.Module):
        return inner
    return None


def _returned(function: Callable[..., object]) -> type[nn.Module] | None:
    """Returns the module class that a function says it returns."""
    try:
        hint = typing.get_type_hints(function).get("return")
    except Exception:  # the hints are foreign text: any name in them may be absent
        return None
    if isinstance(hint, type) and issubclass(hint, nn.Module):
        return hint
    return None


def call_text(kind: type, method: str = "__call__") -> str:
    """Returns the parameters of a method as written, e.g. ``"(x, train: bool)"``."""
    function = getattr(kind, method, None)
    if function is None:
        return ""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    rest = [p for name, p in signature.parameters.items() if name != "self"]
    plain = signature.replace(
        parameters=[p.replace(annotation=_unquoted(p.annotation)) for p in rest],
        return_annotation=inspect.Signature.empty,
    )
    return str(plain)


class _Verbatim:
    """An annotation that prints as its own text, without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _unquoted(annotation: object) -> object:
    return _Verbatim(annotation) if isinstance(annotation, str) else annotation


def _doc(value: object) -> str:
    """Returns the first line of a docstring, generated ones left out."""
    if inspect.isfunction(value):
        return (inspect.getdoc(value) or "").partition("\n")[0]
    kind = value if isinstance(value, type) else type(value)
    first = (vars(kind).get("__doc__") or "").strip().partition("\n")[0]
    # dataclass writes the signature where there is no docstring.
    return "" if first.startswith(f"{kind.__name__}(") else first
