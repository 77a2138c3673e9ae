"""Runs a forward pass and says what came of it.

The program is what ``jax.jit`` makes of the method, and nothing is added to it. What
was compiled is found again by its signature. Model process, on the thread that runs the
person's code.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax

from inspector.engine.messages.running import ProgramInfo, RunDone, RunModule
from inspector.errors import InspectorError, LoadModuleError
from inspector.models import devices, executing, mutable
from inspector.models.describe import describe
from inspector.models.executing import Prepared, prepare
from inspector.models.id_check import check_ids
from inspector.models.loading import Progress
from inspector.models.outputs import (
    describe_outputs,
    nan_remarks,
    with_types,
    write_trees,
)
from inspector.programs.compiled import Compiled, compile_traced
from inspector.programs.signature import tree_text
from inspector.programs.table import ProgramTable
from inspector.variables.plain import PlainTree

PROGRAMS: ProgramTable[Compiled] = ProgramTable(16)
"""The compiled programs of this process."""

_NOTHING = PlainTree()
_MEMORY = re.compile(r"RESOURCE_EXHAUSTED|[Oo]ut of memory|Unable to allocate")


class DeviceMemoryError(LoadModuleError):
    """The run needs more memory than there is."""

    def __init__(self, device: str, said: str) -> None:
        """Names the device and keeps what JAX said of it."""
        super().__init__(
            f"The run needs more memory than there is: {said}",
            where=device,
            hint="Take smaller inputs, another device, or a smaller dtype. What was"
            " kept from earlier runs has been let go of.",
        )


def run(body: RunModule, progress: Progress) -> RunDone:
    """Runs a module once.

    Args:
        body: What to run, on what.
        progress: Told what is being done.

    Raises:
        VariablesNotHeldError: The variables have to be sent first.
        DeviceMemoryError: Memory does not suffice.
        LoadModuleError: The module, an input or the run failed.
        UsageError: A text of the call cannot be parsed.
    """
    with memory_explained(body.call.device):
        prepared = prepare(body, progress)
        program, made = program_of(prepared, progress)
        progress(f"Running {prepared.subject.imported.target.title}")
        with prepared.running():
            start = time.perf_counter()
            arrays = program.executable(*prepared.inputs.arrays)
            ready: Any = jax.block_until_ready
            ready(arrays)
            run_s = time.perf_counter() - start
            outputs, updates = prepared.settled.outputs.joined(arrays)
            del arrays
            return _done(body, prepared, outputs, updates, (program, made, run_s))


def _done(
    body: RunModule,
    prepared: Prepared,
    outputs: Any,
    updates: Any,
    ran: tuple[Compiled, bool, float],
) -> RunDone:
    program, made, run_s = ran
    changed = with_types(describe(updates), prepared.subject.traced.described.leaves)
    trees = {"outputs": describe_outputs(outputs), "updates": changed}
    if not updates:
        del trees["updates"]
    written = write_trees(trees, body.out)
    types = [leaf.variable for leaf in changed.leaves if leaf.variable]
    remarks = (
        *prepared.remarks,
        *nan_remarks(written.arrays["outputs"]),
        *check_ids(prepared),
    )
    return RunDone(
        device=devices.name_of(prepared.device),
        signature=signature_text(prepared),
        program=info_of(program, made=made),
        run_s=run_s,
        transfer_s=prepared.transfer_s,
        outputs=written.trees["outputs"],
        updates=written.trees.get("updates", _NOTHING),
        rngs=prepared.uses,
        seeds=tuple(prepared.seeds.items()),
        mutable=_mutable(prepared, types),
        remarks=tuple(dict.fromkeys(remarks)),
        device_peak=devices.peak_bytes(prepared.device),
        precision=executing.precision_in_force(prepared.precision),
    )


@contextmanager
def memory_explained(device: str) -> Iterator[None]:
    """Runs the body; lack of memory becomes a `DeviceMemoryError`.

    The text decides: JAX raises several classes for it. All that was kept is let go
    of then, so that a smaller run has room.

    Args:
        device: Name of the device as the call gives it.
    """
    try:
        yield
    except (InspectorError, RuntimeError, MemoryError, ValueError) as error:
        first = error.__cause__ if isinstance(error, InspectorError) else error
        if not isinstance(first, MemoryError) and not _MEMORY.search(str(first)):
            raise
        executing.forget()
        PROGRAMS.clear()
        said = str(first).strip().splitlines()
        raise DeviceMemoryError(device, said[0] if said else "MemoryError") from error


def program_of(prepared: Prepared, progress: Progress) -> tuple[Compiled, bool]:
    """Returns the compiled program of a forward pass, and whether it was made now.

    Args:
        prepared: The forward pass.
        progress: Told what is being done.
    """
    found = PROGRAMS.find(prepared.signature)
    if found is not None:
        return found, False
    progress(f"Compiling {prepared.subject.imported.target.title}")
    with prepared.running("Compiling"):
        settled = prepared.settled
        made = compile_traced(settled.traced, settled.trace_s)
    PROGRAMS.put(prepared.signature, made)
    return made, True


def info_of(program: Compiled, *, made: bool) -> ProgramInfo:
    """Returns what a person is told of a program.

    Args:
        program: The program.
        made: Whether it was made for this run.
    """
    return ProgramInfo(
        program.trace_s,
        program.lower_s,
        program.compile_s,
        program.flops,
        program.bytes_accessed,
        program.peak_bytes,
        made,
    )


def signature_text(prepared: Prepared) -> str:
    """Returns a call as text, e.g. ``"__call__(float32[2,5], train=True)"``."""
    call = prepared.call
    parts = [tree_text(value) for value in prepared.args]
    parts += [f"{name}={tree_text(value)}" for name, value in prepared.kwargs.items()]
    parts += [f"{name}={value!r}" for name, value in call.statics.items()]
    name = call.method or "__call__"
    if call.apply is not None:
        name = getattr(call.apply, "__name__", "apply")
    return f"{name}({', '.join(parts)})"


def _mutable(prepared: Prepared, types: list[str]) -> tuple[str, ...]:
    """Returns the collections that were mutable; for NNX the types that changed."""
    if prepared.subject.family != "nnx":
        return prepared.mutable
    named = mutable.asked(prepared.request.mutable)
    return tuple(dict.fromkeys((*named, *types)))
