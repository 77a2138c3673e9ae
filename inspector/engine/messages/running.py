"""Forward passes: what the window or a verb asks, and what the store asks the model.

The store gives every run a number and keeps what came of it as trees of leaves:
outputs, updates and intermediates are browsed, read and exported like any other
tree, under the names that `outputs_of`, `updates_of` and `calls_of` give. The model
writes arrays to a file of scratch and answers with leaves whose values are `Raw`.
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.engine.messages.calling import Call
from inspector.engine.messages.module import ModuleSpec
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree


def outputs_of(run: int) -> str:
    """Returns the name of the tree of a run's outputs."""
    return f"run{run}.outputs"


def updates_of(run: int) -> str:
    """Returns the name of the tree of a run's updated variables."""
    return f"run{run}.updates"


def calls_of(run: int) -> str:
    """Returns the name of the tree of a run's intermediates.

    Its first keys are the numbers of the calls, in call order.
    """
    return f"run{run}.calls"


@dataclass(frozen=True, slots=True)
class Run:
    """Runs the target's module on the target's values; `RunReport` answers.

    Attributes:
        call: The call.
        fresh: Whether a module of an opened recipe may be imported for it, see
            `document.Export.run`.
    """

    call: Call
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class RunModule:
    """Store -> model: one forward pass; `RunDone` answers.

    Attributes:
        module: The module.
        digest: SHA-256 of its file when it was loaded; a file that changed since is
            refused with kind ``"ModuleFileChangedError"`` unless it is in memory.
        call: The call. Images among its inputs are named in ``images``.
        stamp: Names the variables; the model keeps those of the last few stamps.
        variables: The variables; None when the model has had them under this stamp.
            If it has not, kind ``"VariablesNotHeldError"`` asks for them. Values are
            `Raw`, `Literal` or `Unset`; random keys lie as their uint32 words.
        images: (text of an input, ``.npy`` file the reader made of it).
        out: Absolute path of the file to write outputs and updates to; empty to
            write nothing, then they come back without values.
    """

    module: ModuleSpec
    digest: str
    call: Call
    stamp: str
    variables: PlainTree | None = None
    images: tuple[tuple[str, str], ...] = ()
    out: str = ""


@dataclass(frozen=True, slots=True)
class RngUse:
    """Draws of one module from one stream in one trace.

    Attributes:
        path: Module path.
        stream: Stream that it asked for.
        used: Stream whose key it got; another one is Flax's silent fallback.
        draws: Keys that it drew, each traced draw once.
    """

    path: TreePath
    stream: str
    used: str
    draws: int


