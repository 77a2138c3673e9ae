"""Looking inside a forward pass: every module call, the first bad value, two trees.

Each is a run of its own; nothing of it is in the program of a plain run.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.engine.messages.calling import Call
from inspector.engine.messages.module import ModuleSpec
from inspector.engine.messages.running import Remark, RunModule
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree


@dataclass(frozen=True, slots=True)
class Record:
    """Runs the call once more and records every module call; `CallsReport`.

    Attributes:
        call: The call.
        fresh: As in `Run`.
    """

    call: Call
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class RecordModule:
    """Store -> model: as `RunModule`, every module call recorded; `CallsDone`."""

    run: RunModule


@dataclass(frozen=True, slots=True)
class ModuleCall:
    """One call of one module.

    Attributes:
        index: Number in call order: a call comes before the calls inside it.
        module: Module path; ``()`` is the root.
        kind: Class of the module.
        method: Method.
        inputs: Its inputs as text, e.g. ``"float32[2,5], train=True"``.
        outputs: Its outputs as text.
        note: E.g. ``"step of a scan"`` when only the shapes are known.
    """

    index: int
    module: TreePath
    kind: str
    method: str
    inputs: str
    outputs: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class CallsDone:
    """Model -> store: the recorded calls.

    Attributes:
        calls: In call order.
        values: Outputs and inputs: ``(index, "outputs" | "inputs", …)``.
        sowed: Values that modules sowed: at ``("sowed", *module path, name)``.
        seconds: Time of the run.
        remarks: Sentences for a person.
    """

    calls: tuple[ModuleCall, ...]
    values: PlainTree
    seconds: float
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class CallsReport:
    """Store -> window: the recorded calls; the tree `calls_of` holds their values.

    Attributes:
        run: Number of this run.
        calls: At most 2,000, in call order.
        total: Calls in all.
        seconds: Time of the run.
        remarks: Sentences for a person.
    """

    run: int
    calls: tuple[ModuleCall, ...]
    total: int
    seconds: float
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class RunSubmodule:
    """Runs one recorded call alone on its recorded inputs; `RunReport` answers.

    Attributes:
        run: Number of the recording.
        index: Number of the call in it.
    """

    run: int
    index: int


@dataclass(frozen=True, slots=True)
class RunCallModule:
    """Store -> model: `RunSubmodule`; ``run`` is the recorded call; `RunDone`."""

    run: RunModule
    index: int


@dataclass(frozen=True, slots=True)
class FindBad:
    """Asks what first made a NaN or an Inf; `BadReport` answers.

    Attributes:
        call: The call.
        gradient: Looks at the gradient of the mean of the outputs with respect to
            the variables too.
        fresh: As in `Run`.
    """

    call: Call
    gradient: bool = False
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class FindBadModule:
    """Store -> model: the question of `FindBad`; `BadReport` answers."""

    run: RunModule
    gradient: bool = False


@dataclass(frozen=True, slots=True)
class ValueSummary:
    """One value in numbers.

    Attributes:
        name: What it is: a variable's path, ``"input 0"``, or empty.
        text: Shape and dtype, e.g. ``"float32[2,5]"``.
        minimum: Smallest finite value, None without one.
        maximum: Largest finite value, None without one.
        nan: NaNs in it.
        inf: Infs in it.
        size: Elements in it.
    """

    name: str
    text: str
    minimum: float | None
    maximum: float | None
    nan: int
    inf: int
    size: int


@dataclass(frozen=True, slots=True)
class BadReport:
    """What first made a bad value.

    Attributes:
        kind: ``"none"``, ``"weight"``, ``"input"``, ``"equation"``, or
            ``"gradient"`` when the forward pass is fine.
        text: The finding in a sentence, with module and operation.
        module: Module path; ``()`` for the root or when unknown.
        variable: The bad variable, for a weight.
        primitive: Primitive of the equation.
        source: ``file.py:12`` of the person's line; may be empty.
        line: That line of code; may be empty.
        inputs: Inputs of the equation.
        outputs: Its outputs, or the bad weight or input.
        steps: Where inside loops, e.g. ``"step 2 of 12 of scan"``.
        bad_modules: Module paths whose outputs hold a NaN, in call order.
        remarks: Also: Infs that are legal so far, ids outside a table.
        seconds: Time it took.
    """

    kind: str
    text: str
    module: TreePath = ()
    variable: TreePath = ()
    primitive: str = ""
    source: str = ""
    line: str = ""
    inputs: tuple[ValueSummary, ...] = ()
    outputs: tuple[ValueSummary, ...] = ()
    steps: str = ""
    bad_modules: tuple[TreePath, ...] = ()
    remarks: tuple[Remark, ...] = ()
    seconds: float = 0.0


# Verify.


@dataclass(frozen=True, slots=True)
class Verify:
    """Runs the same inputs through two sets of variables; `VerifyReport` answers.

    Attributes:
        a: Id of a source, or `document.TARGET`: whose variables the first is run on.
        b: The same for the second.
        call: The call, of both.
        module_a: Module of the first; None for the target's.
        module_b: Module of the second; None for that of the first.
        tolerance: Largest relative difference that counts as equal.
        fresh: As in `Run`.
    """

    a: str
    b: str
    call: Call
    module_a: ModuleSpec | None = None
    module_b: ModuleSpec | None = None
    tolerance: float = 1e-5
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class VerifyModules:
    """Store -> model: both sides; `VerifyReport` answers."""

    a: RunModule
    b: RunModule
    tolerance: float = 1e-5


@dataclass(frozen=True, slots=True)
class CallDifference:
    """How one module call differs between the two.

    Attributes:
        module: Module path in the first.
        method: Method.
        max_abs: Largest absolute difference of its outputs; infinite when the
            shapes differ or one has a NaN where the other has none.
        max_rel: ``max_abs`` over the largest absolute value of the second.
        note: E.g. ``"shapes differ"`` or ``"only in the first"``.
    """

    module: TreePath
    method: str
    max_abs: float
    max_rel: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """How two models differ, call by call.

    Attributes:
        calls: In call order.
        first: Module path of the first innermost call that differs by more than the
            tolerance; None when none does.
        worst: Largest ``max_rel`` of all.
        text: The verdict in a sentence.
        seconds: Time it took.
        remarks: Sentences for a person.
    """

    calls: tuple[CallDifference, ...]
    first: TreePath | None
    worst: float
    text: str
    seconds: float = 0.0
    remarks: tuple[Remark, ...] = ()


CLASSES: tuple[type, ...] = (
    Record, RecordModule, ModuleCall, CallsDone, CallsReport, RunSubmodule,
    RunCallModule, FindBad, FindBadModule, ValueSummary, BadReport, Verify,
    VerifyModules, CallDifference, VerifyReport,
)  # fmt: skip
"""Every class of this module, for the codec."""
