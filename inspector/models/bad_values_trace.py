"""The trace in which bad values are looked for, and the names of what goes into it.

Its equations are marked with the module they belong to, and the outputs of every module
call are outputs of it, so that it is known which of them are bad. Kept for a few calls:
looking again costs no trace. Model process, on the thread that runs the person's code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
from jax.extend import core as jax_core

from inspector.models.bad_values_watch import Argument
from inspector.models.executing import Prepared
from inspector.models.recording_calls import CallWatch, arrays_in
from inspector.models.settling import Outputs
from inspector.programs.source_lines import Marks
from inspector.programs.table import ProgramTable
from inspector.variables.path import Key, TreePath, join

_ARGUMENTS = 2
"""Position of the inputs among ``(variables, rngs, args, kwargs)``."""


@dataclass(frozen=True, slots=True)
class WatchedTrace:
    """A traced call whose equations know their modules.

    Attributes:
        program: The trace.
        marks: Its marks.
        outputs: How many of its outputs are those of the call.
        watched: Module paths whose outputs a variable is, by variable.
        modules: Every module path that is called, in call order.
        subject: The module; kept so that its identity stays its own.
    """

    program: jax_core.ClosedJaxpr
    marks: Marks
    outputs: int
    watched: dict[Any, tuple[TreePath, ...]]
    modules: tuple[TreePath, ...]
    subject: Any


_TRACES: ProgramTable[WatchedTrace] = ProgramTable(4)


def watched_trace(prepared: Prepared) -> WatchedTrace:
    """Returns the trace of a call; made once for what decides a program."""
    found = _TRACES.find(prepared.signature)
    if found is None:
        found = _traced(prepared)
        _TRACES.put(prepared.signature, found)
    return found


def _traced(prepared: Prepared) -> WatchedTrace:
    marks, outputs = Marks(), Outputs()
    watch = CallWatch(marks)
    forward = prepared.subject.forward(prepared.call, prepared.mutable, watch)
    places: list[list[TreePath]] = []
    modules: list[TreePath] = []
    counts: list[int] = []

    def run(*arrays: Any) -> list[Any]:
        with watch.watching():
            whole = forward(*prepared.inputs.joined(arrays))
        flat = outputs.take(whole)
        counts[:] = [len(flat)]
        places.clear()
        modules[:] = list(dict.fromkeys(call.path for call in watch.calls))
        for call in watch.calls:
            for leaf in arrays_in(call.outputs) if not call.is_inner else ():
                flat.append(leaf)
                places.append([call.path])
        watch.calls.clear()
        return flat

    program = jax.make_jaxpr(run)(*prepared.inputs.arrays)
    watched: dict[Any, tuple[TreePath, ...]] = {}
    extra = program.jaxpr.outvars[counts[0] :]
    for variable, paths in zip(extra, places, strict=True):
        if not isinstance(variable, jax_core.Literal):
            watched[variable] = (*watched.get(variable, ()), *paths)
    return WatchedTrace(
        program, marks, counts[0], watched, tuple(modules), prepared.subject
    )


def arguments_of(prepared: Prepared) -> list[Argument]:
    """Returns what each array that goes into the program is called."""
    whole: Any = prepared.inputs.joined(prepared.inputs.arrays)
    flat, _ = jax.tree_util.tree_flatten_with_path(whole)
    constants = prepared.inputs.constants
    known = {id(array): path for path, array in prepared.values.arrays.items()}
    found = []
    for index, (keys, leaf) in enumerate(flat):
        if index in constants:
            continue
        part, below = keys[0].idx, tuple(_key(key) for key in keys[1:])
        if part == 0:
            path = _variable_path(prepared, below, leaf, known)
            # The paths of Linen begin with the collection.
            module = path[1:-1] if prepared.subject.family == "linen" else path[:-1]
            found.append(Argument(join(path), path, module, is_variable=True))
        elif part == 1:
            found.append(Argument(f"key of {join(below)}"))
        else:
            name = f"input {join(below)}" if part == _ARGUMENTS else join(below)
            found.append(Argument(name))
    return found


def _variable_path(
    prepared: Prepared, below: TreePath, leaf: Any, known: dict[int, TreePath]
) -> TreePath:
    """Returns the path of a variable in the tree, where frameworks add keys."""
    for stop in range(len(below), 0, -1):
        if below[:stop] in prepared.values.arrays:
            return below[:stop]
    return known.get(id(leaf), below)


def _key(entry: Any) -> Key:
    for name in ("key", "idx", "name"):
        if hasattr(entry, name):
            found: Any = getattr(entry, name)
            return found if isinstance(found, int | str) else str(found)
    return str(entry)