@dataclass(frozen=True, slots=True)
class ProgramInfo:
    """The compiled program of a run.

    Attributes:
        trace_s: Seconds that tracing took.
        lower_s: Seconds that lowering took.
        compile_s: Seconds that XLA took.
        flops: Of its cost analysis; None when unknown.
        bytes_accessed: Of its cost analysis; None when unknown.
        peak_bytes: Arguments, outputs and temporaries at the worst moment; None when
            unknown.
        made: Whether this run made it; False when it was there already.
    """

    trace_s: float
    lower_s: float
    compile_s: float
    flops: float | None = None
    bytes_accessed: float | None = None
    peak_bytes: int | None = None
    made: bool = True


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence that a person should read.

    Attributes:
        kind: What it is about, for tests and icons: ``"unused-stream"``,
            ``"fallback-stream"``, ``"key-reused"``, ``"out-of-range-ids"``,
            ``"mode"``, ``"mutable"``, ``"nan"``, ``"discarded-updates"``,
            ``"missing-variables"``, …
        text: The sentence.
        path: Module path or leaf it is about; ``()`` for the whole.
    """

    kind: str
    text: str
    path: TreePath = ()


@dataclass(frozen=True, slots=True)
class RunDone:
    """Model -> store: what a forward pass gave.

    Attributes:
        device: Device it ran on, e.g. ``"cpu:0"``.
        signature: The call as text, e.g. ``"__call__(float32[2,5], train=True)"``.
        program: The program.
        run_s: Seconds from the start of the program to results ready.
        transfer_s: Seconds for variables and inputs to reach the device; about 0
            when they were there.
        outputs: The outputs; a bare array is one leaf at ``("output",)``.
        updates: Updated variables at their paths in the target.
        rngs: Who drew from which stream.
        seeds: (stream, seed) of every stream that was given a key.
        mutable: Collections that were mutable in the end.
        remarks: Sentences for a person.
        device_peak: Most bytes in use on the device, where it tells; else 0.
        precision: Matmul precision in force.
    """

    device: str
    signature: str
    program: ProgramInfo
    run_s: float
    transfer_s: float
    outputs: PlainTree
    updates: PlainTree
    rngs: tuple[RngUse, ...] = ()
    seeds: tuple[tuple[str, int], ...] = ()
    mutable: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    device_peak: int = 0
    precision: str = ""


@dataclass(frozen=True, slots=True)
class RunReport:
    """Store -> window: a finished run.

    Attributes:
        run: Its number; the trees `outputs_of` and `updates_of` hold what it gave.
        call: The call.
        device: As in `RunDone`, and so on.
        revision: Revision of the document whose values were used.
        variables: Short digest of those values' expressions: equal digests, equal
            variables.
        outputs: Output leaves in all.
        updates: Updated leaves in all.
        taken: Whether the updates have become an edit of the target.
    """

    run: int
    call: Call
    device: str
    signature: str
    program: ProgramInfo
    run_s: float
    transfer_s: float
    revision: int
    variables: str
    outputs: int
    updates: int
    rngs: tuple[RngUse, ...] = ()
    seeds: tuple[tuple[str, int], ...] = ()
    mutable: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    device_peak: int = 0
    precision: str = ""
    taken: bool = False


@dataclass(frozen=True, slots=True)
class AskRuns:
    """Asks for the runs of this session; `Runs` answers."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The newest runs, at most 50, newest first; trees of older ones are gone."""

    runs: tuple[RunReport, ...]


@dataclass(frozen=True, slots=True)
class AskCode:
    """Asks for a call as a Python program; `Code` answers. Runs nothing.

    The program loads the variables from ``variables`` and makes the same
    ``jax.jit`` call, so its outputs equal those of a run bit for bit.

    Attributes:
        call: The call.
        variables: File the program reads the variables from; empty for the values
            that ``init`` gives.
    """

    call: Call
    variables: str = ""


@dataclass(frozen=True, slots=True)
class WriteCode:
    """Store -> model: the question of `AskCode`, with the module it is about."""

    module: ModuleSpec
    call: Call
    variables: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """A Python program."""

    text: str


@dataclass(frozen=True, slots=True)
class TakeUpdates:
    """Makes the updates of a run an edit of the target; `document.Changes`.

    Attributes:
        run: The run.
        paths: Leaves to take; empty for all.
    """

    run: int
    paths: tuple[TreePath, ...] = ()


@dataclass(frozen=True, slots=True)
class SaveRun:
    """Writes the outputs of a run to a file; `reading.Exported` answers."""

    run: int
    out: str
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class CompareRuns:
    """Compares the outputs of two runs; `RunDifference` answers."""

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class CompareUpdates:
    """Compares the updates of a run with what was there; `RunDifference`."""

    run: int


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """How one leaf differs.

    Attributes:
        path: The leaf.
        max_abs: Largest absolute difference; NaN when either has a NaN where the
            other has none; None when shapes or dtypes differ or one is missing.
        mean_abs: Mean absolute difference; None likewise.
        max_rel: ``max_abs`` over the largest absolute value of the second; None
            likewise.
        why: Why there are no numbers, e.g. ``"shape (2, 3) and (2, 4)"``.
    """

    path: TreePath
    max_abs: float | None
    mean_abs: float | None
    max_rel: float | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class RunDifference:
    """How two trees differ, leaf by leaf, at most 400 rows, largest first.

    Attributes:
        rows: The leaves.
        total: Leaves in all.
        text: The verdict in a sentence, e.g. equal bit for bit, or within the error
            of the devices' precisions.
    """

    rows: tuple[DifferenceRow, ...]
    total: int
    text: str


CLASSES: tuple[type, ...] = (
    Run, RunModule, RngUse, ProgramInfo, Remark, RunDone, RunReport, AskRuns, Runs,
    AskCode, WriteCode, Code, TakeUpdates, SaveRun, CompareRuns, CompareUpdates,
    DifferenceRow, RunDifference,
)  # fmt: skip
"""Every class of this module, for the codec."""
