"""Watches a program for the equations that first make a NaN or an Inf.

Every bad value knows the sources it comes from, so that a NaN which a ``where`` leaves
out is told from one that reaches an output. Model process, on the thread that runs the
person's code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

import jax
import numpy as np
from jax.extend import core as jax_core

from inspector.engine.messages.inspecting import ValueSummary
from inspector.programs.finite import bad_in, widened
from inspector.programs.interpreter import Frame, Mark
from inspector.programs.signature import tree_text
from inspector.programs.walk import has_inside, look_inside
from inspector.variables.path import TreePath

CONSTANT = -1
"""The source of a NaN or an Inf that the code itself writes, as in a mask."""

_MASKS = frozenset(
    {
        *("select_n", "ne", "eq", "lt", "le", "gt", "ge", "is_finite"),
        *("slice", "dynamic_slice", "gather", "scatter", "dynamic_update_slice"),
    }
)
"""Primitives that may take a NaN and give none: the code leaves it out or asks."""

_MOST_NAMES = 2

_MOST_TURNS = 64
"""Turns of a scan that is walked though its NaN came from outside: layers, no steps."""

_FINE: WeakValueDictionary[int, jax.Array] = WeakValueDictionary()
"""Arrays without a bad value: they cannot change, so weights are looked at once."""

_NONE: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Trail:
    """What is known of a value; the mark of `BadWatch`.

    Attributes:
        nan: Sources of its NaNs; empty when it has none.
        inf: Sources of its Infs; empty when it has none.
        names: Variables and inputs it was computed from; empty for a constant, None
            for too many.
        is_itself: Whether it is that variable or input, unchanged.
    """

    nan: frozenset[int] = _NONE
    inf: frozenset[int] = _NONE
    names: tuple[str, ...] | None = ()
    is_itself: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Where bad values came up.

    Attributes:
        is_nan: A NaN; else an Inf.
        frame: The equation; None for an argument.
        argument: Position of the argument; -1 for an equation.
        inputs: The equation's inputs.
        outputs: Its outputs, or the argument.
        causes: Sources of the Infs among its inputs.
    """

    is_nan: bool
    frame: Frame | None
    argument: int
    inputs: tuple[ValueSummary, ...]
    outputs: tuple[ValueSummary, ...]
    causes: frozenset[int] = _NONE


@dataclass(frozen=True, slots=True)
class Argument:
    """A value that goes into the program.

    Attributes:
        name: What it is called, e.g. ``"params/Dense_0/kernel"``, ``"input 0"``.
        path: Path of a variable; ``()`` for an input.
        module: Path of the module that holds the variable.
        is_variable: Whether it is a variable.
    """

    name: str
    path: TreePath = ()
    module: TreePath = ()
    is_variable: bool = False


_CONSTANT_TRAIL = Trail()
_UNKNOWN = Trail(names=None)


