"""How a module can be called: the call, its form, devices, inputs that fit.

A `Call` says how a method is called; it is the same on both pipes. Questions about
the target's module go from the window to the store, which adds the module and passes
them on to the model.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.engine.messages.module import ModuleSpec
from inspector.variables.plain import PlainTree

FOUND = "*"
"""In `Call.mutable`: also every collection that the method turns out to update."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a method, as a person asks for it.

    Attributes:
        method: Method; empty for ``__call__``.
        inputs: One text per input, as in `ModuleSpec.inputs`, and more: a shape may
            be followed by what fills it, ``float32[8,28,28,1]:normal(0)``
            (`models.inputs` has the list; a shape alone is ones), and inputs nest
            in ``{…}``, ``[…]`` and ``(…)``.
        statics: (name, JSON value) of static arguments.
        mode: ``"train"`` or ``"eval"`` sets the flag that the module has for it,
            where ``statics`` does not; empty leaves the flag alone.
        seeds: (rng stream, seed); a stream that is drawn from and not named has
            seed 0 (NNX: the state that the variables hold).
        mutable: Collections (NNX: Variable types) that the method may update;
            `FOUND` adds those that it does update.
        device: ``"cpu"``, ``"gpu:0"``; empty for JAX's default device.
        precision: ``"highest"``, ``"high"``, ``"default"``, or empty for JAX's own
            setting of ``jax_default_matmul_precision``.
        apply: ``file.py:fn`` with ``fn(variables, *inputs)`` that is called in place
            of a method; for pytrees that cannot be called.
        cwd: Folder for relative paths.
    """

    method: str = ""
    inputs: tuple[str, ...] = ()
    statics: tuple[tuple[str, str], ...] = ()
    mode: str = ""
    seeds: tuple[tuple[str, int], ...] = ()
    mutable: tuple[str, ...] = (FOUND,)
    device: str = ""
    precision: str = ""
    apply: str = ""
    cwd: str = ""


# What a module can be asked. The store passes these on to the model as they are.


@dataclass(frozen=True, slots=True)
class AskCallForm:
    """Asks how the target's module can be called; `CallForm` answers.

    Attributes:
        method: The method to look at; empty for ``__call__``.
        apply: As in `Call`.
    """

    method: str = ""
    apply: str = ""


@dataclass(frozen=True, slots=True)
class ReadCallForm:
    """Store -> model: the question of `AskCallForm`, with the module it is about."""

    module: ModuleSpec
    method: str = ""
    apply: str = ""


@dataclass(frozen=True, slots=True)
class CallParameter:
    """One parameter of a method.

    Attributes:
        name: Its name.
        default: ``repr`` of its default; empty without one.
        required: Whether it has to be given.
        keyword_only: Whether it is passed by keyword alone.
        static: Whether it is static: a bool, text, enum, callable, or a number that
            the method needs as such (found by tracing).
        hint: Text of its annotation.
    """

    name: str
    default: str = ""
    required: bool = False
    keyword_only: bool = False
    static: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Mode:
    """The train/eval switch of a method.

    Attributes:
        flag: Name of what it sets, e.g. ``"train"``, ``"deterministic"``, or
            ``".train() / .eval()"``; empty when there is none.
        where: ``"argument"``, ``"field"``, ``"method"`` (NNX) or empty.
        train: Value of the flag that means training, as JSON.
        eval: Value that means inference, as JSON.
        effect: ``"differs"`` when the traces of the two modes differ, ``"same"``
            when they do not, ``"unknown"`` when one of them cannot be traced.
        text: Sentence on the mapping for a person; also why it is unknown.
    """

    flag: str = ""
    where: str = ""
    train: str = ""
    eval: str = ""
    effect: str = "unknown"
    text: str = ""


@dataclass(frozen=True, slots=True)
class CallForm:
    """How a module can be called.

    Attributes:
        family: ``"linen"``, ``"nnx"`` or ``"pytree"``.
        methods: Methods that can be called, ``__call__`` first when there is one.
        method: The method that the rest is about; empty for ``__call__``.
        parameters: Its parameters without ``self``.
        signature: The parameters as written, e.g. ``"(x, train: bool = False)"``.
        mode: Its train/eval switch.
        inputs: Inputs to begin with, one text each: those of ``init``.
        streams: Rng streams that it may draw from, with those inputs.
        doc: First line of its docstring.
        problem: Why it cannot be called; empty when it can.
    """

    family: str
    methods: tuple[str, ...]
    method: str
    parameters: tuple[CallParameter, ...] = ()
    signature: str = ""
    mode: Mode = Mode()
    inputs: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()
    doc: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class AskDevices:
    """Asks which devices JAX sees in the model; `Devices` answers.

    The first answer starts JAX's backend there. Goes from the window to the store
    and from the store to the model.
    """


@dataclass(frozen=True, slots=True)
class Device:
    """One device.

    Attributes:
        id: As `Call.device` takes it, e.g. ``"cpu:0"``.
        kind: What JAX calls it, e.g. ``"cpu"`` or ``"NVIDIA H200"``.
        memory: Bytes it has; 0 when it does not tell.
    """

    id: str
    kind: str
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Devices:
    """Every device that JAX sees.

    Attributes:
        devices: The default one first; a CPU is always among them.
        problem: Why there is no accelerator although one is to be expected (its
            driver is there): no plugin, driver too old, with the versions; else
            empty.
    """

    devices: tuple[Device, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ProposeInputs:
    """Asks for inputs that fit a source; `Proposals` answers. Window -> store.

    Attributes:
        module: The module, its own inputs ignored; with an empty spec the target's.
        source: Id of an open source whose variables count as the module's.
        method: Method to call; empty for ``__call__``.
    """

    module: ModuleSpec
    source: str
    method: str = ""


@dataclass(frozen=True, slots=True)
class TryInputs:
    """Store -> model: `ProposeInputs` with the source's abstract tree."""

    module: ModuleSpec
    tree: PlainTree
    method: str = ""


@dataclass(frozen=True, slots=True)
class Proposals:
    """Inputs under which the module takes the source's variables, likeliest first.

    Attributes:
        inputs: Each one text per input.
        tried: How many candidates were tried.
    """

    inputs: tuple[tuple[str, ...], ...]
    tried: int


CLASSES: tuple[type, ...] = (
    Call, AskCallForm, ReadCallForm, CallParameter, Mode, CallForm, AskDevices, Device,
    Devices, ProposeInputs, TryInputs, Proposals,
)  # fmt: skip
"""Every class of this module, for the codec."""
