"""Attributes of a module class that lack an annotation, the commonest trap of Flax.

Reads source text; imports and constructs nothing.
"""

from __future__ import annotations

import ast
import inspect
import textwrap

from inspector.models.form import parameters


def unannotated(target: object) -> tuple[str, ...]:
    """Returns attributes that a class assigns without an annotation.

    Such an attribute is no field of the dataclass: it cannot be set, and a function
    becomes a method. Classes of Flax itself are not looked at.
    """
    while (inner := getattr(target, "func", None)) is not None:
        target = inner
    if not isinstance(target, type):
        return ()
    names: list[str] = []
    for kind in target.__mro__:
        if kind.__module__.partition(".")[0] not in {"flax", "builtins", "typing"}:
            names += _plain_assignments(kind)
    fields = {parameter.name for parameter in parameters(target)}
    return tuple(dict.fromkeys(name for name in names if name not in fields))


def _plain_assignments(kind: type) -> list[str]:
    try:
        source = textwrap.dedent(inspect.getsource(kind))
        body = ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return []
    if not isinstance(body, ast.ClassDef):
        return []
    return [
        target.id
        for statement in body.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and not target.id.startswith("__")
    ]
