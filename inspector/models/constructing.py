"""A module without its variables, for questions that come before its first input.

A Linen module has no variables before ``init`` and ``init`` needs inputs, so one that
is asked about with the variables of a checkpoint is constructed and no more. On the
thread that runs the person's code.
"""

from __future__ import annotations

from dataclasses import replace

import jax

from inspector.engine.messages.module import ModuleSpec
from inspector.models.call import InitCall
from inspector.models.construct import Choice, choose, construct_linen
from inspector.models.describe import Described, Found
from inspector.models.families import LINEN
from inspector.models.importing import Imported, import_target
from inspector.models.linen_subject import LinenSubject
from inspector.models.loading import CODE, Progress, explained, load_subject
from inspector.models.spec import parse_spec
from inspector.models.subject import Subject
from inspector.models.traced import Traced
from inspector.variables.leaf import Kind
from inspector.variables.plain import PlainTree


def construct_only(spec: ModuleSpec, tree: PlainTree, progress: Progress) -> Subject:
    """Constructs a module, and lends a Linen one the variables of a tree.

    Modules of other families have their variables from the constructor, and keep
    them.

    Args:
        spec: The module; its inputs are left aside.
        tree: Variables of a Linen module, collections first.
        progress: Told what is being done.

    Raises:
        LoadModuleError: The module cannot be imported or constructed.
        UsageError: A text of the spec cannot be parsed.
    """
    spec = replace(spec, inputs=(), statics=(), method="")
    target = parse_spec(spec.spec, spec.cwd)
    progress(f"Importing {target.title.partition(':')[0]}")
    imported = import_target(target, CODE)
    with explained(imported, f"Loading {target.title}"):
        choice = choose(imported, spec.kwargs, CODE, target.cwd)
        if choice.family in {LINEN, ""}:
            return _lent(spec, imported, choice, tree)
    return load_subject(spec, progress)


def _lent(
    spec: ModuleSpec, imported: Imported, choice: Choice, tree: PlainTree
) -> LinenSubject:
    constructed = construct_linen(choice)
    leaves = tuple(Found(path, leaf.kind, None) for path, leaf in tree.leaves)
    described = Described(
        tuple(leaf for leaf in leaves if leaf.kind is not Kind.OPAQUE), tree.containers
    )
    traced = Traced(described, jax.make_jaxpr(lambda: ())(), (), {})
    call = InitCall("", (), (), {})
    return LinenSubject(
        spec, imported, constructed.module, traced, constructed.code, call, ()
    )
