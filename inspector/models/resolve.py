"""From a `Call`, which is text, to a `ResolvedCall`, which can be traced.

Inputs are parsed and fitted to the signature of the method, the mode becomes flags,
static arguments become Python values. Traces nothing; the function that is called in
place of a method is imported here. On the thread that runs the person's code.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from inspector.engine.messages.calling import Call
from inspector.engine.messages.running import Remark
from inspector.errors import LoadModuleError
from inspector.models.call import chosen_note
from inspector.models.filled import RNGS
from inspector.models.importing import find, import_target
from inspector.models.inputs import Input, parse_input, texts_of
from inspector.models.loading import CODE, explained
from inspector.models.methods import (
    Given,
    Method,
    fit,
    method_of,
    reached_by_position,
    refuse_twice,
)
from inspector.models.modes import Switches, check_mode, doubled_note, switches_of
from inspector.models.names import Argument
from inspector.models.spec import parse_spec
from inspector.models.statics import static_arguments
from inspector.models.subject import ResolvedCall, Subject


def resolve(
    subject: Subject, call: Call, images: Mapping[str, str] | None = None
) -> ResolvedCall:
    """Makes a call ready to be traced.

    Args:
        subject: The module.
        call: The call.
        images: ``.npy`` file that the reader made of a picture, by text of an input.

    Raises:
        LoadModuleError: The method is absent, the inputs do not fit it, or a file
            cannot be read.
        UsageError: A text cannot be parsed.
    """
    check_mode(call.mode)
    folder = Path(call.cwd) if call.cwd else subject.imported.target.cwd
    apply, apply_code = applied(subject, call.apply, folder)
    method = called(subject, call.method, apply, call.apply)
    inputs = [parse_input(text, folder, images or {}) for text in call.inputs]
    positional = [one for one in inputs if not one.keyword]
    named = {one.keyword: one for one in inputs if one.keyword}
    statics = static_arguments(call.statics, method.function)
    refuse_twice([*(one.keyword for one in inputs if one.keyword), *statics])
    taken = {*named, *statics, *reached_by_position(method, len(positional))}
    switches = switches_of(subject.module, subject.family, method.parameters)
    flags, fields, remarks = _mode(call.mode, switches, taken)
    rngs_argument = _rngs_argument(subject, method, taken)
    names = frozenset({*named, *statics, *flags, rngs_argument} - {""})
    chosen = fit(method, Given(len(positional), names, texts_of(inputs)))
    remarks += [Remark("mode", chosen_note(name, v)) for name, v in chosen.items()]
    codes, imports = _codes(positional, named, statics)
    return ResolvedCall(
        method="" if call.method == "__call__" else call.method,
        args=tuple(one.value for one in positional),
        kwargs={name: one.value for name, one in named.items()},
        statics={name: one.value for name, one in statics.items()} | flags | chosen,
        codes=codes,
        imports=imports,
        mode=call.mode if subject.family == "nnx" else "",
        fields=fields,
        apply=apply,
        apply_code=apply_code,
        rngs_argument=rngs_argument,
        remarks=tuple(remarks),
        texts=call.inputs,
    )


def applied(
    subject: Subject, spec: str, folder: Path
) -> tuple[Callable[..., Any] | None, tuple[str, ...]]:
    """Returns the function that is called in place of a method, and its import.

    Args:
        subject: The module; the function is imported into its project.
        spec: ``file.py:fn``; empty for none.
        folder: Folder for relative paths.

    Raises:
        LoadModuleError: It cannot be imported, or cannot be called.
    """
    if not spec:
        return None, ()
    target = parse_spec(spec, str(folder))
    with explained(subject.imported, f"Importing {target.title.partition(':')[0]}"):
        imported = import_target(target, CODE, beside=True)
        found = find(imported, _functions(imported.module))
    if not callable(found):
        raise LoadModuleError(
            message=f"{target.name} is no function.",
            where=target.place,
            hint="Name a function fn(variables, *inputs).",
        )
    lines = imported.import_lines(target.name.partition(".")[0])
    return found, (*lines, f"apply = {target.name}")


def _functions(module: object) -> tuple[str, ...]:
    return tuple(
        name
        for name, value in vars(module).items()
        if callable(value) and name[0] > "_"
    )


def called(
    subject: Subject, name: str, apply: Callable[..., Any] | None, spec: str
) -> Method:
    """Returns the method that a call runs, or the function in its place.

    Args:
        subject: The module.
        name: Name of the method; empty for ``__call__``.
        apply: The function in its place; None for a method.
        spec: Its text.

    Raises:
        LoadModuleError: There is no such method.
    """
    if apply is not None:
        return method_of(apply, "", spec.rpartition(":")[2])
    name = "" if name == "__call__" else name
    owner = type(subject.module).__name__
    return method_of(subject.function(name), owner, name or "__call__")


def _rngs_argument(subject: Subject, method: Method, taken: set[str]) -> str:
    """Returns the parameter of an NNX method that needs rngs and is given none."""
    if subject.family != "nnx":
        return ""
    for parameter in method.parameters:
        required = parameter.default is inspect.Parameter.empty
        named = parameter.name == RNGS or "Rngs" in str(parameter.annotation)
        if named and required and parameter.name not in taken:
            return parameter.name
    return ""


def _mode(
    mode: str, switches: Switches, taken: set[str]
) -> tuple[dict[str, bool], dict[str, object], list[Remark]]:
    """Returns the arguments and the fields that a mode sets, and what to say."""
    if not mode:
        return {}, {}, []
    if not switches.found:
        text = f"The module has no train/eval switch, so mode {mode} changes nothing."
        return {}, {}, [Remark("mode", text)]
    free = [switch for switch in switches.found if switch.name not in taken]
    flags = {s.name: s.value(mode) for s in free if s.where == "argument"}
    fields: dict[str, object] = {
        s.name: s.value(mode) for s in free if s.where == "field"
    }
    notes = [doubled_note(name) for name in switches.doubled if name not in taken]
    return flags, fields, [Remark("mode", note) for note in notes]


def _codes(
    positional: list[Input], named: dict[str, Input], statics: dict[str, Argument]
) -> tuple[dict[int | str, str], tuple[str, ...]]:
    codes: dict[int | str, str] = {n: one.code for n, one in enumerate(positional)}
    codes |= {name: one.code for name, one in named.items()}
    codes |= {name: one.code for name, one in statics.items()}
    lines = [line for one in (*positional, *named.values()) for line in one.imports]
    lines += [line for one in statics.values() for line in one.imports]
    return codes, tuple(dict.fromkeys(lines))
