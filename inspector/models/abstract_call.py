"""Calls traced on shapes alone: no variable and no input has numbers.

For questions about a call before there are values: how a module can be called, and
which inputs fit a checkpoint. On the thread that runs the person's code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import jax

from inspector.engine.messages.calling import Call
from inspector.models import compat
from inspector.models.input_leaf import struct
from inspector.models.settling import Settled, Unsettled, settle
from inspector.models.subject import ResolvedCall, Subject, Values
from inspector.variables import dtypes
from inspector.variables.leaf import EMPTY_KINDS, SCALAR_KINDS, Kind, Leaf
from inspector.variables.plain import PlainTree
from inspector.variables.value import Literal

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def abstract_values(tree: PlainTree) -> Values:
    """Returns the values of a tree with ``ShapeDtypeStruct`` for its arrays.

    A leaf whose dtype JAX does not compute with counts as float32.
    """
    arrays = {
        path: _abstract(leaf)
        for path, leaf in tree.leaves
        if leaf.kind in {Kind.ARRAY, Kind.KEY}
    }
    scalars = {
        path: leaf.value.value
        for path, leaf in tree.leaves
        if leaf.kind in SCALAR_KINDS and isinstance(leaf.value, Literal)
    }
    empties = {
        path: leaf.kind for path, leaf in tree.leaves if leaf.kind in EMPTY_KINDS
    }
    return Values(arrays, scalars, empties, dict(tree.containers))


def _abstract(leaf: Leaf) -> jax.ShapeDtypeStruct:
    if leaf.kind is Kind.KEY:
        return struct(leaf.shape, _key_dtype(leaf.dtype))
    name = leaf.dtype if leaf.dtype in dtypes.NAMES else "float32"
    dtype = jax.dtypes.canonicalize_dtype(dtypes.to_numpy(name))
    return struct(leaf.shape, dtype)


def _key_dtype(name: str) -> Any:
    known = dtypes.KEY_IMPLEMENTATIONS
    implementation = known.get(name, known["key<fry>"])[0]
    return jax.random.key(0, impl=implementation).dtype


@dataclass(frozen=True, slots=True)
class AbstractTrace:
    """A call that was traced on shapes.

    Attributes:
        settled: The trace, with the streams and collections it needs.
        streams: Rng streams that it draws from, in order of the first draw.
    """

    settled: Settled
    streams: tuple[str, ...]

    @property
    def program(self) -> str:
        """The program as text; equal texts are equal programs."""
        return _ADDRESS.sub("", str(self.settled.traced.jaxpr))


def trace_abstractly(
    subject: Subject,
    call: ResolvedCall,
    variables: Any,
    request: Call | None = None,
) -> AbstractTrace:
    """Traces a call on shapes.

    Args:
        subject: The module.
        call: The call; its shapes stay shapes.
        variables: What `Subject.build` made of `abstract_values`.
        request: The call as it was asked for, with its seeds and collections; None
            for one that gives none.

    Raises:
        Exception: Whatever the person's code or Flax raises.
    """
    what = Unsettled(
        subject, request or Call(), call, variables, call.args, call.kwargs
    )
    with compat.recorded_rngs() as handed:
        settled = settle(what, _abstract_key, lambda text: None)
    drawn = [use.stream for use in settled.uses] + list(handed)
    return AbstractTrace(settled, tuple(dict.fromkeys(drawn)))


def _abstract_key(seed: int) -> jax.ShapeDtypeStruct:
    return struct((), jax.random.key(seed).dtype)
