"""A pytree without its numbers: leaves by path, and how to put a tree together again.

NNX states and pytrees of any kind share it. Frameworks accept trees that do not fit
and say nothing or fail far away, so what does not fit is said here. Thread of the
model process that runs the person's code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
from flax.core import meta
from jax.extend import core as jax_core

from inspector.errors import LoadModuleError
from inspector.models.describe import Described, Found, describe
from inspector.models.spec import did_you_mean
from inspector.models.subject import Values
from inspector.models.traced import is_key
from inspector.variables.leaf import SCALAR_KINDS, Kind
from inspector.variables.path import TreePath, join
from inspector.variables.value import Scalar

_NUMBERS = int | float | complex
_NUMBER_KINDS = frozenset({Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.COMPLEX})
_SHOWN = 5
"""Most leaves that an error names."""


@jax.tree_util.register_pytree_with_keys_class
class Variables:
    """Arrays as nested dicts by path, Python numbers and texts beside them.

    A pytree whose leaves are the arrays alone: the rest is static, as under
    ``equinox.filter_jit``.

    Attributes:
        arrays: Nested dicts of arrays.
        scalars: (path, Python object) of the other leaves that a person can change.
    """

    def __init__(
        self, arrays: dict[Any, Any], scalars: tuple[tuple[TreePath, Scalar], ...]
    ) -> None:
        """Takes the arrays and the rest."""
        self.arrays = arrays
        self.scalars = scalars

    def tree_flatten_with_keys(self) -> tuple[Any, Any]:
        """Returns the top level with its keys, and what is static."""
        names = tuple(self.arrays)
        children = [(jax.tree_util.DictKey(n), self.arrays[n]) for n in names]
        return children, (names, self.scalars)

    @classmethod
    def tree_unflatten(cls, static: Any, children: Sequence[Any]) -> Variables:
        """Puts one together again."""
        names, scalars = static
        return cls(dict(zip(names, children, strict=True)), scalars)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A pytree without its numbers.

    Attributes:
        slots: Its leaves as JAX orders them; the values of arrays are abstract, or
            tracers while the trace that made them lasts.
        structure: What JAX puts them together with.
        boxes: Box by the path of its leaf, for leaves that are boxed.
        described: Leaves for the tree of a person: the slots and empty nodes.
    """

    slots: tuple[Found, ...]
    structure: Any
    boxes: Mapping[TreePath, Any]
    described: Described

    @property
    def arrays(self) -> tuple[Found, ...]:
        """The leaves that are arrays or random keys, in the order of the person's."""
        return tuple(one for one in self.described.leaves if one.kind is Kind.ARRAY)

    def abstract(self, avals: Sequence[Any]) -> Skeleton:
        """Returns it with abstract values in place of the tracers of `arrays`."""
        by_path = dict(zip((one.path for one in self.arrays), avals, strict=True))
        described = Described(
            tuple(_with(one, by_path) for one in self.described.leaves),
            self.described.containers,
        )
        slots = tuple(_with(one, by_path) for one in self.slots)
        boxes = {path: box.replace_boxed(None) for path, box in self.boxes.items()}
        return Skeleton(slots, self.structure, boxes, described)

    def fit(self, values: Values, title: str, *, numbers: bool = False) -> Variables:
        """Returns variables of the values of a whole tree.

        Args:
            values: Concrete, traced or abstract.
            title: What the tree is of, for messages.
            numbers: Whether Python numbers are among the arrays, so that they are
                traced as ``jax.jit`` does, or static.

        Raises:
            LoadModuleError: A leaf is missing, unknown, or of another shape or dtype.
        """
        wanted = {one.path: one.value for one in self.arrays}
        _refuse_other_paths(wanted, self, values, title)
        for path, aval in wanted.items():
            _refuse_other_shape(path, aval, values.arrays[path])
        arrays = {path: values.arrays[path] for path in wanted}
        scalars = {
            one.path: values.scalars.get(one.path, one.scalar)
            for one in self.slots
            if one.kind in SCALAR_KINDS
        }
        if numbers:
            traced = {p: v for p, v in scalars.items() if isinstance(v, _NUMBERS)}
            arrays |= traced
            scalars = {p: v for p, v in scalars.items() if p not in traced}
        return Variables(nest(arrays), tuple(scalars.items()))

    def rebuild(self, variables: Variables) -> Any:
        """Returns the tree; objects that are no numbers are the very same ones."""
        scalars = dict(variables.scalars)
        leaves = []
        for slot in self.slots:
            value = slot.value
            if slot.kind is Kind.ARRAY:
                value = at(variables.arrays, slot.path)
                if (box := self.boxes.get(slot.path)) is not None:
                    value = box.replace_boxed(value)
            elif slot.path in scalars:
                value = scalars[slot.path]
            elif slot.kind in _NUMBER_KINDS:
                value = at(variables.arrays, slot.path)
            leaves.append(value)
        return jax.tree_util.tree_unflatten(self.structure, leaves)

    def template(self) -> Any:
        """Returns the tree with `jax.ShapeDtypeStruct` in place of arrays."""
        arrays = nest({one.path: _struct(one.value) for one in self.arrays})
        scalars = ((s.path, s.scalar) for s in self.slots if s.kind in SCALAR_KINDS)
        return self.rebuild(Variables(arrays, tuple(scalars)))


