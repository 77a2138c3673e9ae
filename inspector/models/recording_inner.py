"""Outputs of module calls inside loops, every turn of them.

Such values do not exist outside of the loop, so they are named where they are made and
the program is computed equation by equation, the loops turn by turn. Done only where
there are such calls. Model process, on the thread that runs the person's code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax.ad_checkpoint import checkpoint_name
from jax.extend import core as jax_core

from inspector.models.executing import Prepared
from inspector.models.outputs import host
from inspector.models.recording_calls import CallWatch, Position
from inspector.models.settling import is_array
from inspector.models.subject import SiteCall
from inspector.programs.interpreter import Frame, Mark, evaluate, inner_programs
from inspector.programs.walk import has_inside, look_inside

_PRIMITIVE = "name"
_PREFIX = "\u27ea"


@dataclass
class _Naming(CallWatch):
    """Names every output of a call inside a loop.

    Attributes:
        names: Number of each call.
    """

    names: dict[Position, int] = field(default_factory=dict)

    def __call__(self, site: SiteCall) -> Any:
        """Calls the module; see `CallWatch`."""
        trace = self._trace()
        nth = self._counts.get((site.path, site.method, trace), 0)
        outputs = super().__call__(site)
        if not trace:
            return outputs
        position = (site.path, site.method, nth)
        number = self.names.setdefault(position, len(self.names))
        leaves, tree = jax.tree_util.tree_flatten(outputs)
        give_name: Any = checkpoint_name
        named = [
            give_name(leaf, f"{_PREFIX}{number}:{place}") if is_array(leaf) else leaf
            for place, leaf in enumerate(leaves)
        ]
        return jax.tree_util.tree_unflatten(tree, named)


@dataclass
class _Collector:
    """Keeps the named values; see `programs.interpreter.Watcher`.

    Attributes:
        most: Bytes above which nothing is kept.
        values: What each name was in each turn.
        nbytes: Bytes of them.
    """

    most: int
    values: dict[str, list[np.ndarray]] = field(default_factory=dict)
    nbytes: int = 0

    def saw(
        self,
        frame: Frame,
        inputs: Sequence[Any],
        marks: Sequence[Mark],
        outputs: Sequence[Any],
    ) -> Sequence[Mark]:
        """Keeps a named value, and looks inside of what holds names."""
        name = _name_of(frame.equation)
        if name:
            self._keep(name, host(outputs[0]))
        elif has_inside(frame.equation) and _holds_names(frame.equation):
            look_inside(frame, list(zip(inputs, marks, strict=True)), self)
        return [None] * len(outputs)

    def _keep(self, name: str, array: np.ndarray) -> None:
        self.nbytes += array.nbytes
        if self.nbytes > self.most:
            self.values.clear()
        else:
            self.values.setdefault(name, []).append(array)

    def narrowed(self, value: Any, mark: Mark) -> Mark:
        """Marks nothing."""
        del value, mark

    def joined(self, marks: Sequence[Mark]) -> Mark:
        """Marks nothing."""
        del marks


def _name_of(equation: jax_core.JaxprEqn) -> str:
    """Returns the name that an equation gives to a value; empty for any other."""
    if equation.primitive.name != _PRIMITIVE:
        return ""
    name = str(equation.params.get("name", ""))
    return name if name.startswith(_PREFIX) else ""


def _holds_names(equation: jax_core.JaxprEqn) -> bool:
    return any(
        _name_of(one) or _holds_names(one)
        for inner in inner_programs(equation)
        for one in inner.jaxpr.eqns
    )


def inner_outputs(
    prepared: Prepared, most: int
) -> dict[Position, tuple[np.ndarray, ...]]:
    """Returns the outputs of every call inside a loop, its turns stacked.

    Args:
        prepared: The call; to be called where it runs, see `Prepared.running`.
        most: Bytes above which nothing is returned.
    """
    watch = _Naming()
    forward = prepared.subject.forward(prepared.call, prepared.mutable, watch)

    def run(*arrays: Any) -> list[Any]:
        with watch.watching():
            outputs, _ = forward(*prepared.inputs.joined(arrays))
        watch.calls.clear()
        return [leaf for leaf in jax.tree_util.tree_leaves(outputs) if is_array(leaf)]

    program = jax.make_jaxpr(run)(*prepared.inputs.arrays)
    collector = _Collector(most)
    evaluate(program, [(value, None) for value in prepared.inputs.arrays], collector)
    found: dict[Position, tuple[np.ndarray, ...]] = {}
    for position, number in watch.names.items():
        prefix = f"{_PREFIX}{number}:"
        turns = [
            collector.values[name]
            for name in sorted(collector.values, key=_place)
            if name.startswith(prefix)
        ]
        if turns:
            found[position] = tuple(np.stack(arrays) for arrays in turns)
    return found


def _place(name: str) -> int:
    return int(name.rpartition(":")[2])
