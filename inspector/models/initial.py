"""Makes the initial values of some leaves, with the numbers of a plain ``init``.

The equations of the trace that a wanted leaf depends on are computed one by one, as
Python does in ``module.init`` outside of any ``jit``; the forward pass is left out,
and each leaf goes to the file as soon as it is there. Chosen over one jitted call
by measurement: whole-program compilation fuses, so values that depend on data differ
in their last bits from a plain ``init``; it compiles far longer than the few small
programs that the initialisers share; and it holds all leaves at once.

Runs on the thread of the model process that runs the person's code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.extend import core as jax_core

from inspector.errors import LoadModuleError
from inspector.models import compat, memory
from inspector.models.inputs import concrete
from inspector.models.raw_file import Place, RawFile, layout
from inspector.models.spec import did_you_mean
from inspector.models.traced import Traced, is_key
from inspector.variables import dtypes
from inspector.variables.path import TreePath, join

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """Which equations have to be computed for which leaves.

    Attributes:
        equations: In order.
        wanted: Leaf by output variable; one variable may be several leaves.
        literals: Leaves whose value is a constant of the trace.
        last: Index of the last equation that reads a variable.
        peak: Largest number of bytes alive at once.
    """

    equations: tuple[jax_core.JaxprEqn, ...]
    wanted: Mapping[Any, tuple[TreePath, ...]]
    literals: tuple[tuple[TreePath, Any], ...]
    last: Mapping[Any, int]
    peak: int


def select(traced: Traced, paths: Sequence[TreePath]) -> tuple[TreePath, ...]:
    """Returns the leaves to make, in the tree's order; no paths mean all arrays.

    Raises:
        LoadModuleError: A path is no leaf of the module, or has no initial value.
    """
    known = {leaf.path: None for leaf in traced.described.leaves}
    for path in paths:
        if path not in known:
            raise LoadModuleError(
                message=f"The module has no variable {join(path)}.",
                where=join(path),
                hint=did_you_mean(join(path), [join(one) for one in known])
                or "It changed since it was loaded: load it again.",
            )
    wanted = set(paths) if paths else set(known)
    chosen = tuple(leaf.path for leaf in traced.arrays if leaf.path in wanted)
    for path in chosen:
        if path in traced.lost:
            raise LoadModuleError(
                message="A plain init gives no value for it: it is made inside a bare "
                "jax.jit, vmap or grad, and what is left is a tracer.",
                where=join(path),
                hint="Use nn.jit, nn.vmap or nn.scan around submodules, or fill it.",
            )
    return chosen


def make_plan(traced: Traced, paths: Sequence[TreePath]) -> Plan:
    """Returns what has to be computed for the leaves at ``paths``.

    Equations with effects stay, as everywhere in JAX. Inner programs (``jit``,
    ``scan``) are kept whole, because they are what a plain ``init`` runs.
    """
    jaxpr = traced.jaxpr.jaxpr
    wanted: dict[Any, tuple[TreePath, ...]] = {}
    literals: list[tuple[TreePath, Any]] = []
    chosen = set(paths)
    for leaf, variable in zip(traced.arrays, jaxpr.outvars, strict=True):
        if leaf.path not in chosen:
            continue
        if isinstance(variable, jax_core.Literal):
            literals.append((leaf.path, variable.val))
        else:
            wanted[variable] = (*wanted.get(variable, ()), leaf.path)
    needed, kept = set(wanted), []
    for equation in reversed(jaxpr.eqns):
        if equation.effects or not needed.isdisjoint(equation.outvars):
            kept.append(equation)
            needed.update(_reads(equation))
    kept.reverse()
    last = {v: n for n, equation in enumerate(kept) for v in _reads(equation)}
    return Plan(tuple(kept), wanted, tuple(literals), last, _peak(kept, last))


def _reads(equation: jax_core.JaxprEqn) -> Iterator[Any]:
    return (v for v in equation.invars if not isinstance(v, jax_core.Literal))


def _peak(equations: Sequence[jax_core.JaxprEqn], last: Mapping[Any, int]) -> int:
    """Returns the bytes alive at the worst moment; leaves are written at once."""
    alive: dict[Any, int] = {}
    total = peak = 0
    for index, equation in enumerate(equations):
        for variable in equation.outvars:
            alive[variable] = _nbytes(variable.aval)
            total += alive[variable]
        peak = max(peak, total)
        for variable in {*_reads(equation), *equation.outvars}:
            if last.get(variable, -1) <= index:
                total -= alive.pop(variable, 0)
    return peak


def _nbytes(aval: Any) -> int:
    shape = getattr(aval, "shape", ())
    dtype = getattr(aval, "dtype", None)
    if dtype is None:
        return 0
    try:
        return math.prod(shape) * dtypes.itemsize(str(dtype))
    except KeyError:
        return math.prod(shape) * int(getattr(dtype, "itemsize", 1))


def places_of(traced: Traced, paths: Sequence[TreePath]) -> tuple[Place, ...]:
    """Returns where in the file each leaf goes, random keys as their words."""
    by_path = {leaf.path: leaf.value for leaf in traced.arrays}
    shapes = []
    for path in paths:
        aval, name = by_path[path], str(by_path[path].dtype)
        if is_key(aval):
            shapes.append((path, (*aval.shape, dtypes.words_of(name)), "uint32"))
        else:
            shapes.append((path, tuple(aval.shape), name))
    return layout(shapes)


def write_initial(
    traced: Traced,
    paths: Sequence[TreePath],
    file: Path,
    progress: Progress,
) -> tuple[Place, ...]:
    """Makes the leaves at ``paths`` and writes them to a file.

    Args:
        traced: The trace.
        paths: As `select` returns them.
        file: Absolute path; there afterwards, whole and synced, or not at all.
        progress: Told how many leaves are done.

    Returns:
        Where each leaf lies.

    Raises:
        LoadModuleError: Memory or disk do not suffice, or the code raised.
    """
    plan = make_plan(traced, paths)
    places = places_of(traced, paths)
    _refuse_too_large(plan, places, file)
    by_path = {place.path: place for place in places}
    with RawFile(file, places) as out:
        for count, (path, value) in enumerate(_values(traced, plan), start=1):
            out.write(by_path[path], _host(value))
            progress(f"Made {count} of {len(places)} initial values")
    return places


def _refuse_too_large(plan: Plan, places: Sequence[Place], file: Path) -> None:
    size = max((place.stop for place in places), default=0)
    disk = memory.free_disk_bytes(file.parent)
    if disk is not None and size > disk:
        raise LoadModuleError(
            message=f"The initial values take {memory.readable(size)} on disk and "
            f"{memory.readable(disk)} are free.",
            where=str(file.parent),
            hint="Free some space, or fill these leaves from a checkpoint.",
        )
    available = memory.available_bytes()
    if available is not None and plan.peak > available:
        raise LoadModuleError(
            message="Making the initial values takes "
            f"{memory.readable(plan.peak)} of memory and "
            f"{memory.readable(available)} are available.",
            where=str(file),
            hint="Fill the largest leaves from a checkpoint, or end other programs.",
        )


def _values(traced: Traced, plan: Plan) -> Iterator[tuple[TreePath, Any]]:
    """Yields every wanted leaf with its value, as soon as it is computed."""
    yield from plan.literals
    given = _Inputs(traced)
    values: dict[Any, Any] = {}
    for variable, paths in plan.wanted.items():
        if variable in given:
            yield from ((path, given[variable]) for path in paths)
    for index, equation in enumerate(plan.equations):
        read = [
            v.val
            if isinstance(v, jax_core.Literal)
            else values[v]
            if v in values
            else given[v]
            for v in equation.invars
        ]
        made = compat.bind(equation, read)
        del read
        for variable, value in zip(equation.outvars, made, strict=True):
            values[variable] = value
            for path in plan.wanted.get(variable, ()):
                yield path, value
        del made
        for variable in {*_reads(equation), *equation.outvars}:
            if plan.last.get(variable, -1) <= index:
                values.pop(variable, None)


class _Inputs:
    """Constants, keys and inputs of the trace, each made when it is first read."""

    def __init__(self, traced: Traced) -> None:
        jaxpr = traced.jaxpr.jaxpr
        self._made: dict[Any, Any] = dict(
            zip(jaxpr.constvars, traced.jaxpr.consts, strict=True)
        )
        recipes: list[int | jax.ShapeDtypeStruct] = [
            *traced.seeds.values(),
            *traced.inputs,
        ]
        self._recipes = dict(zip(jaxpr.invars, recipes, strict=True))

    def __contains__(self, variable: Any) -> bool:
        return variable in self._made or variable in self._recipes

    def __getitem__(self, variable: Any) -> Any:
        if variable not in self._made:
            recipe = self._recipes[variable]
            self._made[variable] = (
                jax.random.key(recipe) if isinstance(recipe, int) else concrete(recipe)
            )
        return self._made[variable]


def _host(value: Any) -> np.ndarray:
    """Returns a value as an array of this process; random keys as their words."""
    if hasattr(value, "dtype") and is_key(value):
        value = jax.random.key_data(value)
    return np.asarray(value)
