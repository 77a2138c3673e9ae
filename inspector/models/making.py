"""Constructs an NNX module or a pytree inside of a trace: shapes, streams, equations.

Such constructors make arrays, so they run abstractly and nothing is allocated. From
the equations `initial` computes the numbers that the plain constructor gives. Thread
of the model process that runs the person's code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import jax
from flax import linen as nn
from flax import nnx

from inspector.errors import LoadModuleError
from inspector.models import compat
from inspector.models.construct import Choice
from inspector.models.describe import Described, describe, key_of
from inspector.models.families import HAIKU, NNX, PYTREE, is_transformed
from inspector.models.filled import DEFAULT, KEY, PARAMS, RNGS, Filler, KeysNeededError
from inspector.models.inputs import Input, abstract_leaves, with_leaves
from inspector.models.names import Argument
from inspector.models.nnx_tree import nnx_tree
from inspector.models.skeleton import Skeleton, lost_paths, skeleton_of
from inspector.models.traced import Traced
from inspector.variables.leaf import EMPTY_KINDS
from inspector.variables.path import TreePath


@dataclass(frozen=True, slots=True)
class Made:
    """What a constructor makes, without numbers.

    Attributes:
        family: `NNX`, `HAIKU` or `PYTREE`.
        skeleton: Its leaves.
        traced: The trace of the constructor.
        code: Python lines that import and construct it as ``module``.
        graphdef: Of an NNX module; else None.
        pair: The functions ``init`` and ``apply`` of Haiku; else None.
    """

    family: str
    skeleton: Skeleton
    traced: Traced
    code: str
    graphdef: Any = None
    pair: Any = None


class _LinenMadeError(Exception):
    """The constructor returned a Linen module, which needs no trace."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """What one trace found.

    Attributes:
        family: As in `Made`.
        skeleton: Leaves that are tracers.
        argument: The object, and the code that makes it.
        graphdef: As in `Made`.
        annotated: As in `nnx_tree.NnxTree`.
    """

    family: str
    skeleton: Skeleton
    argument: Argument
    graphdef: Any = None
    annotated: bool = False


def make_abstractly(
    choice: Choice, seeds: Mapping[str, int], inputs: Sequence[Input]
) -> Made | None:
    """Constructs what a spec names, abstractly.

    Args:
        choice: What the spec names.
        seeds: Seeds by stream, as a person gave them.
        inputs: Inputs for the ``init`` of Haiku; others take none.

    Returns:
        What was made, or None when it is a Linen module.

    Raises:
        LoadModuleError: It is neither a module nor a tree with arrays, or the
            constructor raised.
    """
    wanted = {RNGS} if choice.family == NNX else set()
    while True:
        try:
            return _attempt(choice, seeds, frozenset(wanted), inputs)
        except KeysNeededError as needed:
            wanted.add(needed.kind)
        except _LinenMadeError:
            return None


def _attempt(
    choice: Choice,
    seeds: Mapping[str, int],
    wanted: frozenset[str],
    inputs: Sequence[Input],
) -> Made:
    wanted = frozenset() if choice.is_instance and choice.family != HAIKU else wanted
    streams = {DEFAULT: 0, **seeds} if RNGS in wanted else {}
    given = streams | ({PARAMS: seeds.get(PARAMS, 0)} if KEY in wanted else {})
    found: list[tuple[_Parts, Filler]] = []

    def run(keys: list[Any], arrays: list[Any]) -> list[Any]:
        by_stream = dict(zip(given, keys, strict=True))
        filler = Filler(
            seeds,
            by_stream if KEY in wanted else None,
            {name: by_stream[name] for name in streams} if RNGS in wanted else None,
        )
        parts = _parts(choice, filler, inputs, arrays)
        found.append((parts, filler))
        return [leaf.value for leaf in parts.skeleton.arrays]

    key = jax.eval_shape(lambda: jax.random.key(0))
    abstract = abstract_leaves([one.value for one in inputs])
    with ExitStack() as stack:
        stack.enter_context(compat.traced_arrays_are_data())
        stack.enter_context(compat.without_eager_sharding())
        drawn = stack.enter_context(compat.recorded_rngs())
        jaxpr = jax.make_jaxpr(run)([key] * len(given), list(abstract))
    parts, filler = found[-1]
    names = (*((PARAMS,) if KEY in wanted else ()), *(n for n in drawn if n in given))
    skeleton = parts.skeleton.abstract(jaxpr.out_avals)
    traced = Traced(
        skeleton.described,
        jaxpr,
        tuple(dict.fromkeys(names)),
        given,
        lost_paths(skeleton.arrays, jaxpr),
        (),
        abstract if parts.family == HAIKU else (),
    )
    return Made(
        parts.family,
        skeleton,
        traced,
        _code(parts, filler),
        parts.graphdef,
        parts.argument.value if parts.family == HAIKU else None,
    )


def _parts(
    choice: Choice, filler: Filler, inputs: Sequence[Input], arrays: Sequence[Any]
) -> _Parts:
    made = choice.make(filler)
    value = made.value
    if isinstance(value, nn.Module):
        raise _LinenMadeError
    if isinstance(value, nnx.Module):
        tree = nnx_tree(value)
        parts = _Parts(NNX, tree.skeleton, made, tree.graphdef, tree.annotated)
    elif is_transformed(value):
        skeleton = tree_skeleton(_haiku_variables(value, filler, inputs, arrays))
        parts = _Parts(HAIKU, skeleton, made)
    else:
        parts = _Parts(PYTREE, tree_skeleton(value), made)
    _refuse_no_tree(parts, choice, value)
    return parts


def tree_skeleton(tree: Any) -> Skeleton:
    """Returns the skeleton of a pytree, with its empty nodes and its lists."""
    skeleton = skeleton_of(tree, _path_of)
    whole = describe(tree)
    slots = {slot.path: slot for slot in skeleton.slots}
    empty = [
        leaf
        for leaf in whole.leaves
        if leaf.kind in EMPTY_KINDS and leaf.path not in slots
    ]
    order = {leaf.path: number for number, leaf in enumerate(whole.leaves)}
    leaves = sorted(
        (*slots.values(), *empty), key=lambda leaf: order.get(leaf.path, len(order))
    )
    described = Described(tuple(leaves), whole.containers)
    return replace(skeleton, described=described)


def _path_of(keys: tuple[Any, ...]) -> tuple[TreePath, str, str]:
    return tuple(key_of(key) for key in keys), "", ""


def _haiku_variables(
    pair: Any, filler: Filler, inputs: Sequence[Input], arrays: Sequence[Any]
) -> Any:
    """Runs ``init``; parameters and state lie under these names when there are both."""
    values = with_leaves([one.value for one in inputs], arrays)
    positional = [v for v, one in zip(values, inputs, strict=True) if not one.keyword]
    named = {o.keyword: v for v, o in zip(values, inputs, strict=True) if o.keyword}
    found = pair.init(filler(KEY).value, *positional, **named)
    if isinstance(found, tuple):
        params, state = found
        return {"params": params, "state": state}
    return found


def _refuse_no_tree(parts: _Parts, choice: Choice, value: Any) -> None:
    skeleton = parts.skeleton
    if skeleton.arrays and all(slot.path for slot in skeleton.slots):
        return
    if parts.family == NNX:
        raise LoadModuleError(
            message=f"{choice.name} holds no variables: there is nothing to fill.",
            where=choice.place,
            hint="Name a module with layers or parameters.",
        )
    raise choice.refused(value)


def _code(parts: _Parts, filler: Filler) -> str:
    before, expression = filler.code(parts.argument.code)
    lines = [*dict.fromkeys(parts.argument.imports), ""]
    lines += before
    if parts.annotated and expression != parts.argument.code:
        lines[:1] = ["from flax import nnx", lines[0]]
        lines += [
            "# Variables name a sharding, and there is no mesh.",
            "with nnx.use_eager_sharding(False):",
            f"    module = {expression}",
        ]
    else:
        lines.append(f"module = {expression}")
    return "\n".join(lines) + "\n"