@dataclass
class BadWatch:
    """The watcher; see `programs.interpreter.Watcher`.

    Attributes:
        walks_inf: Whether loops are walked for an Inf too, and not for a NaN alone.
        sources: Every source, in the order they came up.
        vanished: Sources of NaNs that turned into something else unnoticed, e.g. in
            an ``argmax``.
        frames_with_nan: Equations with a NaN among their outputs.
    """

    walks_inf: bool = False
    sources: list[Source] = field(default_factory=list)
    vanished: set[int] = field(default_factory=set)
    frames_with_nan: list[Frame] = field(default_factory=list)

    def argument(self, position: int, value: Any, argument: Argument) -> Trail:
        """Returns the trail of a value that goes into the program."""
        has_nan, has_inf = (False, False) if _is_fine(value) else bad_in(value)
        nan = inf = _NONE
        if not (has_nan or has_inf) and isinstance(value, jax.Array):
            _FINE[id(value)] = value
        if has_nan or has_inf:
            shown = (summary(value, argument.name),)
        if has_nan:
            nan = self._new(Source(True, None, position, (), shown))
        if has_inf:
            inf = self._new(Source(False, None, position, (), shown))
        return Trail(nan, inf, (argument.name,), is_itself=True)

    def saw(
        self,
        frame: Frame,
        inputs: Sequence[Any],
        marks: Sequence[Mark],
        outputs: Sequence[Any],
    ) -> Sequence[Mark]:
        """Looks at an equation; see `programs.interpreter.Watcher.saw`."""
        trails = [mark or _CONSTANT_TRAIL for mark in marks]
        bad = [bad_in(value) for value in outputs]
        names = _names(trails)
        plain = _CONSTANT_TRAIL if names == () else Trail(names=names)
        has_nan = any(nan for nan, _ in bad)
        has_inf = any(inf for _, inf in bad)
        nan_before = _union(trail.nan for trail in trails)
        if nan_before and not has_nan and frame.equation.primitive.name not in _MASKS:
            self.vanished |= nan_before - {CONSTANT}
        if not has_nan and not has_inf:
            return [plain] * len(outputs)
        given = (frame, inputs, trails, outputs)
        walked = self._walk(given, has_nan=has_nan, has_inf=has_inf)
        if walked is not None:
            return walked
        if has_nan:
            self.frames_with_nan.append(frame)
        nan = self._sources(given, is_nan=True) if has_nan else _NONE
        inf = self._sources(given, is_nan=False) if has_inf else _NONE
        return [
            Trail(nan if with_nan else _NONE, inf if with_inf else _NONE, names)
            for with_nan, with_inf in bad
        ]

    def _walk(
        self, given: _Given, *, has_nan: bool, has_inf: bool
    ) -> list[Mark] | None:
        """Looks inside a loop that made something bad; None when there is no need."""
        frame, inputs, trails, _ = given
        before = _union(trail.nan for trail in trails)
        wanted = has_nan and (not before - {CONSTANT} or _is_short(frame))
        if self.walks_inf and has_inf and not _union(t.inf for t in trails):
            wanted = True
        if not wanted or not has_inside(frame.equation):
            return None
        count = len(self.sources)
        pairs = list(zip(inputs, trails, strict=True))
        marks = look_inside(frame, pairs, self)
        if marks is None or (has_nan and not any(mark.nan for mark in marks)):
            # Given up, or Python's turns came out otherwise: the loop is the source.
            del self.sources[count:]
            return None
        return marks

    def _sources(self, given: _Given, *, is_nan: bool) -> frozenset[int]:
        """Returns where the NaNs (or Infs) of an equation's outputs come from."""
        frame, inputs, trails, outputs = given
        before = _union(t.nan if is_nan else t.inf for t in trails)
        literals = any(
            bad_in(value)[0 if is_nan else 1]
            for value, variable in zip(inputs, frame.equation.invars, strict=True)
            if isinstance(variable, jax_core.Literal)
        )
        if before - {CONSTANT}:
            return before - {CONSTANT}
        constant = all(trail.names == () for trail in trails)
        # An Inf that the code writes is meant, wherever it goes; a NaN is a source
        # where it meets a value, so that the line is the one that let it through.
        if constant or (not is_nan and (before or literals)):
            return frozenset({CONSTANT})
        named = zip(inputs, trails, frame.equation.invars, strict=True)
        shown = tuple(summary(value, _name(trail)) for value, trail, _ in named)
        made = tuple(summary(value) for value in outputs)
        causes = _union(t.inf for t in trails) if is_nan else _NONE
        return self._new(Source(is_nan, frame, -1, shown, made, causes))

    def _new(self, source: Source) -> frozenset[int]:
        self.sources.append(source)
        return frozenset({len(self.sources) - 1})

    def narrowed(self, value: Any, mark: Mark) -> Mark:
        """Returns the trail of a slice."""
        if mark is None or not (mark.nan or mark.inf):
            return mark
        has_nan, has_inf = bad_in(value)
        return Trail(
            mark.nan if has_nan else _NONE, mark.inf if has_inf else _NONE, mark.names
        )

    def joined(self, marks: Sequence[Mark]) -> Mark:
        """Returns the trail of slices put together."""
        trails = [mark or _CONSTANT_TRAIL for mark in marks]
        nan, inf = _union(t.nan for t in trails), _union(t.inf for t in trails)
        return Trail(nan, inf, _names(trails))


def _is_fine(value: Any) -> bool:
    """Returns whether an array has been found to be fine before."""
    return _FINE.get(id(value)) is value


def _is_short(frame: Frame) -> bool:
    """Returns whether a loop is walked only to tell which of its modules are bad."""
    length: int = frame.equation.params.get("length", 0)
    return 0 < length <= _MOST_TURNS


_Given = tuple[Frame, Sequence[Any], list[Trail], Sequence[Any]]


def _union(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    found = _NONE
    for one in sets:
        if one:
            found = found | one
    return found


def _names(trails: Sequence[Trail]) -> tuple[str, ...] | None:
    names: dict[str, None] = {}
    for trail in trails:
        if trail.names is None:
            return None
        names.update(dict.fromkeys(trail.names))
    return tuple(names) if len(names) <= _MOST_NAMES else None


def _name(trail: Trail) -> str:
    if not trail.names:
        return ""
    text = " and ".join(trail.names)
    return text if trail.is_itself else f"from {text}"


def summary(value: Any, name: str = "") -> ValueSummary:
    """Returns a value in numbers.

    Args:
        value: An array, or a number.
        name: What it is.
    """
    array = np.asarray(value) if not _is_key(value) else None
    if array is None or not np.issubdtype(_kind(array), np.number):
        return ValueSummary(name, tree_text(value), None, None, 0, 0, np.size(value))
    text = tree_text(value if hasattr(value, "dtype") else array)
    wide = widened(array) if _is_inexact(array) else array
    finite = wide[np.isfinite(wide)]
    return ValueSummary(
        name,
        text,
        float(finite.min()) if finite.size else None,
        float(finite.max()) if finite.size else None,
        int(np.count_nonzero(np.isnan(wide))),
        int(np.count_nonzero(np.isinf(wide))),
        int(array.size),
    )


def _is_key(value: Any) -> bool:
    return "key<" in str(getattr(value, "dtype", ""))


def _is_inexact(array: np.ndarray) -> bool:
    return not np.issubdtype(array.dtype, np.integer) and array.dtype != np.bool_


def _kind(array: np.ndarray) -> Any:
    """Returns the dtype as numpy sorts it, which knows no small floats of JAX."""
    if array.dtype.kind == "V" or array.dtype.name.startswith(("bfloat", "float8")):
        return np.float32
    return array.dtype