def skeleton_of(
    tree: Any, path_of: Callable[[tuple[Any, ...]], tuple[TreePath, str, str]]
) -> Skeleton:
    """Returns the skeleton of a tree.

    Args:
        tree: The tree.
        path_of: Gives path, note and Variable type of a leaf by its JAX key path.
    """
    flat, structure = jax.tree_util.tree_flatten_with_path(
        tree, is_leaf=lambda node: isinstance(node, meta.AxisMetadata)
    )
    slots: list[Found] = []
    boxes: dict[TreePath, Any] = {}
    for keys, leaf in flat:
        path, note, variable = path_of(keys)
        found = describe(leaf).leaves[0]
        if isinstance(leaf, meta.AxisMetadata):
            boxes[path] = leaf
        slots.append(replace(found, path=path, note=note or found.note,
                             variable=variable))  # fmt: skip
    return Skeleton(tuple(slots), structure, boxes, Described(tuple(slots), ()))


def nest(flat: Mapping[TreePath, Any]) -> dict[Any, Any]:
    """Returns values by path as nested dicts."""
    root: dict[Any, Any] = {}
    for path, value in flat.items():
        node = root
        for key in path[:-1]:
            node = node.setdefault(key, {})
        node[path[-1]] = value
    return root


def at(nested: Mapping[Any, Any], path: TreePath) -> Any:
    """Returns what lies at a path of nested dicts."""
    node: Any = nested
    for key in path:
        node = node[key]
    return node


def lost_paths(
    arrays: Sequence[Found], jaxpr: jax_core.ClosedJaxpr
) -> frozenset[TreePath]:
    """Returns the arrays whose values are tracers that leaked into the trace."""
    tracers = {
        variable
        for variable, value in zip(jaxpr.jaxpr.constvars, jaxpr.consts, strict=True)
        if isinstance(value, jax.core.Tracer)
    }
    return frozenset(
        found.path
        for found, variable in zip(arrays, jaxpr.jaxpr.outvars, strict=True)
        if not isinstance(variable, jax_core.Literal) and variable in tracers
    )


def _with(found: Found, values: Mapping[TreePath, Any]) -> Found:
    if found.kind is not Kind.ARRAY:
        return found
    return replace(found, value=values[found.path])


def _struct(aval: Any) -> Any:
    make: Any = jax.ShapeDtypeStruct
    return make(aval.shape, aval.dtype)


def _refuse_other_paths(
    wanted: Mapping[TreePath, Any], skeleton: Skeleton, values: Values, title: str
) -> None:
    missing = [path for path in wanted if path not in values.arrays]
    known = {one.path for one in skeleton.described.leaves}
    unknown = [path for path in values.arrays if path not in wanted]
    unknown += [path for path in values.scalars if path not in known]
    if missing:
        raise LoadModuleError(
            message=f"{title} needs {_list(missing)}, which the tree does not have.",
            where=join(missing[0]),
            hint=did_you_mean(join(missing[0]), [join(path) for path in unknown])
            or "Fill it from a checkpoint, or keep its initial value.",
        )
    if unknown:
        raise LoadModuleError(
            message=f"{title} has no place for {_list(unknown)}.",
            where=join(unknown[0]),
            hint=did_you_mean(join(unknown[0]), [join(path) for path in wanted])
            or "Take it out of the tree.",
        )


def _list(paths: Sequence[TreePath]) -> str:
    shown = ", ".join(join(path) for path in paths[:_SHOWN])
    more = len(paths) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _refuse_other_shape(path: TreePath, aval: Any, value: Any) -> None:
    if tuple(value.shape) == tuple(aval.shape) and value.dtype == aval.dtype:
        return
    wanted, given = _text(aval), _text(value)
    hint = "Change the tree, or the constructor arguments of the module."
    if is_key(aval) != is_key(value):
        hint = "One of the two is a random key and the other is not."
    raise LoadModuleError(
        message=f"{join(path)} is {wanted} in the module, and {given} in the tree.",
        where=join(path),
        hint=hint,
    )


def _text(value: Any) -> str:
    return f"{value.dtype}[{','.join(map(str, value.shape))}]"
