"""The base of a document: the tree that edits begin with.

A module's base is recorded, not referenced: what made the tree, and the tree
itself. The store works from it alone, so opening a recipe runs no code. Pure
data; loading modules belongs to the model engine.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from inspector.errors import RecipeError
from inspector.variables.leaf import EMPTY_KINDS
from inspector.variables.plain import (
    PlainTree,
    from_plain,
    plain_from_json,
    plain_to_json,
)
from inspector.variables.strict import JsonObject, fault
from inspector.variables.tree import Branch, Node
from inspector.variables.value import Initial

Texts = tuple[tuple[str, str], ...]
"""(name, text) pairs in a fixed order."""


@dataclass(frozen=True, slots=True)
class NoBase:
    """Nothing has been chosen yet; the target is empty."""


@dataclass(frozen=True, slots=True)
class CheckpointBase:
    """An editable copy of a source.

    Attributes:
        source: Id of the source in the document.
    """

    source: str


@dataclass(frozen=True, slots=True)
class ModuleBase:
    """A module's variables as they were when it was loaded.

    Attributes:
        spec: ``file.py:Name`` or ``package.module:Name``.
        file: Absolute path of the file that defines it; empty when unknown.
        file_digest: SHA-256 of that file in hex.
        kwargs_json: Constructor arguments, a JSON object as text.
        inputs: One text per input of ``init``, e.g. ``"float32[1,28,28,1]"``.
        method: Method that ``init`` runs; empty for ``__call__``.
        statics: (name, JSON value) of static call arguments.
        rngs: (rng stream, seed).
        python: Version of the interpreter.
        versions: (package, version) of jax, flax and numpy.
        prng: (PRNG flag of JAX, value) that change initial values.
        name: Short name for titles.
        cwd: Folder that relative paths of the spec and inputs start from.
        tree: The abstract tree, its leaves valued `Initial`.
    """

    spec: str
    file: str = ""
    file_digest: str = ""
    kwargs_json: str = "{}"
    inputs: tuple[str, ...] = ()
    method: str = ""
    statics: Texts = ()
    rngs: tuple[tuple[str, int], ...] = ()
    python: str = ""
    versions: Texts = ()
    prng: Texts = ()
    name: str = ""
    cwd: str = ""
    tree: PlainTree = field(default_factory=PlainTree)


Base = NoBase | CheckpointBase | ModuleBase
"""Every kind of base."""


def module_tree(base: ModuleBase) -> Branch:
    """Returns the recorded tree with every leaf at its initial value.

    Raises:
        RecipeError: The module's variables are a single leaf, which cannot be
            edited as a tree.
    """
    plain = base.tree
    leaves = tuple(
        (path, replace(leaf, value=Initial(path)) if leaf.dtype else leaf)
        for path, leaf in plain.leaves
    )
    return as_branch(from_plain(PlainTree(leaves, plain.containers)), base.spec)


def as_branch(node: Node, name: str) -> Branch:
    """Returns a tree that can be a target.

    Raises:
        RecipeError: It is a single leaf.
    """
    if isinstance(node, Branch):
        return node
    if node.kind in EMPTY_KINDS:
        message = f"{name} has no variables, so there is nothing to fill or edit"
        raise RecipeError(message, hint="Choose a module with parameters.")
    message = f"{name} is a single leaf, which has nothing to edit below it"
    raise RecipeError(message, hint="Choose a tree with at least one key.")


def base_to_json(base: Base, folder: PurePath | None = None) -> dict[str, object]:
    """Returns a base as the recipe keeps it.

    Args:
        base: The base.
        folder: Folder of the recipe, for the relative path of the module's file;
            None to keep the absolute one alone.
    """
    if isinstance(base, NoBase):
        return {"kind": "none"}
    if isinstance(base, CheckpointBase):
        return {"kind": "checkpoint", "source": base.source}
    return {
        "kind": "module",
        "name": base.name,
        "spec": base.spec,
        "file": base.file,
        "relative": relative_to(base.file, folder),
        "file_digest": base.file_digest,
        "kwargs": base.kwargs_json,
        "inputs": list(base.inputs),
        "method": base.method,
        "statics": [list(pair) for pair in base.statics],
        "rngs": [list(pair) for pair in base.rngs],
        "python": base.python,
        "versions": [list(pair) for pair in base.versions],
        "prng": [list(pair) for pair in base.prng],
        "cwd": base.cwd,
        "tree": plain_to_json(base.tree),
    }


def relative_to(path: str, folder: PurePath | None) -> str:
    """Returns an absolute path as seen from a folder, with ``/``.

    Empty where there is none, e.g. on another drive of Windows.
    """
    if not path or folder is None:
        return ""
    try:
        return PurePath(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return ""


def base_from_json(fields: JsonObject) -> tuple[Base, str]:
    """Returns the base that `base_to_json` wrote.

    Returns:
        The base, and the path of its file relative to the recipe; may be empty.

    Raises:
        RecipeError: A field is missing, unknown or of the wrong type.
    """
    kind = fields.text("kind")
    base: Base
    relative = ""
    if kind == "none":
        base = NoBase()
    elif kind == "checkpoint":
        base = CheckpointBase(fields.text("source"))
    elif kind == "module":
        base, relative = _module_from_json(fields), fields.text("relative")
    else:
        raise fault(fields.at("kind"), "none, checkpoint or module", kind)
    fields.done()
    return base, relative


def _module_from_json(fields: JsonObject) -> ModuleBase:
    base = ModuleBase(
        name=fields.text("name"),
        spec=fields.text("spec"),
        file=fields.text("file"),
        file_digest=fields.text("file_digest"),
        kwargs_json=fields.text("kwargs"),
        inputs=fields.texts("inputs"),
        method=fields.text("method"),
        statics=_texts(fields, "statics"),
        rngs=_rngs(fields),
        python=fields.text("python"),
        versions=_texts(fields, "versions"),
        prng=_texts(fields, "prng"),
        cwd=fields.text("cwd"),
        tree=plain_from_json(fields.raw("tree"), fields.at("tree")),
    )
    module_tree(base)
    return base


def _texts(fields: JsonObject, key: str) -> Texts:
    found = []
    for item, place in fields.items(key):
        match item:
            case [str(name), str(text)]:
                found.append((name, text))
            case _:
                raise fault(place, "[name, text]", item)
    return tuple(found)


def _rngs(fields: JsonObject) -> tuple[tuple[str, int], ...]:
    found = []
    for item, place in fields.items("rngs"):
        match item:
            case [str(stream), int(seed)] if not isinstance(seed, bool):
                found.append((stream, seed))
            case _:
                raise fault(place, "[rng stream, seed]", item)
    return tuple(found)
