"""Runs a call once more and keeps what went into and came out of every module call.

One program whose outputs are those values: nothing of it is in the program of a plain
run. Outputs that exist only inside of another trace, as in the body of a scan, are
made turn by turn, see `recording_inner`; inputs there are known by their shapes. Model
process, on the thread that runs the person's code.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax

from inspector.engine.messages.inspecting import CallsDone, ModuleCall, RecordModule
from inspector.engine.messages.running import Remark
from inspector.models.describe import Described, Found, describe
from inspector.models.executing import Prepared, prepare
from inspector.models.loading import Progress
from inspector.models.memory import readable
from inspector.models.outputs import write_trees
from inspector.models.recording_calls import CallWatch, Position, SeenCall, arrays_in
from inspector.models.recording_inner import inner_outputs
from inspector.models.running import memory_explained
from inspector.models.settling import is_array
from inspector.programs.signature import tree_text
from inspector.variables.leaf import SCALAR_KINDS, Kind, Leaf
from inspector.variables.path import Key, TreePath
from inspector.variables.plain import PlainTree
from inspector.variables.value import UNSET, Literal

MOST_BYTES = 2 << 30
"""Values above it are not kept; outputs come before inputs."""

INTERMEDIATES = "intermediates"
"""Collection of Linen that modules sow into."""

_SOWED_TYPE = "Intermediate"
"""Variable type of NNX that modules sow."""

_INNER = "outputs of all turns together, inputs by shape only"
_TOO_LARGE = f"values above {readable(MOST_BYTES)} are left out: shapes only"


@dataclass
class Keeping:
    """Which values of a trace are kept, each once however often it appears.

    Attributes:
        values: The values that the program gives, in order.
        numbers: Position among them, by identity of the tracer.
        nbytes: Bytes of them.
        most: Most bytes.
    """

    most: int
    values: list[Any] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    nbytes: int = 0

    def keep(self, value: Any) -> bool:
        """Keeps a value if there is room; returns whether it is kept."""
        if id(value) in self.numbers:
            return True
        size = nbytes_of(value)
        if self.nbytes + size > self.most:
            return False
        self.numbers[id(value)] = len(self.values)
        self.values.append(value)
        self.nbytes += size
        return True


def nbytes_of(value: Any) -> int:
    """Returns the bytes of an array or tracer; random keys count as 8 each."""
    itemsize: int = getattr(value.dtype, "itemsize", 8) or 8
    shape: tuple[int, ...] = value.shape
    return math.prod(shape) * itemsize


@dataclass(frozen=True, slots=True)
class _Slot:
    """A leaf of the tree of recorded values.

    Attributes:
        path: Its path.
        found: What it is.
        number: Which of the kept values it has; of an inner call its position and
            which of its outputs; None for one of which the shape is known alone.
    """

    path: TreePath
    found: Found
    number: int | tuple[Position, int] | None


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a trace decided; holds no tracers."""

    calls: tuple[ModuleCall, ...]
    slots: tuple[_Slot, ...]
    containers: tuple[tuple[TreePath, str], ...]


def record(body: RecordModule, progress: Progress) -> CallsDone:
    """Runs a call and records every module call in it.

    Args:
        body: The call.
        progress: Told what is being done.

    Raises:
        LoadModuleError: As `executing.prepare`; also when memory or disk do not
            suffice.
        UsageError: A text of the call cannot be parsed.
    """
    run = body.run
    with memory_explained(run.call.device):
        prepared = prepare(run, progress)
        title = prepared.subject.imported.target.title
        progress(f"Recording {title}")
        with prepared.running("Recording"):
            plan, arrays, seconds = _recorded(prepared)
            values: dict[Any, Any] = dict(enumerate(arrays))
            if any(isinstance(slot.number, tuple) for slot in plan.slots):
                left = MOST_BYTES - sum(array.nbytes for array in arrays)
                values |= _inner_values(prepared, left)
            unique = tuple(
                Found((place,), Kind.ARRAY, array)
                for place, array in enumerate(values.values())
            )
            written = write_trees({"values": Described(unique, ())}, run.out)
    known = [leaf for _, leaf in written.trees["values"].leaves]
    leaves = dict(zip(values, known, strict=True))
    tree = PlainTree(
        tuple((slot.path, _leaf(slot, leaves)) for slot in plan.slots),
        plan.containers,
    )
    return CallsDone(plan.calls, tree, seconds, (*prepared.remarks, *_remarks(plan)))


