"""The methods of a plain Python class that a person can call a module by."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from inspector.errors import LoadModuleError
from inspector.models.spec import did_you_mean


def class_methods(kind: type, base: type = object) -> tuple[str, ...]:
    """Returns the methods of a class, ``__call__`` first when it has one.

    Args:
        kind: The class.
        base: Class of the framework, whose own methods are left out.
    """
    framework = {name for one in base.__mro__ for name in vars(one)}
    names = []
    for name in dir(kind):
        if name.startswith("_") and name != "__call__":
            continue
        found = inspect.getattr_static(kind, name)
        if name in framework or name in _CONTAINER:
            continue
        if isinstance(found, property | staticmethod | classmethod | type):
            continue
        if callable(getattr(kind, name, None)):
            names.append(name)
    return tuple(sorted(names, key=lambda name: name != "__call__"))


_CONTAINER = frozenset({*dir(dict), *dir(list), *dir(tuple)}) - {"__call__"}
"""Methods of containers: a tree that is one cannot be called by them."""


def method_named(
    kind: type, method: str, methods: tuple[str, ...]
) -> Callable[..., Any]:
    """Returns a method of a class as a function that takes the instance first.

    Raises:
        LoadModuleError: There is no such method; says which there are.
    """
    name = method or "__call__"
    found = getattr(kind, name, None) if name in methods else None
    if found is not None:
        function: Callable[..., Any] = inspect.unwrap(found)
        return function
    raise LoadModuleError(
        message=f"{kind.__name__} has no method “{name}”.",
        where=kind.__name__,
        hint=did_you_mean(name, methods)
        or f"Name the method (--method NAME). It has {', '.join(methods) or 'none'}.",
    )
