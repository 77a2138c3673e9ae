"""What a file offers as a module: classes, instances, factories, in its own order.

Looks at an imported module; imports and constructs nothing.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import ModuleType

import jax
import numpy as np
from flax import nnx

from inspector.engine.messages.module import ModuleOffer
from inspector.models.families import (
    PYTREE,
    family_of,
    is_instance,
    is_transformed,
    is_tree_class,
    returned_class,
    unwrapped,
)
from inspector.models.filled import asked
from inspector.models.form import form_fields, parameters


def offers_of(module: ModuleType) -> tuple[ModuleOffer, ...]:
    """Returns the modules and trees of a file, those it imported left out.

    A ``functools.partial`` of a module class counts as a factory: that is how many
    files name their variants (``ResNet18 = partial(ResNet, …)``). So does a function
    that says it returns a module; other functions can be named, and are not listed.
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
    if isinstance(value, type):
        if not own or not is_tree_class(value) or not _is_model(value):
            return None
        fields = form_fields(asked(value, parameters(value)))
        family = family_of(value) or PYTREE
        return ModuleOffer(name, "class", fields, call_text(value), _doc(value), family)
    if isinstance(value, functools.partial):
        made = unwrapped(value)
        return _factory(name, value, made if is_tree_class(made) else None)
    if inspect.isfunction(value):
        return _factory(name, value, returned_class(value)) if own else None
    if _is_offered_instance(value):
        family = family_of(value)
        return ModuleOffer(name, "instance", (), _call_of(value), _doc(value), family)
    return None


def _is_model(kind: type) -> bool:
    """Returns whether a tree class is one to run, and not a state or configuration."""
    if issubclass(kind, nnx.Variable):
        return False  # it can be called where what it holds can
    if family_of(kind):
        return True
    return any("__call__" in vars(base) for base in kind.__mro__)


def _is_offered_instance(value: object) -> bool:
    family = family_of(value)
    if family != PYTREE:
        return bool(family) and is_instance(value)
    # Plain lists and dicts of numbers are no models; trees of arrays may be.
    return any(
        isinstance(leaf, jax.Array | np.ndarray)
        for leaf in jax.tree_util.tree_leaves(value)
    )


def _call_of(value: object) -> str:
    if is_transformed(value):
        return _signature_text(value.apply)  # type: ignore[attr-defined]  # looked
    return call_text(type(value))


def _factory(
    name: str, value: Callable[..., object], made: object
) -> ModuleOffer | None:
    if not isinstance(made, type):
        return None
    doc = _doc(value if inspect.isfunction(value) else made)
    fields = form_fields(asked(value, parameters(value)))
    family = family_of(made) or PYTREE
    return ModuleOffer(name, "factory", fields, call_text(made), doc, family)


def call_text(kind: type, method: str = "__call__") -> str:
    """Returns the parameters of a method as written, e.g. ``"(x, train: bool)"``."""
    # A class without the method has that of its metaclass, which makes instances.
    if not any(method in vars(base) for base in kind.__mro__):
        return ""
    return _signature_text(getattr(kind, method))


def _signature_text(function: Callable[..., object]) -> str:
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
