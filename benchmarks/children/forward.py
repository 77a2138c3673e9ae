"""A run in the model's own code beside the same jitted call, in one process.

Wanted: ``{"spec", "input", "folder", "runs", "bad"}``. Tells ``ours`` and ``jitted``,
seconds of each run, taken alternately, and ``bad``, seconds of the search for the
first bad value once warm.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp

from benchmarks.children.speech import tell, wanted
from inspector.engine.messages.calling import Call
from inspector.engine.messages.inspecting import FindBadModule
from inspector.engine.messages.module import LoadModule, MakeInitial, ModuleSpec
from inspector.engine.messages.running import RunModule
from inspector.models import service, service_inspect, service_runs
from inspector.models.loading import kept_subject
from inspector.variables.plain import PlainTree
from inspector.variables.value import Raw


def main() -> None:
    """Measures."""
    job = wanted()
    spec = ModuleSpec(job["spec"], inputs=(job["input"],))
    loaded = service.load_module(LoadModule(spec), _quiet)
    body = RunModule(
        spec,
        loaded.digest,
        Call(inputs=(job["input"],)),
        "all",
        _initial(spec, loaded.tree, Path(job["folder"])),
    )
    service_runs.run_module(body, _quiet)
    # The store says what the variables are once.
    body = replace(body, variables=None)
    jitted = _reference(spec)
    ours, theirs = [], []
    for _ in range(job["runs"]):
        ours.append(_seconds(lambda: service_runs.run_module(body, _quiet)))
        theirs.append(_seconds(jitted))
    bad = []
    if job["bad"]:
        question = FindBadModule(body)
        service_inspect.find_bad(question, _quiet)
        bad = [
            _seconds(lambda: service_inspect.find_bad(question, _quiet))
            for _ in range(5)
        ]
    tell(ours=ours, jitted=theirs, bad=bad)


def _initial(spec: ModuleSpec, tree: PlainTree, folder: Path) -> PlainTree:
    """Returns the tree with its initial values in a file."""
    made = service.make_initial(
        MakeInitial(spec, (), str(folder / "initial.bin")), _quiet
    )
    places = {
        path: Raw(made.file, offset, shape, dtype)
        for path, offset, shape, dtype in made.table
    }
    leaves = tuple(
        (path, replace(leaf, value=places.get(path, leaf.value)))
        for path, leaf in tree.leaves
    )
    return PlainTree(leaves, tree.containers)


def _reference(spec: ModuleSpec) -> Callable[[], object]:
    """Returns the jitted call that a person would write, warm."""
    subject = kept_subject(spec, "", _quiet)
    shape = subject.traced.inputs[0].shape
    x = jnp.ones(shape)
    variables = jax.jit(subject.module.init)(jax.random.key(0), x)
    apply = jax.jit(subject.module.apply)
    apply(variables, x).block_until_ready()
    return lambda: apply(variables, x).block_until_ready()


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _quiet(_text: str) -> None:
    """Takes progress."""


if __name__ == "__main__":
    main()
