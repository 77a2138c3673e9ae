"""Runs one module call of a forward pass alone, on the inputs it had.

The whole module is traced up to that call, where the recorded inputs take the place of
what was computed, and given up after it: the random numbers, variables and static
arguments are exactly those of the whole run, while XLA drops what led to the inputs.
Model process, on the thread that runs the person's code.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax

from inspector.engine.messages.inspecting import RunCallModule
from inspector.engine.messages.running import RunDone
from inspector.errors import LoadModuleError
from inspector.models import devices, executing
from inspector.models.executing import Prepared, prepare
from inspector.models.loading import Progress
from inspector.models.outputs import describe_outputs, nan_remarks, write_trees
from inspector.models.recording import module_call
from inspector.models.recording_calls import CallWatch, SeenCall
from inspector.models.running import info_of, memory_explained
from inspector.models.settling import Outputs, is_array
from inspector.models.subject import SiteCall
from inspector.programs.compiled import compile_traced
from inspector.variables.path import TreePath, join
from inspector.variables.plain import PlainTree


class NoSuchCallError(LoadModuleError):
    """The forward pass has no call of that number."""

    def __init__(self, index: int, calls: int) -> None:
        """Says how many calls there are."""
        super().__init__(
            f"There is no module call {index}: the forward pass has {calls}.",
            where=f"call {index}",
            hint="Record the calls again; the module may have changed.",
        )


class InnerCallError(LoadModuleError):
    """The call runs inside another transformation."""

    def __init__(self, path: TreePath, inside: str) -> None:
        """Names the module and what it runs in."""
        super().__init__(
            f"This call of {join(path) or 'the module'} is a {inside}, so its inputs "
            "do not exist outside of it."
            if inside.startswith(("step", "turn", "branch"))
            else f"{join(path) or 'The module'} runs {inside}, so its inputs do not "
            "exist outside of it.",
            where=join(path),
            hint="Run the module around it, which calls the transformation.",
        )


class _ReachedError(BaseException):
    """Ends the trace at the call; no person's ``except Exception`` catches it."""


@dataclass
class _StopAt(CallWatch):
    """Ends the trace after one call.

    Attributes:
        index: The call.
        given: Arrays in place of those among its inputs; None for what there is.
        reached: The call as it was found.
        taken: Its arrays among the inputs.
        result: What it returned.
    """

    index: int = 0
    given: Sequence[Any] | None = None
    reached: SeenCall | None = None
    taken: list[Any] = field(default_factory=list)
    result: Any = None

    def __call__(self, site: SiteCall) -> Any:
        """Calls the module; ends everything after the wanted call."""
        if len(self.calls) != self.index:
            return super().__call__(site)
        call = self._begin(site)
        if call is None:
            return site.function(*site.args, **site.kwargs)
        self.reached = call
        leaves, tree = jax.tree_util.tree_flatten((site.args, dict(site.kwargs)))
        self.taken = [leaf for leaf in leaves if is_array(leaf)]
        if call.is_inner or self.given is None:
            raise _ReachedError
        rest = iter(self.given)
        leaves = [next(rest) if is_array(leaf) else leaf for leaf in leaves]
        args, kwargs = jax.tree_util.tree_unflatten(tree, leaves)
        self.result = call.outputs = site.function(*args, **kwargs)
        raise _ReachedError


def run_call(body: RunCallModule, progress: Progress) -> RunDone:
    """Runs one recorded call alone.

    Args:
        body: The recorded call of the whole module, and the number of the inner one.
        progress: Told what is being done.

    Raises:
        NoSuchCallError: There is no call of that number.
        InnerCallError: It runs inside a scan or another transformation.
        LoadModuleError: As `executing.prepare`.
        UsageError: A text of the call cannot be parsed.
    """
    with memory_explained(body.run.call.device):
        prepared = prepare(body.run, progress)
        progress(f"Running call {body.index} alone")
        with prepared.running("Running a submodule of"):
            return _run(prepared, body)


def _run(prepared: Prepared, body: RunCallModule) -> RunDone:
    given = _inputs_of_call(prepared, body.index)
    outputs = Outputs()
    watch = _StopAt(index=body.index)
    forward = prepared.subject.forward(prepared.call, prepared.mutable, watch)

    def run(arrays: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        watch.given = inputs
        _trace(forward, prepared, watch, arrays)
        return outputs.take(watch.result)

    start = time.perf_counter()
    traced = jax.jit(run).trace(prepared.inputs.arrays, given)
    program = compile_traced(traced, time.perf_counter() - start)
    call = watch.reached
    assert call is not None
    shown = module_call(call)
    watch.calls.clear()
    start = time.perf_counter()
    ready: Any = jax.block_until_ready
    arrays = ready(program.executable(prepared.inputs.arrays, given))
    run_s = time.perf_counter() - start
    whole: Any = outputs.joined(arrays)
    written = write_trees({"outputs": describe_outputs(whole)}, body.run.out)
    place = f"{join(call.path)}: " if call.path else ""
    return RunDone(
        device=devices.name_of(prepared.device),
        signature=f"{place}{call.kind}.{call.method}({shown.inputs})",
        program=info_of(program, made=True),
        run_s=run_s,
        transfer_s=0.0,
        outputs=written.trees["outputs"],
        updates=PlainTree(),
        rngs=tuple(
            use for use in prepared.uses if use.path[: len(call.path)] == call.path
        ),
        seeds=tuple(prepared.seeds.items()),
        remarks=nan_remarks(written.arrays["outputs"]),
        device_peak=devices.peak_bytes(prepared.device),
        precision=executing.precision_in_force(prepared.precision),
    )


def _inputs_of_call(prepared: Prepared, index: int) -> list[Any]:
    """Returns the arrays among the inputs of a call, computed by the whole module."""
    watch = _StopAt(index=index)
    forward = prepared.subject.forward(prepared.call, prepared.mutable, watch)

    def run(*arrays: Any) -> list[Any]:
        _trace(forward, prepared, watch, arrays)
        if watch.reached is not None and watch.reached.is_inner:
            raise InnerCallError(watch.reached.path, watch.reached.inside)
        taken, watch.taken = watch.taken, []
        return taken

    found: list[Any] = jax.jit(run)(*prepared.inputs.arrays)
    return found


def _trace(
    forward: Any, prepared: Prepared, watch: _StopAt, arrays: Sequence[Any]
) -> None:
    """Traces the module up to the call.

    Raises:
        NoSuchCallError: It came to its end without it.
    """
    with watch.watching():
        try:
            forward(*prepared.inputs.joined(arrays))
        except _ReachedError:
            return
    raise NoSuchCallError(watch.index, len(watch.calls))
