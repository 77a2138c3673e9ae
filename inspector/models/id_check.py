"""Checks whole-number inputs against the tables that they are looked up in.

Ids outside a table give no error: they give NaN or the last row. The look-ups are
found in the trace of the call, and only what makes the indices of them is computed.
Model process, on the thread that runs the person's code.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.extend import core as jax_core

from inspector.engine.messages.running import Remark
from inspector.models import compat
from inspector.models.bad_values_trace import arguments_of
from inspector.models.bad_values_watch import Argument
from inspector.models.executing import Prepared
from inspector.programs.interpreter import called
from inspector.variables.path import join

_MOST_IDS = 1 << 22
"""Index arrays larger than it are not computed."""

_SAME = frozenset({"convert_element_type", "copy", "copy_p", "stop_gradient"})
"""Primitives through which a table stays the table."""

_MOST_KEPT = 8

_CHECKED: OrderedDict[object, tuple[list[Any], tuple[Remark, ...]]] = OrderedDict()
"""What was found, by program and inputs; the oldest go first."""

_LOOPS = frozenset({"scan", "while", "cond"})


@dataclass(frozen=True, slots=True)
class _Table:
    """Stands for a variable whose numbers do not matter."""

    argument: Argument


def check_ids(prepared: Prepared) -> tuple[Remark, ...]:
    """Returns a sentence for every table that ids lie outside of.

    The same inputs again cost next to nothing.

    Args:
        prepared: The call, its inputs concrete.
    """
    given = jax.tree_util.tree_leaves((prepared.args, dict(prepared.kwargs)))
    ids = [leaf for leaf in given if _are_ids(leaf)]
    if not ids:
        return ()
    key = (prepared.signature, tuple(map(id, ids)))
    if key not in _CHECKED:
        # The ids are kept with it, so that their identity stays their own.
        _CHECKED[key] = (ids, _checked(prepared))
        while len(_CHECKED) > _MOST_KEPT:
            _CHECKED.popitem(last=False)
    return _CHECKED[key][1]


def _checked(prepared: Prepared) -> tuple[Remark, ...]:
    arrays = prepared.inputs.arrays
    arguments = arguments_of(prepared)
    whole = [_start(*pair) for pair in zip(arrays, arguments, strict=True)]
    program = prepared.settled.traced.jaxpr
    with prepared.running("Checking the ids of"):
        found = list(_Search().through(program, whole))
    return tuple(dict.fromkeys(found))


def _start(value: Any, argument: Argument) -> Any:
    """Returns what is known of an argument: ids, a table, or nothing."""
    if argument.is_variable:
        return _Table(argument) if np.ndim(value) else None
    return value if _are_ids(value) else None


def _are_ids(value: Any) -> bool:
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return isinstance(value, bool | int)
    return _is_whole(dtype) and np.size(value) <= _MOST_IDS


def _is_whole(dtype: Any) -> bool:
    return bool(jax.numpy.issubdtype(dtype, jax.numpy.integer) or dtype == np.bool_)


class _Search:
    """Goes through a program and computes whole numbers that inputs decide."""

    def through(
        self, program: jax_core.ClosedJaxpr, given: Sequence[Any]
    ) -> Iterator[Remark]:
        """Yields the findings."""
        found: list[Remark] = []
        self._run(program, given, found)
        yield from found

    def _run(
        self, program: jax_core.ClosedJaxpr, given: Sequence[Any], found: list[Remark]
    ) -> list[Any]:
        jaxpr = program.jaxpr
        values: dict[Any, Any] = dict(zip(jaxpr.invars, given, strict=True))
        for variable, value in zip(jaxpr.constvars, program.consts, strict=True):
            values[variable] = value if _are_ids(value) else None

        def read(variable: Any) -> Any:
            if isinstance(variable, jax_core.Literal):
                return variable.val if _are_ids(variable.val) else None
            return values.get(variable)

        for equation in jaxpr.eqns:
            known = [read(variable) for variable in equation.invars]
            made = self._equation(equation, known, found)
            values.update(zip(equation.outvars, made, strict=True))
        return [read(variable) for variable in jaxpr.outvars]

    def _equation(
        self, equation: jax_core.JaxprEqn, known: list[Any], found: list[Remark]
    ) -> Sequence[Any]:
        name = equation.primitive.name
        inner = called(equation)
        if inner is not None and any(value is not None for value in known):
            return self._run(inner, known, found)
        tables = [value for value in known if isinstance(value, _Table)]
        if tables and tables[0] is known[0] and name in _SAME:
            return tables
        if tables and tables[0] is known[0] and name == "gather":
            if known[1] is not None and not isinstance(known[1], _Table):
                found += _outside(equation, tables[0].argument, known[1])
        elif (
            not (tables or inner or name in _LOOPS or equation.effects)
            and all(value is not None for value in known)
            and all(_makes_ids(variable.aval) for variable in equation.outvars)
        ):
            return compat.bind(equation, known)
        return [None] * len(equation.outvars)


def _makes_ids(aval: Any) -> bool:
    dtype = getattr(aval, "dtype", None)
    shape: tuple[int, ...] = getattr(aval, "shape", ())
    return dtype is not None and _is_whole(dtype) and math.prod(shape) <= _MOST_IDS


def _outside(
    equation: jax_core.JaxprEqn, table: Argument, indices: Any
) -> Iterator[Remark]:
    """Yields a sentence when indices of a look-up lie outside of the table."""
    aval: Any = equation.invars[0].aval
    shape = aval.shape
    numbers = equation.params["dimension_numbers"]
    sizes = equation.params["slice_sizes"]
    array = np.asarray(indices)
    for position, dimension in enumerate(numbers.start_index_map):
        ids = array[..., position]
        last = shape[dimension] - sizes[dimension]
        bad = int(np.count_nonzero((ids < 0) | (ids > last)))
        if not bad or sizes[dimension] != 1:
            continue
        place = join(table.module) or table.name
        extreme = (
            f"max {int(ids.max())}" if ids.max() > last else f"min {int(ids.min())}"
        )
        fills = "FILL" in str(equation.params.get("mode")).upper()
        row = "a row of NaN" if fills else "the nearest row"
        yield Remark(
            "out-of-range-ids",
            f"{bad:,} of {ids.size:,} ids outside 0..{last} at {place} ({extreme}): "
            f"each gives {row}.",
            table.module,
        )
