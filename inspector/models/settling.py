"""Traces a call until its rng streams and its mutable collections are settled.

A trace that ends because a stream has no key, or because a collection may not be
updated, says which; the next one has it. What comes out is the trace of exactly the
program that ``jax.jit`` of the method with these keys and collections makes, and what
was seen on the way. Model process, on the thread that runs the person's code.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from flax import errors as flax_errors

from inspector.engine.messages.calling import FOUND, Call
from inspector.engine.messages.running import Remark, RngUse
from inspector.errors import LoadModuleError
from inspector.models import mutable as mutability
from inspector.models import rng_audit
from inspector.models.filled import DEFAULT
from inspector.models.linen import missed_stream
from inspector.models.subject import Forward, ResolvedCall, Subject

_MOST_TRACES = 24
"""Streams and collections that a call may turn out to need, one trace each."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that goes into a forward pass, as flat arrays and what is static.

    Attributes:
        arrays: What the program takes.
        tree: Structure of ``(variables, rngs, args, kwargs)``.
        constants: Leaves that JAX cannot trace, by their position among all leaves.
    """

    arrays: tuple[Any, ...]
    tree: Any
    constants: Mapping[int, object]

    def joined(self, arrays: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
        """Returns ``(variables, rngs, args, kwargs)`` with other arrays in them."""
        rest = iter(arrays)
        leaves = [
            self.constants[index] if index in self.constants else next(rest)
            for index in range(self.tree.num_leaves)
        ]
        whole: tuple[Any, Any, Any, Any] = jax.tree_util.tree_unflatten(
            self.tree, leaves
        )
        return whole


def split(
    family: str, variables: Any, rngs: Mapping[str, Any], args: Any, kwargs: Any
) -> Inputs:
    """Separates what a program takes from what it is made with.

    Python numbers are taken as ``jax.jit`` takes them, but for those in a pytree of
    the person's, where they are sizes and switches as often as weights.
    """
    leaves, tree = jax.tree_util.tree_flatten((variables, dict(rngs), args, kwargs))
    count = len(jax.tree_util.tree_leaves(variables))
    arrays: list[Any] = []
    constants: dict[int, object] = {}
    for index, leaf in enumerate(leaves):
        numbers = family != "pytree" or index >= count
        if is_array(leaf) or (numbers and isinstance(leaf, int | float | complex)):
            arrays.append(leaf)
        else:
            constants[index] = leaf
    return Inputs(tuple(arrays), tree, constants)


def is_array(leaf: object) -> bool:
    """Returns whether a leaf is something that JAX computes with."""
    return isinstance(leaf, jax.Array | np.ndarray | np.generic | jax.ShapeDtypeStruct)


@dataclass
class Outputs:
    """How the flat outputs of a program become outputs and updates; set by a trace.

    Attributes:
        tree: Structure of ``(outputs, updates)``.
        constants: Leaves that are no arrays, by position.
    """

    tree: Any = None
    constants: dict[int, object] = field(default_factory=dict)

    def take(self, whole: Any) -> list[Any]:
        """Takes ``(outputs, updates)`` apart; returns what a program can give."""
        flatten: Any = jax.tree_util.tree_flatten
        leaves, self.tree = flatten(whole)
        self.constants = {
            index: leaf
            for index, leaf in enumerate(leaves)
            if not (is_array(leaf) or isinstance(leaf, int | float | complex))
        }
        return [one for n, one in enumerate(leaves) if n not in self.constants]

    def joined(self, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """Returns ``(outputs, updates)`` of what a program gave."""
        rest = iter(arrays)
        leaves = [
            self.constants[index] if index in self.constants else next(rest)
            for index in range(self.tree.num_leaves)
        ]
        unflatten: Any = jax.tree_util.tree_unflatten
        whole: tuple[Any, Any] = unflatten(self.tree, leaves)
        return whole


@dataclass(frozen=True, slots=True)
class Settled:
    """A call that traces.

    Attributes:
        subject: The module; kept so that its identity stays its own.
        forward: The pure function.
        traced: Trace of the flat function, as ``jax.jit(…).trace`` gives it.
        outputs: How its outputs are put together.
        seeds: Seed by stream, of every stream that is given a key.
        mutable: Collections that may be updated.
        uses: Who drew from which stream.
        remarks: Sentences on streams.
        trace_s: Seconds that the last trace took.
    """

    subject: Subject
    forward: Forward
    traced: Any
    outputs: Outputs
    seeds: dict[str, int]
    mutable: tuple[str, ...]
    uses: tuple[RngUse, ...]
    remarks: tuple[Remark, ...]
    trace_s: float


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A call that has yet to be traced.

    Attributes:
        subject: The module.
        request: The call as it was asked for.
        call: The same, resolved.
        variables: What `Subject.build` gave.
        args: Inputs by position, concrete.
        kwargs: Inputs by keyword, concrete.
    """

    subject: Subject
    request: Call
    call: ResolvedCall
    variables: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


def settle(
    what: Unsettled, key: Callable[[int], Any], progress: Callable[[str], None]
) -> Settled:
    """Traces a call, again as long as it turns out to need a stream or a collection.

    Args:
        what: The call.
        key: Makes the key of a seed.
        progress: Told what is being done.

    Raises:
        Exception: Whatever the person's code or Flax raises.
    """
    subject, request = what.subject, what.request
    roots = subject.imported.roots
    given = dict(request.seeds)
    seeds = dict(given)
    if what.call.rngs_argument and not seeds:
        seeds[DEFAULT] = 0
    allowed = mutability.to_begin_with(
        subject.family, request.mutable, subject.collections()
    )
    progress(f"Tracing {subject.imported.target.title}")
    for _ in range(_MOST_TRACES):
        rngs = {stream: key(seed) for stream, seed in seeds.items()}
        forward = subject.forward(what.call, allowed)
        inputs = split(subject.family, what.variables, rngs, what.args, what.kwargs)
        outputs = Outputs()
        start = time.perf_counter()
        try:
            with rng_audit.recorded(roots) as recorder:
                traced = trace(forward, inputs, outputs)
        except flax_errors.InvalidRngError as error:
            stream = missed_stream(error)
            if not stream or stream in seeds:
                raise
            seeds[stream] = 0
            continue
        except flax_errors.ModifyScopeVariableError as error:
            collection = mutability.found_in(error)
            if FOUND not in request.mutable or not collection or collection in allowed:
                raise
            allowed = (*allowed, collection)
            continue
        seconds = time.perf_counter() - start
        uses = recorder.uses()
        remarks = (
            *rng_audit.stream_remarks(uses, given),
            *rng_audit.reuse_remarks(traced.jaxpr, roots),
        )
        return Settled(
            subject, forward, traced, outputs, seeds, allowed, uses, remarks, seconds
        )
    raise UnsettledError(subject.imported.target.title)


class UnsettledError(LoadModuleError):
    """A call asks for ever new streams or collections."""

    def __init__(self, title: str) -> None:
        """Names the module."""
        super().__init__(
            f"{title} asked for a new rng stream or collection {_MOST_TRACES} times.",
            where=title,
            hint="Give the seeds and mutable collections yourself.",
        )


def trace(forward: Forward, inputs: Inputs, outputs: Outputs) -> Any:
    """Traces a forward pass as a function of flat arrays.

    Args:
        forward: The pure function.
        inputs: What it is given.
        outputs: Told how to put its outputs together.
    """

    def run(*arrays: Any) -> list[Any]:
        variables, rngs, args, kwargs = inputs.joined(arrays)
        return outputs.take(forward(variables, rngs, args, kwargs))

    return jax.jit(run).trace(*inputs.arrays)
