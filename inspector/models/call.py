"""The call of ``init``: which inputs, which flags, and the same call as Python code.

Looks at the signature of the method before anything is traced, because what is
missing can be said better here than by the traceback of a trace.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from pathlib import Path

from flax import linen as nn

from inspector.engine.messages.module import ModuleSpec
from inspector.errors import LoadModuleError, UsageError
from inspector.models.arguments import to_value
from inspector.models.inputs import Input, parse_input
from inspector.models.offers import call_text
from inspector.models.spec import did_you_mean

INFERENCE = {
    "train": False,
    "training": False,
    "is_training": False,
    "is_train": False,
    "enable_dropout": False,
    "deterministic": True,
    "use_running_average": True,
    "eval": True,
    "inference": True,
}
"""Flags of the mode, with the value that means inference."""


@dataclass(frozen=True, slots=True)
class InitCall:
    """A call of ``init``, without its rngs.

    Attributes:
        method: Method that ``init`` runs; empty for ``__call__``.
        positional: Inputs by position.
        named: Inputs by keyword.
        statics: Static arguments by name.
        chosen: Names in ``statics`` that nobody gave and whose inference value
            was taken.
    """

    method: str
    positional: tuple[Input, ...]
    named: tuple[Input, ...]
    statics: dict[str, object]
    chosen: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[Input, ...]:
        """All inputs, positional ones first."""
        return self.positional + self.named

    def code(self, seeds: dict[str, int]) -> str:
        """Returns the call as Python code that makes ``variables``."""
        keys = ", ".join(f"{name!r}: jax.random.key({s})" for name, s in seeds.items())
        parts = [one.code for one in self.positional]
        parts += [f"{one.keyword}={one.code}" for one in self.named]
        parts += [f"{name}={value!r}" for name, value in self.statics.items()]
        parts += [f"method={self.method!r}"] if self.method else []
        lines = [f"rngs = {{{keys}}}"]
        lines += [f"# {note}" for note in self.notes]
        arguments = "".join(f"    {part},\n" for part in ["rngs", *parts])
        return "\n".join(lines) + f"\nvariables = module.init(\n{arguments})\n"

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what was decided for the person."""
        return tuple(
            f"{name}={self.statics[name]!r}: it is needed and was not given; this is "
            "the value for inference."
            for name in self.chosen
        )

    @property
    def given(self) -> str:
        """The inputs as the person gave them, for messages."""
        texts = [one.text for one in self.positional]
        texts += [f"{one.keyword}={one.text}" for one in self.named]
        return ", ".join(texts) or "none"


def prepare(module: nn.Module, spec: ModuleSpec, cwd: Path) -> InitCall:
    """Reads the inputs and flags of a spec and fits them to the method.

    Args:
        module: The constructed module.
        spec: What the person asked for.
        cwd: Folder for relative paths of inputs.

    Raises:
        LoadModuleError: The method is absent, or the inputs do not fit it.
        UsageError: A text cannot be parsed.
    """
    parsed = [parse_input(text, cwd) for text in spec.inputs]
    positional = tuple(one for one in parsed if not one.keyword)
    named = tuple(one for one in parsed if one.keyword)
    statics = {name: _static(name, text) for name, text in spec.statics}
    _refuse_twice([one.keyword for one in named] + list(statics))
    method = "" if spec.method == "__call__" else spec.method
    call = InitCall(method, positional, named, statics)
    signature = _signature(module, method)
    return call if signature is None else _fit(module, call, signature)


def _static(name: str, text: str) -> object:
    try:
        return to_value(json.loads(text))
    except json.JSONDecodeError as error:
        raise UsageError(
            message=f"The value of {name} is not JSON: {text!r}.",
            hint=f"E.g. {name}=true, {name}=3, {name}='\"text\"'.",
        ) from error


def _refuse_twice(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise UsageError(message=f"The argument {name} is given twice.")


def _signature(module: nn.Module, method: str) -> inspect.Signature | None:
    """Returns the signature of the method; None when Python knows none."""
    kind = type(module)
    name = method or "__call__"
    function = getattr(kind, name, None)
    if not callable(function):
        methods = [
            other
            for other in dir(kind)
            if callable(getattr(kind, other, None)) and not hasattr(nn.Module, other)
        ]
        known = ", ".join(other for other in methods if other[0] != "_") or "none"
        raise LoadModuleError(
            message=f"{kind.__name__} has no method “{name}”.",
            where=kind.__name__,
            hint=did_you_mean(name, methods)
            or f"Name the method that init runs (--method NAME). It has {known}.",
        )
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _fit(module: nn.Module, call: InitCall, signature: inspect.Signature) -> InitCall:
    parameters = list(signature.parameters.values())[1:]
    given = {one.keyword for one in call.named} | set(call.statics)
    _refuse_surplus(module, call, parameters, given)
    filled, missing = dict(call.statics), []
    positional = [p for p in parameters if p.kind in _BY_POSITION]
    reached = {p.name for p in positional[: len(call.positional)]}
    for parameter in parameters:
        required = parameter.default is inspect.Parameter.empty
        if parameter.kind in _VARIADIC or not required:
            continue
        if parameter.name in given or parameter.name in reached:
            continue
        if parameter.name in INFERENCE:
            filled[parameter.name] = INFERENCE[parameter.name]
        else:
            missing.append(parameter.name)
    if missing:
        raise _missing(module, call, missing)
    chosen = tuple(name for name in filled if name not in call.statics)
    return InitCall(call.method, call.positional, call.named, filled, chosen)


_BY_POSITION = frozenset(
    {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
)
_VARIADIC = frozenset({inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})


def _title(module: nn.Module, call: InitCall) -> str:
    method = call.method or "__call__"
    return f"{type(module).__name__}.{method}{call_text(type(module), method)}"


def _missing(module: nn.Module, call: InitCall, missing: list[str]) -> LoadModuleError:
    number = len(missing) > 1
    return LoadModuleError(
        f"{_title(module, call)} needs {'inputs' if number else 'an input'} for "
        f"{', '.join(missing)}; given: {call.given}.",
        where=type(module).__name__,
        hint=f"Give the shape and dtype of {'each' if number else 'it'}, e.g. "
        f"float32[1,8,8,1] (--input); a flag as a static argument, "
        f"{missing[-1]}=true (--call).",
    )


def _refuse_surplus(
    module: nn.Module,
    call: InitCall,
    parameters: list[inspect.Parameter],
    given: set[str],
) -> None:
    kinds = {parameter.kind for parameter in parameters}
    names = [p.name for p in parameters if p.kind not in _VARIADIC]
    places = sum(parameter.kind in _BY_POSITION for parameter in parameters)
    title, kind = _title(module, call), type(module).__name__
    if len(call.positional) > places and inspect.Parameter.VAR_POSITIONAL not in kinds:
        raise LoadModuleError(
            message=f"{title} takes {places} inputs by position, "
            f"{len(call.positional)} are given: {call.given}.",
            where=kind,
        )
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return
    for name in sorted(given - set(names)):
        raise LoadModuleError(
            message=f"{title} has no argument “{name}”.",
            where=kind,
            hint=did_you_mean(name, names) or f"Its arguments: {', '.join(names)}.",
        )
