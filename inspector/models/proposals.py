"""Inputs under which a module takes the variables of a checkpoint.

``init`` takes almost any input, but a call with given variables takes the right ones
alone. So candidates are traced on the shapes of the checkpoint, a few milliseconds
each, and those that trace are offered. On the thread that runs the person's code.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from typing import Any

from inspector.engine.messages.calling import Call, Proposals, TryInputs
from inspector.models.abstract_call import abstract_values, trace_abstractly
from inspector.models.candidates import (
    MOST,
    combined,
    evidence_of,
    for_parameter,
)
from inspector.models.constructing import construct_only
from inspector.models.form import Parameter, alternatives, parameters
from inspector.models.loading import Progress, explained
from inspector.models.methods import BY_POSITION, Method
from inspector.models.modes import EVAL, TRAINING
from inspector.models.resolve import called, resolve
from inspector.models.subject import Subject
from inspector.variables.homes import find_homes
from inspector.variables.path import is_prefix
from inspector.variables.plain import PlainTree, from_plain

_SECONDS = 5.0
"""Candidates are tried for so long; a module that takes longer gets fewer tries."""

_OFFERED = 6
"""Most inputs that are offered."""


def propose(body: TryInputs, progress: Progress) -> Proposals:
    """Finds inputs that fit.

    Args:
        body: The module, the tree of the source, and the method.
        progress: Told what is being done.

    Raises:
        LoadModuleError: The module cannot be imported or constructed, or has no such
            method.
        UsageError: A text of the request cannot be parsed.
    """
    tree = variables_of(body.tree)
    subject = construct_only(body.module, tree, progress)
    if subject.family != "linen":
        # The constructor made the variables; a checkpoint that fits has their shapes.
        tree = subject.traced.tree()
    title = subject.imported.target.title
    progress(f"Trying inputs of {title}")
    with explained(subject.imported, f"Trying inputs of {title}"):
        names = subject.methods()
        name = body.method or ("" if "__call__" in names or not names else names[0])
        method = called(subject, name, None, "")
        variables = subject.build(abstract_values(tree))
        return _tried(subject, method, variables, tree)


def variables_of(tree: PlainTree) -> PlainTree:
    """Returns the variables that a tree wraps, collections first.

    A train state, an item of a manager or a ``target`` of T5X holds them deeper; a
    tree without collections is taken for ``params``.
    """
    node = from_plain(tree)
    homes = find_homes(node)
    if not homes:
        return _moved(tree, ((), ("params",)))
    pairs = [(place, (name,)) for name, place in homes[0].collections]
    return _moved(tree, *pairs)


def _moved(tree: PlainTree, *pairs: tuple[Any, Any]) -> PlainTree:
    """Returns what lies below some paths, at other paths; the rest is left out."""
    ordered = sorted(pairs, key=lambda pair: -len(pair[0]))

    def target(path: Any) -> Any:
        for old, new in ordered:
            if is_prefix(old, path):
                return (*new, *path[len(old) :])
        return None

    leaves = [(target(path), leaf) for path, leaf in tree.leaves]
    containers = [(target(path), kind) for path, kind in tree.containers]
    return PlainTree(
        tuple((path, leaf) for path, leaf in leaves if path is not None),
        tuple((path, kind) for path, kind in containers if path),
    )


def _tried(
    subject: Subject, method: Method, variables: Any, tree: PlainTree
) -> Proposals:
    fitting: list[tuple[str, ...]] = []
    tried = 0
    end = time.monotonic() + _SECONDS
    for texts in _candidates(method, tree):
        if tried >= MOST or len(fitting) >= _OFFERED or time.monotonic() > end:
            break
        tried += 1
        if _fits(subject, method, variables, texts):
            fitting.append(texts)
    return Proposals(tuple(fitting), tried)


def _fits(
    subject: Subject, method: Method, variables: Any, texts: tuple[str, ...]
) -> bool:
    name = "" if method.name == "__call__" else method.name
    try:
        resolved = resolve(subject, Call(name, texts, mode=EVAL))
        trace_abstractly(subject, resolved, variables)
    except BaseException:  # the person's code may raise anything
        return False
    return True


def _candidates(method: Method, tree: PlainTree) -> Iterator[tuple[str, ...]]:
    wanted = _inputs(method)
    if not wanted:
        yield ()
        return
    evidence = evidence_of(tree.leaves)
    known = {one.name: one for one in parameters(method.function)}
    choices = []
    for parameter in wanted:
        described = known.get(parameter.name)
        hint = _plain_hint(described) if described else ""
        texts = for_parameter(parameter.name, hint, evidence, len(wanted) == 1)
        keyword = f"{parameter.name}=" if parameter.kind not in BY_POSITION else ""
        choices.append([f"{keyword}{text}" for text in texts])
    yield from combined(choices)


def _plain_hint(parameter: Parameter) -> str:
    kinds = alternatives(parameter.hint)
    return getattr(kinds[0], "__name__", "") if len(kinds) == 1 else ""


def _inputs(method: Method) -> list[inspect.Parameter]:
    """Returns the parameters that need an input: required, and no flag of the mode."""
    found = [
        parameter
        for parameter in method.parameters
        if parameter.default is inspect.Parameter.empty
        and parameter.kind is not inspect.Parameter.VAR_KEYWORD
        and parameter.kind is not inspect.Parameter.VAR_POSITIONAL
        and parameter.name not in TRAINING
    ]
    if found:
        return found
    # `__call__(self, *inputs)` and `__call__(self, x=None)` take one as a rule.
    rest = [
        parameter.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for parameter in method.parameters
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL
    ]
    return rest[:1]