def _inner_values(prepared: Prepared, most: int) -> dict[tuple[Position, int], Any]:
    """Returns the outputs of calls inside loops by position and place."""
    found = inner_outputs(prepared, most)
    return {
        (position, place): array
        for position, arrays in found.items()
        for place, array in enumerate(arrays)
    }


def _recorded(prepared: Prepared) -> tuple[_Plan, list[Any], float]:
    """Runs the program; returns the plan, the values kept and the seconds."""
    watch, plans = CallWatch(), []
    family = prepared.subject.family
    # Other updates of an NNX module are not asked for: all that comes was sowed.
    mutable = (_SOWED_TYPE,) if family == "nnx" else prepared.mutable
    if family == "linen" and INTERMEDIATES not in mutable:
        mutable = (*mutable, INTERMEDIATES)
    forward = prepared.subject.forward(prepared.call, mutable, watch)

    def run(*arrays: Any) -> list[Any]:
        with watch.watching():
            _, updates = forward(*prepared.inputs.joined(arrays))
        keeping = Keeping(MOST_BYTES)
        plans.append(_plan(watch.calls, sowed_in(updates, family), keeping))
        # Tracers that were seen must not outlive the trace.
        watch.calls.clear()
        return keeping.values

    executable = jax.jit(run).trace(*prepared.inputs.arrays).lower().compile()
    start = time.perf_counter()
    arrays = executable(*prepared.inputs.arrays)
    ready: Any = jax.block_until_ready
    ready(arrays)
    return plans[-1], list(arrays), time.perf_counter() - start


def sowed_in(updates: Any, family: str) -> dict[TreePath, Any]:
    """Returns what modules sowed, by module path and name.

    Flax sows tuples, so that a module called twice sows twice: a single value comes
    without its tuple, several are numbered.

    Args:
        updates: Updates of a forward pass.
        family: Framework of the module.
    """
    found: dict[TreePath, Any] = {}
    sowed: Any = {}
    if isinstance(updates, dict):
        sowed = updates.get(INTERMEDIATES, {}) if family == "linen" else updates

    def walk(node: Any, path: TreePath) -> None:
        if isinstance(node, dict) and node and set(node) == set(range(len(node))):
            # The tuple of an NNX Variable, by position.
            walk(tuple(node[number] for number in range(len(node))), path)
        elif isinstance(node, dict):
            for key, child in node.items():
                walk(child, (*path, key))
        elif isinstance(node, tuple) and len(node) == 1:
            found[path] = node[0]
        else:
            found[path] = node

    walk(sowed, ())
    return found


def _plan(calls: list[SeenCall], sowed: dict[TreePath, Any], keeping: Keeping) -> _Plan:
    """Decides what is kept: sowed values and outputs first, then inputs."""
    kept = [value for tree in sowed.values() for value in arrays_in(tree)]
    open_calls = [call for call in calls if not call.is_inner]
    kept += [value for call in open_calls for value in arrays_in(call.outputs)]
    kept += [value for call in open_calls for value in arrays_in(inputs_of(call))]
    # All of them are looked at: a small one may fit where a large one did not.
    for value in kept:
        keeping.keep(value)
    slots: list[_Slot] = []
    containers: list[tuple[TreePath, str]] = []
    for call in calls:
        for side, tree in (("outputs", call.outputs), ("inputs", inputs_of(call))):
            described = describe(tree)
            numbers: dict[int, Any] = dict(keeping.numbers)
            if call.is_inner and side == "outputs":
                leaves = arrays_in(call.outputs)
                numbers = {id(v): (call.position, n) for n, v in enumerate(leaves)}
            slots += _slots(described, (call.index, side), numbers)
            containers += _below(described, (call.index, side))
    for path, tree in sowed.items():
        described = describe(tree)
        slots += _slots(described, ("sowed", *path), keeping.numbers)
        containers += _below(described, ("sowed", *path))
    return _Plan(
        tuple(module_call(call, keeping) for call in calls),
        tuple(slots),
        tuple(containers),
    )


