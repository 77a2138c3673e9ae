"""Constructor arguments: from a JSON object to Python values, and to code.

JSON has no tuples, dtypes, functions or modules, so the hint and the default of
each argument decide what a list or a text means. Used while a module is
constructed; importing nested modules is done by the function it is given.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType

from flax import linen as nn

from inspector.errors import LoadModuleError, UsageError
from inspector.models.annotations import unannotated
from inspector.models.families import is_instance
from inspector.models.filled import filled_kind
from inspector.models.form import (
    MISSING,
    Parameter,
    alternatives,
    is_dtype_object,
    parameters,
    takes_any_name,
)
from inspector.models.names import (
    Argument,
    dtype_named,
    object_named,
    try_object_named,
)
from inspector.models.spec import did_you_mean

Load = Callable[[str], Argument]
"""Imports what a nested spec names."""

Fill = Callable[[str], Argument]
"""Gives the value of an argument that no person gives, by its `filled` kind."""

_PLAIN = frozenset({bool, int, float, complex, str, bytes, object})
"""Classes whose instances are written as literals."""
_ANYTHING = Parameter("", MISSING, "", MISSING)
_CHECKED: dict[object, tuple[type, ...]] = {
    bool: (bool,),
    int: (int,),
    float: (int, float),
}


@dataclass(frozen=True, slots=True)
class Maker:
    """Converts arguments for one person's module.

    Attributes:
        module: The person's module; its names may be given as text.
        load: Imports what a nested spec names.
        fill: Gives rngs and keys; None where constructors take none.
    """

    module: ModuleType
    load: Load
    fill: Fill | None = None

    def arguments(
        self, target: Callable[..., object], given: Mapping[str, object]
    ) -> dict[str, Argument]:
        """Converts the arguments of a constructor or factory.

        Args:
            target: The class, function or partial.
            given: Parsed JSON by argument name.

        Raises:
            LoadModuleError: An argument is unknown, missing or of a wrong type.
        """
        every = parameters(target)
        kinds = {one.name: filled_kind(target, one) for one in every}
        known = {one.name: one for one in every if not self._fills(kinds[one.name])}
        title = title_of(target)
        for name in given:
            if self._fills(kinds.get(name, "")):
                raise _filled_argument(title, name)
            if name not in known and not takes_any_name(target):
                raise _unknown_argument(target, name, known)
        missing = [
            parameter.name
            for parameter in known.values()
            if parameter.default is MISSING and parameter.name not in given
        ]
        if missing:
            raise LoadModuleError(
                message=f"{title} needs a value for {', '.join(missing)}.",
                where=title,
                hint="Give it as a constructor argument, e.g. "
                f"{json.dumps(dict.fromkeys(missing, 1))} (--kwargs).",
            )
        made = {
            name: self.convert(
                raw, known.get(name, _ANYTHING), f"{title}, argument {name}"
            )
            for name, raw in given.items()
        }
        if self.fill is not None:
            made |= {name: self.fill(kind) for name, kind in kinds.items() if kind}
        return made

    def _fills(self, kind: str) -> bool:
        return bool(kind) and self.fill is not None

    def convert(self, raw: object, parameter: Parameter, where: str) -> Argument:
        """Converts one parsed JSON value.

        Args:
            raw: The value.
            parameter: What is known of the argument it is for.
            where: Its place for messages.
        """
        if isinstance(raw, str):
            return self._text(raw, parameter, where)
        if isinstance(raw, list):
            return self._sequence(raw, parameter, where)
        if isinstance(raw, dict):
            return self._object(raw, parameter, where)
        _check_scalar(raw, parameter, where)
        return Argument(raw, _code(raw))

    def _text(self, raw: str, parameter: Parameter, where: str) -> Argument:
        if parameter.is_dtype:
            return dtype_named(raw, where)
        if parameter.is_callable:
            return object_named(raw, self.module, where)
        for kind in alternatives(parameter.hint):
            if isinstance(kind, type) and issubclass(kind, enum.Enum):
                return self._member(kind, raw, where)
        if (made := self._instance(raw, parameter)) is not None:
            return made
        open_hint = parameter.hint in {MISSING, typing.Any} or isinstance(
            parameter.hint, str
        )
        if open_hint and not isinstance(parameter.default, str):
            found = try_object_named(raw, self.module)
            if found is not None:
                return found
        _check_scalar(raw, parameter, where)
        return Argument(raw, repr(raw))

    def _instance(self, raw: str, parameter: Parameter) -> Argument | None:
        """Returns an instance of the hinted class that a text names or makes."""
        kinds = tuple(
            kind
            for kind in alternatives(parameter.hint)
            if isinstance(kind, type)
            and typing.get_origin(kind) is None
            and kind not in _PLAIN
        )
        if not kinds:
            return None
        try:
            found = object_named(raw, self.module, "")
        except LoadModuleError:
            return None
        return found if isinstance(found.value, kinds) else None

    def _member(self, kind: type[enum.Enum], raw: str, where: str) -> Argument:
        for member in kind:
            if raw in {member.name, member.value}:
                line = f"from {kind.__module__} import {kind.__name__}"
                return Argument(member, f"{kind.__name__}.{member.name}", (line,))
        names = [member.name for member in kind]
        raise LoadModuleError(
            message=f"“{raw}” is none of {', '.join(names)}.",
            where=where,
            hint=did_you_mean(raw, names),
        )

    def _sequence(
        self, raw: list[object], parameter: Parameter, where: str
    ) -> Argument:
        # Tuples, because a list makes the module unhashable.
        items = [
            self.convert(item, _item(parameter, index), f"{where}[{index}]")
            for index, item in enumerate(raw)
        ]
        codes = ", ".join(item.code for item in items)
        return Argument(
            tuple(item.value for item in items),
            f"({codes},)" if len(items) == 1 else f"({codes})",
            _imports(items),
        )

    def _object(
        self, raw: dict[str, object], parameter: Parameter, where: str
    ) -> Argument:
        spec = raw.get("module")
        if isinstance(spec, str) and set(raw) <= {"module", "kwargs"}:
            return self._nested(spec, raw.get("kwargs", {}), where)
        for kind in alternatives(parameter.hint):
            if not isinstance(kind, type) or issubclass(kind, nn.Module):
                continue
            if dataclasses.is_dataclass(kind):
                line = f"from {kind.__module__} import {kind.__name__}"
                return self.call(Argument(kind, kind.__name__, (line,)), raw)
        items = {
            key: self.convert(value, _ANYTHING, f"{where}.{key}")
            for key, value in raw.items()
        }
        codes = ", ".join(f"{key!r}: {item.code}" for key, item in items.items())
        return Argument(
            {key: item.value for key, item in items.items()},
            "{" + codes + "}",
            _imports(list(items.values())),
        )

    def _nested(self, spec: str, kwargs: object, where: str) -> Argument:
        if not isinstance(kwargs, dict):
            raise LoadModuleError(
                message="“kwargs” of a nested module has to be a JSON object.",
                where=where,
                hint='E.g. {"module": "net.py:Encoder", "kwargs": {"width": 8}}.',
            )
        target = (
            self.load(spec) if ":" in spec else object_named(spec, self.module, where)
        )
        if is_instance(target.value) and not kwargs:
            return target
        return self.call(target, kwargs)

    def call(self, target: Argument, given: Mapping[str, object]) -> Argument:
        """Calls a class or function with JSON arguments.

        Raises:
            LoadModuleError: It cannot be called, or an argument is wrong.
        """
        if not callable(target.value):
            raise LoadModuleError(
                message=f"{target.code} cannot be called.", where=target.code
            )
        made = self.arguments(target.value, given)
        value = target.value(**{name: item.value for name, item in made.items()})
        codes = ", ".join(f"{name}={item.code}" for name, item in made.items())
        imports = (*target.imports, *_imports(list(made.values())))
        return Argument(value, f"{target.code}({codes})", imports)


def parse_object(text: str) -> dict[str, object]:
    """Parses the JSON object of constructor arguments.

    Raises:
        UsageError: It is not a JSON object.
    """
    try:
        parsed = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        raise UsageError(
            message=f"The constructor arguments are not JSON: {error.msg} at character "
            f"{error.pos} of {text!r}.",
            hint="""E.g. --kwargs '{"features": 64, "dtype": "bfloat16"}'.""",
        ) from error
    if not isinstance(parsed, dict):
        raise UsageError(
            message=f"The constructor arguments are no JSON object: {text!r}.",
            hint="""E.g. --kwargs '{"features": 64}'.""",
        )
    return parsed


def to_value(raw: object) -> object:
    """Returns parsed JSON with its lists as tuples, for static call arguments."""
    if isinstance(raw, list):
        return tuple(to_value(item) for item in raw)
    if isinstance(raw, dict):
        return {key: to_value(item) for key, item in raw.items()}
    return raw


def title_of(target: object) -> str:
    """Returns the name under which a person knows a class, function or partial."""
    while (inner := getattr(target, "func", None)) is not None:
        target = inner
    return str(getattr(target, "__name__", type(target).__name__))


def _imports(items: list[Argument]) -> tuple[str, ...]:
    return tuple(line for item in items for line in item.imports)


def _code(raw: object) -> str:
    if isinstance(raw, float) and (raw != raw or abs(raw) == float("inf")):  # noqa: PLR0124  # NaN is the float that differs from itself
        return f'float("{raw}")'
    return repr(raw)


def _item(parameter: Parameter, index: int) -> Parameter:
    """Returns what is known of one item of a sequence argument."""
    for kind in alternatives(parameter.hint):
        inner = [arg for arg in typing.get_args(kind) if arg is not Ellipsis]
        if inner:
            hint = inner[min(index, len(inner) - 1)]
            text = inspect.formatannotation(hint)
            return Parameter("", hint, text, MISSING)
    default = parameter.default
    if isinstance(default, tuple | list) and default:
        example = default[min(index, len(default) - 1)]
        if callable(example) or is_dtype_object(example):
            return Parameter("", MISSING, "", example)
    return _ANYTHING


def _check_scalar(raw: object, parameter: Parameter, where: str) -> None:
    """Refuses what a plain hint rules out; Flax would fail far from here."""
    kinds = alternatives(parameter.hint)
    if raw is None or not kinds or not all(kind in _CHECKED for kind in kinds):
        return
    allowed = tuple(one for kind in kinds for one in _CHECKED[kind])
    if not isinstance(raw, allowed) or (isinstance(raw, bool) and bool not in allowed):
        names = " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
        raise LoadModuleError(
            message=f"Expected {names}, got {json.dumps(raw)}.",
            where=where,
            hint="Texts are written in quotes, numbers without.",
        )


def _filled_argument(title: str, name: str) -> LoadModuleError:
    return LoadModuleError(
        message=f"The argument “{name}” of {title} is filled from the seeds.",
        where=title,
        hint="Leave it out, and give a seed, e.g. 0 (--rng NAME=0).",
    )


def _unknown_argument(
    target: Callable[..., object], name: str, known: Mapping[str, Parameter]
) -> LoadModuleError:
    title = title_of(target)
    names = ", ".join(known) or "none"
    hint = did_you_mean(name, known) or f"Its arguments: {names}."
    if name in unannotated(target):
        hint = (
            f"“{name}” has no type annotation in the class, so it is no field: write "
            f"`{name}: TYPE = …` there."
        )
    return LoadModuleError(f"{title} has no argument “{name}”.", where=title, hint=hint)
