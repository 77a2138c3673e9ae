"""Store -> model: load a module on the person's interpreter, trace and initialise it.

The model may be ended at any moment; each request says everything it needs.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree


@dataclass(frozen=True, slots=True)
class ModuleSpec:
    """Which module, and how its variables are made.

    Attributes:
        spec: ``file.py:Name`` (absolute) or ``package.module:Name``.
        kwargs: JSON object of constructor arguments.
        inputs: One text per input of ``init``: a shape as JAX prints it
            (``float32[8,28,28,1]``), ``name=float32[…]`` by keyword, a ``.npy``
            file or ``FILE.npz:name``.
        method: Method that ``init`` runs; empty for ``__call__``.
        statics: (name, JSON value) of static call arguments, e.g.
            ``("train", "false")``.
        seeds: (rng stream, seed); streams not named get seed 0.
        cwd: Folder for relative paths and for ``package.module``.
    """

    spec: str
    kwargs: str = "{}"
    inputs: tuple[str, ...] = ()
    method: str = ""
    statics: tuple[tuple[str, str], ...] = ()
    seeds: tuple[tuple[str, int], ...] = ()
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class ListModules:
    """Imports a file or package and lists what it offers; `ModuleOffers` answers.

    Running the file's code is meant: it is sent only after the person named it.

    Attributes:
        spec: ``file.py`` or ``package.module``, with or without ``:Name``.
        cwd: Folder for relative paths.
        python: Interpreter to run it on; empty keeps the present one. Read by the
            store, which starts the model on it.
    """

    spec: str
    cwd: str = ""
    python: str = ""


@dataclass(frozen=True, slots=True)
class FormField:
    """One constructor argument.

    Attributes:
        name: Name of the argument.
        hint: Text of its annotation.
        default: ``repr`` of its default; empty when there is none.
        required: Whether it has to be given.
        widget: ``"bool"``, ``"int"``, ``"float"``, ``"text"``, ``"choice"``,
            ``"dtype"``, ``"callable"``, ``"tuple"`` or ``"literal"``.
        choices: Values of a choice, as JSON.
    """

    name: str
    hint: str
    default: str
    required: bool
    widget: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModuleOffer:
    """One thing a file offers as a module.

    Attributes:
        name: Name in the file.
        kind: ``"class"``, ``"instance"`` or ``"factory"``.
        fields: Constructor arguments; empty for an instance.
        call: Parameters of ``__call__`` as text, e.g. ``"(x, train: bool)"``.
        doc: First line of its docstring.
        family: ``"linen"``, ``"nnx"``, ``"haiku"``, ``"pytree"``, or empty when only
            a call can tell.
    """

    name: str
    kind: str
    fields: tuple[FormField, ...] = ()
    call: str = ""
    doc: str = ""
    family: str = ""


@dataclass(frozen=True, slots=True)
class ModuleOffers:
    """What a file offers, in its own order."""

    spec: str
    offers: tuple[ModuleOffer, ...]


@dataclass(frozen=True, slots=True)
class LoadModule:
    """Constructs a module and traces its ``init``; `ModuleLoaded` answers."""

    module: ModuleSpec


@dataclass(frozen=True, slots=True)
class ModuleLoaded:
    """The variable tree of a module, nothing allocated.

    Attributes:
        spec: The spec with the file made absolute.
        name: Short name for titles, e.g. ``"classifier.py:Classifier"``.
        tree: Leaves with shape, dtype, note (boxes); values are `Initial`.
        file: File that defines it; empty when unknown.
        digest: SHA-256 of that file in hex.
        streams: Rng streams that ``init`` draws from, ``params`` first.
        versions: (package, version) for the recipe.
        flags: (PRNG flag of JAX, value) that change initial values.
        call: The ``init`` call as Python code, for "Copy as Python".
        notes: Sentences that a person should read, e.g. which flag was chosen.
        files: Files of the person's project that were imported for it.
    """

    spec: str
    name: str
    tree: PlainTree
    file: str
    digest: str
    streams: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]
    flags: tuple[tuple[str, str], ...] = ()
    call: str = ""
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MakeInitial:
    """Makes initial values in one jitted call, only of the leaves named.

    Attributes:
        module: As for `LoadModule`.
        paths: Leaves of the module's own tree; an empty tuple means all.
        file: Absolute path to write to: raw little-endian arrays, 64-byte aligned.
    """

    module: ModuleSpec
    paths: tuple[TreePath, ...]
    file: str


@dataclass(frozen=True, slots=True)
class InitialMade:
    """Where each initial value lies.

    Attributes:
        file: The file asked for, complete and synced.
        table: (path, offset, shape, dtype) of each leaf; random keys with the axis
            of their words and dtype ``uint32``.
    """

    file: str
    table: tuple[tuple[TreePath, int, tuple[int, ...], str], ...]


CLASSES: tuple[type, ...] = (
    ModuleSpec, ListModules, FormField, ModuleOffer, ModuleOffers, LoadModule,
    ModuleLoaded, MakeInitial, InitialMade,
)  # fmt: skip
"""Every class of this module, for the codec."""