def inputs_of(call: SeenCall) -> Any:
    """Returns the inputs that hold arrays; a single one by position stands alone."""
    named: dict[Key, Any] = {
        position: value for position, value in enumerate(call.args) if arrays_in(value)
    }
    named |= {name: value for name, value in call.kwargs.items() if arrays_in(value)}
    return named[0] if list(named) == [0] else named


def _slots(
    described: Described, prefix: TreePath, numbers: Mapping[int, Any]
) -> Iterator[_Slot]:
    for leaf in described.leaves:
        if leaf.kind is not Kind.ARRAY:
            yield _Slot((*prefix, *leaf.path), leaf, None)
            continue
        abstract_of: Any = jax.ShapeDtypeStruct
        shape = abstract_of(leaf.value.shape, leaf.value.dtype)
        abstract = Found(leaf.path, leaf.kind, shape, leaf.note)
        number = numbers.get(id(leaf.value))
        yield _Slot((*prefix, *leaf.path), abstract, number)


def _below(described: Described, prefix: TreePath) -> Iterator[tuple[TreePath, str]]:
    return (((*prefix, *path), kind) for path, kind in described.containers)


def module_call(call: SeenCall, keeping: Keeping | None = None) -> ModuleCall:
    """Returns a call as a person reads it.

    Args:
        call: The call.
        keeping: What is kept of the values; None to say nothing of it.
    """
    inputs = [call_text(value) for value in call.args]
    inputs += [f"{name}={call_text(value)}" for name, value in call.kwargs.items()]
    note = ""
    if call.is_inner:
        note = f"{call.inside}: {_INNER}"
    elif keeping is not None and any(
        id(value) not in keeping.numbers
        for value in arrays_in((call.outputs, call.args, call.kwargs))
    ):
        note = _TOO_LARGE
    return ModuleCall(
        call.index,
        call.path,
        call.kind,
        call.method,
        ", ".join(inputs),
        call_text(call.outputs),
        note,
    )


def call_text(value: Any) -> str:
    """Returns an input or output as text; what is no array or plain value by class."""
    if value is None or isinstance(value, bool | int | float | str) or is_array(value):
        return tree_text(value)
    leaves = jax.tree_util.tree_leaves(value)
    if all(is_array(leaf) or isinstance(leaf, int | float) for leaf in leaves):
        return tree_text(value)
    return type(value).__name__


def _leaf(slot: _Slot, leaves: Mapping[Any, Leaf]) -> Leaf:
    found = slot.found
    if found.kind is not Kind.ARRAY:
        kept = found.kind in SCALAR_KINDS
        return Leaf(
            found.kind, value=Literal(found.scalar if kept else None), note=found.note
        )
    if slot.number in leaves:
        return leaves[slot.number]
    key = jax.numpy.issubdtype(found.value.dtype, jax.dtypes.prng_key)
    return Leaf(
        Kind.KEY if key else Kind.ARRAY,
        tuple(found.value.shape),
        str(found.value.dtype),
        UNSET,
    )


def _remarks(plan: _Plan) -> Iterator[Remark]:
    if not plan.calls:
        yield Remark(
            "recording",
            "No module call was seen: what runs is a function, or objects whose "
            "methods cannot be watched.",
        )
    for note, count in Counter(call.note for call in plan.calls).items():
        if note:
            yield Remark("recording", f"{count} of {len(plan.calls)} calls: {note}.")
