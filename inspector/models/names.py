"""Functions, classes and dtypes by name: ``relu``, ``nn.initializers.normal(0.02)``.

A form or a command line can give only text for an argument that takes a function.
Text is parsed as a Python expression of names and one optional call with literals;
nothing else is evaluated.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

import jax
import jax.numpy as jnp
from flax import linen as nn

from inspector.errors import LoadModuleError
from inspector.models.spec import did_you_mean
from inspector.variables import dtypes

_SHORT = {
    "nn": "flax.linen",
    "jnp": "jax.numpy",
    "np": "numpy",
    "initializers": "flax.linen.initializers",
}
_SEARCHED: tuple[tuple[str, ModuleType], ...] = (
    ("flax.linen", nn),
    ("jax.nn", jax.nn),
    ("flax.linen.initializers", nn.initializers),
    ("jax.numpy", jnp),
)
"""Where a name without dots is looked up after the person's own file."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A Python value together with the code that makes it.

    Attributes:
        value: The value.
        code: Expression that gives it.
        imports: Lines that the expression needs.
    """

    value: object
    code: str
    imports: tuple[str, ...] = ()


def dtype_named(text: str, where: str) -> Argument:
    """Returns ``jnp.<name>`` for the name of a dtype.

    Raises:
        LoadModuleError: JAX has no such dtype.
    """
    name = text.strip().rpartition(".")[2]
    name = {"bool_": "bool"}.get(name, name)
    found = getattr(jnp, "bool_" if name == "bool" else name, None)
    if name not in dtypes.NAMES or found is None:
        raise LoadModuleError(
            message=f"“{text}” is not the name of a dtype.",
            where=where,
            hint=did_you_mean(name, dtypes.NAMES) or "E.g. float32, bfloat16, int32.",
        )
    code = "jnp.bool_" if name == "bool" else f"jnp.{name}"
    return Argument(found, code, ("import jax.numpy as jnp",))


def object_named(text: str, module: ModuleType, where: str) -> Argument:
    """Returns the function, class or made initialiser that a text names.

    Args:
        text: ``"relu"``, ``"nn.gelu"``, ``"jax.nn.silu"``, a name of the
            person's own file, or one called with literals: ``"normal(0.02)"``.
        module: The person's module, looked through first.
        where: Argument that it is for, for messages.

    Raises:
        LoadModuleError: There is nothing of that name.
    """
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise _unknown(text, module, where) from error
    if not isinstance(node, ast.Call):
        return _resolve(node, text, module, where)
    function = _resolve(node.func, text, module, where)
    try:
        args = [ast.literal_eval(arg) for arg in node.args]
        kwargs = {k.arg: ast.literal_eval(k.value) for k in node.keywords if k.arg}
    except ValueError as error:
        raise LoadModuleError(
            message=f"“{text}” is called with more than plain numbers and texts.",
            where=where,
        ) from error
    if not callable(function.value):
        raise _unknown(text, module, where)
    shown = [repr(arg) for arg in args] + [f"{k}={v!r}" for k, v in kwargs.items()]
    value = function.value(*args, **kwargs)
    return Argument(value, f"{function.code}({', '.join(shown)})", function.imports)


def try_object_named(text: str, module: ModuleType) -> Argument | None:
    """Returns what a text names when it plainly is meant as a name, else None.

    For arguments without a hint: only names of the person's own file and dotted
    names count, so ``"mean"`` stays text.
    """
    if not all(part.isidentifier() for part in text.split(".")):
        return None
    if "." not in text and not callable(getattr(module, text, None)):
        return None
    try:
        found = object_named(text, module, "")
    except LoadModuleError:
        return None
    return found if callable(found.value) else None


def _resolve(node: ast.expr, text: str, module: ModuleType, where: str) -> Argument:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise _unknown(text, module, where)
    found = _first(node.id, module, bare=not names)
    for depth, name in enumerate(names):
        if found is None:
            break
        found = _below(found, name, last=depth == len(names) - 1)
    if found is None:
        raise _unknown(text, module, where)
    return found


def _first(name: str, module: ModuleType, *, bare: bool) -> Argument | None:
    """Finds the first name of a dotted one, or a whole name without dots."""
    if name in vars(module):
        line = f"from {module.__name__} import {name}"
        return Argument(getattr(module, name), name, (line,))
    if bare:
        for path, place in _SEARCHED:
            if hasattr(place, name):
                return Argument(
                    getattr(place, name), f"{path}.{name}", (f"import {path}",)
                )
        return None
    path = _SHORT.get(name, name)
    try:
        return Argument(importlib.import_module(path), path, (f"import {path}",))
    except ImportError:
        return None


def _below(found: Argument, name: str, *, last: bool) -> Argument | None:
    code = f"{found.code}.{name}"
    if hasattr(found.value, name):
        return Argument(getattr(found.value, name), code, found.imports)
    if last or not isinstance(found.value, ModuleType):
        return None
    try:
        path = f"{found.value.__name__}.{name}"
        return Argument(importlib.import_module(path), path, (f"import {path}",))
    except ImportError:
        return None


def _unknown(text: str, module: ModuleType, where: str) -> LoadModuleError:
    names: set[str] = {name for name in vars(module) if name[0] != "_"}
    for _, place in _SEARCHED[:3]:
        names.update(name for name in vars(place) if name[0] != "_")
    last = text.partition("(")[0].rpartition(".")[2]
    return LoadModuleError(
        f"“{text}” names no function or class.",
        where=where,
        hint=did_you_mean(last, names)
        or "E.g. relu, nn.gelu, nn.initializers.normal(0.02), or a name of the file.",
    )


def name_of_object(value: object) -> str:
    """Returns the name under which a function is known; closures end in ``(…)``."""
    for path, place in _SEARCHED:
        names: Mapping[str, object] = vars(place)
        for name, other in names.items():
            if other is value:
                return f"{path}.{name}"
    qualified = getattr(value, "__qualname__", "") or type(value).__qualname__
    outer, local, _ = qualified.partition(".<locals>")
    return f"{outer}(…)" if local else outer
