"""The trace of what makes a module's variables, whatever framework it is written in.

`linen`, `nnx` and `pytree` make one; `initial` computes values from its equations;
the service sends its tree to the store. Allocates nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
from jax.extend import core as jax_core

from inspector.models.describe import Described, Found
from inspector.variables.leaf import Kind, Leaf
from inspector.variables.path import TreePath
from inspector.variables.plain import PlainTree
from inspector.variables.value import Initial, Literal

LOST = "made inside a bare jax.jit, vmap or grad, so init gives no value for it"
"""Note of a leaf that holds a tracer after a plain ``init``."""


@dataclass(frozen=True, slots=True)
class Traced:
    """The trace of one ``init`` (Linen), constructor (NNX) or call (pytrees).

    Attributes:
        described: Leaves and containers; the values of arrays are abstract.
        jaxpr: The equations; inputs are the keys by stream, then the abstract
            inputs of the call in order; outputs are the arrays in order.
        streams: Rng streams that are drawn from, ``params`` first.
        seeds: Seed by stream, for every stream that is given.
        lost: Paths whose values are leaked tracers.
        unused: Paths of submodules that ``setup`` declares and the method never
            calls, so they have no variables.
        inputs: The abstract inputs of the call, as `jaxpr` takes them.
    """

    described: Described
    jaxpr: jax_core.ClosedJaxpr
    streams: tuple[str, ...]
    seeds: dict[str, int]
    lost: frozenset[TreePath] = frozenset()
    unused: tuple[TreePath, ...] = ()
    inputs: tuple[jax.ShapeDtypeStruct, ...] = ()

    @property
    def arrays(self) -> tuple[Found, ...]:
        """The leaves that are arrays or random keys, as `jaxpr` puts them out."""
        return tuple(leaf for leaf in self.described.leaves if leaf.kind is Kind.ARRAY)

    def tree(self) -> PlainTree:
        """Returns the tree for the store: arrays are `Initial`, the rest literal."""
        leaves = tuple((leaf.path, self._leaf(leaf)) for leaf in self.described.leaves)
        return PlainTree(leaves, self.described.containers)

    def _leaf(self, found: Found) -> Leaf:
        if found.kind is not Kind.ARRAY:
            return Leaf(
                found.kind,
                value=Literal(found.scalar),
                note=found.note,
                variable=found.variable,
            )
        aval = found.value
        note = LOST if found.path in self.lost else found.note
        kind = Kind.KEY if is_key(aval) else Kind.ARRAY
        return Leaf(
            kind,
            tuple(aval.shape),
            str(aval.dtype),
            Initial(found.path),
            note=note,
            variable=found.variable,
        )


def is_key(aval: Any) -> bool:
    """Returns whether an array, tracer or abstract value holds random keys."""
    return bool(jax.numpy.issubdtype(aval.dtype, jax.dtypes.prng_key))
