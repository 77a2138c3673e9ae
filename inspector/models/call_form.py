"""How a module can be called: methods, parameters, the mode and its proof, streams.

What the signature does not say is found by tracing on shapes: which numbers are
static, whether the train/eval switch has an effect, which streams are drawn from. On
the thread that runs the person's code.
"""

from __future__ import annotations

import enum
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax

from inspector.engine.messages.calling import Call, CallForm, CallParameter, Mode
from inspector.engine.messages.module import ModuleSpec
from inspector.errors import InspectorError
from inspector.models import explain
from inspector.models.abstract_call import (
    AbstractTrace,
    abstract_values,
    trace_abstractly,
)
from inspector.models.form import Parameter, alternatives, parameters
from inspector.models.input_leaf import struct
from inspector.models.methods import VARIADIC, Method
from inspector.models.modes import EVAL, TRAIN, TRAINING, Switches, switches_of
from inspector.models.resolve import applied, called, resolve
from inspector.models.subject import Subject

_ARRAY_WORDS = ("Array", "ndarray", "jnp.", "Tensor", "PyTree", "PRNGKey")
"""In the text of an annotation: an array that may be left out, so no static one."""

_NOT_A_NUMBER = (jax.errors.ConcretizationTypeError, TypeError)
"""What a number that is traced raises where a Python number is needed."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A method of a module, and the call that its traces start from."""

    subject: Subject
    method: Method
    switches: Switches
    call: Call
    variables: Any

    def trace(self, call: Call, more: Mapping[str, Any] | None = None) -> AbstractTrace:
        """Traces a call, with more inputs by keyword."""
        resolved = resolve(self.subject, call)
        if more:
            statics = {n: v for n, v in resolved.statics.items() if n not in more}
            kwargs = {**resolved.kwargs, **more}
            resolved = replace(resolved, kwargs=kwargs, statics=statics)
        return trace_abstractly(self.subject, resolved, self.variables)

    def tried(
        self, call: Call, more: Mapping[str, Any] | None = None
    ) -> AbstractTrace | BaseException:
        """Traces a call; gives what it raised, whatever that is."""
        try:
            return self.trace(call, more)
        except BaseException as error:  # the person's code may raise anything
            return error


def call_form(subject: Subject, method: str, apply: str) -> CallForm:
    """Returns how a module can be called.

    Args:
        subject: The module.
        method: Method to look at; empty for ``__call__``, or for the only choice
            where there is none.
        apply: As in `Call`.

    Raises:
        LoadModuleError: There is no such method, or the function cannot be imported.
    """
    spec, names = subject.spec, subject.methods()
    if not names and not apply:
        return CallForm(subject.family, (), "", problem=_no_method(subject))
    name = _chosen(method, spec, names)
    folder = Path(spec.cwd) if spec.cwd else subject.imported.target.cwd
    function, _ = applied(subject, apply, folder)
    looked = called(subject, name, function, apply)
    switches = switches_of(subject.module, subject.family, looked.parameters)
    variables = subject.build(abstract_values(subject.traced.tree()))
    call = _first_call(looked, spec, name, apply)
    question = _Question(subject, looked, switches, call, variables)
    mode, streams = _proof(question)
    return CallForm(
        family=subject.family,
        methods=names,
        method=name,
        parameters=_parameters(question),
        signature=looked.text,
        mode=mode,
        inputs=spec.inputs,
        streams=streams,
        doc=(inspect.getdoc(looked.function) or "").strip().partition("\n")[0],
    )


def _no_method(subject: Subject) -> str:
    kind = type(subject.module).__name__
    return (
        f"{kind} cannot be called: it has no __call__ and no other method. Name a "
        "function that takes its variables and the inputs: file.py:fn with "
        "fn(variables, *inputs)."
    )


def _chosen(method: str, spec: ModuleSpec, names: tuple[str, ...]) -> str:
    if method or not names or "__call__" in names:
        return "" if method == "__call__" else method
    return spec.method if spec.method in names else names[0]


def _first_call(method: Method, spec: ModuleSpec, name: str, apply: str) -> Call:
    """Returns the call of ``init`` without its flags of the mode."""
    known = {parameter.name for parameter in method.parameters}
    takes_any = any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD
        for parameter in method.parameters
    )
    statics = tuple(
        pair
        for pair in spec.statics
        if pair[0] not in TRAINING and (takes_any or pair[0] in known)
    )
    return Call(name, spec.inputs, statics, apply=apply, cwd=spec.cwd)


def _proof(question: _Question) -> tuple[Mode, tuple[str, ...]]:
    """Returns the switch with its effect, and the streams of the training mode."""
    if not question.switches.found:
        found = question.tried(question.call)
        streams = found.streams if isinstance(found, AbstractTrace) else ()
        return question.switches.described(), streams
    train, eval_ = (
        question.tried(replace(question.call, mode=mode)) for mode in (TRAIN, EVAL)
    )
    streams = train.streams if isinstance(train, AbstractTrace) else ()
    for found in (train, eval_):
        if isinstance(found, BaseException):
            why = _why(question.subject, found)
            return question.switches.described("unknown", why), streams
    same = _program(train) == _program(eval_)
    return question.switches.described("same" if same else "differs"), streams


def _program(found: AbstractTrace | BaseException) -> str:
    return found.program if isinstance(found, AbstractTrace) else ""


def _why(subject: Subject, error: BaseException) -> str:
    if isinstance(error, InspectorError):
        return error.message
    roots = subject.imported.roots
    return explain.failure(error, roots, doing="with these inputs the trace").message


def _parameters(question: _Question) -> tuple[CallParameter, ...]:
    known = {one.name: one for one in parameters(question.method.function)}
    found = []
    for parameter in question.method.parameters:
        if parameter.kind in VARIADIC:
            continue
        described = known.get(parameter.name)
        default = parameter.default
        required = default is inspect.Parameter.empty
        found.append(
            CallParameter(
                parameter.name,
                "" if required else _default_text(default),
                required,
                parameter.kind is inspect.Parameter.KEYWORD_ONLY,
                _is_static(question, parameter, described),
                described.text if described else "",
            )
        )
    return tuple(found)


def _default_text(default: object) -> str:
    if callable(default):
        return str(getattr(default, "__name__", type(default).__name__))
    return repr(default)


def _is_static(
    question: _Question, parameter: inspect.Parameter, described: Parameter | None
) -> bool:
    """Returns whether a parameter is static; a number only when its trace needs it."""
    if parameter.name in TRAINING:
        return True
    text = described.text if described else ""
    if any(word in text for word in _ARRAY_WORDS):
        return False
    default = parameter.default
    if default is None or isinstance(default, bool | str | enum.Enum):
        return True
    missing = default is inspect.Parameter.empty
    if not missing and (callable(default) or isinstance(default, tuple | list | dict)):
        return True
    kinds = alternatives(described.hint) if described else ()
    if kinds and all(_is_static_hint(kind) for kind in kinds):
        return True
    number = _number(default, kinds)
    return number is not None and _needs_number(question, parameter, number)


def _is_static_hint(kind: object) -> bool:
    if kind in {bool, str} or typing.get_origin(kind) is typing.Literal:
        return True
    if kind is Callable or typing.get_origin(kind) in {Callable, _CALLABLE, type}:
        return True
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


_CALLABLE = typing.get_origin(Callable[[], None])


def _number(default: object, kinds: tuple[object, ...]) -> str | None:
    """Returns the dtype of a parameter that is a Python number, else None."""
    if isinstance(default, int | float):
        return "int32" if isinstance(default, int) else "float32"
    if default is inspect.Parameter.empty:
        if int in kinds:
            return "int32"
        return "float32" if float in kinds else None
    return None


def _needs_number(
    question: _Question, parameter: inspect.Parameter, dtype: str
) -> bool:
    """Traces with the parameter as an array: does the method need a Python number?"""
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        return False
    call = _without(question.call, parameter.name)
    if question.switches.found:
        call = replace(call, mode=EVAL)
    given = {name for name, _ in call.statics}
    # Any number will do to get as far as the one that is asked about.
    ones = ((one, "1") for one in _required_numbers(question) if one not in given)
    call = replace(call, statics=(*call.statics, *ones))
    found = question.tried(call, {parameter.name: struct((), dtype)})
    if isinstance(found, jax.errors.ConcretizationTypeError):
        return True
    if isinstance(found, _NOT_A_NUMBER):
        return isinstance(question.tried(call), AbstractTrace)
    return False


def _required_numbers(question: _Question) -> list[str]:
    known = parameters(question.method.function)
    required = {
        one.name
        for one in question.method.parameters
        if one.default is inspect.Parameter.empty
    }
    return [
        one.name
        for one in known
        if one.name in required and set(alternatives(one.hint)) & {int, float}
    ]


def _without(call: Call, name: str) -> Call:
    """Returns a call that leaves an input by keyword out."""
    texts = tuple(text for text in call.inputs if not text.startswith(f"{name}="))
    return replace(call, inputs=texts)
